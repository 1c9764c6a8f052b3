#include "cc/core/table.h"

#include <utility>

#include "cc/core/number_text.h"
#include "cc/core/rate_limiter.h"
#include "cc/core/table_impl.h"

namespace reverb_tf::core {
namespace {

Status CheckOptions(const TableOptions& options) {
  if (options.name.empty()) {
    return InvalidArgumentError("Table: name is empty; expected at least one character.");
  }
  if (options.max_size < 1) {
    return InvalidArgumentError("Table '" + options.name + "': max_size is " +
                                std::to_string(options.max_size) + "; expected at least 1.");
  }
  return RateLimiter::Check(options.rate_limiter).WithContext("Table '" + options.name + "'");
}

}  // namespace

Result<std::shared_ptr<Table>> Table::Create(TableOptions options, Clock* clock) {
  // Two streams of random numbers from one seed.
  std::optional<uint64_t> remover_seed;
  if (options.seed) remover_seed = ~*options.seed;
  Result<std::unique_ptr<Selector>> sampler = MakeSelector(options.sampler, options.seed);
  if (!sampler.ok()) return sampler.status().WithContext("Table '" + options.name + "': sampler");
  Result<std::unique_ptr<Selector>> remover = MakeSelector(options.remover, remover_seed);
  if (!remover.ok()) return remover.status().WithContext("Table '" + options.name + "': remover");
  return Create(std::move(options), std::move(*sampler), std::move(*remover), clock);
}

Result<std::shared_ptr<Table>> Table::Create(TableOptions options,
                                             std::unique_ptr<Selector> sampler,
                                             std::unique_ptr<Selector> remover, Clock* clock) {
  REVERB_TF_RETURN_IF_ERROR(CheckOptions(options));
  return std::shared_ptr<Table>(new Table(
      std::make_unique<Impl>(std::move(options), std::move(sampler), std::move(remover), clock)));
}

Table::Table(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Table::~Table() { impl_->Close(); }

const std::string& Table::name() const { return impl_->options().name; }

// A callback may release the caller's reference to the table: calls that call back hold one of
// their own.

Table::InsertResult Table::Insert(std::vector<NewItem> items,
                                  const std::shared_ptr<InsertObserver>& observer) {
  const std::shared_ptr<Table> self = shared_from_this();
  return impl_->Insert(std::move(items), observer);
}

void Table::CancelInserts(const InsertObserver* observer) { impl_->CancelInserts(observer); }

Table::Ticket Table::Sample(const SampleOptions& options, SampleCallback callback) {
  const std::shared_ptr<Table> self = shared_from_this();
  return impl_->Sample(options, std::move(callback), self);
}

bool Table::CancelSample(Ticket ticket) {
  const std::shared_ptr<Table> self = shared_from_this();
  return impl_->CancelSample(ticket);
}

Status Table::Mutate(const PriorityUpdate* updates, size_t num_updates, const uint64_t* deletes,
                     size_t num_deletes, int64_t* num_deleted) {
  const std::shared_ptr<Table> self = shared_from_this();
  return impl_->Mutate(updates, num_updates, deletes, num_deletes, num_deleted);
}

Status Table::Reset() {
  const std::shared_ptr<Table> self = shared_from_this();
  return impl_->Reset();
}

Status Table::SetRateLimiter(const RateLimiterOptions& options) {
  REVERB_TF_RETURN_IF_ERROR(RateLimiter::Check(options).WithContext("Table '" + name() + "'"));
  const std::shared_ptr<Table> self = shared_from_this();
  return impl_->SetRateLimiter(options);
}

void Table::Close() {
  const std::shared_ptr<Table> self = shared_from_this();
  impl_->Close();
}

std::optional<SampledItem> Table::Get(uint64_t key) const { return impl_->Get(key); }

Result<std::vector<SampledItem>> Table::Get(const uint64_t* keys, size_t n) const {
  return impl_->Get(keys, n);
}

Result<ItemPage> Table::List(uint64_t start, int64_t max_items) const {
  return impl_->List(start, max_items);
}

bool Table::CanSample(int64_t n) const { return impl_->CanSample(n); }

bool Table::CanInsert(int64_t n) const { return impl_->CanInsert(n); }

TableInfo Table::Info() const { return impl_->Info(); }

std::string Table::DebugString() const {
  const TableInfo info = Info();
  const RateLimiterOptions& limiter = info.rate_limiter;
  std::string text =
      "Table(name='" + info.name + "', sampler=" + SelectorText(info.sampler) +
      ", remover=" + SelectorText(info.remover) + ", size=" + std::to_string(info.current_size) +
      ", max_size=" + std::to_string(info.max_size) +
      ", max_times_sampled=" + std::to_string(info.max_times_sampled) +
      ", rate_limiter=RateLimiter(samples_per_insert=" + NumberText(limiter.samples_per_insert) +
      ", min_size_to_sample=" + std::to_string(limiter.min_size_to_sample) +
      ", min_diff=" + NumberText(limiter.min_diff) + ", max_diff=" + NumberText(limiter.max_diff) +
      ")";
  text += ", waiting_inserts=" + std::to_string(info.waiting_inserts) +
          ", waiting_samples=" + std::to_string(info.waiting_samples) + "): ";
  return text + info.sample_state + " " + info.insert_state;
}

}  // namespace reverb_tf::core
