#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_STRAGGLER_VERDICT_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_STRAGGLER_VERDICT_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "prof/views/collectives/straggler_work.h"

namespace oplens::prof {

/// Whether a rank keeps the others waiting.
enum class StragglerVerdict : uint8_t {
  kFewSteps,  ///< Too few steps or ranks to tell it from chance.
  kChance,    ///< It is late no more than others.
  kFollows,   ///< It is late, but waits for others in one of its groups.
  kSlowOp,    ///< One of its ops is slower than on the others, and they wait for the rank.
  kLate,      ///< It is late, and no GPU op of its explains why.
};

/// "few steps", "chance", "follows", "slow op", "late".
std::string_view StragglerWord(StragglerVerdict verdict);

struct StragglerRank {
  const StragglerWork* work = nullptr;
  /// Ranks are compared within a pipeline stage; -1: no stages.
  int64_t stage = -1;
};

/// Result for a rank. Times are means over the steps from `since_step` on.
struct StragglerFinding {
  StragglerVerdict verdict = StragglerVerdict::kFewSteps;
  /// How much later than the median rank it arrived, by what they waited; nullopt with one rank.
  std::optional<int64_t> late_ns;
  /// For kFollows and the verdicts after it: number of the first step.
  std::optional<int64_t> since_step;
  std::optional<WorkName> slow;  ///< For kSlowOp; no layer unless a single one is slow.
  int64_t op_ns = 0;             ///< Of the op, in that layer or in all.
  int64_t median_ns = 0;         ///< The median of the other ranks.
};

/// Judges ranks by what each waited in each step, and by its op times per step compared with the
/// median of the other ranks of its stage (docs/views_distributed.md, "stragglers"). Returns one
/// finding per rank, in order. O(n log n) in the times of all ranks.
std::vector<StragglerFinding> JudgeStragglers(const std::vector<StragglerRank>& ranks);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_STRAGGLER_VERDICT_H_
