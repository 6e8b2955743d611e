#ifndef OPLENS_PROF_GATE_EXPRESSION_H_
#define OPLENS_PROF_GATE_EXPRESSION_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prof/where/comparison.h"
#include "prof/where/pattern.h"

namespace oplens::prof {

/// Names of one view that an expression may use.
struct GateScope {
  struct Figure {
    std::string key;
    std::string unit;  ///< "ns", "B", "%", ...: determines the units of a threshold.
  };
  std::string view;
  std::vector<std::string> keys;  ///< Keys of the diff's rows.
  std::vector<Figure> figures;
  std::string usual = {};  ///< Default figure; "": one must be named.
};

/// All views that can be compared, in the order in which a name without a view is looked up:
/// operators (by layer, op and shape), modules, groups, then the others as listed.
std::span<const GateScope> GateScopes();

/// A figure's key without its unit: "peak" of "peak_bytes".
std::string_view WithoutUnit(std::string_view key);

// Words of --fail-if's expressions, for reading and writing.
inline constexpr std::string_view kTotalWord = "total";
inline constexpr std::string_view kUnknownWord = "unknown";

struct GateSign {
  std::string_view text;
  Relation relation;
};
/// Longer ones first.
inline constexpr GateSign kGateSigns[] = {{">=", Relation::kMoreOrEqual},
                                          {"<=", Relation::kLessOrEqual},
                                          {">", Relation::kMore},
                                          {"<", Relation::kLess}};

/// End of a bare pattern that begins at `begin`: at the first unmatched ")" outside of character
/// classes and escapes; otherwise the end of the text.
size_t EndOfBarePattern(std::string_view text, size_t begin);

/// Maximum length of an expression, in bytes.
inline constexpr size_t kMaxGateLength = 8192;

/// A condition that fails a build, as given to --fail-if:
///
///   CONDITION = ["any"] SUBJECT SIGN THRESHOLD
///   SUBJECT   = "total" | [VIEW "."] KEY "(" PATTERN ")" {"." KEY "(" PATTERN ")"} ["." FIGURE]
///             | VIEW "." FIGURE | VIEW "(" FIGURE ")" | VIEW
///   SIGN      = ">" | ">=" | "<" | "<="
///   THRESHOLD = ["+" | "-"] NUMBER [UNIT]        with a sign also "%": of the base
///
/// A pattern ends at the first unmatched ")", or is quoted by ' or ".
struct GateExpression {
  struct Key {
    std::string key;
    std::string pattern;
    bool unknown = false;  ///< The bare word `unknown`: rows of unknown key.
    std::shared_ptr<const Pattern> compiled = {};  ///< Null if `unknown`.

    /// Whether the whole text of a key matches; an unknown key ("") matches `unknown` only.
    bool Matches(std::string_view name) const;
    bool operator==(const Key& other) const;
  };

  std::string text;                     ///< As given.
  bool any = false;                     ///< Applies to each row, not to their sum.
  std::string view;                     ///< "": the total.
  std::vector<Key> keys;                ///< All must match.
  std::string figure;                   ///< Key.
  std::string unit;                     ///< Of the figure.
  Relation relation = Relation::kMore;  ///< kMore, kMoreOrEqual, kLess or kLessOrEqual.
  bool change = false;  ///< The threshold has a sign: it applies to the change, not to the new run.
  bool of_base = false;  ///< The threshold is in percent of the base.
  double threshold = 0;  ///< In `unit` or percent.

  bool IsTotal() const { return view.empty(); }
  bool Breaks(double value) const;
  /// The condition in full, in the grammar; it parses to an equal expression.
  std::string Canonical() const;
  /// Ignores `text`.
  bool operator==(const GateExpression& other) const;
};

/// Throws UsageError, which shows the text and marks the error.
GateExpression ParseGateExpression(std::string_view text,
                                   std::span<const GateScope> scopes = GateScopes());

}  // namespace oplens::prof

#endif  // OPLENS_PROF_GATE_EXPRESSION_H_
