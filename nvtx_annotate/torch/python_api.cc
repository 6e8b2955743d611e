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
  return finalizing && OPLENS_FIND(Py_GetVersion) && OPLENS_FIND(Py_IncRef) &&
         OPLENS_FIND(Py_DecRef) && OPLENS_FIND(PyGILState_Ensure) &&
         OPLENS_FIND(PyGILState_Release) && OPLENS_FIND(PyGILState_GetThisThreadState) &&
         OPLENS_FIND(PyEval_GetFrame) && OPLENS_FIND(PyFrame_GetBack) &&
         OPLENS_FIND(PyFrame_GetCode) && OPLENS_FIND(PyFrame_GetLineNumber) &&
         OPLENS_FIND(PyCFunction_NewEx) && OPLENS_FIND(PyObject_CallFunctionObjArgs) &&
         OPLENS_FIND(PyObject_GetAttrString) && OPLENS_FIND(PyTuple_New) &&
         OPLENS_FIND(PyDescr_NewMethod) && OPLENS_FIND(PyTuple_Size) &&
         OPLENS_FIND(PyTuple_GetItem) && OPLENS_FIND(PyTuple_SetItem) &&
         OPLENS_FIND(PyLong_FromUnsignedLongLong) && OPLENS_FIND(PyLong_AsUnsignedLongLong) &&
         OPLENS_FIND(PyBytes_AsString) && OPLENS_FIND(PyUnicode_EncodeFSDefault) &&
         OPLENS_FIND(PyErr_Clear) && OPLENS_FIND(PyErr_NoMemory) && OPLENS_FIND(PyErr_Fetch) &&
         OPLENS_FIND(PyErr_Restore) && Find("_Py_NoneStruct", &api->none);
#undef OPLENS_FIND
}

}  // namespace

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
