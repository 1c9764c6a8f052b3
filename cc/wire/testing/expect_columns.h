// Chunks against what they were made of.
#ifndef REVERB_TF_WIRE_TESTING_EXPECT_COLUMNS_H_
#define REVERB_TF_WIRE_TESTING_EXPECT_COLUMNS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "cc/core/chunk.h"
#include "cc/wire/chunk_codec.h"
#include "cc/wire/testing/random_columns.h"

namespace reverb_tf::wire::testing {

// Rows [first, first + count) of column i come back as they were.
inline void ExpectRows(const core::Chunk& chunk, int i, const OwnedColumn& column, int64_t first,
                       int64_t count) {
  const int64_t rows = column.dims[0];
  if (column.dtype == DType::kString) {
    std::vector<std::string_view> strings;
    ASSERT_TRUE(DecodeStrings(chunk, i, first, count, &strings).ok());
    const auto row = static_cast<int64_t>(column.strings.size()) / rows;
    ASSERT_EQ(static_cast<int64_t>(strings.size()), count * row);
    for (size_t s = 0; s < strings.size(); ++s) {
      ASSERT_TRUE(strings[s] == column.strings[static_cast<size_t>(first * row) + s]);
    }
    return;
  }
  const size_t row_bytes = column.bytes.size() / static_cast<size_t>(rows);
  ASSERT_EQ(RowBytes(chunk.tensor(i)), row_bytes);
  // Room on both sides shows writes outside; the odd start shows that alignment is not needed.
  std::vector<char> out(row_bytes * static_cast<size_t>(count) + 2, '#');
  ASSERT_TRUE(DecodeRows(chunk, i, first, count, out.data() + 1).ok());
  ASSERT_TRUE(std::equal(out.begin() + 1, out.end() - 1,
                         column.bytes.begin() + static_cast<int64_t>(row_bytes) * first));
  ASSERT_EQ(out.front(), '#');
  ASSERT_EQ(out.back(), '#');
}

inline void ExpectColumns(const core::Chunk& chunk, const std::vector<OwnedColumn>& columns,
                          std::mt19937_64* rng) {
  ASSERT_EQ(chunk.num_tensors(), static_cast<int>(columns.size()));
  for (int i = 0; i < chunk.num_tensors(); ++i) {
    const OwnedColumn& column = columns[static_cast<size_t>(i)];
    const core::ChunkTensor& tensor = chunk.tensor(i);
    ASSERT_EQ(tensor.dtype, column.dtype);
    ASSERT_EQ(std::vector<int64_t>(tensor.dims, tensor.dims + tensor.rank), column.dims);
    ExpectRows(chunk, i, column, 0, column.dims[0]);
    const auto first = static_cast<int64_t>((*rng)() % static_cast<uint64_t>(column.dims[0]));
    const auto most = static_cast<uint64_t>(column.dims[0] - first);
    ExpectRows(chunk, i, column, first, static_cast<int64_t>((*rng)() % (most + 1)));
  }
}

}  // namespace reverb_tf::wire::testing

#endif  // REVERB_TF_WIRE_TESTING_EXPECT_COLUMNS_H_
