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

/// The arguments of an op as a user's rule describes them, which gives names to extents and
/// numbers. One text an argument:
///
///   x[B,S,H]     a tensor of three dimensions; the same name twice is the same extent
///   x[B,64,_]    the second extent is 64, the third any
///   x[*rows,H]   any number of dimensions at that place; rows is the product of their extents
///   bias[H]?     may be absent; its names must stand in an argument that may not
///   n            an integer or truth value
///   n=1          the same; 1 when absent
///   _            anything
///   ...          at the end: any further arguments
///
/// Positional arguments fit in order, keywords by name. Keywords that no text names do not matter.
class CallPattern {
 public:
  /// What is wrong with the texts and where.
  struct Error {
    size_t argument = 0;  ///< Index.
    size_t column = 1;    ///< In its text, in bytes; the first is 1.
    std::string what;
  };
  /// The values of a call's names: values[i] is that of value_names()[i].
  struct Binding {
    std::vector<int64_t> values;
    std::vector<FormulaTensor> tensors;
    /// Type of the first tensor that is there.
    std::optional<DType> dtype;
  };

  /// Why a call does not fit: kUnsupportedArgs for arguments that are missing, too many or of
  /// another kind, kShapeMismatch for extents, kCostOverflow.
  struct Misfit {
    Reason reason = Reason::kUnsupportedArgs;
    std::string what;  ///< "'w1' has 3 dimensions, not 2".
  };

  /// nullopt and the error when a text is wrong. Never throws.
  static std::optional<CallPattern> Parse(std::span<const std::string> arguments, Error* error);

  /// Fits a call. nullopt and the reason when it does not.
  std::optional<Binding> Match(const OpCall& call, Misfit* misfit) const;

  /// In the order of their first appearance.
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
