#ifndef OPLENS_REPORT_REPORT_H_
#define OPLENS_REPORT_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/output.h"
#include "parse/model/reason.h"
#include "parse/model/trace_needs.h"
#include "prof/input/record_source.h"
#include "prof/price_all.h"
#include "prof/run/run.h"

namespace oplens::report {

/// What a page is made with.
struct ReportPlan {
  std::string program;              ///< Its name and version.
  std::string title;                ///< "": the names of the inputs.
  std::vector<std::string> inputs;  ///< As they were given.
  size_t input_count = 1;           ///< Files that are read: folders hold several.
  std::string folder;               ///< The working folder; "": paths are kept.
  size_t limit_bytes = 0;
  bool host = true;
  prof::RunOptions run;
  prof::PriceOptions pricing;
};

struct ReportResult {
  int64_t kernels = 0;  ///< That are in it, with replays.
  size_t page_bytes = 0;
  std::vector<std::string> left_out;
};

/// The parts of traces that a page needs, and further ones of PyTorch's traces.
TraceNeeds NeedsOfReport();
TraceNeeds JsonNeedsOfReport(bool host);

/// Reads all records and writes their page to `output`, without committing it:
///
///     records -> PriceAll -> views -> tables   -> what fits -> HTML
///                         -> collector -> timeline
///
/// `said`: after the last record, what was said on standard error, one sentence each.
ReportResult WriteReport(prof::RecordSource* records, const ReportPlan& plan,
                         Diagnostics* diagnostics,
                         const std::function<std::vector<std::string>()>& said, Output* output);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_REPORT_H_
