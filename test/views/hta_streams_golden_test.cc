// idle, launches, queue and bandwidth with --compat hta against what HolisticTraceAnalysis 0.6.0
// prints of the same files. Nothing is left out.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prof/compat/hta/activity.h"
#include "prof/compat/hta/views.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/views/golden_tables.h"

namespace oplens::prof::hta_streams_golden_test {
namespace {

using test::GoldenTracesWith;
using test::ReadGoldenTable;
using test::ViewRow;

struct Pair {
  std::string_view ours;
  std::string_view theirs;
  double factor = 1;  ///< Ours is so much of theirs.
};

struct Table {
  std::string_view file;
  std::unique_ptr<Partial> (*make)(const ViewOptions& options);
  std::vector<Pair> keys;
  std::vector<Pair> figures;
};

std::string KeyOf(const ViewRow& row, const std::vector<Pair>& keys, bool ours, bool ranks) {
  std::string key = ranks ? row.at("rank") : "";
  for (const Pair& pair : keys) {
    key += fmt::format(" {}", row.at(std::string(ours ? pair.ours : pair.theirs)));
  }
  return key;
}

/// Answers how many figures it compared.
int Compare(const Table& table, const ViewRow& ours, const ViewRow& theirs) {
  constexpr double kTolerance = 1e-6;  // Relative; the reference sums doubles.
  int compared = 0;
  for (const Pair& pair : table.figures) {
    SCOPED_TRACE(pair.ours);
    const std::string& expected = theirs.at(std::string(pair.theirs));
    const std::string& found = ours.at(std::string(pair.ours));
    ++compared;
    if (expected.empty()) {
      EXPECT_EQ(found, "");
      continue;
    }
    const double value = std::strtod(expected.c_str(), nullptr) * pair.factor;
    EXPECT_NEAR(std::strtod(found.c_str(), nullptr), value, kTolerance * std::abs(value));
  }
  return compared;
}

/// The rows of the traces of a golden table's folder; one golden is of two ranks.
std::vector<ViewRow> RowsOfTrace(const Table& table, const std::string& path) {
  const View view = {.name = "view", .help = "", .needs = kHtaActivityNeeds, .make = table.make};
  return test::RowsOf(*test::PartialOf(view, {path}));
}

/// Answers how many figures it compared.
int CompareAll(const Table& table) {
  int compared = 0;
  for (const test::GoldenTrace& trace : GoldenTracesWith(std::string(table.file))) {
    SCOPED_TRACE(trace.name);
    const auto expected =
        ReadGoldenTable((std::filesystem::path(trace.folder) / table.file).string());
    const auto rows = RowsOfTrace(table, trace.path);
    EXPECT_EQ(rows.size(), expected.size());
    const bool ranks = !rows.empty() && rows.front().at("rank") != rows.back().at("rank");
    std::map<std::string, ViewRow> by_key;
    for (const ViewRow& row : rows) by_key[KeyOf(row, table.keys, true, ranks)] = row;
    for (const ViewRow& row : expected) {
      const std::string key = KeyOf(row, table.keys, false, ranks);
      SCOPED_TRACE(key);
      if (!by_key.contains(key)) {
        ADD_FAILURE() << "no such row";
        continue;
      }
      compared += Compare(table, by_key[key], row);
    }
  }
  return compared;
}

TEST(HtaStreamsGoldenTest, Idle) {
  OPLENS_NEED_CORPUS();
  EXPECT_EQ(CompareAll({"hta_idle_time.csv",
                        MakeHtaIdle,
                        {{"stream", "stream"}, {"cause", "idle_category"}},
                        {{"idle_ns", "idle_time", 1000}, {"share", "idle_time_ratio"}}}),
            80 * 2);
}

TEST(HtaStreamsGoldenTest, Launches) {
  OPLENS_NEED_CORPUS();
  EXPECT_EQ(CompareAll({"hta_launch_stats.csv",
                        MakeHtaLaunches,
                        {},
                        {{"launches", "launches"},
                         {"short_kernels", "short_kernels(gpu<cpu,cpu<=50us)"},
                         {"runtime_outliers", "runtime_outliers(cpu>50us)"},
                         {"delay_outliers", "launch_delay_outliers(>100us)"},
                         {"cpu_ns", "cpu_duration_sum", 1000},
                         {"gpu_ns", "gpu_duration_sum", 1000},
                         {"delay_ns", "launch_delay_sum", 1000},
                         {"max_delay_ns", "launch_delay_max", 1000}}}),
            13 * 8);
}

std::vector<Pair> Described(std::string_view prefix, std::string_view unit) {
  static std::vector<std::string> kept;  // What the pairs point to.
  kept.reserve(64);
  std::vector<Pair> pairs;
  constexpr std::pair<std::string_view, std::string_view> kFigures[] = {
      {"count", "count"}, {"mean", "mean"}, {"std", "std"}, {"min", "min"},
      {"p25", "25%"},     {"p50", "50%"},   {"p75", "75%"}, {"max", "max"}};
  for (const auto& [ours, theirs] : kFigures) {
    kept.push_back(ours == "count" ? std::string(ours) : fmt::format("{}{}", ours, unit));
    kept.push_back(fmt::format("{}_{}", prefix, theirs));
    pairs.push_back({kept[kept.size() - 2], kept.back()});
  }
  return pairs;
}

TEST(HtaStreamsGoldenTest, Queue) {
  OPLENS_NEED_CORPUS();
  EXPECT_EQ(CompareAll({"hta_queue_length_summary.csv",
                        MakeHtaQueue,
                        {{"stream", "stream"}},
                        Described("queue_length", "")}),
            30 * 8);
}

TEST(HtaStreamsGoldenTest, Bandwidth) {
  OPLENS_NEED_CORPUS();
  EXPECT_EQ(CompareAll({"hta_memory_bw_summary.csv",
                        MakeHtaBandwidth,
                        {{"kind", "name"}},
                        Described("memory_bw_gbps", "_gbps")}),
            32 * 8);
}

}  // namespace
}  // namespace oplens::prof::hta_streams_golden_test
