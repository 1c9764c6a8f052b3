// Python values -> TensorViews.
#ifndef REVERB_TF_PYTHON_ARRAY_IN_H_
#define REVERB_TF_PYTHON_ARRAY_IN_H_

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "cc/python/numpy_api.h"
#include "reverb_tf/tensor.h"

namespace reverb_tf::python {

// Views of the arrays of one step, and what keeps them alive. Row-major arrays of native byte order
// are viewed in place; other layouts, Python scalars and what offers __array__ or __dlpack__ are
// converted by numpy first; text becomes UTF-8. All methods need the GIL.
//
// The views may be read without the GIL; they last as long as this object and until the next
// Clear().
class ArrayViews {
 public:
  ArrayViews() = default;
  ArrayViews(const ArrayViews&) = delete;
  ArrayViews& operator=(const ArrayViews&) = delete;

  // Forgets all views; they may be reused with less allocation.
  void Clear();

  // Adds a view of `value`. TypeError when its elements have no type that can be stored; it says
  // what was given and what is accepted.
  void Add(PyObject* value);

  // The same; `path()`, a tuple, tells in the error text where the value is.
  template <typename Path>
  void Add(PyObject* value, Path&& path) {
    try {
      Add(value);
    } catch (nb::python_error& error) {
      NamePath(error, path());
      throw;
    }
  }

  // Adds the view that marks an absent column.
  void AddAbsent();

  const TensorView* data() const { return views_.data(); }
  int32_t size() const { return static_cast<int32_t>(views_.size()); }

  // Bytes of all views, roughly.
  size_t num_bytes() const { return num_bytes_; }

 private:
  union Scalar {
    double f64;
    int64_t i64;
    bool b;
    double c128[2];
  };

  static void NamePath(const nb::python_error& error, nb::handle path);
  bool AddScalar(PyObject* value);
  void AddArray(nb::object array);
  void AddStringArray(PyArrayObject* array);
  void AddText(nb::object bytes_or_str);
  void Push(DType dtype, int rank, const int64_t* dims, const void* data);
  std::string_view ViewText(PyObject* value);

  std::vector<TensorView> views_;
  std::vector<nb::object> keep_;  // objects whose memory is viewed
  std::deque<Scalar> scalars_;
  std::deque<std::vector<std::string_view>> strings_;
  size_t num_bytes_ = 0;
};

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_ARRAY_IN_H_
