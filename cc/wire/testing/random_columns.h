// Random arrays for tests.
#ifndef REVERB_TF_WIRE_TESTING_RANDOM_COLUMNS_H_
#define REVERB_TF_WIRE_TESTING_RANDOM_COLUMNS_H_

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "cc/core/chunk.h"
#include "cc/wire/chunk_codec.h"
#include "reverb_tf/tensor.h"

namespace reverb_tf::wire::testing {

inline const std::vector<DType>& AllDTypes() {
  static const auto* const all = [] {
    auto* result = new std::vector<DType>;
    for (int32_t i = 0; i < 64; ++i) {
      if (IsSupportedDType(i)) result->push_back(static_cast<DType>(i));
    }
    return result;
  }();
  return *all;
}

// An array that owns its elements. Not copyable: views point into it.
struct OwnedColumn {
  OwnedColumn() = default;
  OwnedColumn(const OwnedColumn&) = delete;
  OwnedColumn& operator=(const OwnedColumn&) = delete;

  DType dtype = DType::kInvalid;
  std::vector<int64_t> dims;
  std::vector<char> bytes;
  std::vector<std::string> strings;
  std::vector<std::string_view> views;

  TensorView view() const {
    TensorView result;
    result.dtype = dtype;
    result.rank = static_cast<int32_t>(dims.size());
    result.dims = dims.data();
    result.data = dtype == DType::kString ? static_cast<const void*>(views.data()) : bytes.data();
    return result;
  }
};

// Noise, or (`compressible`) runs of equal bytes.
inline void FillRandom(std::mt19937_64* rng, DType dtype, std::vector<int64_t> dims,
                       bool compressible, OwnedColumn* column) {
  column->dtype = dtype;
  column->dims = std::move(dims);
  const auto n = static_cast<size_t>(column->view().num_elements());
  if (dtype == DType::kString) {
    for (size_t i = 0; i < n; ++i) {
      std::string s((*rng)() % 300, '\0');
      for (char& c : s) c = static_cast<char>((*rng)());
      column->strings.push_back(std::move(s));
    }
    column->views.assign(column->strings.begin(), column->strings.end());
    return;
  }
  column->bytes.resize(n * DTypeSize(dtype));
  char value = 0;
  for (char& c : column->bytes) {
    if (!compressible || (*rng)() % 50 == 0) value = static_cast<char>((*rng)());
    c = value;
  }
}

// Shape [num_rows, ...] with up to three inner dims, now and then an empty one.
inline std::vector<int64_t> RandomDims(std::mt19937_64* rng, int64_t num_rows) {
  std::vector<int64_t> dims = {num_rows};
  const size_t inner = (*rng)() % 4;
  for (size_t i = 0; i < inner; ++i) {
    dims.push_back((*rng)() % 10 == 0 ? 0 : 1 + static_cast<int64_t>((*rng)() % 5));
  }
  return dims;
}

// Encodes columns (at least one) into a chunk with the key.
inline core::ChunkRef Encode(uint64_t key, const std::vector<OwnedColumn>& columns,
                             bool delta = false, CompressionAdvisor* advisors = nullptr) {
  core::Chunk::Header header;
  header.key = key;
  header.episode_id = 5;
  header.first_step = 2;
  header.num_rows = static_cast<int32_t>(columns[0].dims[0]);
  header.last_step = header.first_step + header.num_rows - 1;
  header.delta_encoded = delta;
  std::vector<TensorView> views;
  for (const OwnedColumn& column : columns) views.push_back(column.view());
  return EncodeChunk(header, views.data(), static_cast<int>(views.size()), advisors).value();
}

// A chunk of one float32 column of shape [num_rows, width] with random values.
inline core::ChunkRef FloatChunk(std::mt19937_64* rng, uint64_t key, int64_t num_rows,
                                 int64_t width) {
  std::vector<OwnedColumn> columns(1);
  FillRandom(rng, DType::kFloat32, {num_rows, width}, false, &columns[0]);
  return Encode(key, columns);
}

}  // namespace reverb_tf::wire::testing

#endif  // REVERB_TF_WIRE_TESTING_RANDOM_COLUMNS_H_
