// Speed of a table, one thread: items a second.
#include <cstdint>
#include <vector>

#include "benchmark/benchmark.h"
#include "cc/core/random.h"
#include "cc/core/table.h"
#include "cc/core/testing/test_items.h"

namespace reverb_tf::core {
namespace {

using Kind = SelectorOptions::Kind;

constexpr int64_t kTableSize = 100'000;

std::shared_ptr<Table> MakeTable(Kind sampler, int64_t max_size = kTableSize) {
  TableOptions options;
  options.name = "benchmark";
  options.sampler.kind = sampler;
  options.remover.kind = Kind::kFifo;
  options.max_size = max_size;
  options.seed = 1;
  return Table::Create(options).value();
}

void Fill(Table* table, Random* random, int64_t n, std::vector<uint64_t>* keys) {
  std::vector<NewItem> items;
  for (int64_t i = 0; i < n; ++i) {
    keys->push_back(random->Next());
    items.push_back(MakeTestItem(keys->back(), 1 + random->Unit()));
  }
  (void)table->Insert(std::move(items), nullptr);
}

// Inserts into a full table: each item is indexed, and evicts another. Making and freeing the data
// of the items (chunk and trajectory) is timed only where `with_data`.
void BM_Insert(benchmark::State& state, Kind sampler, bool with_data) {
  const int64_t batch = state.range(0);
  const auto table = MakeTable(sampler);
  Random random(3);
  std::vector<uint64_t> keys;
  Fill(table.get(), &random, kTableSize, &keys);
  const TrajectoryRef shared = MakeTestItem(1).trajectory;
  for (auto _ : state) {
    std::vector<NewItem> items(batch);
    for (NewItem& item : items) {
      item.key = random.Next();
      item.priority = 1 + random.Unit();
      item.trajectory = with_data ? MakeTestItem(item.key).trajectory : shared;
    }
    benchmark::DoNotOptimize(table->Insert(std::move(items), nullptr));
  }
  state.SetItemsProcessed(state.iterations() * batch);
  state.counters["bytes_per_item"] =
      static_cast<double>(table->Info().memory_bytes) / static_cast<double>(kTableSize);
}

void BM_Sample(benchmark::State& state, Kind sampler) {
  const int64_t batch = state.range(0);
  const auto table = MakeTable(sampler);
  Random random(3);
  std::vector<uint64_t> keys;
  Fill(table.get(), &random, kTableSize, &keys);
  for (auto _ : state) {
    table->Sample({batch, SIZE_MAX, kNoDeadline}, [batch](Table::SampleResult result) {
      if (static_cast<int64_t>(result.items.size()) != batch) std::abort();
    });
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

void BM_UpdatePriorities(benchmark::State& state, Kind sampler) {
  const int64_t batch = state.range(0);
  const auto table = MakeTable(sampler);
  Random random(3);
  std::vector<uint64_t> keys;
  Fill(table.get(), &random, kTableSize, &keys);
  std::vector<PriorityUpdate> updates(batch);
  for (auto _ : state) {
    for (PriorityUpdate& update : updates) {
      update = {keys[random.Below(kTableSize)], 1 + random.Unit()};
    }
    (void)table->Mutate(updates.data(), updates.size(), nullptr, 0);
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

#define SELECTORS(name, ...)                                                  \
  BENCHMARK_CAPTURE(name, fifo, Kind::kFifo, ##__VA_ARGS__)->Arg(1)->Arg(64); \
  BENCHMARK_CAPTURE(name, lifo, Kind::kLifo, ##__VA_ARGS__)->Arg(64);         \
  BENCHMARK_CAPTURE(name, uniform, Kind::kUniform, ##__VA_ARGS__)->Arg(64);   \
  BENCHMARK_CAPTURE(name, min_heap, Kind::kMinHeap, ##__VA_ARGS__)->Arg(64);  \
  BENCHMARK_CAPTURE(name, max_heap, Kind::kMaxHeap, ##__VA_ARGS__)->Arg(64);  \
  BENCHMARK_CAPTURE(name, prioritized, Kind::kPrioritized, ##__VA_ARGS__)->Arg(1)->Arg(64)->Arg(256)

SELECTORS(BM_Insert, false);
BENCHMARK_CAPTURE(BM_Insert, uniform_with_data, Kind::kUniform, true)->Arg(1)->Arg(64);
BENCHMARK_CAPTURE(BM_Insert, prioritized_with_data, Kind::kPrioritized, true)->Arg(64);
SELECTORS(BM_Sample);
SELECTORS(BM_UpdatePriorities);

}  // namespace
}  // namespace reverb_tf::core

BENCHMARK_MAIN();
