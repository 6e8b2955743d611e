#ifndef OPLENS_PROF_VERDICTS_FILE_CULPRITS_H_
#define OPLENS_PROF_VERDICTS_FILE_CULPRITS_H_

#include <vector>

#include "prof/verdicts/culprits.h"

namespace oplens::prof {

/// What makes the files of a run less than one run: ranks without a file, ranks with several, files
/// of another run, ranks with fewer steps than most.
std::vector<Culprit> FindFileCulprits(const std::vector<CulpritRank>& ranks);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VERDICTS_FILE_CULPRITS_H_
