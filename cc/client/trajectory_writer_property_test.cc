// Random use of a trajectory writer against a plain model: what an item holds is what was appended.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cc/client/sample_impl.h"
#include "cc/client/testing/fake_transport.h"
#include "cc/client/testing/test_data.h"
#include "cc/client/trajectory_writer_impl.h"
#include "cc/core/testing/fake_clock.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {
namespace {

// A row of any column, as bytes (strings: their concatenation with lengths).
using Row = std::string;

struct ModelColumn {
  DType dtype;
  std::vector<int64_t> dims;
  int32_t keep = 0;
  std::vector<Row> rows;
  int64_t first_kept = 0;

  int64_t num_elements() const {
    int64_t n = 1;
    for (int64_t dim : dims) n *= dim;
    return n;
  }
  int64_t first_alive() const {
    return std::max<int64_t>(first_kept, static_cast<int64_t>(rows.size()) - keep);
  }
};

std::string JoinStrings(const std::vector<std::string_view>& strings) {
  std::string joined;
  for (std::string_view s : strings) joined += std::to_string(s.size()) + ":" + std::string(s);
  return joined;
}

class WriterModelTest : public testing::TestWithParam<int> {
 protected:
  WriterModelTest() : random_(GetParam()) {
    ClientOptions client_options;
    endpoint_ = std::make_shared<Endpoint>("fake:1", client_options, &clock_, [this] {
      return Result<std::shared_ptr<Transport>>(transport_);
    });
    TrajectoryWriterOptions options;
    options.chunker.num_keep_alive_refs = static_cast<int32_t>(1 + Below(12));
    options.chunker.max_chunk_length =
        static_cast<int32_t>(Below(options.chunker.num_keep_alive_refs + 1));
    writer_ = std::make_unique<TrajectoryWriterImpl>(endpoint_, options, nullptr, nullptr);
    const int columns = 1 + static_cast<int>(Below(5));
    const DType dtypes[] = {DType::kInt64, DType::kFloat32, DType::kUint8, DType::kString};
    for (int i = 0; i < columns; ++i) {
      ModelColumn column;
      column.dtype = dtypes[Below(4)];
      for (size_t d = Below(3); d > 0; --d) column.dims.push_back(static_cast<int64_t>(Below(4)));
      column.keep = options.chunker.num_keep_alive_refs;
      if (Below(3) == 0) {
        ChunkerOptions own;
        own.num_keep_alive_refs = static_cast<int32_t>(1 + Below(12));
        own.max_chunk_length = static_cast<int32_t>(Below(own.num_keep_alive_refs + 1));
        EXPECT_TRUE(writer_->Configure(i, own).ok());
        column.keep = own.num_keep_alive_refs;
      }
      columns_.push_back(std::move(column));
    }
    set_in_step_.resize(columns);
  }

  size_t Below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  // Values of a step, or of `steps` > 0 steps along a leading axis, and what keeps them.
  struct Values {
    std::vector<std::string> storage;
    std::vector<std::vector<std::string_view>> strings;
    std::vector<std::vector<int64_t>> dims;
    std::vector<TensorView> views;
  };

  // Some of the columns that are not set in the step. The model gets their rows.
  Values MakeValues(size_t steps) {
    Values made;
    made.strings.resize(columns_.size());
    made.dims.resize(columns_.size());
    made.views.resize(columns_.size());
    made.storage.reserve(10000);
    for (size_t i = 0; i < columns_.size(); ++i) {
      ModelColumn& column = columns_[i];
      if (set_in_step_[i] || Below(5) == 0) continue;
      std::vector<int64_t>& dims = made.dims[i];
      if (steps > 0) dims.push_back(static_cast<int64_t>(steps));
      dims.insert(dims.end(), column.dims.begin(), column.dims.end());
      TensorView& value = made.views[i];
      value.dtype = column.dtype;
      value.rank = static_cast<int32_t>(dims.size());
      value.dims = dims.data();
      for (size_t step = 0; step < std::max<size_t>(steps, 1); ++step) {
        AddRow(&column, &made.storage, &made.strings[i]);
      }
      if (column.dtype == DType::kString) {
        value.data = made.strings[i].data();
      } else {
        std::string all;
        for (size_t r = column.rows.size() - std::max<size_t>(steps, 1); r < column.rows.size();
             ++r) {
          all += column.rows[r];
        }
        made.storage.push_back(all);
        value.data = made.storage.back().data();
      }
    }
    return made;
  }

  void AddRow(ModelColumn* column, std::vector<std::string>* storage,
              std::vector<std::string_view>* strings) {
    // Few distinct bytes now and then, so that compression is used as well.
    const size_t alphabet = Below(2) == 0 ? 256 : 2;
    if (column->dtype != DType::kString) {
      column->rows.push_back(
          RandomBytes(column->num_elements() * DTypeSize(column->dtype), alphabet));
      return;
    }
    const size_t before = strings->size();
    for (int64_t e = 0; e < column->num_elements(); ++e) {
      storage->push_back(RandomBytes(Below(20), alphabet));
      strings->push_back(storage->back());
    }
    column->rows.push_back(JoinStrings({strings->begin() + before, strings->end()}));
  }

