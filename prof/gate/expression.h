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

/// What an expression may name of one view.
struct GateScope {
  struct Figure {
    std::string key;
    std::string unit;  ///< "ns", "B", "%", ...: decides which units a threshold may have.
  };
  std::string view;
  std::vector<std::string> keys;  ///< Those that rows of the diff have.
  std::vector<Figure> figures;
  std::string usual = {};  ///< The figure that is meant where none is named; "": one must be.
};

/// All views that can be compared, in the order in which a name without a view is looked for:
/// operators (by layer, op and shape), modules, groups, then the others as they are listed.
std::span<const GateScope> GateScopes();

/// A figure's key without its unit: "peak" of "peak_bytes".
std::string_view WithoutUnit(std::string_view key);

// Words of the expressions of --fail-if, for who reads and who writes them.
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

/// Where a bare pattern ends that begins at `begin`: at the ")" that it did not open, in no class
/// and behind no backslash; else at the end of the text.
size_t EndOfBarePattern(std::string_view text, size_t begin);

/// Longer expressions are refused, in bytes.
inline constexpr size_t kMaxGateLength = 8192;

/// A condition that fails a build, as --fail-if was given it:
///
///   CONDITION = ["any"] SUBJECT SIGN THRESHOLD
///   SUBJECT   = "total" | [VIEW "."] KEY "(" PATTERN ")" {"." KEY "(" PATTERN ")"} ["." FIGURE]
///             | VIEW "." FIGURE | VIEW "(" FIGURE ")" | VIEW
///   SIGN      = ">" | ">=" | "<" | "<="
///   THRESHOLD = ["+" | "-"] NUMBER [UNIT]        with a sign also "%": of the base
///
/// A pattern ends at the ")" that it did not open, or stands in ' or ".
struct GateExpression {
  struct Key {
    std::string key;
    std::string pattern;
    bool unknown = false;  ///< The bare word `unknown`: rows of which the key is not known.
    std::shared_ptr<const Pattern> compiled = {};  ///< Null with `unknown`.

    /// Whether all of a key's text matches; what is unknown ("") matches `unknown` alone.
    bool Matches(std::string_view name) const;
    bool operator==(const Key& other) const;
  };

  std::string text;                     ///< As it was given.
  bool any = false;                     ///< Of each row apart, not of their sum.
  std::string view;                     ///< "": the total.
  std::vector<Key> keys;                ///< All must match.
  std::string figure;                   ///< Its key.
  std::string unit;                     ///< Of the figure.
  Relation relation = Relation::kMore;  ///< kMore, kMoreOrEqual, kLess or kLessOrEqual.
  bool change = false;   ///< The threshold has a sign: it is of the change, not of the new run.
  bool of_base = false;  ///< It is in percent of the base.
  double threshold = 0;  ///< In `unit` or percent.

  bool IsTotal() const { return view.empty(); }
  /// Whether a value breaks it.
  bool Breaks(double value) const;
  /// The same condition in full, in the grammar; what it reads as is equal but for `text`.
  std::string Canonical() const;
  /// But for `text`.
  bool operator==(const GateExpression& other) const;
};

/// Throws UsageError, which shows the text and marks the place.
GateExpression ParseGateExpression(std::string_view text,
                                   std::span<const GateScope> scopes = GateScopes());

}  // namespace oplens::prof

#endif  // OPLENS_PROF_GATE_EXPRESSION_H_
