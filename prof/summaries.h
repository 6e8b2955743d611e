#ifndef OPLENS_PROF_SUMMARIES_H_
#define OPLENS_PROF_SUMMARIES_H_

#include "prof/options.h"

namespace oplens::prof {

/// Whether the inputs of views are summaries, not profiles. Throws Error where only some are.
bool AreSummaries(const Options& options);

/// Throws UsageError for what can be asked of a trace alone.
void RefuseWithSummaries(const Options& options);

/// Gives what the inputs hold of each view to `runner`. Throws Error where one has not that view,
/// or cannot be read.
void AddSummaries(const Options& options, ViewRunner* runner);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_SUMMARIES_H_
