#ifndef OPLENS_PROF_ADVICE_CHECKS_H_
#define OPLENS_PROF_ADVICE_CHECKS_H_

#include <optional>

#include "prof/advice/rule.h"

namespace oplens::prof::advice {

// The checks of kRules; conditions and their reasons: docs/advice.md.

// Idle time of the GPU, and the host.
std::optional<Finding> CheckDataLoader(const Case& look);
std::optional<Finding> CheckBlockingCalls(const Case& look);
std::optional<Finding> CheckHostBound(const Case& look);
std::optional<Finding> CheckStepStart(const Case& look);
std::optional<Finding> CheckColdStart(const Case& look);
std::optional<Finding> CheckShortKernels(const Case& look);
std::optional<Finding> CheckPageableCopies(const Case& look);
std::optional<Finding> CheckPinnedCopies(const Case& look);
std::optional<Finding> CheckGraphLaunch(const Case& look);
std::optional<Finding> CheckApiCalls(const Case& look);
std::optional<Finding> CheckAllocatorRetries(const Case& look);

// Kernels.
std::optional<Finding> CheckPadDims(const Case& look);
std::optional<Finding> CheckFp32In16BitNet(const Case& look);
std::optional<Finding> CheckTf32Off(const Case& look);
std::optional<Finding> CheckMixedPrecision(const Case& look);
std::optional<Finding> CheckLayoutTransforms(const Case& look);
std::optional<Finding> CheckSmallGrids(const Case& look);
std::optional<Finding> CheckLowOccupancy(const Case& look);
std::optional<Finding> CheckPerTensorOptimizer(const Case& look);
std::optional<Finding> CheckRecomputation(const Case& look);

// Kernels that a stream runs one after the other, and those below their roof.
std::optional<Finding> CheckAttentionBackend(const Case& look);
std::optional<Finding> CheckAttentionCopies(const Case& look);
std::optional<Finding> CheckCastsBeforeProducts(const Case& look);
std::optional<Finding> CheckQuantisation(const Case& look);
std::optional<Finding> CheckFusion(const Case& look);
std::optional<Finding> CheckFarFromRoof(const Case& look);
std::optional<Finding> CheckMemoryBound(const Case& look);
std::optional<Finding> CheckForeachOptimizer(const Case& look);

// Several ranks.
std::optional<Finding> CheckExposedCommunication(const Case& look);
std::optional<Finding> CheckWaitsForRanks(const Case& look);
std::optional<Finding> CheckSlowCollectives(const Case& look);
std::optional<Finding> CheckSmallMessages(const Case& look);
std::optional<Finding> CheckThinRecording(const Case& look);
std::optional<Finding> CheckUnbalancedRanks(const Case& look);
std::optional<Finding> CheckDataParallel(const Case& look);
std::optional<Finding> CheckNcclBackend(const Case& look);

// Memory and steps.
std::optional<Finding> CheckMemoryNearFull(const Case& look);
std::optional<Finding> CheckFragmentation(const Case& look);
std::optional<Finding> CheckStepJitter(const Case& look);
std::optional<Finding> CheckWarmUpStep(const Case& look);

}  // namespace oplens::prof::advice

#endif  // OPLENS_PROF_ADVICE_CHECKS_H_
