#ifndef OPLENS_PROF_ADVICE_ADVISE_H_
#define OPLENS_PROF_ADVICE_ADVISE_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "prof/advice/rule.h"

namespace oplens::prof::advice {

/// A rank under its name.
struct NamedRank {
  std::string_view name;
  const RankFacts* facts = nullptr;
};

/// A rule that fired.
struct Item {
  const Rule* rule = nullptr;
  Severity severity = Severity::kInfo;
  std::string_view rank;          ///< The one where most can be gained; of several the first.
  int64_t ranks = 0;              ///< On how many it fired.
  std::optional<double> gain_ns;  ///< Of a step, without steps of the run.
  Finding finding;                ///< Of that rank.
};

/// What the rules say of ranks, in the order in which these are named: by severity, then by gain,
/// then in the order of the rules. A rule gives one item, whatever the ranks.
std::vector<Item> Advise(std::span<const NamedRank> ranks);

/// The rules that could look at no rank.
std::vector<const Rule*> RulesWithoutData(std::span<const NamedRank> ranks);

}  // namespace oplens::prof::advice

#endif  // OPLENS_PROF_ADVICE_ADVISE_H_
