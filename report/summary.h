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

/// All candidate content of a page, and its size limit.
struct PageContent {
  std::string program;                                              ///< "oplens 0.1.0"
  std::string title;                                                ///< As shown.
  std::vector<std::string> inputs;                                  ///< As shown.
  std::vector<std::string> notes;                                   ///< Messages printed to stderr.
  std::map<std::string_view, std::vector<std::string>> view_notes;  ///< By view name.
  const TablePlans* plans = nullptr;
  PageTables* tables = nullptr;
  Timeline timeline;
  bool host = true;  ///< Host events were requested.
  size_t limit_bytes = 0;
};

/// Data block numbers of the page's pieces; nullopt: not on the page.
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
  std::vector<std::vector<std::optional<size_t>>> levels;  ///< By lane and level.
  std::vector<std::vector<std::optional<size_t>>> chunks;  ///< By lane and chunk.
  std::optional<size_t> strips;
  std::vector<std::optional<size_t>> counters;
  std::vector<Links> links;
};

/// Id of the block of WriteFields.
inline constexpr std::string_view kFieldsId = "f";

/// The distinct fields of all tables as JSON, which tables name by place.
std::string WriteFields(const PageContent& content);

std::string WriteSummary(const PageContent& content, const Placement& placement,
                         const std::vector<std::string>& left_out);

/// Intervals [start, end) of a lane that the chunks on the page do not cover. `kept`: by chunk.
std::vector<std::pair<int64_t, int64_t>> MissingOf(const Lane& lane,
                                                   const std::vector<std::optional<size_t>>& kept);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_SUMMARY_H_
