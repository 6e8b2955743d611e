#ifndef OPLENS_OPS_RULES_FORMULA_H_
#define OPLENS_OPS_RULES_FORMULA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/dtype.h"

namespace oplens::ops {

/// What a formula may know of a tensor.
struct FormulaTensor {
  int64_t elements = 0;           ///< 0 when the tensor is absent.
  DType dtype = DType::kUnknown;  ///< Any, when the tensor is absent.
  bool absent = false;
};

/// Why a formula has no value.
enum class FormulaFault : uint8_t {
  kNone,
  kOverflow,      ///< Beyond 128 bits inside, or 64 bits of the result.
  kZeroDivisor,   ///< A division by zero.
  kInexact,       ///< "/" with a remainder, or a size that is no whole number of bytes.
  kNegative,      ///< The result, or the operand of log2ceil, ceil_div or floor_div.
  kUnknownDType,  ///< It asks for the size of a type that was not recorded.
};

/// A formula over named integers and tensors: compiled once, computed often, with exact integers of
/// 128 bits. There is nothing to execute in it: no calls but those below, no assignments, no loops.
///
///   sum      = product {("+" | "-") product}
///   product  = factor {("*" | "/") factor}          "/" must leave no remainder
///   factor   = "-" factor | NUMBER | NAME | "(" sum ")" | FUNCTION "(" sum {"," sum} ")"
///              | OF_TENSOR "(" TENSOR ")"
///   FUNCTION   ceil_div(a, b), floor_div(a, b), min(a, b, ...), max(a, b, ...),
///              log2ceil(a): the least n with 2^n >= a
///   OF_TENSOR  size: bytes of an element; bits: the same in bits; elements; bytes: of all
///   elements,
///              4-bit types rounded up to whole bytes
class Formula {
 public:
  /// Names that may stand in a formula: values[i] and tensors[i] of Compute() are theirs.
  struct Names {
    std::span<const std::string> values;
    std::span<const std::string> tensors;
  };
  /// What is wrong with a text and where: byte column, the first is 1.
  struct Error {
    std::string what;
    size_t column = 1;
  };

  static constexpr size_t kMaxDepth = 64;
  static constexpr size_t kMaxLength = 4096;

  /// Longer and deeper texts than the limits, and unknown names, are errors. Never throws.
  static std::optional<Formula> Parse(std::string_view text, const Names& names, Error* error);

  /// The value, 0 or more; nullopt and the fault when there is none.
  std::optional<int64_t> Compute(std::span<const int64_t> values,
                                 std::span<const FormulaTensor> tensors, FormulaFault* fault) const;

  /// Whether it is a number other than 0, or anything that is no number.
  bool MayBeMoreThanZero() const;

 private:
  friend class FormulaParser;

  enum class Code : uint8_t {
    kNumber,  // operand: the number.
    kValue,   // operand: index.
    kSize,    // operand: index of a tensor, also of the next three.
    kBits,
    kElements,
    kBytes,
    kNegate,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kCeilDiv,
    kFloorDiv,
    kMin,
    kMax,
    kLog2Ceil,
  };
  struct Step {
    Code code;
    int64_t operand = 0;
  };
  class Machine;

  std::vector<Step> steps_;  // In postfix order.
};

/// One sentence for a fault.
std::string_view FormulaFaultText(FormulaFault fault);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_RULES_FORMULA_H_
