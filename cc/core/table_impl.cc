#include "cc/core/table_impl.h"

#include <algorithm>
#include <utility>

namespace reverb_tf::core {
namespace {

// Room made for the items of a request before there are any.
constexpr int64_t kReservedSamples = 64;

constexpr size_t kKeysAtOnce = 256;

int64_t SoftLimit(int64_t max_size) {
  return std::max<int64_t>(1, std::min<int64_t>(max_size / 10, 1000));
}

}  // namespace

Table::Impl::Impl(TableOptions options, std::unique_ptr<Selector> sampler,
                  std::unique_ptr<Selector> remover, Clock* clock)
    : options_(std::move(options)),
      clock_(clock),
      soft_limit_(SoftLimit(options_.max_size)),
      state_(options_.max_size, options_.max_times_sampled, options_.rate_limiter,
             std::move(sampler), std::move(remover)) {}

Status Table::Impl::CheckItem(const NewItem& item) const {
  if (!item.trajectory) {
    return InvalidArgumentError("Table '" + options_.name + "' refuses item " +
                                std::to_string(item.key) + ", which has no trajectory.");
  }
  const Status status = state_.CheckPriority(item.priority);
  if (status.ok()) return OkStatus();
  return status.WithContext("Table '" + options_.name + "' refuses item " +
                            std::to_string(item.key));
}

Status Table::Impl::ClosedError() const {
  return CancelledError("RateLimiter has been cancelled: table '" + options_.name + "' is closed.");
}

Table::InsertResult Table::Impl::Insert(std::vector<NewItem> items,
                                        const std::shared_ptr<InsertObserver>& observer) {
  InsertResult result;
  size_t num_good = 0;
  for (; num_good < items.size(); ++num_good) {
    Status status = CheckItem(items[num_good]);
    if (status.ok()) continue;
    result.status = std::move(status);
    break;
  }
  items.resize(num_good);
  InsertBatch batch{observer, std::move(items)};
  const int64_t now_nanos = clock_->WallNanos();
  Aftermath aftermath;
  {
    MutexLock lock(&mu_);
    if (closed_) return {ClosedError(), 0, false};
    if (num_good > 0) {
      inserts_.Push(std::move(batch));
      Pump(now_nanos, &aftermath);
    }
    result.over_soft_limit = inserts_.num_items() > soft_limit_;
  }
  result.num_accepted = num_good;
  Settle(&aftermath);
  return result;
}

void Table::Impl::CancelInserts(const InsertObserver* observer) {
  std::vector<InsertBatch> removed;
  MutexLock lock(&mu_);
  inserts_.Remove(observer, &removed);
}

Table::Ticket Table::Impl::Sample(const SampleOptions& options, SampleCallback callback,
                                  std::weak_ptr<Table> self) {
  const Ticket ticket = ++last_ticket_;
  if (options.num_samples < 1) {
    SampleResult refused;
    refused.status =
        InvalidArgumentError("Table '" + options_.name + "': num_samples is " +
                             std::to_string(options.num_samples) + "; expected at least 1.");
    callback(std::move(refused));
    return ticket;
  }
  SampleQueue::node_type node = MakeRequest(ticket, options, std::move(callback));
  const bool has_deadline = options.deadline != kNoDeadline;
  const bool is_late = has_deadline && options.deadline <= clock_->Now();
  const int64_t now_nanos = clock_->WallNanos();
  Aftermath aftermath;
  bool parked = false;
  Status refused;
  {
    MutexLock lock(&mu_);
    if (closed_) {
      refused = ClosedError();
    } else if (options.unless_version == state_.version()) {
      refused = LateError(options);
    } else {
      SampleQueue& queue = options.min_version > state_.version() ? early_requests_ : requests_;
      queue.insert(queue.end(), std::move(node));
      Pump(now_nanos, &aftermath);
      SampleRequest* const request = Find(ticket);
      parked = request != nullptr;
      if (parked) request->has_waited = true;
    }
  }
  if (!node.empty()) FinishRequest(std::move(node), std::move(refused));
  Settle(&aftermath);
  if (parked && is_late) {
    Expire(ticket);
  } else if (parked && has_deadline) {
    SetTimer(ticket, options.deadline, std::move(self));
  }
  return ticket;
}

Table::Impl::SampleQueue::node_type Table::Impl::MakeRequest(Ticket ticket,
                                                             const SampleOptions& options,
                                                             SampleCallback callback) {
  SampleQueue made;
  SampleRequest& request = made[ticket];
  request.options = options;
  request.callback = std::move(callback);
  request.items.reserve(std::min(options.num_samples, kReservedSamples));
  return made.extract(made.begin());
}

void Table::Impl::SetTimer(Ticket ticket, TimePoint deadline, std::weak_ptr<Table> self) {
  const Clock::TimerId timer = clock_->CallAt(deadline, [ticket, self = std::move(self)] {
    if (const std::shared_ptr<Table> table = self.lock()) table->impl_->Expire(ticket);
  });
  {
    MutexLock lock(&mu_);
    if (SampleRequest* const request = Find(ticket)) {
      request->timer = timer;
      return;
    }
  }
  clock_->Cancel(timer);  // finished meanwhile
}

Table::Impl::SampleRequest* Table::Impl::Find(Ticket ticket) {
  for (SampleQueue* queue : {&requests_, &early_requests_}) {
    const auto found = queue->find(ticket);
    if (found != queue->end()) return &found->second;
  }
  return nullptr;
}

Table::Impl::SampleQueue::node_type Table::Impl::Take(Ticket ticket) {
  SampleQueue::node_type node = requests_.extract(ticket);
  return node.empty() ? early_requests_.extract(ticket) : std::move(node);
}

Status Table::Impl::LateError(const SampleOptions& options) const {
  const int64_t version = state_.version();
  std::string why = state_.limiter().ExplainSample();
  if (options.unless_version == version) {
    why = "There is nothing but version " + std::to_string(version) + ".";
  } else if (options.min_version > version) {
    why = "Sampling waits for version " + std::to_string(options.min_version) +
          "; there is version " + std::to_string(version) + ".";
  }
  return DeadlineExceededError(
      "Rate Limiter: Timeout exceeded before the right to insert was acquired. Table '" +
      options_.name + "': " + why);
}

void Table::Impl::Expire(Ticket ticket) {
  SampleQueue::node_type node;
  Status late;
  {
    MutexLock lock(&mu_);
    node = Take(ticket);
    if (node.empty()) return;
    late = LateError(node.mapped().options);
  }
  FinishRequest(std::move(node), std::move(late));
}

bool Table::Impl::CancelSample(Ticket ticket) {
  SampleQueue::node_type node;
  {
    MutexLock lock(&mu_);
    node = Take(ticket);
  }
  if (node.empty()) return false;
  FinishRequest(std::move(node), CancelledError("The sample request to table '" + options_.name +
                                                "' was cancelled."));
  return true;
}

Status Table::Impl::Mutate(const PriorityUpdate* updates, size_t num_updates,
                           const uint64_t* deletes, size_t num_deletes, int64_t* num_deleted) {
  for (size_t i = 0; i < num_updates; ++i) {
    const Status status = state_.CheckPriority(updates[i].priority);
    if (!status.ok()) {
      return status.WithContext("Table '" + options_.name + "' refuses the update of item " +
                                std::to_string(updates[i].key));
    }
  }
  const int64_t now_nanos = clock_->WallNanos();
  Aftermath aftermath;
  int64_t found = 0;
  {
    MutexLock lock(&mu_);
    if (closed_) return ClosedError();
    for (size_t i = 0; i < num_deletes; ++i) {
      found += state_.Delete(deletes[i], &aftermath.discarded);
    }
    state_.Update(updates, num_updates);
    Pump(now_nanos, &aftermath);
  }
  Settle(&aftermath);
  if (num_deleted != nullptr) *num_deleted = found;
  return OkStatus();
}

Status Table::Impl::Reset() {
  const int64_t now_nanos = clock_->WallNanos();
  Aftermath aftermath;
  {
    MutexLock lock(&mu_);
    if (closed_) return ClosedError();
    state_.Reset(&aftermath.discarded);
    Pump(now_nanos, &aftermath);
  }
  Settle(&aftermath);
  return OkStatus();
}

Status Table::Impl::SetRateLimiter(const RateLimiterOptions& options) {
  const int64_t now_nanos = clock_->WallNanos();
  Aftermath aftermath;
  {
    MutexLock lock(&mu_);
    if (closed_) return ClosedError();
    state_.SetLimiter(options);
    Pump(now_nanos, &aftermath);
  }
  Settle(&aftermath);
  return OkStatus();
}

void Table::Impl::Close() {
  SampleQueue requests;
  std::vector<InsertBatch> batches;
  const Status why = ClosedError();
  {
    MutexLock lock(&mu_);
    closed_ = true;
    requests.swap(requests_);
    requests.merge(early_requests_);
    inserts_.RemoveAll(&batches);
    std::vector<InsertNotice> notices;
    for (const InsertBatch& batch : batches) {
      if (!batch.observer) continue;
      InsertNotice& notice = notices.emplace_back(InsertNotice{batch.observer, why, {}});
      for (size_t i = batch.next; i < batch.items.size(); ++i) {
        notice.keys.push_back(batch.items[i].key);
      }
    }
    notices_.Add(&notices);
  }
  while (!requests.empty()) FinishRequest(requests.extract(requests.begin()), why);
  notices_.Deliver();
}

std::optional<SampledItem> Table::Impl::Get(uint64_t key) const {
  SampledItem item;
  MutexLock lock(&mu_);
  if (!state_.Get(key, &item)) return std::nullopt;
  return item;
}

Result<std::vector<SampledItem>> Table::Impl::Get(const uint64_t* keys, size_t n) const {
  std::vector<SampledItem> items(n);
  size_t found = 0;
  for (size_t i = 0; i < n;) {
    const size_t end = std::min(n, i + kKeysAtOnce);
    MutexLock lock(&mu_);
    if (closed_) return ClosedError();
    for (; i < end; ++i) found += state_.Get(keys[i], &items[found]);
  }
  items.resize(found);
  return items;
}

Result<ItemPage> Table::Impl::List(uint64_t start, int64_t max_items) const {
  if (max_items < 1) {
    return InvalidArgumentError("Table '" + options_.name + "': a page of " +
                                std::to_string(max_items) + " items; expected at least 1.");
  }
  max_items = std::min(max_items, kMaxPage);
  const int64_t now_nanos = clock_->WallNanos();
  ItemPage page;
  page.items.reserve(static_cast<size_t>(max_items));
  MutexLock lock(&mu_);
  if (closed_) return ClosedError();
  state_.List(start, static_cast<size_t>(max_items), now_nanos, &page);
  return page;
}

bool Table::Impl::CanSample(int64_t n) const {
  MutexLock lock(&mu_);
  return state_.limiter().CanSample(n);
}

bool Table::Impl::CanInsert(int64_t n) const {
  MutexLock lock(&mu_);
  return state_.limiter().CanInsert(n);
}

TableInfo Table::Impl::Info() {
  TableInfo info;
  RateLimiter limiter(options_.rate_limiter);
  size_t block = 0;
  for (bool more = true; more;) {
    MutexLock lock(&mu_);
    more = state_.SummarizePriorities(&block);
    if (more) continue;
    info.priorities = state_.priorities();
    limiter = state_.limiter();
    info.current_size = state_.size();
    info.num_episodes = state_.episodes().num_episodes();
    info.num_deleted_episodes = state_.episodes().num_deleted();
    info.num_unique_samples = state_.num_unique_samples();
    info.version = state_.version();
    info.memory_bytes = state_.memory_bytes();
    info.data_bytes = state_.data_bytes();
    info.waiting_inserts = inserts_.num_items();
    info.waiting_samples = static_cast<int64_t>(requests_.size() + early_requests_.size());
  }
  info.name = options_.name;
  info.sampler = state_.sampler().options();
  info.remover = state_.remover().options();
  info.sampler_is_deterministic = state_.sampler().is_deterministic();
  info.remover_is_deterministic = state_.remover().is_deterministic();
  info.max_size = options_.max_size;
  info.max_times_sampled = options_.max_times_sampled;
  info.rate_limiter = limiter.options();
  info.signature = options_.signature;
  info.inserts = limiter.inserts();
  info.samples = limiter.samples();
  info.deletes = limiter.deletes();
  info.samples_allowed = limiter.NumSamplesAllowed();
  info.inserts_allowed = limiter.NumInsertsAllowed();
  info.sample_state = limiter.ExplainSample();
  info.insert_state = limiter.ExplainInsert();
  return info;
}

}  // namespace reverb_tf::core
