#ifndef OPLENS_OPS_OP_NAME_H_
#define OPLENS_OPS_OP_NAME_H_

#include <string>
#include <string_view>

namespace oplens::ops {

/// An op name and what its spelling says besides.
struct OpName {
  std::string name;  ///< Normalised: "add" for "aten::add_.Tensor", "__iadd__", "_foreach_add_".
  bool in_place = false;  ///< The result overwrites the first operand.
  bool reversed = false;  ///< "__rsub__" and its kind: the first argument is the right operand.
  bool backward = false;  ///< Names a gradient ("gelu_backward"); its arguments start with it.
  bool list = false;      ///< "_foreach_add": one op a member of the tensor lists.
};

/// What all kernels that TorchInductor made are called when their names are normalised:
/// "triton_poi_fused_add_0".
inline constexpr std::string_view kCompiledOp = "triton_kernel";

/// Splits a name as recorded by any front end. Names that no rule knows come back unchanged but for
/// prefix, overload and in-place mark. Never throws on any bytes.
OpName ParseOpName(std::string_view op);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_OP_NAME_H_
