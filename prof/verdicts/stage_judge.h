#ifndef OPLENS_PROF_VERDICTS_STAGE_JUDGE_H_
#define OPLENS_PROF_VERDICTS_STAGE_JUDGE_H_

#include <vector>

#include "prof/verdicts/culprits.h"

namespace oplens::prof {

/// What makes ranks of one pipeline stage, which do the same, late: of each rank, in order.
/// Waiters, ranks and names are not set. Precondition: at least two.
std::vector<std::vector<Culprit>> JudgeStage(const std::vector<const RankLoad*>& loads);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VERDICTS_STAGE_JUDGE_H_
