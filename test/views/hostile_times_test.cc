// Times that a damaged file may hold: every sum stays within bounds, and no row is wrong in kind.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/words.h"
#include "parse/records/kernel_records.h"
#include "prof/compat/compat.h"
#include "prof/run/run.h"
#include "prof/views/common/view.h"
#include "prof/views/views.h"
#include "test/support/view_rows.h"

namespace oplens::prof::hostile_times_test {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

/// Kernels with the given starts and ends, on two devices in turn, a copy and a fill of each.
Trace TraceOf(const std::vector<std::pair<int64_t, int64_t>>& times) {
  Trace trace;
  trace.family = Family::kKineto;
  trace.threads.push_back({1, 1, 0});
  for (size_t i = 0; i < times.size(); ++i) {
    const auto& [start_ns, end_ns] = times[i];
    Kernel& kernel = trace.kernels.emplace_back();
    kernel.start_ns = start_ns;
    kernel.end_ns = end_ns;
    kernel.name = trace.strings.Intern("kernel_" + std::to_string(i));
    kernel.device_id = static_cast<int32_t>(i % 2);
    trace.launches.push_back({end_ns, start_ns, static_cast<int64_t>(i), 0, 0});
    kernel.launch = static_cast<LaunchIndex>(i);
    trace.copies.push_back(
        {.start_ns = start_ns, .end_ns = end_ns, .size_bytes = kMax, .launch = kernel.launch});
    trace.sets.push_back({.start_ns = start_ns, .end_ns = end_ns, .size_bytes = kMin});
  }
  return trace;
}

std::vector<test::ViewRow> RowsOfAll(Trace* trace, std::span<const View> views) {
  Diagnostics diagnostics;
  const parse::KernelRecords records(trace, {}, &diagnostics);
  const Run run(records);
  std::vector<test::ViewRow> rows;
  constexpr std::string_view kNames =
      "temporal,kernel-types,losses,idle,launches,queue,bandwidth,critical-path";
  for (const View& view : views) {
    const bool theirs = view.rules == "hta";
    const std::vector<std::string_view> names = WordsOf(kNames);
    if (!theirs && std::find(names.begin(), names.end(), view.name) == names.end()) continue;
    const std::unique_ptr<Partial> partial = view.make({});
    partial->Begin(&run);
    partial->End(&run);
    const std::unique_ptr<Partial> all = view.make({});
    for (int i = 0; i < 3; ++i) all->Merge(*partial);
    for (test::ViewRow& row : test::RowsOf(*all)) rows.push_back(std::move(row));
  }
  return rows;
}

TEST(HostileTimesTest, SumsStayWithinBounds) {
  Trace trace = TraceOf({{kMin, kMin + 10},
                         {kMin, kMax},
                         {kMax - 10, kMax},
                         {0, kMax},
                         {kMin, -1},
                         {5, 4},
                         {kMax, kMin},
                         {0, 0},
                         {-5, 5},
                         {1, kMax - 1},
                         {kMin + 1, -2},
                         {kMax - 1, kMax},
                         {2, kMax}});
  for (const test::ViewRow& row : RowsOfAll(&trace, Views())) {
    for (const char* const key :
         {"sum_ns", "compute_ns", "kernel_ns", "count", "idle_ns", "gaps", "delay_ns", "span_ns",
          "blocked_ns", "bytes", "time_ns", "length_ns"}) {
      const auto cell = row.find(key);
      if (cell == row.end() || cell->second.empty()) continue;
      EXPECT_GE(std::stoll(cell->second), 0) << key;
    }
  }
  // The reference's sums may be negative.
  EXPECT_FALSE(RowsOfAll(&trace, CompatViews("hta")).empty());
}

TEST(HostileTimesTest, AnEmptyTrace) {
  Trace trace = TraceOf({});
  EXPECT_TRUE(RowsOfAll(&trace, Views()).empty());
  EXPECT_TRUE(RowsOfAll(&trace, CompatViews("hta")).empty());
}

}  // namespace
}  // namespace oplens::prof::hostile_times_test
