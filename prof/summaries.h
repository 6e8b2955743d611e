#ifndef OPLENS_PROF_SUMMARIES_H_
#define OPLENS_PROF_SUMMARIES_H_

#include <cstddef>
#include <vector>

#include "parse/model/reason.h"
#include "prof/input/rank_namer.h"
#include "prof/options.h"
#include "prof/summary_file/summary_list.h"

namespace oplens::prof {

/// The inputs of views where they are summaries, not profiles; else none. Throws Error where only
/// some are.
std::vector<SummaryInput> SummariesOf(const Options& options);

/// Throws UsageError for what can be asked of a trace alone.
void RefuseWithSummaries(const Options& options);

/// Gives what summaries hold of each view to `runner`, but for those that cannot be read and may be
/// left out. Throws Error where one has not that view, or may not, or is of other options. `claims`
/// gets what they say of the run that they are of. What was lost when they were made goes to
/// `losses`; answers how many files were left out of them then.
size_t AddSummaries(const std::vector<SummaryInput>& summaries, const std::vector<ViewPlan>& plans,
                    LeftOut* left_out, ViewRunner* runner, RunClaims* claims, Diagnostics* losses);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_SUMMARIES_H_
