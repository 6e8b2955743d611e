#ifndef OPLENS_PROF_ADVICE_RULE_H_
#define OPLENS_PROF_ADVICE_RULE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/recording_advice.h"
#include "prof/advice/facts.h"

namespace oplens::prof::advice {

/// How much there is to gain.
enum class Severity : uint8_t {
  kInfo,    ///< Nothing that could be counted: it matters for what other figures mean.
  kLow,     ///< Less than kMediumShare of the time.
  kMedium,  ///< Less than kHighShare.
  kHigh,
};
inline constexpr double kMediumShare = 0.03;
inline constexpr double kHighShare = 0.10;

/// "high", "medium", "low", "info".
std::string_view SeverityWord(Severity severity);

/// What a rule is about: of one rank, among all that were looked at.
struct Case {
  const RankFacts& rank;
  std::span<const RankFacts* const> all;
};

/// What a rule found.
struct Finding {
  std::string sentence;
  /// At most so much of the time would be saved, 0 to 1; nullopt: that cannot be told.
  std::optional<double> gain;
  Severity severity = Severity::kInfo;     ///< Where there is no gain to judge by.
  std::vector<std::string> evidence = {};  ///< The largest first.
};

/// One rule: what it looks for, and what to do where it finds that. An entry of kRules.
struct Rule {
  std::string_view id;
  std::optional<Finding> (*check)(const Case& look);
  std::string_view change;      ///< What to do.
  std::string_view bound;       ///< What the gain is an upper bound by; "" where there is no gain.
  std::string_view assumption;  ///< Under which that much is saved.
  std::string_view command;     ///< Options of prof that show its evidence.
  std::string_view view;        ///< The view of which that is.
  /// Whether a rank has what the rule looks at; where no rank has, `lack` says what to record.
  bool (*can_look)(const RankFacts& rank);
  Lack lack;
};

/// All of them, in the order in which they are listed.
std::span<const Rule> Rules();

}  // namespace oplens::prof::advice

#endif  // OPLENS_PROF_ADVICE_RULE_H_
