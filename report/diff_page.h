#ifndef OPLENS_REPORT_DIFF_PAGE_H_
#define OPLENS_REPORT_DIFF_PAGE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/output.h"
#include "prof/diff/diff.h"
#include "report/timeline/timeline.h"

namespace oplens::report {

struct DiffPagePlan {
  std::string program;     ///< Name and version.
  std::string title;       ///< "": made from the names of the runs.
  std::string folder;      ///< The working folder; "": paths are not shortened.
  size_t limit_bytes = 0;  ///< 0: unlimited.
  bool host = true;        ///< Host events were requested.
};

struct DiffPageResult {
  size_t page_bytes = 0;
  std::vector<std::string> left_out;  ///< Sentences about what did not fit.
};

/// Writes the comparison page of two runs (docs/report_format.md) to `output` without committing
/// it: the verdict, other differences, the causes, the tables of the diff, and the timelines of
/// both runs, if `timeline` has ranks of both (Collector::NameRun). If not everything fits, the
/// timelines get what tables leave, and rows without a change are dropped first. Throws UsageError
/// if not even the page without tables fits.
DiffPageResult WriteDiffPage(const prof::Diff& diff, Timeline timeline, const DiffPagePlan& plan,
                             Output* output);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_DIFF_PAGE_H_
