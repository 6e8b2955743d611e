#ifndef OPLENS_PROF_DIFF_EXPLAIN_H_
#define OPLENS_PROF_DIFF_EXPLAIN_H_

#include <vector>

#include "prof/diff/diff.h"
#include "prof/diff/place_diff.h"
#include "prof/diff/side.h"

namespace oplens::prof {

/// The change of the mean length of a step.
Figure TotalOf(const Side& base, const Side& now);

/// Splits the change of the total into causes, largest first. They start from the parts of a step
/// (view `overview`), which add up to the total. The part of computing kernels is explained by the
/// rows of `places`, by their change; what their times do not explain is overlap. If steps have no
/// length, the total is the time on the GPU, explained by rows only.
std::vector<Cause> CausesOf(const Side& base, const Side& now, const PlaceDiff& places);

/// One line: which run is faster, by how much, how certain that is, and the largest cause.
std::string VerdictOf(const Diff& diff);

/// Counts steps of the new run that exceed every step of the base by more than the base's maximum
/// exceeds its median. If there are at least two, but less than half, and the base has kFewSteps:
/// "20 of 200 steps take longer than any of the base" and, at regular intervals, ": one in 10";
/// otherwise "".
std::string LateSteps(const Side& base, const Side& now);

std::vector<Difference> DifferencesOf(const Side& base, const Side& now, const PlaceDiff& places);

/// "12.3 ms", "-4.56 us": at most four digits, for readers.
std::string TimeText(double duration_ns);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_EXPLAIN_H_
