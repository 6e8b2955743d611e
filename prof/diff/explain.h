#ifndef OPLENS_PROF_DIFF_EXPLAIN_H_
#define OPLENS_PROF_DIFF_EXPLAIN_H_

#include <vector>

#include "prof/diff/diff.h"
#include "prof/diff/place_diff.h"
#include "prof/diff/side.h"

namespace oplens::prof {

/// The change of the mean length of a step.
Figure TotalOf(const Side& base, const Side& now);

/// The change of the total as a sum of causes, the largest first. The parts of a step (view
/// `overview`) add up to it. The part in which kernels compute is told by the rows of `places`, by
/// what became of them; what their times do not explain is how much they overlap. Without steps
/// that have a length, the total is the time on the GPU, and all of it is told by rows.
std::vector<Cause> CausesOf(const Side& base, const Side& now, const PlaceDiff& places);

/// One line: which is faster, by how much, how sure that is, and the largest cause.
std::string VerdictOf(const Diff& diff);

/// Of the new run's steps those that take longer than every step of the base by more than it is
/// above their median, where they are at least two and less than half: "20 of 200 steps take longer
/// than any of the base: one in 10". "" else.
std::string LateSteps(const Side& base, const Side& now);

/// In what the two runs differ besides what is compared.
std::vector<Difference> DifferencesOf(const Side& base, const Side& now, const PlaceDiff& places);

/// "12.3 ms", "-4.56 us": four digits at most, for readers.
std::string TimeText(double duration_ns);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_EXPLAIN_H_
