#ifndef OPLENS_PROF_GATE_GATE_H_
#define OPLENS_PROF_GATE_GATE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prof/diff/diff.h"
#include "prof/gate/expression.h"

namespace oplens::prof {

/// Exit codes of a gate, besides those of base/error.h. If several apply, in this order: 2, 1, 4,
/// 5, 3, 0.
///
/// kExitNoData: the runs cannot be judged: data is lost or missing, or they are not comparable, so
/// broken expressions prove nothing.
inline constexpr int kExitNoData = 4;
inline constexpr int kExitBroken = 5;  ///< An expression is broken.

enum class GateOutcome : uint8_t { kHolds, kNoData, kBroken };
/// "holds", "no-data", "broken"
std::string_view WordOf(GateOutcome outcome);

/// A row, or a sum of rows, that broke an expression or contributes to that.
struct GateRow {
  std::string name;  ///< "layer=decoder.0 op=mm": the known keys.
  Figure figure;
};

/// In place of an expression: data of a run is lost.
inline constexpr std::string_view kWholeData = "whole-data";

struct GateItem {
  std::string expression;  ///< As given; "--require-comparable"; or kWholeData.
  GateOutcome outcome = GateOutcome::kHolds;
  std::string view;    ///< "": the total.
  std::string figure;  ///< Key.
  std::string unit;
  Figure value;               ///< Over all rows; for `any` of the first row that broke it.
  std::string message;        ///< One line: what was found, or what is missing.
  std::vector<GateRow> rows;  ///< Of a broken expression, most significant first.
  size_t more_rows = 0;       ///< Number of rows not in `rows`.
};

struct GateResult {
  std::string name;  ///< The inputs: "base.json -> new.json".
  std::vector<GateItem> items;

  /// The first that applies of kExitNoData, kExitBroken and 0.
  int exit_code() const;
};

/// What may fail a build: the expressions of --fail-if, and --require-comparable.
class Gate {
 public:
  /// Throws UsageError for an invalid expression.
  static Gate Parse(std::span<const std::string> expressions, bool require_comparable = false,
                    std::span<const GateScope> scopes = GateScopes());

  bool empty() const { return expressions_.empty() && !require_comparable_; }
  /// Whether a base is needed; otherwise a diff of one run suffices, whose base_name is "".
  bool needs_base() const;
  /// The views that the diff must have, without duplicates.
  std::vector<std::string> views() const;
  const std::vector<GateExpression>& expressions() const { return expressions_; }

  GateResult Check(const Diff& diff) const;

 private:
  std::vector<GateExpression> expressions_;
  bool require_comparable_ = false;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_GATE_GATE_H_
