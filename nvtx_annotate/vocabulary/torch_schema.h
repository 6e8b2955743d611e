#ifndef OPLENS_NVTX_ANNOTATE_VOCABULARY_TORCH_SCHEMA_H_
#define OPLENS_NVTX_ANNOTATE_VOCABULARY_TORCH_SCHEMA_H_

#include <cstddef>
#include <string_view>

namespace oplens {

/// How operators of PyTorch's namespace "aten" are called from Python.
struct TorchSchema {
  /// Operators without namespace, overload and in-place mark, separated by blanks.
  std::string_view names;
  std::string_view mod;  ///< PyProf's module of the function; "Tensor" for in-place operators.
  std::string_view op;   ///< The function's name there; "": the operator's.
  /// One word per argument of the operator's schema; further arguments are dropped. "" keeps all
  /// unchanged.
  ///   _          positional
  ///   -          dropped
  ///   @          a list of tensors, which stand one by one; a single argument that is no tensor
  ///   dtype      keyword, recorded by number; dtype~: the first tensor's if there is none
  ///   shape~N    positional; if it was not recorded, the shape of the schema's argument N (from 0)
  ///   half_to_float   a flag that stands for dtype=float32
  ///   NAME       keyword
  /// A trailing "!": the cost depends on the value, which must not count as absent if values were
  /// not recorded. "!!": nor if only this one was not, such as a text.
  std::string_view parameters;
  size_t count = 0;  ///< The row is for calls with this many arguments; 0: any number.
};

/// The first row for an operator with this many arguments, or nullptr. `op`: "add", "add_".
const TorchSchema* FindTorchSchema(std::string_view op, size_t arguments);

}  // namespace oplens

#endif  // OPLENS_NVTX_ANNOTATE_VOCABULARY_TORCH_SCHEMA_H_
