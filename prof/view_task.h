#ifndef OPLENS_PROF_VIEW_TASK_H_
#define OPLENS_PROF_VIEW_TASK_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parse/model/messages.h"
#include "parse/model/reason.h"
#include "prof/findings.h"
#include "prof/input/rank_namer.h"
#include "prof/options.h"
#include "prof/summary_file/summary_file.h"
#include "prof/table/sink.h"

namespace oplens::prof {

/// Shared by programs that make views.

/// `options` and `messages` must outlive the result.
PriceOptions PriceOptionsOf(const Options& options, Messages* messages);

/// `options` and `messages` must outlive the result.
FindOptions FindOptionsOf(const Options& options, Messages* messages);

std::unique_ptr<Destination> OpenDestination(const Options& options);

/// Summaries that options do not name individually.
struct SummaryPaths {
  std::vector<std::string> read = {};
  std::vector<std::string> written = {};
};

/// Throws UsageError if an output file is also read, or written twice.
void RefuseOverwriting(const Options& options, const SummaryPaths& summaries = {});

/// The inputs of views if they are summaries, otherwise none. `notes` gets what of a folder is not
/// read. Throws Error if only some are.
std::vector<SummaryInput> SummariesOf(const Options& options, std::vector<std::string>* notes);

/// Throws UsageError for options that need a trace.
void RefuseWithSummaries(const Options& options);

/// Adds the views of summaries to `runner`, leaving out unreadable ones. Throws Error if
/// a summary lacks a view or has it with other options, or if the summaries' options differ. Adds
/// their statements about their run to `claims` and losses from their creation to `losses`. Returns
/// how many files were left out at their creation.
size_t AddSummaries(const std::vector<SummaryInput>& summaries, const std::vector<ViewPlan>& plans,
                    LeftOut* left_out, ViewRunner* runner, RunClaims* claims, Diagnostics* losses);

/// Passes the selected copies and memsets of all profiles to `runner`. `next_trace`: null after the
/// last; `where`: null for all.
void GiveCopies(const std::function<const Trace*()>& next_trace, ItemFilter<CopyRow>* where,
                ViewRunner* runner, Messages* messages);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEW_TASK_H_
