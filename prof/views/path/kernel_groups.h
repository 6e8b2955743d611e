#ifndef OPLENS_PROF_VIEWS_PATH_KERNEL_GROUPS_H_
#define OPLENS_PROF_VIEWS_PATH_KERNEL_GROUPS_H_

#include <span>

#include "prof/advice/facts.h"
#include "prof/views/path/advice_claims.h"
#include "prof/views/path/stream_kernel.h"

namespace oplens::prof {

/// Gives each kernel that is not claimed to one topic, with the bound on its gain: the first that
/// fits of kQuantise, kAttention, kAttentionCopies, kCast and kChain, then StreamKernel::offer,
/// then kFarFromRoof, then kMemoryBound (docs/advice.md). `kernels`: some that a stream ran one
/// after the other.
void ClaimGroups(std::span<StreamKernel> kernels, const TextIds& texts, advice::RankFacts* facts,
                 AdviceClaims* claims);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_PATH_KERNEL_GROUPS_H_
