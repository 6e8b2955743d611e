#ifndef OPLENS_PROF_VIEW_TASK_H_
#define OPLENS_PROF_VIEW_TASK_H_

#include <memory>
#include <string>
#include <vector>

#include "parse/model/messages.h"
#include "prof/findings.h"
#include "prof/options.h"
#include "prof/table/sink.h"

namespace oplens::prof {

/// What programs that make views do alike with the command line.

/// How kernels are priced. `options` and `messages` must outlive it.
PriceOptions PriceOptionsOf(const Options& options, Messages* messages);

/// What is looked for in each input. `options` must outlive it.
FindOptions FindOptionsOf(const Options& options, const PriceOptions& pricing);

/// Where tables go.
std::unique_ptr<Destination> OpenDestination(const Options& options);

/// Summaries that options do not name one by one.
struct SummaryPaths {
  std::vector<std::string> read = {};
  std::vector<std::string> written = {};
};

/// Throws UsageError where something that is written is read too, or written twice.
void RefuseOverwriting(const Options& options, const SummaryPaths& summaries = {});

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEW_TASK_H_
