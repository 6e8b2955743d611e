#ifndef OPLENS_REPORT_SUMMARY_H_
#define OPLENS_REPORT_SUMMARY_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

/// Where the pieces of a page are: numbers of their data blocks; nullopt: not on it.
struct Placement {
  struct Table {
    std::optional<size_t> block;
    size_t rows = 0;
  };
  struct Links {
    size_t block = 0;
    size_t count = 0;
    Link::Kind kind = Link::Kind::kLaunch;
  };
  std::vector<Table> tables;  ///< By plan.
  std::optional<size_t> signatures;
  std::vector<std::vector<std::optional<size_t>>> levels;  ///< By lane.
  std::vector<std::vector<std::optional<size_t>>> chunks;  ///< The same.
  std::vector<std::optional<size_t>> counters;
  std::vector<Links> links;
};

/// The JSON of the block `summary` (docs/report_format.md).
std::string WriteSummary(const PageContent& content, const Placement& placement,
                         const std::vector<std::string>& left_out);

/// Stretches [start, end) of a lane whose events are not on the page: what the chunks that are do
/// not cover. `kept`: by chunk.
std::vector<std::pair<int64_t, int64_t>> MissingOf(const Lane& lane,
                                                   const std::vector<std::optional<size_t>>& kept);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_SUMMARY_H_
