#ifndef OPLENS_PROF_VERDICTS_NETWORK_CULPRITS_H_
#define OPLENS_PROF_VERDICTS_NETWORK_CULPRITS_H_

#include <vector>

#include "prof/verdicts/culprits.h"

namespace oplens::prof {

/// Process groups whose transfers take longer than those of groups of their kind and size, or than
/// they took in earlier steps; one for several groups that share what no fast group has. And links
/// of two ranks (FindSlowPairs).
std::vector<Culprit> FindNetworkCulprits(const std::vector<CulpritRank>& ranks);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VERDICTS_NETWORK_CULPRITS_H_
