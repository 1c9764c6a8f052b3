#include "cc/core/testing/table_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace reverb_tf::core {

using Kind = SelectorOptions::Kind;

bool TableModel::CanInsert() const {
  const RateLimiterOptions& limiter = options_.rate_limiter;
  if (inserts + 1 - deletes <= limiter.min_size_to_sample) return true;
  return (inserts + 1) * limiter.samples_per_insert - samples <= limiter.max_diff;
}

bool TableModel::CanSample() const {
  const RateLimiterOptions& limiter = options_.rate_limiter;
  return inserts - deletes >= limiter.min_size_to_sample &&
         inserts * limiter.samples_per_insert - samples - 1 >= limiter.min_diff;
}

int64_t TableModel::Find(uint64_t key) const {
  for (size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].key == key) return static_cast<int64_t>(i);
  }
  return -1;
}

bool TableModel::MayChoose(const SelectorOptions& selector, size_t item, double probability) const {
  const auto is_first = [&](auto before) {
    return std::none_of(items_.begin(), items_.end(),
                        [&](const Item& other) { return before(other, items_[item]); }) &&
           probability == 1;
  };
  const auto weight = [&](const Item& i) {
    return i.priority == 0 ? 0 : std::pow(i.priority, selector.priority_exponent);
  };
  const double one_of_all = 1.0 / static_cast<double>(items_.size());
  switch (selector.kind) {
    case Kind::kFifo:
      return is_first([](const Item& a, const Item& b) { return a.inserted < b.inserted; });
    case Kind::kLifo:
      return is_first([](const Item& a, const Item& b) { return a.inserted > b.inserted; });
    case Kind::kMinHeap:
      return is_first([](const Item& a, const Item& b) {
        return a.priority < b.priority || (a.priority == b.priority && a.touched < b.touched);
      });
    case Kind::kMaxHeap:
      return is_first([](const Item& a, const Item& b) {
        return a.priority > b.priority || (a.priority == b.priority && a.touched < b.touched);
      });
    case Kind::kUniform:
      return probability == one_of_all;
    case Kind::kPrioritized: {
      double total = 0;
      for (const Item& i : items_) total += weight(i);
      if (total == 0) return probability == one_of_all;
      return probability > 0 && std::fabs(probability - weight(items_[item]) / total) < 1e-12;
    }
  }
  return false;
}

size_t TableModel::Choose(const SelectorOptions& selector, const Record& record,
                          double* probability) {
  if (record->picked.empty()) {
    error_ = "the model chose an item and the table did not";
    *probability = 0;
    return 0;
  }
  const Selector::Pick pick = record->picked.front();
  record->picked.pop_front();
  *probability = pick.probability;
  for (size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].slot != pick.slot) continue;
    if (!MayChoose(selector, i, pick.probability)) {
      error_ = "the table chose item " + std::to_string(items_[i].key) + " with probability " +
               std::to_string(pick.probability);
    }
    return i;
  }
  error_ = "the table chose slot " + std::to_string(pick.slot) + ", which holds no item";
  return 0;
}

void TableModel::Insert(const std::vector<Item>& items, int observer) {
  for (const Item& item : items) parked_inserts_.push_back({item, observer});
  Pump();
}

void TableModel::InsertNow(const ParkedInsert& insert) {
  inserted_keys_[insert.observer].push_back(insert.item.key);
  if (Find(insert.item.key) >= 0) {
    Update(insert.item.key, insert.item.priority);
    return;
  }
  Item item = insert.item;
  item.inserted = item.touched = ++event_;
  if (sampled_->inserted.empty() || sampled_->inserted != removed_->inserted) {
    error_ = "the table did not insert item " + std::to_string(item.key);
    return;
  }
  item.slot = sampled_->inserted.front();
  sampled_->inserted.pop_front();
  removed_->inserted.pop_front();
  items_.push_back(item);
  if (static_cast<int64_t>(items_.size()) > options_.max_size) {
    double probability;
    Remove(Choose(options_.remover, removed_, &probability));
  }
  ++inserts;
}

void TableModel::SampleNow(Request* request) {
  double probability;
  const size_t chosen = Choose(options_.sampler, sampled_, &probability);
  Item& item = items_[chosen];
  if (item.times_sampled == 0) ++num_unique;
  ++item.times_sampled;
  ++samples;
  request->samples.push_back({item.key, probability, item.priority,
                              static_cast<int64_t>(items_.size()), item.times_sampled,
                              request->has_waited});
  if (item.times_sampled == options_.max_times_sampled) Remove(chosen);
}

