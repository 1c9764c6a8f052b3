#include "cc/python/dlpack_in.h"

#include <nanobind/ndarray.h>

#include <array>
#include <memory>
#include <vector>

#include "cc/python/dtypes.h"

namespace reverb_tf::python {
namespace {

using Imported = nb::ndarray<nb::ro, nb::device::cpu>;

// Codes of DLDataTypeCode whose elements are not packed.
struct FloatCode {
  uint8_t code;
  uint8_t bits;
  DType dtype;
};
constexpr std::array<FloatCode, 6> kCodes = {{{4, 16, DType::kBfloat16},
                                              {9, 8, DType::kFloat8E4M3B11FNUZ},
                                              {10, 8, DType::kFloat8E4M3FN},
                                              {11, 8, DType::kFloat8E4M3FNUZ},
                                              {12, 8, DType::kFloat8E5M2},
                                              {13, 8, DType::kFloat8E5M2FNUZ}}};

DType DTypeOfCode(nb::dlpack::dtype dtype) {
  for (const FloatCode& known : kCodes) {
    if (dtype.code == known.code && dtype.bits == known.bits && dtype.lanes == 1)
      return known.dtype;
  }
  return DType::kInvalid;
}

// In bytes; DLPack counts elements and may leave row-major strides out.
std::vector<npy_intp> ByteStrides(const Imported& tensor) {
  std::vector<npy_intp> strides(tensor.ndim());
  npy_intp next = static_cast<npy_intp>(tensor.itemsize());
  for (size_t i = tensor.ndim(); i-- > 0;) {
    strides[i] = tensor.stride_ptr() == nullptr
                     ? next
                     : tensor.stride(i) * static_cast<npy_intp>(tensor.itemsize());
    next *= static_cast<npy_intp>(tensor.shape(i));
  }
  return strides;
}

// value.__dlpack__(), or None when it does not work or would not be what `value` stands for.
nb::object Export(nb::handle value) {
  try {
    if (!nb::hasattr(value, "__dlpack__")) return nb::none();
    // PyTorch exports a lazily negated tensor without its sign.
    if (nb::hasattr(value, "is_neg") && nb::cast<bool>(value.attr("is_neg")())) return nb::none();
    return value.attr("__dlpack__")();
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;
  } catch (nb::cast_error&) {
  }
  return nb::none();
}

}  // namespace

nb::object ArrayFromDLPack(nb::handle value) {
  auto tensor = std::make_unique<Imported>();
  nb::object exported = Export(value);
  if (!PyCapsule_CheckExact(exported.ptr()) || !nb::try_cast(exported, *tensor))
    return nb::object();
  const DType dtype = DTypeOfCode(tensor->dtype());
  if (dtype == DType::kInvalid) return nb::object();
  std::vector<npy_intp> strides = ByteStrides(*tensor);
  std::vector<npy_intp> dims(tensor->shape_ptr(), tensor->shape_ptr() + tensor->ndim());
  auto* descr = reinterpret_cast<PyArray_Descr*>(DescrOfDType(dtype).release().ptr());
  nb::object array = nb::steal(PyArray_NewFromDescr(
      &PyArray_Type, descr, static_cast<int>(dims.size()), dims.data(), strides.data(),
      const_cast<void*>(static_cast<const void*>(tensor->data())), 0, nullptr));
  if (!array.is_valid()) nb::raise_python_error();
  nb::capsule owner(tensor.release(), [](void* p) noexcept { delete static_cast<Imported*>(p); });
  if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(array.ptr()), owner.release().ptr()) <
      0)
    nb::raise_python_error();
  return array;
}

}  // namespace reverb_tf::python
