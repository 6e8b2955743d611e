#ifndef OPLENS_OPS_FAMILIES_POINTWISE_TABLE_H_
#define OPLENS_OPS_FAMILIES_POINTWISE_TABLE_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace oplens::ops {

enum class PointwiseResult : uint8_t {
  kPromoted,  ///< Promoted from all operands.
  kFloat,     ///< As kPromoted, but integers become fp32.
  kBool,
  kFirst,     ///< The first operand's.
  kSelected,  ///< Promoted from all operands except the condition.
};

/// What the backward accesses. Gradients have their operand's shape; a broadcast one adds a
/// reduction.
enum class PointwiseGradient : uint8_t {
  kNone,       ///< Not differentiable.
  kView,       ///< dY itself.
  kUnsaved,    ///< Reads dY only.
  kSaved,      ///< Reads dY and the operands, or an equally large result, once.
  kSelecting,  ///< Reads dY and the condition.
  kProduct,    ///< One kernel per operand: reads dY and the other operand.
  kQuotient,   ///< One kernel per operand: reads dY and the divisor; dY and both.
};

/// Whether the weights are operations prescribed by the formula.
enum class PointwiseCount : uint8_t { kExact, kEstimate };

/// An elementwise op: FLOPs per element of the output and of the gradient (docs/costs.md).
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

std::span<const std::string_view> PointwiseNames();

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_POINTWISE_TABLE_H_
