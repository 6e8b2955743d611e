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

/// What a formula can read from a tensor.
struct FormulaTensor {
  int64_t elements = 0;           ///< 0 when the tensor is absent.
  DType dtype = DType::kUnknown;  ///< Unspecified when absent.
  bool absent = false;
};

/// Why a formula has no value.
enum class FormulaFault : uint8_t {
  kNone,
  kOverflow,  ///< Over 128 bits in between, or over 64 in the result.
  kZeroDivisor,
  kInexact,       ///< "/" with a remainder, or a size that is not a whole number of bytes.
  kNegative,      ///< The result, or an operand of log2ceil, ceil_div or floor_div.
  kUnknownDType,  ///< Needs the size of an unrecorded type.
};

/// A formula over named integers and tensors, compiled once and evaluated often, in exact 128-bit
/// integers. It cannot run code: no calls but those below, no assignments, no loops.
///
///   sum      = product {("+" | "-") product}
///   product  = factor {("*" | "/") factor}          "/" must leave no remainder
///   factor   = "-" factor | NUMBER | NAME | "(" sum ")" | FUNCTION "(" sum {"," sum} ")"
///              | OF_TENSOR "(" TENSOR ")"
///   FUNCTION   ceil_div(a, b), floor_div(a, b), min(a, b, ...), max(a, b, ...),
///              log2ceil(a): the least n with 2^n >= a
///   OF_TENSOR  size: bytes per element; bits: bits per element; elements;
///              bytes: of the whole tensor, 4-bit types rounded up to whole bytes
class Formula {
 public:
  /// Names usable in a formula: values[i] and tensors[i] of Compute() belong to them.
  struct Names {
    std::span<const std::string> values;
    std::span<const std::string> tensors;
  };
  /// Error in a text. `column` counts bytes from 1.
  struct Error {
    std::string what;
    size_t column = 1;
  };

  static constexpr size_t kMaxDepth = 64;
  static constexpr size_t kMaxLength = 4096;

  /// nullopt and `*error` for malformed or too long texts and unknown names. Never throws.
  static std::optional<Formula> Parse(std::string_view text, const Names& names, Error* error);

  /// The value, >= 0; otherwise nullopt and `*fault`.
  std::optional<int64_t> Compute(std::span<const int64_t> values,
                                 std::span<const FormulaTensor> tensors, FormulaFault* fault) const;

  /// False only for the literal 0.
  bool MayBeMoreThanZero() const;

 private:
  friend class FormulaParser;

  enum class Code : uint8_t {
    kNumber,  // operand: the number
    kValue,   // operand: index
    kSize,    // operand: index of a tensor, as for the next three
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

/// The fault in one sentence.
std::string_view FormulaFaultText(FormulaFault fault);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_RULES_FORMULA_H_
