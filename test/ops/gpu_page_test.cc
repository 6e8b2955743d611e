// docs/gpus.md has the table of GPUs with the source of each figure. From the heading "Figures" on
// it is written by this test with OPLENS_UPDATE_GOLDENS set, and compared with the table without.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "ops/gpu/gpu_table.h"
#include "test/ops/gpu_sources.h"
#include "test/support/test_files.h"

namespace oplens::ops::gpu_page_test {
namespace {

constexpr std::string_view kHeading = "## Figures\n";

struct Column {
  std::string_view title;
  GpuCell cell;
};

constexpr std::array<std::string_view, kMathUnitCount> kUnitTitles = {
    "fp64",      "fp32",  "fp16",  "m-fp64", "m-fp32", "m-tf32", "m-fp16",
    "m-fp16/16", "m-fp8", "m-fp6", "m-fp4",  "m-int8", "m-int4"};

std::vector<Column> ColumnsOf(const GpuEntry& entry) {
  const GpuFigures& figures = entry.figures;
  std::vector<Column> columns = {{"MPs", figures.multiprocessors},
                                 {"MHz", figures.clock_mhz},
                                 {"GiB", figures.memory_gib},
                                 {"GB/s", figures.dram_gb_per_s},
                                 {"cache KiB", figures.l2_kib}};
  for (size_t i = 0; i < kMathUnitCount; ++i) {
    columns.push_back({kUnitTitles[i], entry.peaks_tera_per_s[i]});
  }
  return columns;
}

std::string WordOf(SourceId id) {
  const GpuSource* source = FindGpuSource(id);
  return source != nullptr ? fmt::format("`{}`", source->word) : "none";
}

std::string TextOf(const GpuCell& cell) {
  switch (StateOf(cell)) {
    case CellState::kFigure:
      return fmt::format("{}", cell.value);
    case CellState::kNoSuchUnit:
      return "-";
    case CellState::kDisputed:
      return "x";
    case CellState::kNotFound:
    case CellState::kBad:
      break;
  }
  return "?";
}

/// The source of most figures, then the others with the columns that are from them.
std::string SourcesOf(const std::vector<Column>& columns) {
  std::map<SourceId, std::vector<std::string_view>> by_source;
  std::string disputed;
  for (const Column& column : columns) {
    const CellState state = StateOf(column.cell);
    if (state == CellState::kFigure) by_source[column.cell.source].push_back(column.title);
    if (state == CellState::kDisputed) {
      disputed += fmt::format("; {} x: {} and {} disagree", column.title,
                              WordOf(column.cell.source), WordOf(column.cell.against));
    }
  }
  const auto main = std::max_element(
      by_source.begin(), by_source.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::string text = WordOf(main->first);
  for (const auto& [source, titles] : by_source) {
    if (source == main->first) continue;
    text += fmt::format("; {} {}", fmt::join(titles, ", "), WordOf(source));
  }
  return text + disputed;
}

std::string GeneratedPart() {
  std::string text(kHeading);
  text += "\n| GPU |";
  std::string rule = "\n|---|";
  for (const Column& column : ColumnsOf(GpuEntries().front())) {
    text += fmt::format(" {} |", column.title);
    rule += "---|";
  }
  text += " sources |" + rule + "---|\n";
  for (const GpuEntry& entry : GpuEntries()) {
    const std::vector<Column> columns = ColumnsOf(entry);
    text += fmt::format("| {} |", entry.name);
    for (const Column& column : columns) text += fmt::format(" {} |", TextOf(column.cell));
    text += fmt::format(" {} |\n", SourcesOf(columns));
  }
  text +=
      "\n## Rates\n\nFMAs per clock and multiprocessor, dense, by compute capability; `-`: no such "
      "unit, or not documented.\n\n| cc |";
  rule = "\n|---|";
  for (const std::string_view title : kUnitTitles) {
    text += fmt::format(" {} |", title);
    rule += "---|";
  }
  text += " sources |" + rule + "---|\n";
  for (const GpuRates& rates : AllGpuRates()) {
    text += fmt::format("| {}.{} |", rates.compute_capability / 10, rates.compute_capability % 10);
    for (const int rate : rates.fma_per_clock) {
      text += rate > 0 ? fmt::format(" {} |", rate) : " - |";
    }
    text += WordOf(rates.vector) == WordOf(rates.matrix)
                ? fmt::format(" {} |\n", WordOf(rates.vector))
                : fmt::format(" {}; m- {} |\n", WordOf(rates.vector), WordOf(rates.matrix));
  }
  text += "\n## Sources\n\n| word | document | where |\n|---|---|---|\n";
  for (const GpuSource& source : GpuSources()) {
    text += fmt::format("| `{}` | {} | {} |\n", source.word, source.document, source.where);
  }
  return text;
}

TEST(GpuPageTest, IsThatOfTheTable) {
  const auto path = std::filesystem::path(oplens::test::SourceDir()) / "docs" / "gpus.md";
  const std::string page = oplens::test::ReadFile(path);
  const size_t at = page.find(kHeading);
  ASSERT_NE(at, std::string::npos);
  const std::string wanted = page.substr(0, at) + GeneratedPart();
  if (std::getenv("OPLENS_UPDATE_GOLDENS") != nullptr) oplens::test::WriteFile(path, wanted);
  EXPECT_EQ(oplens::test::ReadFile(path), wanted) << "scripts/update_goldens.sh rewrites it";
}

// The number that README.md gives is that of the rows.
TEST(GpuPageTest, ReadmeCountsTheRows) {
  const auto path = std::filesystem::path(oplens::test::SourceDir()) / "README.md";
  EXPECT_NE(oplens::test::ReadFile(path).find(
                fmt::format("**Peaks** of {} NVIDIA and AMD GPUs", GpuEntries().size())),
            std::string::npos);
}

}  // namespace
}  // namespace oplens::ops::gpu_page_test
