#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "prof/views/common/view.h"
#include "report/data/column.h"
#include "report/page_tables.h"
#include "test/report/checked_page.h"
#include "test/support/test_files.h"

namespace oplens::test {

using nlohmann::json;

namespace {

/// What `prof --view` prints of the same, without what is no field.
std::vector<json> ProfRowsOf(const std::vector<std::string>& inputs, const std::string& view,
                             const std::string& by, const std::vector<std::string>& more = {}) {
  std::vector<std::string> command = {Program("prof"), "--json", "--view", view};
  if (!by.empty()) command.insert(command.end(), {"--by", by});
  command.insert(command.end(), more.begin(), more.end());
  command.insert(command.end(), inputs.begin(), inputs.end());
  const RunResult result = RunProgram(command);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<json> rows;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    json row = json::parse(line);
    std::vector<std::string> extra = {"schema", "view"};
    for (const auto& [key, value] : row.items()) {
      if (key.ends_with("Cut")) extra.push_back(key);
    }
    for (const std::string& key : extra) row.erase(key);
    rows.push_back(std::move(row));
  }
  return rows;
}

/// A row without what the page leaves to its timeline.
json WithoutTimeline(json row) {
  if (!row.contains("corr")) return row;
  for (const char* const key : {"start", "end", "corr", "launch_delay", "name_full"})
    row.erase(key);
  return row;
}

void ExpectRows(const ReadPage& page, const json& table, const std::vector<json>& expected) {
  ASSERT_EQ(table.at("rows"), expected.size());
  if (expected.empty()) {
    EXPECT_TRUE(table.at("table").is_null());
    return;
  }
  ASSERT_FALSE(table.at("table").is_null());
  const std::vector<json> rows = page.Rows(table.at("fields"), table.at("table"));
  ASSERT_EQ(rows.size(), expected.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i], AsOnPages(WithoutTimeline(expected[i]))) << "row " << i;
  }
}

/// What --by takes for the rows of a view by step; "": they are not kept.
std::string TimesOf(size_t view) {
  const report::TablePlans all = report::PlanTables();
  for (size_t i = 0; i < all.plans.size(); ++i) {
    if (all.tables[i].view != view || all.tables[i].kind != report::TableKind::kByStep) continue;
    return fmt::format("{}", fmt::join(all.plans[i].options.by, ","));
  }
  return "";
}

}  // namespace

json AsOnPages(json row) {
  for (json& value : row) {
    if (!value.is_number_float() || std::trunc(value.get<double>()) == value) continue;
    value = json::parse(fmt::format("{:.{}g}", value.get<double>(), report::kDecimalDigits));
  }
  return row;
}

void ExpectTablesOfProf(const ReadPage& page, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& more) {
  size_t shown = 0;
  for (size_t i = 0; i < prof::Views().size(); ++i) {
    const prof::View& of = prof::Views()[i];
    const bool several = page.summary().at("ranks").size() > 1;
    if (!of.on_pages || (of.of_ranks && !several)) continue;
    // Then a table by step would repeat the plain one.
    const json& ranks = page.summary().at("ranks");
    const bool one = ranks.size() == 1 && ranks[0].at("steps").size() <= 1;
    const std::string name(of.name);
    ASSERT_LT(shown, page.summary().at("views").size());
    const json& view = page.summary().at("views").at(shown++);
    SCOPED_TRACE(name);
    ASSERT_EQ(view.at("name"), name);
    EXPECT_EQ(view.at("left_out"), 0);
    ExpectRows(page, view, ProfRowsOf(inputs, name, "", more));
    const std::string times = TimesOf(i);
    const bool kept = !times.empty() && view.at("rows") != 0 && !one;
    // Advice may have rows and none by step.
    const auto by_step = kept ? ProfRowsOf(inputs, name, times, more) : std::vector<json>();
    EXPECT_EQ(view.at("by_step").is_null(), by_step.empty());
    if (!view.at("by_step").is_null()) ExpectRows(page, view.at("by_step"), by_step);
    for (const json& grouping : view.at("groupings")) {
      const std::string by =
          fmt::format("{}", fmt::join(grouping.at("by").get<std::vector<std::string>>(), ","));
      SCOPED_TRACE(by);
      // One that tells no rows apart is left out.
      EXPECT_GT(grouping.at("rows"), 1);
      ExpectRows(page, grouping, ProfRowsOf(inputs, name, by, more));
    }
  }
  EXPECT_EQ(page.summary().at("views").size(), shown);
}

}  // namespace oplens::test
