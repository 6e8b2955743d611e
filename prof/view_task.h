#ifndef OPLENS_PROF_VIEW_TASK_H_
#define OPLENS_PROF_VIEW_TASK_H_

#include <memory>
#include <string>
#include <vector>

#include "parse/model/messages.h"
#include "parse/model/reason.h"
#include "prof/findings.h"
#include "prof/input/rank_namer.h"
#include "prof/options.h"
#include "prof/summary_file/summary_list.h"
#include "prof/table/sink.h"

namespace oplens::prof {

/// What programs that make views do alike with the command line.

/// How kernels are priced. `options` and `messages` must outlive it.
PriceOptions PriceOptionsOf(const Options& options, Messages* messages);

/// What is looked for in each input. `options` and `messages` must outlive it.
FindOptions FindOptionsOf(const Options& options, Messages* messages);

/// Where tables go.
std::unique_ptr<Destination> OpenDestination(const Options& options);

/// Summaries that options do not name one by one.
struct SummaryPaths {
  std::vector<std::string> read = {};
  std::vector<std::string> written = {};
};

/// Throws UsageError where something that is written is read too, or written twice.
void RefuseOverwriting(const Options& options, const SummaryPaths& summaries = {});

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

#endif  // OPLENS_PROF_VIEW_TASK_H_
