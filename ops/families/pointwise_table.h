#ifndef OPLENS_OPS_FAMILIES_POINTWISE_TABLE_H_
#define OPLENS_OPS_FAMILIES_POINTWISE_TABLE_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace oplens::ops {

/// The type of the result.
enum class PointwiseResult : uint8_t {
  kPromoted,  ///< Of all operands.
  kFloat,     ///< As kPromoted, integers become fp32.
  kBool,
  kFirst,     ///< The first operand's.
  kSelected,  ///< Promoted from the operands but the condition.
};

/// What the backward reads and writes. Each operand that receives a gradient has one of its own
/// shape; one that was broadcast adds a reduction of n.
enum class PointwiseGradient : uint8_t {
  kNone,       ///< Not differentiable.
  kView,       ///< dY itself.
  kUnsaved,    ///< dY alone is read.
  kSaved,      ///< dY and the operands, or as large a result, are read once.
  kSelecting,  ///< dY and the condition are read.
  kProduct,    ///< A kernel an operand: dY and the other operand.
  kQuotient,   ///< A kernel an operand: dY and the divisor; dY and both.
};

/// Whether the weights are operations that the formula prescribes, or estimates.
enum class PointwiseCount : uint8_t { kExact, kEstimate };

/// An elementwise op: FLOPs an element of the output and of the gradient (docs/costs.md).
struct PointwiseOp {
  std::string_view name;
  int operands;
  int forward;
  int backward;
  PointwiseResult result;
  PointwiseGradient gradient;
  PointwiseCount count;
};

/// The row of a normalised name, or nullptr.
const PointwiseOp* FindPointwiseOp(std::string_view name);

/// Every name of the table.
std::span<const std::string_view> PointwiseNames();

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_POINTWISE_TABLE_H_
