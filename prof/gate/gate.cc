#include "prof/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/shown_text.h"
#include "prof/gate/evaluate.h"

namespace oplens::prof {
namespace {

/// --require-comparable: the runs differ in nothing that decides.
GateItem CheckComparable(const Diff& diff) {
  GateItem item;
  item.expression = "--require-comparable";
  item.message = "the runs can be compared";
  std::string differences;
  for (const Difference& difference : diff.differences) {
    if (!difference.decides) continue;
    const auto side = [](const std::string& text) {
      return text.empty() ? std::string("unknown") : ShownText(text);
    };
    differences +=
        fmt::format("{}{}: {} -> {}", differences.empty() ? "" : "; ", ShownText(difference.fact),
                    side(difference.base), side(difference.now));
  }
  if (differences.empty()) return item;
  item.outcome = GateOutcome::kNoData;
  item.message = "the runs cannot be compared: " + differences;
  return item;
}

/// Parts of the runs are lost: their figures are those of the rest.
GateItem LostData(const Diff& diff) {
  GateItem item;
  item.expression = kWholeData;
  item.outcome = GateOutcome::kNoData;
  item.message = fmt::format("neither a pass nor a failure says anything: {}", diff.lost);
  return item;
}

}  // namespace

std::string_view WordOf(GateOutcome outcome) {
  constexpr std::string_view kWords[] = {"holds", "no-data", "broken"};
  return kWords[static_cast<size_t>(outcome)];
}

int GateResult::exit_code() const {
  const auto any = [&](GateOutcome outcome) {
    return std::ranges::find(items, outcome, &GateItem::outcome) != items.end();
  };
  if (any(GateOutcome::kNoData)) return kExitNoData;
  return any(GateOutcome::kBroken) ? kExitBroken : 0;
}

Gate Gate::Parse(std::span<const std::string> expressions, bool require_comparable,
                 std::span<const GateScope> scopes) {
  Gate gate;
  gate.require_comparable_ = require_comparable;
  for (const std::string& text : expressions) {
    gate.expressions_.push_back(ParseGateExpression(text, scopes));
  }
  return gate;
}

bool Gate::needs_base() const {
  return require_comparable_ || std::ranges::any_of(expressions_, &GateExpression::change);
}

std::vector<std::string> Gate::views() const {
  std::vector<std::string> views;
  for (const GateExpression& expression : expressions_) {
    if (expression.IsTotal()) continue;
    if (std::ranges::find(views, expression.view) == views.end()) views.push_back(expression.view);
  }
  return views;
}

GateResult Gate::Check(const Diff& diff) const {
  GateResult result;
  result.name = diff.base_name.empty() ? diff.new_name : diff.base_name + " -> " + diff.new_name;
  if (!diff.lost.empty()) result.items.push_back(LostData(diff));
  if (require_comparable_) result.items.push_back(CheckComparable(diff));
  for (const GateExpression& expression : expressions_) {
    result.items.push_back(Evaluate(expression, diff));
  }
  return result;
}

}  // namespace oplens::prof
