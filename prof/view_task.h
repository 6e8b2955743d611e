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

/// Whether a view has figures that follow from prices.
bool ShowsPrices(const ViewPlan& plan);

/// What is looked for in each input. `options` must outlive it.
FindOptions FindOptionsOf(const Options& options, const PriceOptions& pricing);

/// Where tables go.
std::unique_ptr<Destination> OpenDestination(const Options& options);

/// Throws UsageError where the output is one of `paths`.
void RefuseSameFiles(const std::vector<std::string>& paths, const Options& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEW_TASK_H_
