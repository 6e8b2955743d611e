// The views with --compat hta against what HolisticTraceAnalysis 0.6.0 prints of the same files.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "test/ops/csv_rows.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"

namespace oplens::prof::hta_golden_test {
namespace {

using test::CorpusDir;
using test::PartialOf;
using test::RowsOf;
using test::ViewRow;

std::filesystem::path KinetoDir() { return CorpusDir().path / "kineto"; }

/// The names of all golden folders with a file.
std::set<std::string> GoldensWith(std::string_view file) {
  std::set<std::string> names;
  const auto root = KinetoDir() / "golden";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().filename() != file) continue;
    names.insert(std::filesystem::relative(entry.path().parent_path(), root).string());
  }
  return names;
}

std::string TraceOf(const std::string& golden) {
  const auto folder = KinetoDir() / golden;
  if (std::filesystem::is_directory(folder)) return folder.string();
  for (const char* const end : {".json.gz", ".pt.trace.json.gz"}) {
    if (std::filesystem::exists(folder.string() + end)) return folder.string() + end;
  }
  throw std::runtime_error("no trace of golden " + golden);
}

std::vector<ViewRow> Golden(const std::string& golden, const std::string& file) {
  return ops::test::ParseCsv(test::ReadFile(KinetoDir() / "golden" / golden / file));
}

std::vector<ViewRow> HtaRows(std::string_view view, const std::string& golden) {
  return RowsOf(*PartialOf(test::ViewBy("hta", view), {TraceOf(golden)}));
}

struct Pair {
  const char* ours;
  const char* theirs;
  double factor;  ///< Ours is so much of theirs.
};

/// Answers how many figures it compared.
int Compare(const std::string& golden, const std::string& key, const ViewRow& ours,
            const ViewRow& theirs, std::initializer_list<Pair> pairs) {
  int compared = 0;
  constexpr double kTolerance = 1e-6;  // Relative; the reference sums doubles.
  for (const Pair& pair : pairs) {
    SCOPED_TRACE(fmt::format("{} {} {}", golden, key, pair.ours));
    const std::string& expected = theirs.at(pair.theirs);
    const std::string& found = ours.at(pair.ours);
    ++compared;
    if (expected.empty()) {
      EXPECT_EQ(found, "");
      continue;
    }
    const double value = std::strtod(expected.c_str(), nullptr) * pair.factor;
    EXPECT_NEAR(std::strtod(found.c_str(), nullptr), value, kTolerance * std::abs(value))
        << "expected " << expected << " found " << found;
  }
  return compared;
}

TEST(HtaGoldenTest, Temporal) {
  OPLENS_NEED_CORPUS();
  const std::string file = "hta_temporal_breakdown.csv";
  int compared = 0;
  for (const std::string& golden : GoldensWith(file)) {
    const auto expected = Golden(golden, file);
    const auto overlap = Golden(golden, "hta_comm_comp_overlap.csv");
    const auto rows = HtaRows("temporal", golden);
    ASSERT_EQ(rows.size(), expected.size()) << golden;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows.size() > 1) {
        EXPECT_EQ(rows[i].at("rank"), expected[i].at("rank"));
      }
      compared += Compare(golden, expected[i].at("rank"), rows[i], expected[i],
                          {{"idle_ns", "idle_time(us)", 1000},
                           {"idle_pct", "idle_time_pctg", 1},
                           {"compute_ns", "compute_time(us)", 1000},
                           {"compute_pct", "compute_time_pctg", 1},
                           {"non_compute_ns", "non_compute_time(us)", 1000},
                           {"non_compute_pct", "non_compute_time_pctg", 1},
                           {"kernel_ns", "kernel_time(us)", 1000}});
      compared += Compare(golden, expected[i].at("rank"), rows[i], overlap[i],
                          {{"overlap_pct", "comp_comm_overlap_pctg", 1}});
    }
  }
  EXPECT_EQ(compared, 13 * 8);  // 13 ranks of 12 files.
}

TEST(HtaGoldenTest, KernelTypes) {
  OPLENS_NEED_CORPUS();
  const std::string file = "hta_kernel_type_breakdown.csv";
  int compared = 0;
  for (const std::string& golden : GoldensWith(file)) {
    const auto expected = Golden(golden, file);
    const auto rows = HtaRows("kernel-types", golden);
    std::map<std::string, ViewRow> by_type;
    for (const ViewRow& row : rows) by_type[row.at("type")] = row;
    EXPECT_EQ(rows.size(), expected.size()) << golden;
    for (const ViewRow& row : expected) {
      const std::string& type = row.at("kernel_type");
      ASSERT_TRUE(by_type.contains(type)) << golden << " " << type;
      compared += Compare(golden, type, by_type[type], row,
                          {{"sum_ns", "sum", 1000}, {"share_pct", "percentage", 1}});
    }
  }
  EXPECT_EQ(compared, 46 * 2);
}

TEST(HtaGoldenTest, Kernels) {
  OPLENS_NEED_CORPUS();
  const std::string file = "hta_kernel_breakdown.csv";
  int compared = 0;
  for (const std::string& golden : GoldensWith(file)) {
    const auto expected = Golden(golden, file);
    std::map<std::string, size_t> ranks;
    for (const ViewRow& row : expected) ++ranks[row.at("rank")];
    const auto rows = HtaRows("groups", golden);
    ASSERT_EQ(rows.size(), expected.size()) << golden;
    for (size_t i = 0; i < rows.size(); ++i) {
      SCOPED_TRACE(fmt::format("{} row {}", golden, i));
      EXPECT_EQ(rows[i].at("name"), expected[i].at("name"));
      EXPECT_EQ(rows[i].at("type"), expected[i].at("kernel_type"));
      if (ranks.size() > 1) {
        EXPECT_EQ(rows[i].at("rank"), expected[i].at("rank"));
      }
      compared += Compare(golden, expected[i].at("name"), rows[i], expected[i],
                          {{"sum_ns", "sum (us)", 1000},
                           {"max_ns", "max (us)", 1000},
                           {"min_ns", "min (us)", 1000},
                           {"stddev_ns", "stddev", 1000},
                           {"mean_ns", "mean (us)", 1000}});
    }
  }
  EXPECT_EQ(compared, 181 * 5);
}

}  // namespace
}  // namespace oplens::prof::hta_golden_test
