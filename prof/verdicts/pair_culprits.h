#ifndef OPLENS_PROF_VERDICTS_PAIR_CULPRITS_H_
#define OPLENS_PROF_VERDICTS_PAIR_CULPRITS_H_

#include <set>
#include <string>
#include <vector>

#include "prof/verdicts/culprits.h"

namespace oplens::prof {

struct SlowPairs {
  std::vector<Culprit> culprits;
  std::set<std::string> groups;  ///< Those in which they are: keys of RankLoad::groups.
};

/// Two ranks whose all_to_all ends later than that of the other ranks of its group, and on both at
/// once: messages between them are slow. Who only sends or gets more ends late alone.
SlowPairs FindSlowPairs(const std::vector<CulpritRank>& ranks);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VERDICTS_PAIR_CULPRITS_H_
