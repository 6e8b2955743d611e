#ifndef OPLENS_OPS_RULES_CALL_PATTERN_H_
#define OPLENS_OPS_RULES_CALL_PATTERN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ops/rules/formula.h"
#include "parse/model/op_call.h"
#include "parse/model/reason.h"

namespace oplens::ops {

/// Patterns for the arguments of an op in a user's rule; they name extents and numbers. One text
/// per argument:
///
///   x[B,S,H]     a tensor of three dimensions; equal names must have equal extents
///   x[B,64,_]    the second extent is 64, the third any
///   x[*rows,H]   any number of dimensions there; rows is the product of their extents
///   bias[H]?     optional; its names must also occur in an argument that is not
///   n            an integer or truth value
///   n=1          the same, 1 when absent
///   _            anything
///   ...          at the end: any further arguments
///
/// Positional arguments match in order, keywords by name; other keywords are ignored.
class CallPattern {
 public:
  /// Error in a pattern text.
  struct Error {
    size_t argument = 0;
    size_t column = 1;  ///< Byte column in that text, from 1.
    std::string what;
  };
  /// Values of the names of a matching call: values[i] belongs to value_names()[i].
  struct Binding {
    std::vector<int64_t> values;
    std::vector<FormulaTensor> tensors;
    /// Type of the first tensor present.
    std::optional<DType> dtype;
  };

  /// Why a call does not match: kUnsupportedArgs (missing, excess or wrong kind of argument),
  /// kShapeMismatch (extents) or kCostOverflow.
  struct Misfit {
    Reason reason = Reason::kUnsupportedArgs;
    std::string what;  ///< "'w1' has 3 dimensions, not 2".
  };

  /// nullopt and `*error` for a malformed text. Never throws.
  static std::optional<CallPattern> Parse(std::span<const std::string> arguments, Error* error);

  /// nullopt and `*misfit` if the call does not match.
  std::optional<Binding> Match(const OpCall& call, Misfit* misfit) const;

  /// In order of first appearance.
  const std::vector<std::string>& value_names() const { return value_names_; }
  const std::vector<std::string>& tensor_names() const { return tensor_names_; }
  Formula::Names names() const { return {value_names_, tensor_names_}; }

 private:
  friend class CallPatternParser;
  friend class CallMatcher;

  struct Extent {
    enum class Kind : uint8_t { kName, kNumber, kAny, kRest };
    Kind kind = Kind::kAny;
    size_t name = 0;     // kName, kRest: index into value_names_.
    int64_t number = 0;  // kNumber.
  };
  struct Argument {
    enum class Kind : uint8_t { kTensor, kNumber, kAnything };
    Kind kind = Kind::kAnything;
    std::string name;
    size_t index = 0;  // Into tensor_names_ or value_names_.
    bool optional = false;
    int64_t absent_value = 0;  // kNumber, optional.
    std::vector<Extent> extents;
  };

  std::vector<Argument> arguments_;
  bool open_ended_ = false;
  std::vector<std::string> value_names_;
  std::vector<std::string> tensor_names_;
};

}  // namespace oplens::ops

#endif  // OPLENS_OPS_RULES_CALL_PATTERN_H_