void TableModel::Finish(StatusCode code) {
  Request& request = requests_[parked_requests_.front()];
  request.done = true;
  request.code = code;
  parked_requests_.pop_front();
}

void TableModel::Pump() {
  bool progress = true;
  while (progress && error_.empty()) {
    progress = false;
    if (!parked_inserts_.empty() && CanInsert()) {
      const ParkedInsert insert = parked_inserts_.front();
      parked_inserts_.pop_front();
      InsertNow(insert);
      progress = true;
    }
    if (parked_requests_.empty()) continue;
    Request& request = requests_[parked_requests_.front()];
    const auto is_full = [&request] {
      return static_cast<int64_t>(request.samples.size()) == request.num_samples;
    };
    while (!is_full() && CanSample() && error_.empty()) {
      SampleNow(&request);
      progress = true;
    }
    if (is_full()) Finish(StatusCode::kOk);
  }
  if (!parked_requests_.empty() && !requests_[parked_requests_.front()].samples.empty()) {
    Finish(StatusCode::kOk);
  }
  for (size_t waiting : parked_requests_) requests_[waiting].has_waited = true;
}

void TableModel::CancelInserts(int observer) {
  std::deque<ParkedInsert> kept;
  for (const ParkedInsert& insert : parked_inserts_) {
    if (insert.observer != observer) kept.push_back(insert);
  }
  parked_inserts_ = kept;
}

size_t TableModel::AddRequest(int64_t num_samples, int64_t deadline) {
  Request request;
  request.num_samples = num_samples;
  request.deadline = deadline;
  requests_.push_back(request);
  parked_requests_.push_back(requests_.size() - 1);
  Pump();
  AdvanceTo(now_);
  return requests_.size() - 1;
}

bool TableModel::CancelRequest(size_t request) {
  const auto found = std::find(parked_requests_.begin(), parked_requests_.end(), request);
  if (found == parked_requests_.end()) return false;
  parked_requests_.erase(found);
  requests_[request].done = true;
  requests_[request].code = StatusCode::kCancelled;
  return true;
}

void TableModel::AdvanceTo(int64_t seconds) {
  now_ = seconds;
  std::deque<size_t> kept;
  for (size_t i : parked_requests_) {
    Request& request = requests_[i];
    if (request.deadline < 0 || request.deadline > now_) {
      kept.push_back(i);
    } else {
      request.done = true;
      request.code = StatusCode::kDeadlineExceeded;
    }
  }
  parked_requests_ = kept;
}

void TableModel::Delete(uint64_t key) {
  const int64_t item = Find(key);
  if (item >= 0) Remove(static_cast<size_t>(item));
}

void TableModel::Update(uint64_t key, double priority) {
  const int64_t item = Find(key);
  if (item < 0) return;
  items_[item].priority = priority;
  items_[item].touched = ++event_;
}

void TableModel::Remove(size_t item) {
  const int64_t before = num_episodes();
  items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(item));
  num_deleted_episodes += before - num_episodes();
  ++deletes;
}

int64_t TableModel::num_episodes() const {
  std::set<uint64_t> episodes;
  for (const Item& item : items_) episodes.insert(item.episodes.begin(), item.episodes.end());
  return static_cast<int64_t>(episodes.size());
}

void TableModel::Reset() {
  items_.clear();
  inserts = samples = deletes = num_unique = num_deleted_episodes = 0;
  Pump();
}

void TableModel::Close() {
  for (const ParkedInsert& insert : parked_inserts_) {
    dropped_keys_[insert.observer].push_back(insert.item.key);
  }
  parked_inserts_.clear();
  while (!parked_requests_.empty()) Finish(StatusCode::kCancelled);
}

void TableModel::CheckAllChoicesFollowed() {
  if (!error_.empty()) return;
  if (!sampled_->picked.empty() || !removed_->picked.empty()) {
    error_ = "the table chose an item and the model did not";
  }
  if (!sampled_->inserted.empty() || !removed_->inserted.empty()) {
    error_ = "the table inserted an item and the model did not";
  }
}

}  // namespace reverb_tf::core
