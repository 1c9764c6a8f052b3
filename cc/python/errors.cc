#include "cc/python/errors.h"

namespace nb = nanobind;

namespace reverb_tf::python {
namespace {

constexpr size_t kMaxReprLength = 200;

}  // namespace

void ThrowStatus(const Status& status) {
  nb::object by_code = nb::module_::import_("reverb_tf.errors").attr("CLASS_OF_CODE");
  nb::object type = by_code[nb::int_(static_cast<int>(status.code()))];
  nb::object text = nb::steal(PyUnicode_DecodeUTF8(
      status.message().data(), static_cast<Py_ssize_t>(status.message().size()), "replace"));
  if (!text.is_valid()) nb::raise_python_error();
  PyErr_SetObject(type.ptr(), text.ptr());
  throw nb::python_error();
}

void ThrowPython(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw nb::python_error();
}

std::string TypeName(PyObject* object) {
  nb::object name =
      nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__"));
  const char* text = name.is_valid() ? PyUnicode_AsUTF8(name.ptr()) : nullptr;
  if (text == nullptr) {
    PyErr_Clear();
    return "'?'";
  }
  return "'" + std::string(text) + "'";
}

std::string ShortRepr(PyObject* object) {
  nb::object repr = nb::steal(PyObject_Repr(object));
  const char* text = repr.is_valid() ? PyUnicode_AsUTF8(repr.ptr()) : nullptr;
  if (text == nullptr) {
    PyErr_Clear();
    return "an object of type " + TypeName(object);
  }
  std::string result(text);
  if (result.size() <= kMaxReprLength) return result;
  size_t cut = kMaxReprLength;
  while (cut > 0 && (static_cast<unsigned char>(result[cut]) & 0xC0) == 0x80)
    --cut;  // not inside a character
  return result.substr(0, cut) + "...";
}

}  // namespace reverb_tf::python
