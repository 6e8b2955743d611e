// The view critical-path with --compat hta against HolisticTraceAnalysis 0.6.0.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "prof/compat/hta/views.h"
#include "prof/run/run.h"
#include "prof/views/views.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/views/golden_tables.h"

namespace oplens::prof::critical_path_golden_test {
namespace {

using test::GoldenTrace;
using test::ViewRow;

/// The part of a trace that the reference was asked for.
struct Window {
  const char* annotation;
  size_t instance;
};

Window WindowOf(const GoldenTrace& golden) {
  if (golden.name == "critical_path/alexnet") {
    return {"[param|pytorch.model.alex_net|0|0|0|measure|forward]", 1};
  }
  return {"ProfilerStep", 0};
}

/// Keeps the path of a window of the trace.
class Paths : public Partial {
 public:
  void End(const Run* run) override {
    path = HtaCriticalPath(run->trace(), window.annotation, window.instance);
  }
  void Merge(const Partial& other) override { path = dynamic_cast<const Paths&>(other).path; }
  std::vector<Field> Fields() const override { return {}; }
  void Emit(Sink* /*sink*/) const override {}

  static Window window;
  std::vector<HtaPathEdge> path;
};
Window Paths::window = {};

std::vector<HtaPathEdge> PathOf(const GoldenTrace& golden) {
  const View kPaths = {.name = "paths",
                       .help = "",
                       .needs = kHtaCriticalPathNeeds,
                       .fields = kCriticalPathView.fields,
                       .make = [](const ViewOptions& /*options*/) -> std::unique_ptr<Partial> {
                         return std::make_unique<Paths>();
                       }};
  Paths::window = WindowOf(golden);
  return dynamic_cast<const Paths&>(*test::PartialOf(kPaths, {golden.path})).path;
}

std::string TextOf(std::string_view name, double duration, std::string_view type, double stream,
                   std::string_view bound_by) {
  return fmt::format("{}|{}|{}|{}|{}", name, duration, type, stream, bound_by);
}

double Number(const std::string& text) { return text.empty() ? -1 : std::stod(text); }

TEST(CriticalPathGoldenTest, Edges) {
  OPLENS_NEED_CORPUS();
  size_t compared = 0;
  for (const GoldenTrace& golden : test::GoldenTracesWith("hta_critical_path_edges.csv")) {
    SCOPED_TRACE(golden.name);
    std::multiset<std::string> ours;
    for (const HtaPathEdge& edge : PathOf(golden)) {
      ours.insert(TextOf(edge.name, static_cast<double>(edge.time_us), edge.type,
                         static_cast<double>(edge.stream), edge.bound_by));
    }
    std::multiset<std::string> theirs;  // In no order.
    for (const ViewRow& row :
         test::ReadGoldenTable(golden.folder + "/hta_critical_path_edges.csv")) {
      theirs.insert(TextOf(row.at("s_name"), Number(row.at("duration")), row.at("type"),
                           Number(row.at("stream")), row.at("bound_by")));
    }
    EXPECT_FALSE(ours.empty());
    EXPECT_EQ(ours, theirs);
    ++compared;
  }
  EXPECT_EQ(compared, 3u);
}

TEST(CriticalPathGoldenTest, Summary) {
  OPLENS_NEED_CORPUS();
  size_t compared = 0;
  for (const GoldenTrace& golden : test::GoldenTracesWith("hta_critical_path_summary.csv")) {
    SCOPED_TRACE(golden.name);
    std::map<std::string, int64_t> sums_us;
    int64_t length_us = 0;
    for (const HtaPathEdge& edge : PathOf(golden)) {
      sums_us[std::string(edge.bound_by)] += edge.time_us;
      length_us += edge.time_us;
    }
    const auto rows = test::ReadGoldenTable(golden.folder + "/hta_critical_path_summary.csv");
    EXPECT_EQ(rows.size(), sums_us.size());
    for (const ViewRow& row : rows) {
      const auto found = sums_us.find(row.at("bound_by"));
      ASSERT_NE(found, sums_us.end()) << row.at("bound_by");
      EXPECT_EQ(static_cast<double>(found->second), std::stod(row.at("duration")));
      EXPECT_NEAR(100.0 * static_cast<double>(found->second) / static_cast<double>(length_us),
                  std::stod(row.at("percent")), 1e-9);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 14u);
}

/// The view is of the first step, as the reference's example is.
TEST(CriticalPathGoldenTest, TheViewIsOfTheFirstStep) {
  OPLENS_NEED_CORPUS();
  size_t compared = 0;
  const View& view = test::ViewBy("hta", "critical-path");
  for (const GoldenTrace& golden : test::GoldenTracesWith("hta_critical_path_summary.csv")) {
    if (golden.name == "critical_path/alexnet") continue;  // It has no steps.
    SCOPED_TRACE(golden.name);
    std::map<std::string, ViewRow> rows;
    for (const ViewRow& row : test::RowsOf(*test::PartialOf(view, {golden.path}))) {
      rows[row.at("cause")] = row;
    }
    for (const ViewRow& row :
         test::ReadGoldenTable(golden.folder + "/hta_critical_path_summary.csv")) {
      ASSERT_TRUE(rows.contains(row.at("bound_by")));
      const ViewRow& ours = rows[row.at("bound_by")];
      EXPECT_EQ(std::stod(ours.at("time_ns")), std::stod(row.at("duration")) * 1000);
      EXPECT_NEAR(std::stod(ours.at("share_pct")), std::stod(row.at("percent")), 1e-9);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 9u);
}

}  // namespace
}  // namespace oplens::prof::critical_path_golden_test
