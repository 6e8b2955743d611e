#ifndef OPLENS_PROF_VERDICTS_STAGE_JUDGE_H_
#define OPLENS_PROF_VERDICTS_STAGE_JUDGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "prof/verdicts/culprits.h"

namespace oplens::prof {

struct LoadFinding {
  std::vector<Culprit> culprits;   ///< Waiters, ranks and names are not set.
  size_t steps = 0;                ///< Number of steps that were compared.
  std::optional<int64_t> late_ns;  ///< As in RankFinding.
};

/// What makes ranks of one pipeline stage, which do the same, late: of each rank, in order.
/// Precondition: at least two.
std::vector<LoadFinding> JudgeStage(const std::vector<const RankLoad*>& loads);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VERDICTS_STAGE_JUDGE_H_
