#ifndef OPLENS_NVTX_ANNOTATE_TORCH_PYTHON_API_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_PYTHON_API_H_

#include <cstddef>

// The CPython functions used by the adaptor, looked up in the process if it runs Python. The
// library is also loaded into C++ programs, so it does not link Python or use its headers. All
// functions are unchanged since Python 3.9.

namespace oplens::annotate::torch::python {

struct Object;  ///< PyObject
struct Thread;  ///< PyThreadState

using OneArgumentFunction = Object*(Object* self, Object* argument) noexcept;
/// vectorcallfunc. `names`: a tuple with the names of the keyword arguments, which follow the
/// others; `count`: of the others, in all bits but the highest.
using VectorFunction = Object*(Object* callable, Object* const* arguments, size_t count,
                               Object* names) noexcept;

/// PyMethodDef
struct MethodDef {
  explicit MethodDef(const char* method, OneArgumentFunction* called) noexcept
      : name(method), function(reinterpret_cast<void (*)()>(called)) {}

  const char* name;
  void (*function)();
  int flags = 0x0008;  ///< METH_O
  const char* doc = nullptr;
};

/// Names as in CPython. "New": a reference that the caller must release.
struct Api {
  int (*Py_IsInitialized)();
  int (*Py_IsFinalizing)();
  const char* (*Py_GetVersion)();
  void (*Py_IncRef)(Object*);
  void (*Py_DecRef)(Object*);

  int (*PyGILState_Ensure)();
  void (*PyGILState_Release)(int);
  Thread* (*PyGILState_GetThisThreadState)();

  Object* (*PyEval_GetFrame)();         // Borrowed.
  Object* (*PyFrame_GetBack)(Object*);  // New.
  Object* (*PyFrame_GetCode)(Object*);  // New.
  int (*PyFrame_GetLineNumber)(Object*);
  int (*PyFrame_GetLasti)(Object*);  ///< Null before Python 3.11.

  Object* (*PyCFunction_NewEx)(MethodDef*, Object* self, Object* module);  // New.
  void (*PyFunction_SetVectorcall)(Object*, VectorFunction*);  ///< Null before Python 3.12.
  VectorFunction* PyFunction_Vectorcall;                       ///< With a leading "_"; or null.
  /// Null before Python 3.11. New.
  Object* (*PyObject_Vectorcall)(Object*, Object* const*, size_t, Object* names);
  Object* (*PyObject_CallFunctionObjArgs)(Object*, ...);       // New.
  Object* (*PyObject_GetAttrString)(Object*, const char*);     // New.
  Object* (*PyTuple_New)(ptrdiff_t);                           // New.
  Object* (*PyTuple_GetItem)(Object*, ptrdiff_t);              // Borrowed.
  int (*PyTuple_SetItem)(Object*, ptrdiff_t, Object*);         // Takes the reference.
  Object* (*PyLong_FromUnsignedLongLong)(unsigned long long);  // New.
  unsigned long long (*PyLong_AsUnsignedLongLong)(Object*);
  char* (*PyBytes_AsString)(Object*);
  Object* (*PyUnicode_EncodeFSDefault)(Object*);  // New.
  void (*PyErr_Clear)();
  void (*PyErr_Fetch)(Object**, Object**, Object**);
  void (*PyErr_Restore)(Object*, Object*, Object*);

  Object* none;  ///< Py_None, borrowed.
};

/// Null if the process has no Python, or one without a GIL or too old. Searches again at each call
/// until found.
const Api* FindApi() noexcept;

/// Makes the interpreter call `called` where it would run a function written in Python, but for
/// calls of it that it has compiled into their caller. Returns false, and leaves it, if this Python
/// is not known to allow that.
bool SetVectorcall(const Api& api, Object* function, VectorFunction* called) noexcept;

/// An owned reference.
class Owned {
 public:
  Owned(const Api& api, Object* object) noexcept : api_(api), object_(object) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (object_ != nullptr) api_.Py_DecRef(object_);
  }
  Object* get() const noexcept { return object_; }
  Object* Release() noexcept {
    Object* const object = object_;
    object_ = nullptr;
    return object;
  }

 private:
  const Api& api_;
  Object* object_;
};

}  // namespace oplens::annotate::torch::python

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_PYTHON_API_H_
