#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/support/whole_corpus.h"
#include "test/views/golden_tables.h"

namespace oplens::prof::tb_memory_golden_test {
namespace {

using nlohmann::json;
using test::GoldenTrace;
using test::ViewRow;

std::vector<ViewRow> RowsOf(std::string_view view, const GoldenTrace& trace) {
  return test::RowsOf(*test::PartialOf(test::ViewBy("tb", view), {trace.path}));
}

/// "Peak Memory Usage: 16.0B" as bytes.
int64_t PeakOf(const std::string& printed) {
  return std::stoll(printed.substr(printed.find(": ") + 2));
}

/// Not compared: first_ts, the start of an event that spans the whole recording and is no part of
/// what is read; times count from the first event of the rank. "devices" are the keys.
void ExpectCurves(const GoldenTrace& trace, const json& golden) {
  std::map<std::string, int64_t> points;
  std::map<std::string, int64_t> peaks;
  for (const ViewRow& row : RowsOf("memory", trace)) {
    ++points[row.at("device")];
    peaks[row.at("device")] = std::stoll(row.at("peak_bytes"));
  }
  EXPECT_EQ(points.size(), golden.at("devices").size());
  for (const auto& device : golden.at("devices")) EXPECT_TRUE(points.contains(device));
  for (const auto& [device, count] : golden.at("curve_points").items()) {
    EXPECT_EQ(points[device], count.get<int64_t>()) << device;
    EXPECT_EQ(peaks[device], PeakOf(golden.at("peaks").at(device))) << device;
  }
}

void ExpectEvents(const GoldenTrace& trace, const json& golden) {
  std::map<std::string, std::map<std::string, int64_t>> found;
  for (const ViewRow& row : RowsOf("memory-events", trace)) {
    auto& counts = found[row.at("device")];
    ++counts["rows"];
    ++counts[row.at("state")];
  }
  EXPECT_EQ(found.size(), golden.at("events").size());
  for (const auto& [device, counts] : golden.at("events").items()) {
    SCOPED_TRACE(device);
    EXPECT_EQ(found[device]["rows"], counts.at("rows").get<int64_t>());
    EXPECT_EQ(found[device]["freed"], counts.at("paired").get<int64_t>());
    EXPECT_EQ(found[device]["alive"], counts.at("alloc_only").get<int64_t>());
    EXPECT_EQ(found[device]["only freed"], counts.at("free_only").get<int64_t>());
  }
}

constexpr std::pair<const char*, const char*> kCells[] = {
    {"Calls", "calls"},
    {"Size Increase (B)", "size_increase_bytes"},
    {"Self Size Increase (B)", "self_size_increase_bytes"},
    {"Allocation Count", "allocations"},
    {"Self Allocation Count", "self_allocations"},
    {"Allocation Size (B)", "allocated_bytes"},
    {"Self Allocation Size (B)", "self_allocated_bytes"}};

TEST(TbMemoryGoldenTest, CurvesAndEvents) {
  SKIP_WITH_SANITIZERS();
  OPLENS_NEED_CORPUS();
  const auto traces = test::GoldenTracesWith("tb_memory.json");
  EXPECT_GE(traces.size(), 6u);
  for (const GoldenTrace& trace : traces) {
    SCOPED_TRACE(trace.name);
    const json golden = json::parse(test::ReadFile(trace.folder + "/tb_memory.json"));
    ExpectCurves(trace, golden);
    ExpectEvents(trace, golden);
  }
}

TEST(TbMemoryGoldenTest, Operators) {
  OPLENS_NEED_CORPUS();
  const auto traces = test::GoldenTracesWith("tb_memory_stats.csv");
  EXPECT_GE(traces.size(), 6u);
  for (const GoldenTrace& trace : traces) {
    SCOPED_TRACE(trace.name);
    std::map<std::pair<std::string, std::string>, ViewRow> ours;
    for (const ViewRow& row : RowsOf("memory-ops", trace))
      ours[{row.at("device"), row.at("op")}] = row;
    const auto golden = test::ReadGoldenTable(trace.folder + "/tb_memory_stats.csv");
    EXPECT_EQ(golden.size(), ours.size());
    for (const ViewRow& row : golden) {
      SCOPED_TRACE(row.at("Device") + " " + row.at("Operator Name"));
      const auto found = ours.find({row.at("Device"), row.at("Operator Name")});
      ASSERT_NE(found, ours.end());
      for (const auto& [printed, field] : kCells) {
        EXPECT_EQ(std::stod(row.at(printed)), std::stod(found->second.at(field))) << field;
      }
    }
  }
}

}  // namespace
}  // namespace oplens::prof::tb_memory_golden_test
