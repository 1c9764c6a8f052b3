#include "cc/python/dtypes.h"

#include <nanobind/stl/string_view.h>

#include <array>
#include <string>
#include <unordered_map>

#include "cc/python/errors.h"

namespace reverb_tf::python {
namespace {

DType OfBuiltin(int type_num) {
  switch (type_num) {
    case NPY_BOOL:
      return DType::kBool;
    case NPY_INT8:
      return DType::kInt8;
    case NPY_UINT8:
      return DType::kUint8;
    case NPY_SHORT:
      return DType::kInt16;
    case NPY_USHORT:
      return DType::kUint16;
    case NPY_INT:
      return DType::kInt32;
    case NPY_UINT:
      return DType::kUint32;
    case NPY_LONG:
    case NPY_LONGLONG:
      return DType::kInt64;
    case NPY_ULONG:
    case NPY_ULONGLONG:
      return DType::kUint64;
    case NPY_HALF:
      return DType::kFloat16;
    case NPY_FLOAT:
      return DType::kFloat32;
    case NPY_DOUBLE:
      return DType::kFloat64;
    case NPY_CFLOAT:
      return DType::kComplex64;
    case NPY_CDOUBLE:
      return DType::kComplex128;
    case NPY_OBJECT:
    case NPY_STRING:
    case NPY_UNICODE:
      return DType::kString;
    default:
      return DType::kInvalid;
  }
}

struct MlDType {
  const char* name;
  DType dtype;
};
constexpr std::array<MlDType, 11> kMlDTypes = {{{"bfloat16", DType::kBfloat16},
                                                {"float8_e5m2", DType::kFloat8E5M2},
                                                {"float8_e4m3fn", DType::kFloat8E4M3FN},
                                                {"float8_e4m3fnuz", DType::kFloat8E4M3FNUZ},
                                                {"float8_e4m3b11fnuz", DType::kFloat8E4M3B11FNUZ},
                                                {"float8_e5m2fnuz", DType::kFloat8E5M2FNUZ},
                                                {"int4", DType::kInt4},
                                                {"uint4", DType::kUint4},
                                                {"int2", DType::kInt2},
                                                {"uint2", DType::kUint2},
                                                {"float4_e2m1fn", DType::kFloat4E2M1FN}}};

struct QuantizedDType {
  const char* name;
  DType dtype;
  int type_num;
};
constexpr std::array<QuantizedDType, 5> kQuantized = {{{"qint8", DType::kQint8, NPY_INT8},
                                                       {"quint8", DType::kQuint8, NPY_UINT8},
                                                       {"qint16", DType::kQint16, NPY_INT16},
                                                       {"quint16", DType::kQuint16, NPY_UINT16},
                                                       {"qint32", DType::kQint32, NPY_INT32}}};

// str(object.name), or "" if that does not work.
std::string TextAttribute(PyObject* object, const char* name) {
  nb::object value = nb::steal(PyObject_GetAttrString(object, name));
  const char* text =
      value.is_valid() && PyUnicode_Check(value.ptr()) ? PyUnicode_AsUTF8(value.ptr()) : nullptr;
  if (text == nullptr) PyErr_Clear();
  return text == nullptr ? "" : text;
}

DType OfRegistered(PyArray_Descr* descr) {
  PyObject* type = reinterpret_cast<PyObject*>(descr->typeobj);
  if (TextAttribute(type, "__module__").rfind("ml_dtypes", 0) != 0) return DType::kInvalid;
  std::string name = TextAttribute(type, "__name__");
  for (const MlDType& known : kMlDTypes) {
    if (name == known.name) return known.dtype;
  }
  return DType::kInvalid;
}

DType OfStructure(PyArray_Descr* descr) {
  nb::handle object(reinterpret_cast<PyObject*>(descr));
  try {
    nb::object names = object.attr("names");
    if (names.is_none() || nb::len(names) != 1) return DType::kInvalid;
    nb::object field = object[names[0]];
    for (const QuantizedDType& known : kQuantized) {
      if (nb::cast<std::string_view>(names[0]) != known.name) continue;
      auto* inner = reinterpret_cast<PyArray_Descr*>(field.ptr());
      bool same = PyArray_DescrCheck(inner) && inner->type_num == known.type_num;
      return same ? known.dtype : DType::kInvalid;
    }
  } catch (const nb::python_error&) {
  } catch (const nb::cast_error&) {
  }
  return DType::kInvalid;
}

nb::object MakeDescr(DType dtype) {
  for (const MlDType& known : kMlDTypes) {
    if (dtype != known.dtype) continue;
    nb::object numpy_dtype = nb::module_::import_("numpy").attr("dtype");
    return numpy_dtype(nb::module_::import_("ml_dtypes").attr(known.name));
  }
  for (const QuantizedDType& known : kQuantized) {
    if (dtype != known.dtype) continue;
    nb::list fields;
    fields.append(nb::make_tuple(
        known.name, nb::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromType(known.type_num)))));
    return nb::module_::import_("numpy").attr("dtype")(fields);
  }
  static constexpr int kBuiltins[] = {NPY_BOOL,  NPY_INT8,   NPY_UINT8,  NPY_INT16,   NPY_UINT16,
                                      NPY_INT32, NPY_UINT32, NPY_INT64,  NPY_UINT64,  NPY_HALF,
                                      NPY_FLOAT, NPY_DOUBLE, NPY_CFLOAT, NPY_CDOUBLE, NPY_OBJECT};
  for (int type_num : kBuiltins) {
    if (OfBuiltin(type_num) == dtype)
      return nb::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromType(type_num)));
  }
  ThrowPython(PyExc_TypeError, "There is no numpy dtype for element type " +
                                   std::to_string(static_cast<int>(dtype)) + ".");
}

constexpr int kMaxDTypeNumber = 64;

}  // namespace

DType DTypeOfDescr(PyArray_Descr* descr) {
  if (descr->type_num < NPY_USERDEF && descr->type_num != NPY_VOID && descr->type_num >= 0) {
    DType dtype = OfBuiltin(descr->type_num);
    if (dtype != DType::kInvalid) return dtype;
  }
  if (descr->kind == 'T') return DType::kString;  // numpy.dtypes.StringDType
  if (descr->type_num == NPY_VOID) return OfStructure(descr);
  if (descr->type_num < NPY_USERDEF) return DType::kInvalid;
  // A registered type keeps its number for the life of the process.
  static auto* registered = new std::unordered_map<int, DType>();
  auto found = registered->find(descr->type_num);
  if (found != registered->end()) return found->second;
  return registered->emplace(descr->type_num, OfRegistered(descr)).first->second;
}

nb::object DescrOfDType(DType dtype) {
  static auto* cache = new std::array<PyObject*, kMaxDTypeNumber>{};
  int number = static_cast<int>(dtype);
  if (number < 0 || number >= kMaxDTypeNumber) return MakeDescr(dtype);
  PyObject*& entry = (*cache)[number];
  if (entry == nullptr) entry = MakeDescr(dtype).release().ptr();
  return nb::borrow(entry);
}

}  // namespace reverb_tf::python
