// The views of several ranks with --compat tb against what the TensorBoard plugin shows of the same
// runs.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/support/whole_corpus.h"

namespace oplens::test::tb_distributed_golden_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Rows by rank and another key.
using RowsByKey = std::map<std::pair<std::string, std::string>, ViewRow>;

RowsByKey Rows(std::string_view view, const std::string& key, const fs::path& folder) {
  RowsByKey rows;
  for (const ViewRow& row : RowsOf(*PartialOf(ViewBy("tb", view), {folder.string()}))) {
    rows[{row.at("rank"), row.at(key)}] = row;
  }
  return rows;
}

/// "rank0" is rank 0.
std::string RankOf(const std::string& worker) { return worker.substr(std::string("rank").size()); }

/// All times of these traces are whole microseconds.
void ExpectTime(const Json& golden_us, const ViewRow& row, const std::string& field) {
  ASSERT_NE(row.at(field), "") << field;
  EXPECT_EQ(std::stod(row.at(field)), golden_us.get<double>() * 1000) << field;
}

/// A chart: step, worker and its parts. Answers how many figures it compared.
size_t CompareChart(const Json& chart, const std::vector<std::string>& fields,
                    const RowsByKey& rows) {
  size_t compared = 0;
  for (const auto& [step, workers] : chart.at("data").items()) {
    for (const auto& [worker, parts] : workers.items()) {
      SCOPED_TRACE(worker + ", step " + step);
      const auto row = rows.find({RankOf(worker), step == "all" ? "mean" : step});
      if (row == rows.end() || parts.size() != fields.size()) {
        ADD_FAILURE();
        continue;
      }
      for (size_t i = 0; i < fields.size(); ++i) ExpectTime(parts[i], row->second, fields[i]);
      compared += fields.size();
    }
  }
  return compared;
}

/// The columns of the table behind the name, and whether they are times.
constexpr std::pair<std::string_view, bool> kColumns[] = {
    {"calls", false},          {"total_bytes", false},    {"mean_bytes", false},
    {"latency_ns", true},      {"mean_latency_ns", true}, {"transfer_ns", true},
    {"mean_transfer_ns", true}};

size_t CompareTable(const Json& table, const RowsByKey& rows) {
  size_t compared = 0;
  for (const auto& [worker, of_worker] : table.at("data").items()) {
    for (const Json& golden : of_worker.at("rows")) {
      const std::string name = golden[0].get<std::string>();
      SCOPED_TRACE(worker + " " + name);
      const auto row = rows.find({RankOf(worker), name});
      if (row == rows.end() || golden.size() != std::size(kColumns) + 1) {
        ADD_FAILURE();
        continue;
      }
      for (size_t i = 0; i < std::size(kColumns); ++i) {
        const std::string field(kColumns[i].first);
        if (kColumns[i].second) {
          ExpectTime(golden[i + 1], row->second, field);
        } else {
          EXPECT_EQ(row->second.at(field), std::to_string(golden[i + 1].get<int64_t>())) << field;
        }
        ++compared;
      }
    }
  }
  return compared;
}

TEST(TbDistributedGoldenTest, EveryFigure) {
  OPLENS_NEED_CORPUS();
  const fs::path root = CorpusDir().path / "kineto";
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root / "golden")) {
    if (entry.path().filename() != "tb_distributed.json") continue;
    ++files;
    const fs::path folder = root / fs::relative(entry.path().parent_path(), root / "golden");
    SCOPED_TRACE(folder);
    const Json json = Json::parse(ReadFile(entry.path()));
    ASSERT_EQ(json.size(), 1u);
    const Json& view = json.at("distributed_view");
    for (const auto& [part, value] : view.items()) {
      EXPECT_TRUE(part == "overlap" || part == "wait" || part == "comm_ops") << part;
    }
    const RowsByKey steps = Rows("distributed", "step", folder);
    const size_t overlap =
        CompareChart(view.at("overlap"),
                     {"computation_ns", "overlap_ns", "communication_ns", "other_ns"}, steps);
    EXPECT_EQ(overlap, steps.size() * 4);
    EXPECT_GT(CompareChart(view.at("wait"), {"transfer_ns", "wait_ns"}, steps), 0u);
    const RowsByKey calls = Rows("collectives", "kind", folder);
    EXPECT_EQ(CompareTable(view.at("comm_ops"), calls), calls.size() * std::size(kColumns));
  }
  EXPECT_GE(files, 1);
}

}  // namespace
}  // namespace oplens::test::tb_distributed_golden_test
