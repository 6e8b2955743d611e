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

/// Exit codes of a gate, beside those of base/error.h. Of several the first: 2, 1, 4, 5, 3, 0.
inline constexpr int kExitNoData = 4;  ///< The runs cannot be judged: data is lost or missing, or
                                       ///< they are not alike. What is broken proves nothing then.
inline constexpr int kExitBroken = 5;  ///< An expression is broken.

/// What became of an expression.
enum class GateOutcome : uint8_t { kHolds, kNoData, kBroken };
/// "holds", "no-data", "broken"
std::string_view WordOf(GateOutcome outcome);

/// A row, or a sum of rows, that broke an expression or has part in that.
struct GateRow {
  std::string name;  ///< "layer=decoder.0 op=mm", of the keys that are known.
  Figure figure;
};

/// Stands for an expression where data of a run is lost.
inline constexpr std::string_view kWholeData = "whole-data";

/// An expression and what became of it.
struct GateItem {
  std::string expression;  ///< As it was given; of --require-comparable that; kWholeData.
  GateOutcome outcome = GateOutcome::kHolds;
  std::string view;    ///< "": the total.
  std::string figure;  ///< Its key.
  std::string unit;
  Figure value;               ///< Of all rows together; of `any` that of the first that broke it.
  std::string message;        ///< One line: what was found, or what is missing.
  std::vector<GateRow> rows;  ///< Of a broken one, those that count most first.
  size_t more_rows = 0;       ///< That did not go into `rows`.
};

struct GateResult {
  std::string name;  ///< What was looked at: "base.json -> new.json".
  std::vector<GateItem> items;

  /// kExitNoData, kExitBroken or 0: the first that fits.
  int exit_code() const;
};

/// What may fail a build: the expressions of --fail-if, and --require-comparable.
class Gate {
 public:
  /// Throws UsageError for an expression that cannot be read.
  static Gate Parse(std::span<const std::string> expressions, bool require_comparable = false,
                    std::span<const GateScope> scopes = GateScopes());

  bool empty() const { return expressions_.empty() && !require_comparable_; }
  /// Whether anything is asked of a base: else a diff of one run does, whose base_name is "".
  bool needs_base() const;
  /// The views that the diff must hold, each once.
  std::vector<std::string> views() const;
  const std::vector<GateExpression>& expressions() const { return expressions_; }

  GateResult Check(const Diff& diff) const;

 private:
  std::vector<GateExpression> expressions_;
  bool require_comparable_ = false;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_GATE_GATE_H_
