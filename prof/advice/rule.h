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

enum class Severity : uint8_t {
  kInfo,    ///< No countable gain: it affects the meaning of other figures.
  kLow,     ///< Gain below kMediumShare of the time.
  kMedium,  ///< Gain below kHighShare.
  kHigh,
};
inline constexpr double kMediumShare = 0.03;
inline constexpr double kHighShare = 0.10;

/// "high", "medium", "low", "info".
std::string_view SeverityWord(Severity severity);

/// What a rule checks: one rank, among all ranks.
struct Case {
  const RankFacts& rank;
  std::span<const RankFacts* const> all;
  const CommunicationFacts* communication = nullptr;  ///< Null: unknown.
};

struct Finding {
  std::string sentence;
  /// Upper bound on the share of the time saved, 0 to 1; nullopt: unknown.
  std::optional<double> gain;
  Severity severity = Severity::kInfo;     ///< If there is no gain to judge by.
  std::vector<std::string> evidence = {};  ///< Largest first.
  std::string change = {};                 ///< Takes the place of Rule::change, unless empty.
  std::string command = {};                ///< Likewise of Rule::command,
  std::string_view view = {};              ///< with its view.
};

/// One rule: what it checks, and what to do if it fires. An entry of kRules.
struct Rule {
  std::string_view id;
  std::optional<Finding> (*check)(const Case& look);
  std::string_view change;      ///< What to do.
  std::string_view bound;       ///< What bounds the gain; "" if there is no gain.
  std::string_view assumption;  ///< Under which the bound is reached.
  std::string_view command;     ///< Options of prof that show its evidence.
  std::string_view view;        ///< The view of `command`.
  /// Whether a rank has the data that the rule needs; if no rank has, `lack` says what to record.
  bool (*can_look)(const RankFacts& rank);
  MissingFact lack;
  Topic topic = Topic::kNone;  ///< Whose time its gain is.

  /// Whether its gain is the distance of kernels from their roof: a replay of it is no estimate,
  /// but a bound too.
  bool is_to_roof() const;
  /// Whether roofs decide its gain.
  bool by_roofs() const;
};

std::span<const Rule> Rules();

}  // namespace oplens::prof::advice

#endif  // OPLENS_PROF_ADVICE_RULE_H_
