// The loop that executes parked operations.
#include <utility>

#include "cc/core/table_impl.h"

namespace reverb_tf::core {
namespace {

// So many items ahead their entries of the key index are fetched into the cache.
constexpr size_t kPrefetchDistance = 4;

}  // namespace

void Table::Impl::Pump(int64_t now_nanos, Aftermath* aftermath) {
  do {
    // One insert, then what can be sampled for the first request: the two kinds alternate.
    bool progress = true;
    while (progress) {
      progress = PumpInsert(now_nanos, aftermath);
      progress |= PumpSample(aftermath);
    }
    if (!requests_.empty() && !requests_.begin()->second.items.empty()) {
      FinishFirstRequest(aftermath);
    }
    // Now no request holds items, so that another one may become the first.
  } while (AdmitRequests());
  notices_.Add(&aftermath->notices);
}

bool Table::Impl::AdmitRequests() {
  bool any = false;
  for (auto it = early_requests_.begin(); it != early_requests_.end();) {
    const auto here = it++;
    if (here->second.options.min_version > state_.version()) continue;
    requests_.insert(early_requests_.extract(here));
    any = true;
  }
  return any;
}

bool Table::Impl::PumpInsert(int64_t now_nanos, Aftermath* aftermath) {
  if (inserts_.empty() || !state_.limiter().CanInsert(1)) return false;
  InsertBatch& batch = inserts_.front();
  NewItem& item = batch.items[batch.next];
  if (batch.next + kPrefetchDistance < batch.items.size()) {
    state_.Prefetch(batch.items[batch.next + kPrefetchDistance].key);
  }
  state_.InsertOrUpdate(&item, now_nanos, &aftermath->discarded);
  if (batch.observer) {
    std::vector<InsertNotice>& notices = aftermath->notices;
    if (notices.empty() || notices.back().observer != batch.observer) {
      notices.push_back({batch.observer, OkStatus(), {}});
      notices.back().keys.reserve(batch.num_waiting());
    }
    notices.back().keys.push_back(item.key);
  }
  inserts_.Pop(&aftermath->batches);
  return true;
}

bool Table::Impl::PumpSample(Aftermath* aftermath) {
  if (requests_.empty()) return false;
  SampleRequest& request = requests_.begin()->second;
  const size_t before = request.items.size();
  state_.Sample(request.options.num_samples, request.options.max_bytes, &request.items,
                &request.bytes, &aftermath->discarded);
  const bool progress = request.items.size() > before;
  if (request.IsFull()) FinishFirstRequest(aftermath);
  return progress;
}

void Table::Impl::FinishFirstRequest(Aftermath* aftermath) {
  SampleRequest& request = requests_.begin()->second;
  if (request.has_waited) {
    for (SampledItem& item : request.items) item.rate_limited = true;
  }
  aftermath->requests.push_back(requests_.extract(requests_.begin()));
}

void Table::Impl::Settle(Aftermath* aftermath) {
  for (SampleQueue::node_type& node : aftermath->requests) {
    FinishRequest(std::move(node), OkStatus());
  }
  notices_.Deliver();
}

void Table::Impl::FinishRequest(SampleQueue::node_type node, Status status) {
  SampleRequest& request = node.mapped();
  if (request.timer != Clock::kNoTimer) clock_->Cancel(request.timer);
  request.callback({std::move(status), std::move(request.items)});
}

}  // namespace reverb_tf::core
