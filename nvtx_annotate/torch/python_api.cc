#include "nvtx_annotate/torch/python_api.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <mutex>

namespace oplens::annotate::torch::python {
namespace {

template <typename Function>
bool Find(const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  return *function != nullptr;
}

bool Fill(Api* api) {
#define OPLENS_FIND(name) Find(#name, &api->name)
  // First a function that other programs lack: for them one lookup suffices.
  if (!OPLENS_FIND(Py_IsInitialized)) return false;
  // The name since 3.13, and the older one.
  const bool finalizing =
      OPLENS_FIND(Py_IsFinalizing) || Find("_Py_IsFinalizing", &api->Py_IsFinalizing);
  OPLENS_FIND(PyFrame_GetLasti);
  OPLENS_FIND(PyObject_Vectorcall);
  OPLENS_FIND(PyFunction_SetVectorcall);
  Find("_PyFunction_Vectorcall", &api->PyFunction_Vectorcall);
  return finalizing && OPLENS_FIND(Py_GetVersion) && OPLENS_FIND(Py_IncRef) &&
         OPLENS_FIND(Py_DecRef) && OPLENS_FIND(PyGILState_Ensure) &&
         OPLENS_FIND(PyGILState_Release) && OPLENS_FIND(PyGILState_GetThisThreadState) &&
         OPLENS_FIND(PyEval_GetFrame) && OPLENS_FIND(PyFrame_GetBack) &&
         OPLENS_FIND(PyFrame_GetCode) && OPLENS_FIND(PyFrame_GetLineNumber) &&
         OPLENS_FIND(PyCFunction_NewEx) && OPLENS_FIND(PyObject_CallFunctionObjArgs) &&
         OPLENS_FIND(PyObject_GetAttrString) && OPLENS_FIND(PyTuple_New) &&
         OPLENS_FIND(PyTuple_GetItem) && OPLENS_FIND(PyTuple_SetItem) &&
         OPLENS_FIND(PyLong_FromUnsignedLongLong) && OPLENS_FIND(PyLong_AsUnsignedLongLong) &&
         OPLENS_FIND(PyBytes_AsString) && OPLENS_FIND(PyUnicode_EncodeFSDefault) &&
         OPLENS_FIND(PyErr_Clear) && OPLENS_FIND(PyErr_Fetch) && OPLENS_FIND(PyErr_Restore) &&
         Find("_Py_NoneStruct", &api->none);
#undef OPLENS_FIND
}

/// A member of an object or type, by its place.
template <typename Value>
Value MemberAt(const Object* object, size_t offset) {
  Value value;
  std::memcpy(&value, reinterpret_cast<const char*>(object) + offset, sizeof value);
  return value;
}

/// Where a function has its vectorcallfunc; 0: not known. Members of PyTypeObject are where they
/// are since Python 3.8; one that the type also tells by name shows it.
size_t VectorcallOffset(const Api& api, Object* function) {
  constexpr size_t kBasicSizeAt = 4 * sizeof(void*);
  constexpr size_t kOffsetAt = 7 * sizeof(void*);
  const Owned type(api, api.PyObject_GetAttrString(function, "__class__"));
  const Owned told(api, type.get() == nullptr
                            ? nullptr
                            : api.PyObject_GetAttrString(type.get(), "__basicsize__"));
  if (told.get() == nullptr) {
    api.PyErr_Clear();
    return 0;
  }
  const auto size = static_cast<size_t>(api.PyLong_AsUnsignedLongLong(told.get()));
  if (MemberAt<size_t>(type.get(), kBasicSizeAt) != size) return 0;
  const auto offset = MemberAt<size_t>(type.get(), kOffsetAt);
  const bool inside = offset >= 2 * sizeof(void*) && offset % sizeof(void*) == 0 && offset < size &&
                      size - offset >= sizeof(void*);
  return inside ? offset : 0;
}

}  // namespace

bool SetVectorcall(const Api& api, Object* function, VectorFunction* called) noexcept {
  if (api.PyFunction_SetVectorcall != nullptr) {
    api.PyFunction_SetVectorcall(function, called);
    return true;
  }
  const size_t offset = VectorcallOffset(api, function);
  VectorFunction* const standard = api.PyFunction_Vectorcall;
  if (offset == 0 || standard == nullptr ||
      MemberAt<VectorFunction*>(function, offset) != standard) {
    return false;
  }
  std::memcpy(reinterpret_cast<char*>(function) + offset, &called, sizeof called);
  return true;
}

const Api* FindApi() noexcept {
  static Api table;
  static std::atomic<const Api*> found{nullptr};
  static std::mutex mutex;
  if (const Api* const api = found.load(std::memory_order_acquire)) return api;
  const std::lock_guard lock(mutex);
  if (found.load(std::memory_order_relaxed) != nullptr) return &table;
  if (!Fill(&table) || table.Py_IsInitialized() == 0) return nullptr;
  if (std::strstr(table.Py_GetVersion(), "free-threading") != nullptr) return nullptr;
  found.store(&table, std::memory_order_release);
  return &table;
}

}  // namespace oplens::annotate::torch::python
