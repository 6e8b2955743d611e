#ifndef OPLENS_PROF_ADVICE_ADVISE_H_
#define OPLENS_PROF_ADVICE_ADVISE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prof/advice/rule.h"

namespace oplens::prof::advice {

struct NamedRank {
  std::string_view name;
  const RankFacts* facts = nullptr;
  const CommunicationFacts* communication = nullptr;  ///< Null: unknown.
};

enum class Confidence : uint8_t {
  kNone,  ///< There is no gain to have confidence in.
  kLow,
  kMedium,
  kHigh,
};
/// "low", "medium", "high"; "" for kNone.
std::string_view ConfidenceWord(Confidence confidence);

struct Item {
  const Rule* rule = nullptr;
  Severity severity = Severity::kInfo;
  std::string_view rank;           ///< The rank with the largest gain; of several the first.
  int64_t ranks = 0;               ///< Number of ranks on which it fired.
  std::optional<double> gain_ns;   ///< Per step; without steps, over the run.
  std::optional<double> estimate;  ///< Share saved by a replay of the critical path; <= the gain.
  std::optional<double> estimate_ns;
  Confidence confidence = Confidence::kNone;
  std::string_view reason;  ///< Of the confidence.
  Finding finding;          ///< On that rank.

  /// What it is ranked by: the estimate, otherwise the gain.
  double weight() const { return estimate.value_or(finding.gain.value_or(0)); }
};

/// Options of prof that show an item's evidence: of its rank alone if there are `several`, unless
/// the evidence is about the ranks together.
std::string CommandOf(const Item& item, bool several);

/// One item per rule that fired, by severity, then gain, then order of rules.
std::vector<Item> Advise(std::span<const NamedRank> ranks);

std::vector<const Rule*> RulesWithoutData(std::span<const NamedRank> ranks);

}  // namespace oplens::prof::advice

#endif  // OPLENS_PROF_ADVICE_ADVISE_H_
