#ifndef OPLENS_NVTX_ANNOTATE_VOCABULARY_TORCH_SCHEMA_H_
#define OPLENS_NVTX_ANNOTATE_VOCABULARY_TORCH_SCHEMA_H_

#include <cstddef>
#include <string_view>

namespace oplens {

/// How the operators of PyTorch's namespace "aten" are called from Python.
struct TorchSchema {
  /// Operators without namespace, overload and the mark of an in-place one, divided by blanks.
  std::string_view names;
  std::string_view mod;  ///< PyProf's module of the function; that of in-place ones is "Tensor".
  std::string_view op;   ///< The function's name there; "" for the operator's.
  /// A word for each argument of the operator's schema; arguments beyond them are dropped. "" keeps
  /// all as they are.
  ///   _          positional
  ///   -          dropped
  ///   @          a list of tensors, which stand one by one; a single argument that is no tensor
  ///   dtype      keyword, recorded by number; dtype~: the first tensor's if there is none
  ///   shape~N    positional; if it was not recorded, the shape of the schema's argument N (from 0)
  ///   half_to_float   a flag that stands for dtype=float32
  ///   NAME       keyword
  /// "!" at the end: the cost hangs on the value, which must not count as absent where values were
  /// not recorded. "!!": nor where only its own was not, a text for example.
  std::string_view parameters;
  size_t count = 0;  ///< The row is for calls with so many arguments; 0: with any number.
};

/// The first row that fits an operator with so many arguments, or nullptr. `op`: "add", "add_".
const TorchSchema* FindTorchSchema(std::string_view op, size_t arguments);

}  // namespace oplens

#endif  // OPLENS_NVTX_ANNOTATE_VOCABULARY_TORCH_SCHEMA_H_
