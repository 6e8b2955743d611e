#ifndef OPLENS_NVTX_ANNOTATE_TORCH_FRAMEWORK_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_FRAMEWORK_H_

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <c10/core/TensorImpl.h>
#include <torch/version.h>

#include <cstdint>
#include <optional>

// What of PyTorch's headers differs between its versions, as the adaptor needs it. Everything else
// that the adaptor uses has been the same since 1.13: name(), inputs(), seqNr(), handle(), scope(),
// the thread numbers and isAsync() of RecordFunction, how callbacks are added and removed, and what
// asks an IValue for its kind. An implementation is a header with the members of `framework` that
// are not below:
//
//   auto SchemaOf(function)         the schema, optional: of an op of the dispatcher
//   bool HasKeywords(function)      whether the call has arguments by keyword, beside inputs()
//   std::optional<int64_t> SymbolicInt(value)   what a symbolic integer stands for, if that is
//   fixed bool IsSymbolic(value)          whether a value is a symbolic number
//
// A new version is one row: the first version that an implementation is for.

#define OPLENS_TORCH_VERSION (TORCH_VERSION_MAJOR * 1000 + TORCH_VERSION_MINOR)

#if OPLENS_TORCH_VERSION >= 2000
#include "nvtx_annotate/torch/framework_2.h"  // Compiled against stand-ins of 2.0 and 2.9.
#elif OPLENS_TORCH_VERSION >= 1013
#include "nvtx_annotate/torch/framework_1_13.h"
#else
#error "oplens annotates PyTorch 1.13 and newer"
#endif

namespace oplens::annotate::torch::framework {

/// Whether a call of the scope of ops is a label and no more: what Dynamo and the engine put around
/// others ("Torch-Compiled Region: 0/0"). Ops have inputs, but for few.
inline bool IsLabel(const at::RecordFunction& function) {
  return function.inputs().empty() && !HasKeywords(function) &&
         !function.operator_name().has_value();
}

/// The extents of such tensors could not be read without running code of the program.
inline bool HasExtents(const at::TensorImpl& tensor) {
  return !tensor.has_symbolic_sizes_strides() && !tensor.is_nested();
}

/// The processes that take part in a collective call.
struct ProcessGroup {
  int64_t rank = 0;
  int64_t size = 0;
};

/// The process group that an argument is; nullopt for anything else, and where PyTorch was built
/// without any.
std::optional<ProcessGroup> GroupOf(const c10::IValue& value);

}  // namespace oplens::annotate::torch::framework

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_FRAMEWORK_H_
