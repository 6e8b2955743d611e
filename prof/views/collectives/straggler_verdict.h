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
  kFewSteps,  ///< There are too few steps, or ranks, to tell it from chance.
  kChance,    ///< It comes late no more than others.
  kFollows,   ///< It comes late, but in one of its groups it waits for others.
  kSlowOp,    ///< An op is slower there than on the others, and they wait for the rank.
  kLate,      ///< It comes late, and none of its ops on the GPU says why.
};

/// "few steps", "chance", "follows", "slow op", "late".
std::string_view StragglerWord(StragglerVerdict verdict);

/// A rank and what it is compared by.
struct StragglerRank {
  const StragglerWork* work = nullptr;
  /// Only ranks of one stage of a pipeline do the same; -1: there are no stages.
  int64_t stage = -1;
};

/// What was found of a rank. Times are means over the steps from `since` on.
struct StragglerFinding {
  StragglerVerdict verdict = StragglerVerdict::kFewSteps;
  /// By how much later than the median rank it came, by what they waited; unknown with one rank.
  std::optional<int64_t> late_ns;
  /// Of kFollows and those behind it: number of the first step.
  std::optional<int64_t> since_step;
  std::optional<WorkName> slow;  ///< Of kSlowOp; without a layer where it is not one alone.
  int64_t op_ns = 0;             ///< Of the op, all its layers or that one.
  int64_t median_ns = 0;         ///< The same on the median of the other ranks.
};

/// Judges ranks by what each waited in each step, and by the times of its ops in each step against
/// the median of the other ranks of its stage (docs/views_distributed.md, "stragglers"). One for
/// each rank, in their order. O(n log n) in the times of all ranks.
std::vector<StragglerFinding> JudgeStragglers(const std::vector<StragglerRank>& ranks);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_STRAGGLER_VERDICT_H_
