#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "prof/views/modules.h"
#include "prof/views/tb_modules.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/views/golden_tables.h"

namespace oplens::prof {
namespace {

using nlohmann::json;
using test::ViewRow;

constexpr View kView = {"modules", "", kModulesNeeds | kTbModulesNeeds, ModulesFields, MakeModules};

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

/// Microseconds of the reference, which sums doubles: each call may be off by a rounded ns.
void ExpectNs(const json& golden, const char* field, double ours_ns, double calls) {
  const double us = golden.at(field).get<double>();
  EXPECT_NEAR(ours_ns / 1000, us, 0.001 * calls + 1e-6 * std::abs(us)) << field;
}

void ExpectRow(const Golden& golden, const ViewRow& ours) {
  SCOPED_TRACE(ours.at("name"));
  EXPECT_EQ(ours.at("name"), golden.row.at("name").get<std::string>());
  EXPECT_EQ(ours.at("level"), std::to_string(golden.level));
  EXPECT_EQ(ours.at("id"), std::to_string(golden.row.at("id").get<int64_t>()));
  EXPECT_EQ(ours.at("calls"), std::to_string(golden.row.at("occurences").get<int64_t>()));
  EXPECT_EQ(ours.at("operators"), std::to_string(golden.row.at("operators").get<int64_t>()));
  const double calls = std::stod(ours.at("calls"));
  // Parts of which times are sums: each of them has its own rounding.
  const double parts = calls * (2 + std::stod(ours.at("operators")));
  const auto ns = [&](const char* field) { return std::stod(ours.at(field)); };
  ExpectNs(golden.row, "host_duration", ns("host_total_ns"), calls);
  ExpectNs(golden.row, "self_host_duration", ns("host_self_ns"), 2 * parts);
  ExpectNs(golden.row, "device_duration", ns("device_total_ns"), calls);
  ExpectNs(golden.row, "self_device_duration", ns("device_self_ns"), calls);
  ExpectNs(golden.row, "avg_duration", ns("mean_ns"), 1);
}

TEST(TbModulesGoldenTest, Trees) {
  OPLENS_NEED_CORPUS();
  const auto traces = test::GoldenTracesWith("tb_modules.json");
  EXPECT_GE(traces.size(), 4u);
  for (const test::GoldenTrace& trace : traces) {
    SCOPED_TRACE(trace.name);
    const auto partial = test::PartialOf(kView, {trace.path}, {Compat::kTensorBoard});
    const std::vector<ViewRow> ours = test::RowsOf(*partial);
    std::vector<Golden> golden;
    Flatten(json::parse(test::ReadFile(trace.folder + "/tb_modules.json")), 0, &golden);
    ASSERT_EQ(ours.size(), golden.size());
    for (size_t i = 0; i < ours.size(); ++i) ExpectRow(golden[i], ours[i]);
  }
}

}  // namespace
}  // namespace oplens::prof
