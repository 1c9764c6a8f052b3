#include "cc/ops/shared_tensor.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "cc/ops/tf_convert.h"
#include "tensorflow/core/framework/allocation_description.pb.h"

namespace reverb_tf::ops {
namespace {

class SharedBuffer : public tensorflow::TensorBuffer {
 public:
  SharedBuffer(std::shared_ptr<const void> array, size_t size)
      : TensorBuffer(const_cast<void*>(array.get())), array_(std::move(array)), size_(size) {}

  size_t size() const override { return size_; }
  TensorBuffer* root_buffer() override { return this; }
  // Nobody writes to what is not owned.
  bool OwnsMemory() const override { return false; }
  void FillAllocationDescription(tensorflow::AllocationDescription* proto) const override {
    proto->set_requested_bytes(static_cast<int64_t>(size_));
    proto->set_allocator_name("reverb_tf");
  }

 private:
  const std::shared_ptr<const void> array_;
  const size_t size_;
};

}  // namespace

bool ShareFirstRow(const Sample& sample, int i, const tensorflow::TensorShape& shape,
                   tensorflow::Tensor* out) {
  const ColumnView column = sample.column(i);
  std::shared_ptr<const void> array = sample.ShareColumn(i);
  if (array == nullptr) return false;
  *out = tensorflow::Tensor(ToTf(column.dtype), shape,
                            tensorflow::core::RefCountPtr<tensorflow::TensorBuffer>(
                                new SharedBuffer(std::move(array), column.num_bytes)));
  return true;
}

}  // namespace reverb_tf::ops
