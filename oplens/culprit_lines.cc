#include "oplens/culprit_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "oplens/text.h"

namespace oplens::screen {
namespace {

std::string CulpritText(const CulpritFact& culprit, size_t widest) {
  std::string text = fmt::format("  {}", PadRight(Shown(culprit.who), widest));
  if (culprit.cost_ns && culprit.cost_pct) {
    text += fmt::format("  {} a step ({} %)", TimeText(*culprit.cost_ns),
                        PercentText(*culprit.cost_pct));
  }
  for (const std::string* part : {&culprit.cause, &culprit.what, &culprit.often}) {
    if (!part->empty())
      text += fmt::format("{}{}", part == &culprit.cause ? "  " : "; ", Shown(*part));
  }
  return text;
}

}  // namespace

std::vector<CulpritFact> CulpritsOf(const prof::KeptRows& rows) {
  std::vector<CulpritFact> culprits;
  for (size_t i = 0; i < rows.size(); ++i) {
    CulpritFact& culprit = culprits.emplace_back();
    culprit.who = rows.Text(i, "who");
    culprit.cause = rows.Text(i, "cause");
    culprit.what = rows.Text(i, "what");
    culprit.often = rows.Text(i, "often");
    culprit.cost_ns = rows.Number(i, "cost_ns");
    culprit.cost_pct = rows.Number(i, "cost_pct");
    culprit.tested = rows.Text(i, "test") == "tested";
  }
  return culprits;
}

Section CulpritLines(const std::vector<CulpritFact>& culprits, size_t columns, size_t most) {
  Section lines;
  if (culprits.empty()) return lines;
  constexpr size_t kMostName = 30;
  // What is wrong with files has no cost and no test.
  const bool untested = std::ranges::any_of(culprits, [](const CulpritFact& culprit) {
    return culprit.cost_ns.has_value() && !culprit.cause.empty() && !culprit.tested;
  });
  const bool slow = std::ranges::any_of(
      culprits, [](const CulpritFact& culprit) { return !culprit.often.empty(); });
  lines.push_back({Style::kTitle, !slow      ? "These files are not one whole run"
                                  : untested ? "What slows the run down (too few steps for a test)"
                                             : "What slows the run down"});
  const bool all = culprits.size() <= most;
  const size_t shown = all ? culprits.size() : most - 1;
  size_t widest = 0;
  for (size_t i = 0; i < shown; ++i) {
    widest = std::max(widest, std::min(Width(Shown(culprits[i].who)), kMostName));
  }
  for (size_t i = 0; i < shown; ++i) {
    lines.push_back({Style::kPlain, CutRight(CulpritText(culprits[i], widest), columns)});
  }
  if (!all) {
    lines.push_back({Style::kQuiet, "  more: prof --view culprits"});
  }
  return lines;
}

}  // namespace oplens::screen
