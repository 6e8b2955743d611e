#ifndef OPLENS_REPORT_PAGE_CONTENT_H_
#define OPLENS_REPORT_PAGE_CONTENT_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/page_tables.h"
#include "report/timeline/timeline.h"

namespace oplens::report {

/// All that a page could show, and how large it may be.
struct PageContent {
  std::string program;              ///< "oplens 0.1.0"
  std::string title;                ///< As it is shown.
  std::vector<std::string> inputs;  ///< The same.
  std::vector<std::string> notes;   ///< What was said on standard error.
  std::map<std::string_view, std::vector<std::string>> view_notes;  ///< By name of the view.
  const TablePlans* plans = nullptr;
  PageTables* tables = nullptr;
  Timeline timeline;
  bool host = true;  ///< Host events were asked for.
  size_t limit_bytes = 0;
};

}  // namespace oplens::report

#endif  // OPLENS_REPORT_PAGE_CONTENT_H_
