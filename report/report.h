#ifndef OPLENS_REPORT_REPORT_H_
#define OPLENS_REPORT_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/output.h"
#include "parse/model/reason.h"
#include "parse/model/trace_needs.h"
#include "prof/input/record_source.h"
#include "prof/price_all.h"
#include "prof/run/run.h"
#include "prof/views/run_views.h"
#include "prof/views/view_plan.h"

namespace oplens::prof {
struct ModelPlan;
}

namespace oplens::report {

struct ReportPlan {
  std::string program;              ///< Name and version.
  std::string title;                ///< "": made from the names of the inputs.
  std::vector<std::string> inputs;  ///< As the user named them.
  size_t input_count = 1;           ///< Files to read; a folder may hold several.
  std::string folder;               ///< The working folder; "": paths are not shortened.
  size_t limit_bytes = 0;
  bool host = true;
  prof::RunOptions run;
  prof::PriceOptions pricing;
  std::shared_ptr<const prof::ModelPlan> model;  ///< Null without --model.
};

struct ReportResult {
  int64_t kernels = 0;  ///< On the page, with replays.
  size_t page_bytes = 0;
  std::vector<std::string> left_out;
};

/// The trace parts that a page needs, and additional ones for PyTorch traces.
TraceNeeds NeedsOfReport();
TraceNeeds JsonNeedsOfReport(bool host);

/// Reads all records and writes the page to `output` without committing it:
///
///     records -> PriceAll -> views -> tables   -> what fits -> HTML
///                         -> collector -> timeline
///
/// `said` is called after the last record and returns the sentences printed to stderr.
ReportResult WriteReport(prof::RecordSource* records, const ReportPlan& plan,
                         Diagnostics* diagnostics,
                         const std::function<std::vector<std::string>()>& said, Output* output);

/// Where the rows of a page without kernels come from, such as summaries.
struct FoundViews {
  /// Whether a plan's rows are known; others get no table.
  std::function<bool(const prof::ViewPlan& plan)> holds;
  /// Gives the rows of the plans that are held.
  std::function<void(const std::vector<prof::ViewPlan>& plans, prof::ViewRunner* views)> give;
};

/// Likewise a page of tables alone, without a timeline.
ReportResult WriteReport(const FoundViews& found, const ReportPlan& plan,
                         const std::function<std::vector<std::string>()>& said, Output* output);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_REPORT_H_
