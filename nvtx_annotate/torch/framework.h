#ifndef OPLENS_NVTX_ANNOTATE_TORCH_FRAMEWORK_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_FRAMEWORK_H_

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <c10/core/TensorImpl.h>
#include <torch/version.h>

#include <cstdint>
#include <optional>

// Differences between versions of PyTorch's headers. Everything else that the adaptor uses is
// unchanged since 1.13: name(), inputs(), seqNr(), handle(), scope(), thread numbers and isAsync()
// of RecordFunction, adding and removing callbacks, and the type queries of IValue. An
// implementation is a header with the members of `framework` that are not below:
//
//   auto SchemaOf(function)      the schema, optional: of an op of the dispatcher
//   bool HasKeywords(function)   whether the call has keyword arguments besides inputs()
//   const IValue* FindKeyword(function, name)
//                                such an argument; null: there is none
//   std::optional<int64_t> SymbolicInt(value)
//                                the value of a symbolic integer, if fixed
//   bool IsSymbolic(value)       whether a value is a symbolic number
//
// For a new version add a row with the first version that an implementation supports.

#define OPLENS_TORCH_VERSION (TORCH_VERSION_MAJOR * 1000 + TORCH_VERSION_MINOR)

#if OPLENS_TORCH_VERSION >= 2000
#include "nvtx_annotate/torch/framework_2.h"  // Run with 2.13, compiled for 2.11 and 2.14.
#elif OPLENS_TORCH_VERSION >= 1013
#include "nvtx_annotate/torch/framework_1_13.h"
#else
#error "oplens annotates PyTorch 1.13 and newer"
#endif

namespace oplens::annotate::torch::framework {

/// Whether a call in the scope of ops is just a label, which Dynamo and the engine put around
/// others ("Torch-Compiled Region: 0/0"). Nearly all ops have inputs.
inline bool IsLabel(const at::RecordFunction& function) {
  return function.inputs().empty() && !HasKeywords(function) &&
         !function.operator_name().has_value();
}

/// Other tensors' extents cannot be read without running code of the program.
inline bool HasExtents(const at::TensorImpl& tensor) {
  return !tensor.has_symbolic_sizes_strides() && !tensor.is_nested();
}

struct ProcessGroup {
  int64_t rank = 0;
  int64_t size = 0;
};

/// The process group in an argument; nullopt for other values, and if PyTorch was built without
/// process groups.
std::optional<ProcessGroup> GroupOf(const c10::IValue& value);

}  // namespace oplens::annotate::torch::framework

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_FRAMEWORK_H_
