#include "cc/core/table_snapshot.h"

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>

#include "cc/core/number_text.h"
#include "cc/core/selector.h"
#include "cc/core/table_impl.h"

namespace reverb_tf::core {
namespace {

bool Same(const SelectorOptions& a, const SelectorOptions& b) {
  return a.kind == b.kind && (a.kind != SelectorOptions::Kind::kPrioritized ||
                              a.priority_exponent == b.priority_exponent);
}

std::string SamplesText(int32_t max_times_sampled) {
  return max_times_sampled < 1 ? "no limit" : std::to_string(max_times_sampled);
}

}  // namespace

std::vector<std::string> DescribeDifferences(const TableOptions& here,
                                             const TableOptions& checkpoint) {
  std::vector<std::string> lines;
  const auto add = [&](const char* name, const std::string& mine, const std::string& other) {
    lines.push_back(std::string(name) + ": " + mine + " here, " + other + " in the checkpoint");
  };
  const auto compare = [&](const char* name, double mine, double other) {
    if (mine != other) add(name, NumberText(mine), NumberText(other));
  };
  if (!Same(here.sampler, checkpoint.sampler)) {
    add("sampler", SelectorText(here.sampler), SelectorText(checkpoint.sampler));
  }
  if (!Same(here.remover, checkpoint.remover)) {
    add("remover", SelectorText(here.remover), SelectorText(checkpoint.remover));
  }
  if (here.max_size != checkpoint.max_size) {
    add("max_size", std::to_string(here.max_size), std::to_string(checkpoint.max_size));
  }
  if (std::max(here.max_times_sampled, 0) != std::max(checkpoint.max_times_sampled, 0)) {
    add("max_times_sampled", SamplesText(here.max_times_sampled),
        SamplesText(checkpoint.max_times_sampled));
  }
  const RateLimiterOptions& limiter = here.rate_limiter;
  const RateLimiterOptions& other = checkpoint.rate_limiter;
  compare("samples_per_insert", limiter.samples_per_insert, other.samples_per_insert);
  if (limiter.min_size_to_sample != other.min_size_to_sample) {
    add("min_size_to_sample", std::to_string(limiter.min_size_to_sample),
        std::to_string(other.min_size_to_sample));
  }
  compare("min_diff", limiter.min_diff, other.min_diff);
  compare("max_diff", limiter.max_diff, other.max_diff);
  if (here.signature.has_value() != checkpoint.signature.has_value()) {
    add("signature", here.signature ? "one" : "none", checkpoint.signature ? "one" : "none");
  } else if (here.signature != checkpoint.signature) {
    add("signature", "one", "another");
  }
  return lines;
}

// The analysis cannot follow a list of locks.
std::vector<TableSnapshot> Table::Impl::SnapshotAll(std::vector<const Impl*> tables)
    NO_THREAD_SAFETY_ANALYSIS {
  std::vector<TableSnapshot> snapshots(tables.size());
  for (size_t i = 0; i < tables.size(); ++i) {
    snapshots[i].options = tables[i]->Settings();
    // Room for a few more than there are: memory is not to be had under the locks.
    const int64_t size = tables[i]->Size();
    snapshots[i].items.resize(static_cast<size_t>(size + size / 16) + 64);
  }
  std::vector<const Impl*> in_lock_order = tables;
  std::sort(in_lock_order.begin(), in_lock_order.end(), std::less<const Impl*>());
  for (const Impl* table : in_lock_order) table->mu_.Lock();
  for (size_t i = 0; i < tables.size(); ++i) {
    const TableState& state = tables[i]->state_;
    TableSnapshot& snapshot = snapshots[i];
    snapshot.options.rate_limiter = state.limiter().options();
    snapshot.inserts = state.limiter().inserts();
    snapshot.samples = state.limiter().samples();
    snapshot.deletes = state.limiter().deletes();
    snapshot.num_deleted_episodes = state.episodes().num_deleted();
    snapshot.num_unique_samples = state.num_unique_samples();
    snapshot.version = state.version();
    state.CopyItems(&snapshot.items);
  }
  for (const Impl* table : in_lock_order) table->mu_.Unlock();
  for (TableSnapshot& snapshot : snapshots) {
    std::sort(snapshot.items.begin(), snapshot.items.end(), [](const auto& a, const auto& b) {
      return a.inserted_at_nanos < b.inserted_at_nanos;
    });
  }
  return snapshots;
}

TableOptions Table::Impl::Settings() const {
  TableOptions settings = options_;
  settings.sampler = state_.sampler().options();
  settings.remover = state_.remover().options();
  settings.seed.reset();
  MutexLock lock(&mu_);
  settings.rate_limiter = state_.limiter().options();
  return settings;
}

int64_t Table::Impl::Size() const {
  MutexLock lock(&mu_);
  return state_.size();
}

Status Table::Impl::CheckSnapshot(const TableSnapshot& snapshot) const {
  if (snapshot.items.size() > static_cast<size_t>(ItemStore::kMaxSize) - 1) {
    return InvalidArgumentError("Table '" + options_.name + "' cannot hold the " +
                                std::to_string(snapshot.items.size()) + " items of a checkpoint.");
  }
  std::unordered_set<uint64_t> keys;
  keys.reserve(snapshot.items.size());
  for (const TableSnapshot::Item& item : snapshot.items) {
    if (!keys.insert(item.key).second) {
      return InvalidArgumentError("Table '" + options_.name + "': the checkpoint has item " +
                                  std::to_string(item.key) + " twice.");
    }
    REVERB_TF_RETURN_IF_ERROR(CheckItem({item.key, item.priority, 0, item.trajectory}));
  }
  return OkStatus();
}

Result<int64_t> Table::Impl::Restore(TableSnapshot snapshot) {
  REVERB_TF_RETURN_IF_ERROR(CheckSnapshot(snapshot));
  const int64_t now_nanos = clock_->WallNanos();
  int64_t num_dropped = 0;
  Aftermath aftermath;
  {
    MutexLock lock(&mu_);
    if (closed_) return ClosedError();
    if (state_.limiter().inserts() > 0) {
      return FailedPreconditionError("Table '" + options_.name +
                                     "' cannot be filled from a checkpoint: it has had " +
                                     std::to_string(state_.limiter().inserts()) +
                                     " items inserted; expected a table that was not used.");
    }
    num_dropped = state_.Restore(&snapshot, &aftermath.discarded);
    Pump(now_nanos, &aftermath);
  }
  Settle(&aftermath);
  return num_dropped;
}

TableOptions Table::Settings() const { return impl_->Settings(); }

std::vector<TableSnapshot> Table::SnapshotAll(const std::vector<std::shared_ptr<Table>>& tables) {
  std::vector<const Impl*> impls;
  impls.reserve(tables.size());
  for (const std::shared_ptr<Table>& table : tables) impls.push_back(table->impl_.get());
  return Impl::SnapshotAll(std::move(impls));
}

Result<int64_t> Table::Restore(TableSnapshot snapshot) {
  const std::shared_ptr<Table> self = shared_from_this();
  return impl_->Restore(std::move(snapshot));
}

}  // namespace reverb_tf::core
