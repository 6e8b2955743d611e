#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "prof/compat/tb/views.h"
#include "prof/views/views.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/views/golden_tables.h"

namespace oplens::prof::tb_modules_golden_test {
namespace {

using nlohmann::json;
using test::ViewRow;

/// A row of the reference with its place in the tree.
struct Golden {
  json row;
  int64_t level = 0;
};

void Flatten(const json& rows, int64_t level, std::vector<Golden>* all) {
  for (const json& row : rows) {
    all->push_back({row, level});
    Flatten(row.at("children"), level + 1, all);
  }
}

/// Of parts of which the reference sums doubles: each may be off by half a ns, which is what ours
/// are rounded to.
void ExpectNs(const json& golden, const char* field, const std::string& ours_ns, double parts) {
  const double us = golden.at(field).get<double>();
  EXPECT_NEAR(std::stod(ours_ns) / 1000, us, 0.0005 * parts + 1e-6 * std::abs(us)) << field;
}

/// `parts`: operators in calls of it, and these calls.
void ExpectRow(const Golden& golden, const ViewRow& ours, double parts) {
  SCOPED_TRACE(ours.at("name"));
  EXPECT_EQ(ours.at("name"), golden.row.at("name").get<std::string>());
  EXPECT_EQ(ours.at("level"), std::to_string(golden.level));
  EXPECT_EQ(ours.at("id"), std::to_string(golden.row.at("id").get<int64_t>()));
  EXPECT_EQ(ours.at("calls"), std::to_string(golden.row.at("occurences").get<int64_t>()));
  EXPECT_EQ(ours.at("operators"), std::to_string(golden.row.at("operators").get<int64_t>()));
  ExpectNs(golden.row, "host_duration", ours.at("host_total_ns"), std::stod(ours.at("calls")));
  ExpectNs(golden.row, "self_host_duration", ours.at("host_self_ns"), 2 * parts);
  ExpectNs(golden.row, "device_duration", ours.at("device_total_ns"), parts);
  ExpectNs(golden.row, "self_device_duration", ours.at("device_self_ns"), parts);
  ExpectNs(golden.row, "avg_duration", ours.at("mean_ns"), parts);
}

double PartsOf(const std::vector<Golden>& golden, size_t row) {
  double parts = 0;
  for (size_t i = row; i == row || (i < golden.size() && golden[i].level > golden[row].level);
       ++i) {
    parts += golden[i].row.at("operators").get<double>();
    parts += golden[i].row.at("occurences").get<double>();
  }
  return parts;
}

TEST(TbModulesGoldenTest, Trees) {
  OPLENS_NEED_CORPUS();
  const auto traces = test::GoldenTracesWith("tb_modules.json");
  EXPECT_GE(traces.size(), 4u);
  for (const test::GoldenTrace& trace : traces) {
    SCOPED_TRACE(trace.name);
    const auto partial = test::PartialOf(test::ViewBy("tb", "modules"), {trace.path});
    const std::vector<ViewRow> ours = test::RowsOf(*partial);
    std::vector<Golden> golden;
    Flatten(json::parse(test::ReadFile(trace.folder + "/tb_modules.json")), 0, &golden);
    ASSERT_EQ(ours.size(), golden.size());
    for (size_t i = 0; i < ours.size(); ++i) ExpectRow(golden[i], ours[i], PartsOf(golden, i));
  }
}

}  // namespace
}  // namespace oplens::prof::tb_modules_golden_test