  void CheckRefs(const Values& values, const std::vector<StepRef>& refs, size_t steps) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const bool absent = values.views[i].dtype == DType::kInvalid;
      EXPECT_EQ(refs[i].column, absent ? -1 : static_cast<int32_t>(i));
      if (absent) continue;
      EXPECT_EQ(refs[i].row + static_cast<int64_t>(steps),
                static_cast<int64_t>(columns_[i].rows.size()));
    }
  }

  void Append() {
    const bool partial = Below(4) == 0;
    const Values values = MakeValues(0);
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (values.views[i].dtype != DType::kInvalid) set_in_step_[i] = true;
    }
    std::vector<StepRef> refs(columns_.size());
    const Status status = writer_->Append(
        values.views.data(), static_cast<int32_t>(values.views.size()), partial, refs.data());
    ASSERT_TRUE(status.ok()) << status.ToString();
    CheckRefs(values, refs, 1);
    step_is_open_ = partial;
    if (!partial) std::fill(set_in_step_.begin(), set_in_step_.end(), false);
  }

  void AppendMany() {
    if (step_is_open_) return;
    const size_t steps = 1 + Below(30);
    const Values values = MakeValues(steps);
    const auto n = static_cast<int32_t>(values.views.size());
    BatchItems items;
    items.table = "t";
    for (int32_t i = 0; i < n; ++i) {
      if (values.views[i].dtype != DType::kInvalid) items.columns.push_back(i);
    }
    if (items.columns.empty()) return;
    std::vector<StepRef> refs(columns_.size());
    if (Below(2) == 0) {
      const Status status = writer_->AppendSequence(values.views.data(), n, refs.data());
      ASSERT_TRUE(status.ok()) << status.ToString();
      return CheckRefs(values, refs, steps);
    }
    std::shuffle(items.columns.begin(), items.columns.end(), random_);
    items.priorities.assign(steps, 1.0);
    const auto keys =
        writer_->AppendBatch(values.views.data(), n, items, refs.data(), Within(Duration::zero()));
    ASSERT_TRUE(keys.ok()) << keys.status().ToString();
    CheckRefs(values, refs, steps);
    ASSERT_EQ(keys->size(), steps);
    for (size_t step = 0; step < steps; ++step) {
      std::vector<std::vector<Row>> expected;
      for (int32_t column : items.columns) {
        expected.push_back({columns_[column].rows[refs[column].row + step]});
      }
      items_[(*keys)[step]] = std::move(expected);
      order_.push_back((*keys)[step]);
    }
  }

  void Configure() {
    const size_t i = Below(columns_.size());
    ChunkerOptions options;
    options.num_keep_alive_refs = static_cast<int32_t>(1 + Below(12));
    options.max_chunk_length = static_cast<int32_t>(Below(options.num_keep_alive_refs + 1));
    if (!writer_->Configure(static_cast<int32_t>(i), options).ok()) return;
    columns_[i].first_kept = columns_[i].first_alive();
    columns_[i].keep = options.num_keep_alive_refs;
  }

  std::string RandomBytes(size_t n, size_t alphabet) {
    std::string bytes(n, '\0');
    for (char& byte : bytes) byte = static_cast<char>(Below(alphabet));
    return bytes;
  }

  void CreateItem() {
    std::vector<ItemColumn> item;
    std::vector<std::vector<Row>> expected;
    for (size_t n = 1 + Below(4); n > 0; --n) {
      const size_t i = Below(columns_.size());
      const ModelColumn& column = columns_[i];
      const int64_t first = column.first_alive();
      const int64_t alive = static_cast<int64_t>(column.rows.size()) - first;
      if (alive == 0) continue;
      item.emplace_back();
      expected.emplace_back();
      for (size_t ranges = 1 + Below(3); ranges > 0; --ranges) {
        const int64_t length = 1 + static_cast<int64_t>(Below(alive));
        const int64_t start = first + static_cast<int64_t>(Below(alive - length + 1));
        item.back().ranges.push_back({static_cast<int32_t>(i), start, length});
        expected.back().insert(expected.back().end(), column.rows.begin() + start,
                               column.rows.begin() + start + length);
      }
      item.back().squeeze = expected.back().size() == 1 && Below(2) == 0;
    }
    if (item.empty()) return;
    const auto key = writer_->CreateItem("t", 1, item, Within(Duration::zero()));
    ASSERT_TRUE(key.ok()) << key.status().ToString();
    items_[*key] = std::move(expected);
    order_.push_back(*key);
  }

  void CheckReads() {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const ModelColumn& column = columns_[i];
      if (column.rows.empty()) continue;
      const int64_t row = static_cast<int64_t>(Below(column.rows.size()));
      const StepRef ref = {static_cast<int32_t>(i), row};
      EXPECT_EQ(writer_->IsAlive(ref), row >= column.first_alive());
      if (row < column.first_alive()) continue;
      EXPECT_EQ(writer_->Describe(ref)->dims, column.dims);
      if (column.dtype == DType::kString) {
        const std::vector<std::string> strings = writer_->ReadStrings(ref).value();
        EXPECT_EQ(JoinStrings({strings.begin(), strings.end()}), column.rows[row]);
      } else {
        std::string bytes(column.rows[row].size(), 'x');
        EXPECT_TRUE(writer_->Read(ref, bytes.data(), bytes.size()).ok());
        EXPECT_EQ(bytes, column.rows[row]);
      }
    }
  }

  void EndEpisode() {
    while (!writer_->Flush(0, Within(Duration::zero())).ok()) MoveServer();
    const bool clear = Below(2) == 0;
    ASSERT_TRUE(writer_->EndEpisode(clear, Within(Duration::zero())).ok());
    std::fill(set_in_step_.begin(), set_in_step_.end(), false);
    step_is_open_ = false;
    if (!clear) return;
    for (ModelColumn& column : columns_) {
      column.first_kept = static_cast<int64_t>(column.rows.size());
    }
  }

  // The server writes, confirms or loses the connection.
  void MoveServer() {
    transport_->finish_writes = Below(2) == 0;
    if (!transport_->insert_streams.empty()) {
      auto& stream = transport_->insert_stream();
      if (Below(3) > 0) stream.FinishWrite();
      if (Below(2) == 0) stream.Confirm(1 + Below(5));
      if (Below(20) == 0) stream.Close(UnavailableError("lost"));
    }
    clock_.Advance(std::chrono::seconds(1));
  }

  void CheckReceived() {
    std::map<uint64_t, size_t> first_received;
    for (const FakeTransport::Item& received : transport_->received) {
      first_received.emplace(received.item.key, first_received.size());
      core::SampledItem item;
      item.trajectory = received.item.trajectory;
      const Sample sample(Sample::Impl::Create(std::move(item)));
      const auto& expected = items_.at(received.item.key);
      ASSERT_EQ(sample.num_columns(), static_cast<int>(expected.size()));
      for (int i = 0; i < sample.num_columns(); ++i) CheckColumn(sample, i, expected[i]);
    }
    ASSERT_EQ(first_received.size(), order_.size());
    for (size_t i = 0; i < order_.size(); ++i) EXPECT_EQ(first_received.at(order_[i]), i);
  }

  static void CheckColumn(const Sample& sample, int i, const std::vector<Row>& expected) {
    const ColumnView view = sample.column(i);
    ASSERT_EQ(view.num_rows, static_cast<int64_t>(expected.size()));
    if (view.dtype == DType::kString) {
      for (size_t row = 0; row < expected.size(); ++row) {
        const auto strings = sample.ReadStrings(i, static_cast<int64_t>(row), 1);
        ASSERT_TRUE(strings.ok()) << strings.status().ToString();
        EXPECT_EQ(JoinStrings(*strings), expected[row]);
      }
      return;
    }
    std::string all(view.num_bytes, 'x');
    ASSERT_TRUE(sample.ReadColumn(i, all.data(), all.size()).ok());
    std::string joined;
    for (const Row& row : expected) joined += row;
    EXPECT_EQ(all, joined);
  }

  std::mt19937 random_;
  core::FakeClock clock_;
  std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>();
  std::shared_ptr<Endpoint> endpoint_;
  std::unique_ptr<TrajectoryWriterImpl> writer_;
  std::vector<ModelColumn> columns_;
  std::vector<bool> set_in_step_;
  bool step_is_open_ = false;
  std::map<uint64_t, std::vector<std::vector<Row>>> items_;
  std::vector<uint64_t> order_;
};

INSTANTIATE_TEST_SUITE_P(Seeds, WriterModelTest, testing::Range(0, 200));

TEST_P(WriterModelTest, ItemsHoldWhatWasAppended) {
  for (int i = 0; i < 200; ++i) {
    const size_t what = Below(100);
    if (what < 43) {
      Append();
    } else if (what < 48) {
      AppendMany();
    } else if (what < 50) {
      Configure();
    } else if (what < 80) {
      CreateItem();
    } else if (what < 90) {
      CheckReads();
    } else if (what < 98) {
      MoveServer();
    } else {
      EndEpisode();
    }
    if (HasFatalFailure()) return;
  }
  while (!writer_->Flush(0, Within(Duration::zero())).ok()) MoveServer();
  CheckReceived();
}

}  // namespace
}  // namespace reverb_tf::client
