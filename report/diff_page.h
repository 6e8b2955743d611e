#ifndef OPLENS_REPORT_DIFF_PAGE_H_
#define OPLENS_REPORT_DIFF_PAGE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/output.h"
#include "prof/diff/diff.h"

namespace oplens::report {

/// What the page of a diff is made with.
struct DiffPagePlan {
  std::string program;     ///< Its name and version.
  std::string title;       ///< "": the names of the runs.
  std::string folder;      ///< The working folder; "": paths are kept.
  size_t limit_bytes = 0;  ///< 0: as large as it gets.
};

struct DiffPageResult {
  size_t page_bytes = 0;
  std::vector<std::string> left_out;  ///< Sentences: what did not fit.
};

/// Writes the page of two runs compared (docs/report_format.md) to `output`, without committing it:
/// the verdict, what else differs, the causes, and the tables of the diff, of which rows without a
/// change go first where not all fits. Throws UsageError where not even the page without tables
/// does.
DiffPageResult WriteDiffPage(const prof::Diff& diff, const DiffPagePlan& plan, Output* output);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_DIFF_PAGE_H_
