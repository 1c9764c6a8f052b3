// Speed of saving and loading a table of random floats, which do not compress: bytes a second. The
// folder is $CHECKPOINT_BENCHMARK_DIR, or /tmp.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "cc/checkpoint/loader.h"
#include "cc/checkpoint/store.h"
#include "cc/core/random.h"
#include "cc/core/table.h"
#include "cc/wire/chunk_codec.h"

namespace reverb_tf::checkpoint {
namespace {

constexpr int64_t kTotalBytes = 800'000'000;

std::string Root() {
  const char* const folder = std::getenv("CHECKPOINT_BENCHMARK_DIR");
  return std::string(folder == nullptr ? "/tmp" : folder) + "/reverb_tf_checkpoint_benchmark";
}

core::NewItem MakeItem(uint64_t key, int64_t chunk_bytes, core::Random* random) {
  std::vector<uint64_t> values(static_cast<size_t>(chunk_bytes / 8));
  for (uint64_t& value : values) value = random->Next();
  const int64_t dims[] = {1, chunk_bytes / 4};
  const TensorView column = {DType::kFloat32, 2, dims, values.data()};
  core::Chunk::Header header;
  header.key = key;
  header.num_rows = 1;
  std::vector<core::ChunkRef> chunks = {wire::EncodeChunk(header, &column, 1, nullptr).value()};
  return {key, 1.0, 0,
          core::Trajectory::Create(std::move(chunks), {{0, 1, false}}, {{0, 0, 1, 0}}).value()};
}

std::shared_ptr<core::Table> MakeTable() {
  TableOptions options;
  options.name = "benchmark";
  options.max_size = kTotalBytes;
  return core::Table::Create(options).value();
}

std::shared_ptr<core::Table> MakeFullTable(int64_t chunk_bytes) {
  const auto table = MakeTable();
  core::Random random(1);
  for (int64_t i = 0; i < kTotalBytes / chunk_bytes; ++i) {
    std::vector<core::NewItem> items;
    items.push_back(MakeItem(random.Next(), chunk_bytes, &random));
    (void)table->Insert(std::move(items), nullptr);
  }
  return table;
}

// Everything is new.
void BM_Save(benchmark::State& state, CheckpointFormat format) {
  const auto table = MakeFullTable(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    std::filesystem::remove_all(Root());
    StoreOptions options;
    options.format = format;
    Store store(Root(), options);
    state.ResumeTiming();
    store.Save(core::Table::SnapshotAll({table})).value();
  }
  std::filesystem::remove_all(Root());
  state.SetBytesProcessed(state.iterations() * kTotalBytes);
}

// One in a hundred items is new; the bytes are those of the whole table.
void BM_SaveOnePercent(benchmark::State& state) {
  const auto table = MakeFullTable(state.range(0));
  std::filesystem::remove_all(Root());
  Store store(Root(), {});
  store.Save(core::Table::SnapshotAll({table})).value();
  core::Random random(2);
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<core::NewItem> items;
    for (int64_t i = 0; i < kTotalBytes / 100 / state.range(0); ++i) {
      items.push_back(MakeItem(random.Next(), state.range(0), &random));
    }
    (void)table->Insert(std::move(items), nullptr);
    state.ResumeTiming();
    store.Save(core::Table::SnapshotAll({table})).value();
  }
  std::filesystem::remove_all(Root());
  state.SetBytesProcessed(state.iterations() * kTotalBytes);
}

// From the page cache.
void BM_Load(benchmark::State& state, CheckpointFormat format) {
  std::filesystem::remove_all(Root());
  StoreOptions options;
  options.format = format;
  Store(Root(), options).Save(core::Table::SnapshotAll({MakeFullTable(state.range(0))})).value();
  for (auto _ : state) {
    Loader loader(options.files, FindCheckpoint(options.files, Root()).value(), {});
    if (!loader.ReadTablesAndItems().ok() || !loader.ReadChunks().ok()) std::abort();
    auto table = MakeTable();
    table->Restore(std::move(loader.TakeTables().value()[0])).value();
    state.PauseTiming();
    table.reset();  // freeing is not loading
    state.ResumeTiming();
  }
  std::filesystem::remove_all(Root());
  state.SetBytesProcessed(state.iterations() * kTotalBytes);
}

// The time for which all tables stand still, and a little more.
void BM_Snapshot(benchmark::State& state) {
  const auto table = MakeFullTable(state.range(0));
  for (auto _ : state) {
    const std::vector<core::TableSnapshot> snapshot = core::Table::SnapshotAll({table});
    benchmark::DoNotOptimize(snapshot.data());
  }
  state.SetItemsProcessed(state.iterations() * (kTotalBytes / state.range(0)));
}

BENCHMARK_CAPTURE(BM_Save, incremental, CheckpointFormat::kIncremental)
    ->Arg(4000)
    ->Arg(400000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Save, reverb, CheckpointFormat::kReverb)
    ->Arg(4000)
    ->Arg(400000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(BM_SaveOnePercent)->Arg(4000)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(BM_Load, incremental, CheckpointFormat::kIncremental)
    ->Arg(4000)
    ->Arg(400000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Load, reverb, CheckpointFormat::kReverb)
    ->Arg(4000)
    ->Arg(400000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(BM_Snapshot)->Arg(4000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace reverb_tf::checkpoint

BENCHMARK_MAIN();
