#include "cc/core/table_state.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>

namespace reverb_tf::core {
namespace {

[[noreturn]] void EndProcess(const Status& status) {
  std::fprintf(stderr, "reverb_tf: table damaged: %s\n", status.ToString().c_str());
  std::abort();
}

inline void Must(const Status& status) {
  if (!status.ok()) EndProcess(status);
}

Selector::Pick MustSample(Selector* selector) {
  const Result<Selector::Pick> pick = selector->Sample();
  Must(pick.status());
  return *pick;
}

}  // namespace

TableState::TableState(int64_t max_size, int32_t max_times_sampled,
                       const RateLimiterOptions& rate_limiter, std::unique_ptr<Selector> sampler,
                       std::unique_ptr<Selector> remover)
    : max_size_(std::min(max_size, ItemStore::kMaxSize - 1)),
      max_times_sampled_(max_times_sampled),
      limiter_(rate_limiter),
      sampler_(std::move(sampler)),
      remover_(std::move(remover)) {}

Status TableState::CheckPriority(double priority) const {
  REVERB_TF_RETURN_IF_ERROR(sampler_->CheckPriority(priority));
  return remover_->CheckPriority(priority);
}

void TableState::InsertOrUpdate(NewItem* item, int64_t now_nanos, Discarded* discarded) {
  const auto [slot, added] = items_.FindOrAdd(item->key);
  if (!added) {
    SetPriority(slot, item->priority);
    return;
  }
  FillRow(&items_.row(slot), item, now_nanos);
  Must(sampler_->Insert(slot, item->priority));
  Must(remover_->Insert(slot, item->priority));
  if (items_.size() > max_size_) {
    discarded->trajectories.push_back(Remove(MustSample(remover_.get()).slot));
  }
  limiter_.DidInsert();
  ++version_;
}

void TableState::FillRow(ItemRow* row, NewItem* item, int64_t now_nanos) {
  row->priority = item->priority;
  row->times_sampled = item->times_sampled;
  // Distinct, so that the order of insertion can be told from them.
  last_inserted_at_nanos_ = std::max(now_nanos, last_inserted_at_nanos_ + 1);
  row->inserted_at_nanos = last_inserted_at_nanos_;
  row->trajectory = std::move(item->trajectory);

  const Trajectory& trajectory = *row->trajectory;
  row->chunk_bytes = trajectory.chunk_bytes();
  data_bytes_ += static_cast<int64_t>(row->chunk_bytes);
  const int n = trajectory.num_chunks();
  row->episode_id = trajectory.chunk(0)->header().episode_id;
  row->num_chunks = n;
  for (int i = 1; i < n; ++i) {
    if (trajectory.chunk(i)->header().episode_id != row->episode_id) row->num_chunks = 0;
  }
  if (row->num_chunks > 0) {
    episodes_.Add(row->episode_id, n);
    return;
  }
  for (int i = 0; i < n; ++i) episodes_.Add(trajectory.chunk(i)->header().episode_id, 1);
}

size_t TableState::NumAllowed(size_t max) const {
  RateLimiter ahead = limiter_;
  size_t n = 0;
  for (; n < max && ahead.CanSample(1); ++n) ahead.DidSample();
  return n;
}

void TableState::Sample(int64_t max_items, size_t max_bytes, std::vector<SampledItem>* items,
                        size_t* bytes, Discarded* discarded) {
  // Where a sample can delete its item, the next choice depends on it.
  const size_t group = max_times_sampled_ > 0 ? 1 : kGroup;
  Selector::Pick picks[kGroup];
  while (true) {
    const size_t wanted = static_cast<size_t>(max_items) - items->size();
    const size_t n = NumAllowed(std::min(group, wanted));
    if (n == 0) return;
    Must(sampler_->SampleMany(picks, n));
    for (size_t i = 0; i < n; ++i) items_.PrefetchRow(picks[i].slot);
    for (size_t i = 0; i < n; ++i) items_.PrefetchTrajectory(picks[i].slot);
    for (size_t i = 0; i < n; ++i) {
      *bytes += items_.row(picks[i].slot).chunk_bytes;
      SampleOne(picks[i], &items->emplace_back(), discarded);
      // Choices that are not needed are forgotten: a choice changes nothing.
      if (*bytes >= max_bytes) return;
    }
  }
}

void TableState::SampleOne(const Selector::Pick& pick, SampledItem* sample, Discarded* discarded) {
  ItemRow& row = items_.row(pick.slot);
  if (row.times_sampled == 0) ++num_unique_samples_;
  // A peer chooses where the count begins.
  if (row.times_sampled < std::numeric_limits<int32_t>::max()) ++row.times_sampled;
  limiter_.DidSample();

  sample->key = row.key;
  sample->probability = pick.probability;
  sample->priority = row.priority;
  sample->table_size = items_.size();
  sample->inserted_at_nanos = row.inserted_at_nanos;
  sample->version = version_;
  sample->times_sampled = row.times_sampled;
  sample->trajectory = row.trajectory;
  if (max_times_sampled_ > 0 && row.times_sampled == max_times_sampled_) {
    discarded->trajectories.push_back(Remove(pick.slot));
  }
}

bool TableState::Delete(uint64_t key, Discarded* discarded) {
  const Slot slot = items_.Find(key);
  if (slot == ItemStore::kNoSlot) return false;
  discarded->trajectories.push_back(Remove(slot));
  return true;
}

void TableState::Update(const PriorityUpdate* updates, size_t num_updates) {
  for (size_t i = 0; i < num_updates; i += kGroup) {
    UpdateGroup(updates + i, std::min(kGroup, num_updates - i));
  }
}

void TableState::UpdateGroup(const PriorityUpdate* updates, size_t n) {
  Slot slots[kGroup];
  for (size_t i = 0; i < n; ++i) items_.Prefetch(updates[i].key);
  for (size_t i = 0; i < n; ++i) {
    slots[i] = items_.Find(updates[i].key);
    if (slots[i] == ItemStore::kNoSlot) continue;
    items_.PrefetchRow(slots[i]);
    sampler_->Prefetch(slots[i]);
    remover_->Prefetch(slots[i]);
  }
  for (size_t i = 0; i < n; ++i) {
    if (slots[i] != ItemStore::kNoSlot) SetPriority(slots[i], updates[i].priority);
  }
}

void TableState::SetPriority(Slot slot, double priority) {
  items_.SetPriority(slot, priority);
  Must(sampler_->Update(slot, priority));
  Must(remover_->Update(slot, priority));
}

TrajectoryRef TableState::Remove(Slot slot) {
  const ItemRow& row = items_.row(slot);
  items_.PrefetchTrajectory(slot);  // it is released soon
  data_bytes_ -= static_cast<int64_t>(row.chunk_bytes);
  if (row.num_chunks > 0) {
    episodes_.Remove(row.episode_id, row.num_chunks);
  } else {
    const Trajectory& trajectory = *row.trajectory;
    for (int i = 0; i < trajectory.num_chunks(); ++i) {
      episodes_.Remove(trajectory.chunk(i)->header().episode_id, 1);
    }
  }
  Must(sampler_->Delete(slot));
  Must(remover_->Delete(slot));
  limiter_.DidDelete();
  return items_.Remove(slot);
}

void TableState::Reset(Discarded* discarded) {
  discarded->stores.push_back(std::exchange(items_, ItemStore()));
  discarded->episodes.push_back(std::exchange(episodes_, EpisodeCounter()));
  sampler_->Clear();
  remover_->Clear();
  limiter_.Reset();
  num_unique_samples_ = 0;
  data_bytes_ = 0;
}

void TableState::CopyItems(std::vector<TableSnapshot::Item>* items) const {
  if (items->size() < static_cast<size_t>(size())) items->resize(static_cast<size_t>(size()));
  size_t n = 0;
  items_.ForEach([&](const ItemRow& row) {
    TableSnapshot::Item& item = (*items)[n++];
    item.key = row.key;
    item.priority = row.priority;
    item.inserted_at_nanos = row.inserted_at_nanos;
    item.times_sampled = row.times_sampled;
    item.trajectory = row.trajectory;
  });
  items->resize(n);
}

int64_t TableState::Restore(TableSnapshot* snapshot, Discarded* discarded) {
  std::vector<Slot> exhausted;
  for (TableSnapshot::Item& item : snapshot->items) {
    const Slot slot = items_.FindOrAdd(item.key).first;
    NewItem row{item.key, item.priority, item.times_sampled, std::move(item.trajectory)};
    FillRow(&items_.row(slot), &row, item.inserted_at_nanos);
    Must(sampler_->Insert(slot, item.priority));
    Must(remover_->Insert(slot, item.priority));
    if (max_times_sampled_ > 0 && item.times_sampled >= max_times_sampled_) {
      exhausted.push_back(slot);
    }
  }
  num_unique_samples_ = std::max<int64_t>(snapshot->num_unique_samples, 0);
  episodes_.set_num_deleted(std::max<int64_t>(snapshot->num_deleted_episodes, 0));
  // The limiter goes by inserts - deletes for the size, so the deletes are made to fit.
  const int64_t inserts = std::max(snapshot->inserts, size());
  limiter_.SetCounts(inserts, std::max<int64_t>(snapshot->samples, 0), inserts - size());
  version_ = std::max(snapshot->version, inserts);
  const int64_t before = size();
  for (const Slot slot : exhausted) discarded->trajectories.push_back(Remove(slot));
  while (size() > max_size_) {
    discarded->trajectories.push_back(Remove(MustSample(remover_.get()).slot));
  }
  return before - size();
}

bool TableState::Get(uint64_t key, SampledItem* item) const {
  const Slot slot = items_.Find(key);
  if (slot == ItemStore::kNoSlot) return false;
  const ItemRow& row = items_.row(slot);
  item->key = row.key;
  item->priority = row.priority;
  item->table_size = items_.size();
  item->inserted_at_nanos = row.inserted_at_nanos;
  item->times_sampled = row.times_sampled;
  item->trajectory = row.trajectory;
  return true;
}

void TableState::List(uint64_t start, size_t max_items, int64_t now_nanos, ItemPage* page) const {
  // Rows without an item are bounded too.
  constexpr uint64_t kRowsPerItem = 4;
  const uint64_t num_rows = items_.num_rows();
  const uint64_t end = start < num_rows ? std::min(num_rows, start + kRowsPerItem * max_items) : 0;
  uint64_t slot = start;
  for (; slot < end && page->items.size() < max_items; ++slot) {
    const ItemRow& row = items_.row(static_cast<Slot>(slot));
    if (!row.trajectory) continue;
    const int64_t age = std::max<int64_t>(0, now_nanos - row.inserted_at_nanos);
    page->items.push_back({row.key, row.priority, row.times_sampled, Duration(age),
                           static_cast<int64_t>(row.chunk_bytes)});
  }
  page->next = slot < num_rows ? slot : 0;
}

int64_t TableState::memory_bytes() const {
  return static_cast<int64_t>(items_.memory_bytes() + sampler_->memory_bytes() +
                              remover_->memory_bytes()) +
         episodes_.memory_bytes();
}

}  // namespace reverb_tf::core
