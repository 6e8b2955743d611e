// `prof --diff --compat tb|hta` against what the TensorBoard plugin (torch_tb_profiler 0.4.3) and
// HolisticTraceAnalysis 0.6.0 say of the same files.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "test/ops/csv_rows.h"
#include "test/support/program.h"
#include "test/support/test_files.h"

namespace oplens::test::compat_diff_golden_test {
namespace {

using nlohmann::json;

using Row = std::map<std::string, std::string>;

constexpr const char* kWorkers0 =
    "kineto/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json";
constexpr const char* kWorkers4 =
    "kineto/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json";

std::string GoldenFile(const std::string& name) {
  return ReadFile(CorpusDir().path / "kineto" / "golden" / name);
}

/// The rows of a table of `prof --diff`.
std::vector<json> Rows(const std::string& base, const std::string& now,
                       const std::vector<std::string>& arguments, const std::string& table) {
  std::vector<std::string> all = {Program("prof"), "--diff", CorpusFile(base),
                                  CorpusFile(now), "--json", "--quiet"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const RunResult result = RunProgram(all);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<json> rows;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    json row = json::parse(line);
    if (row.at("view") == table) rows.push_back(std::move(row));
  }
  return rows;
}

/// A figure of ours in ns against whole microseconds.
void ExpectMicroseconds(const json& row, const char* key, double microseconds) {
  EXPECT_EQ(row.at(key).get<int64_t>(), std::llround(1000 * microseconds)) << key;
}

/// A text of a golden table as a number.
double NumberIn(const Row& row, const std::string& key) { return std::stod(row.at(key)); }

TEST(TbDiffGoldenTest, Operators) {
  OPLENS_NEED_CORPUS();
  const auto golden = ops::test::ParseCsv(GoldenFile("tb_diff_resnet50_nw0_vs_nw4_operators.csv"));
  const auto ours =
      Rows(kWorkers0, kWorkers4, {"--compat", "tb", "--view", "operators"}, "diff_operators");
  ASSERT_EQ(ours.size(), golden.size());
  constexpr std::pair<const char*, const char*> kTimes[] = {{"host", "host_total"},
                                                            {"self_host", "host_self"},
                                                            {"device", "device_total"},
                                                            {"self_device", "device_self"}};
  for (size_t i = 0; i < golden.size(); ++i) {  // In the order of the reference.
    SCOPED_TRACE(golden[i].at("operator"));
    EXPECT_EQ(ours[i].at("rules"), "tb");
    EXPECT_EQ(ours[i].at("op"), golden[i].at("operator"));
    const double base_calls = NumberIn(golden[i], "base_calls");
    const double now_calls = NumberIn(golden[i], "exp_calls");
    EXPECT_EQ(ours[i].at("base_calls").get<double>(), base_calls);
    EXPECT_EQ(ours[i].at("new_calls").get<double>(), now_calls);
    EXPECT_EQ(ours[i].at("delta_calls").get<double>(), now_calls - base_calls);
    for (const auto& [theirs, own] : kTimes) {
      const double base = NumberIn(golden[i], std::string("base_") + theirs);
      const double now = NumberIn(golden[i], std::string("exp_") + theirs);
      const std::string key = own;
      ExpectMicroseconds(ours[i], ("base_" + key + "_ns").c_str(), base);
      ExpectMicroseconds(ours[i], ("new_" + key + "_ns").c_str(), now);
      ExpectMicroseconds(ours[i], ("delta_" + key + "_ns").c_str(), now - base);
      const json& percent = ours[i].at("delta_" + key + "_pct");
      if (base == 0) {
        EXPECT_TRUE(percent.is_null()) << key;
      } else {
        EXPECT_DOUBLE_EQ(percent.get<double>(), 100 * (now - base) / base) << key;
      }
    }
  }
}

/// Compares the nodes of a golden tree with `rows` from `next` on.
void ExpectTree(const json& golden, const std::string& path, const std::vector<json>& rows,
                size_t* next) {
  SCOPED_TRACE(path);
  ASSERT_LT(*next, rows.size());
  const json& row = rows[(*next)++];
  EXPECT_EQ(row.at("node"), path);
  constexpr std::pair<const char*, std::string_view> kSides[] = {{"left", "base"},
                                                                 {"right", "new"}};
  for (const auto& [theirs, own] : kSides) {
    const json& side = golden.at(theirs);
    const std::string key(own);
    EXPECT_EQ(row.at(key), side.at("name"));
    ExpectMicroseconds(row, (key + "_host_ns").c_str(), side.at("duration").get<double>());
    ExpectMicroseconds(row, (key + "_device_ns").c_str(), side.at("device_duration").get<double>());
    ExpectMicroseconds(row, (key + "_ns").c_str(), side.at("total_duration").get<double>());
  }
  size_t child = 0;
  for (const json& inner : golden.at("children")) {
    ExpectTree(inner, path + "-" + std::to_string(child++), rows, next);
  }
}

TEST(TbDiffGoldenTest, Tree) {
  OPLENS_NEED_CORPUS();
  const auto ours = Rows(kWorkers0, kWorkers4, {"--compat", "tb"}, "diff_tree");
  size_t next = 0;
  ExpectTree(json::parse(GoldenFile("tb_diff_resnet50_nw0_vs_nw4.json")), "0", ours, &next);
  EXPECT_EQ(next, ours.size());
}

TEST(TbDiffGoldenTest, OperatorsOfTheNodesAreThoseOfTheRoot) {
  OPLENS_NEED_CORPUS();
  const auto ours =
      Rows(kWorkers0, kWorkers4, {"--compat", "tb", "--view", "operators", "--by", "node"},
           "diff_operators");
  std::map<std::string, int64_t> root;
  std::map<std::string, int64_t> inner;
  for (const json& row : ours) {
    auto& sums = row.at("node") == "0" ? root : inner;
    sums[row.at("op")] += row.at("delta_host_self_ns").get<int64_t>();
  }
  EXPECT_EQ(root.size(), 53u);
  EXPECT_EQ(root, inner);
}

struct HtaPair {
  const char* name;
  const char* base;
  const char* now;
  const char* golden;
};

class HtaDiffGoldenTest : public testing::TestWithParam<HtaPair> {
 protected:
  void SetUp() override { OPLENS_NEED_CORPUS(); }
  std::string File(const std::string& end) const { return GoldenFile(GetParam().golden + end); }
  std::vector<json> Names(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--compat", "hta"});
    return Rows(GetParam().base, GetParam().now, arguments, "diff_names");
  }
};

TEST_P(HtaDiffGoldenTest, Names) {
  std::map<std::string, std::map<std::string, json>> ours;  // By device and name.
  for (const json& row : Names({"--by", "device"})) ours[row.at("device")][row.at("name")] = row;
  for (const std::string device : {"cpu", "gpu"}) {
    const auto golden = ops::test::ParseCsv(File("_" + device + ".csv"));
    EXPECT_EQ(ours[device].size(), golden.size()) << device;
    for (const Row& row : golden) {
      SCOPED_TRACE(device + " " + row.at("name"));
      const auto own = ours[device].find(row.at("name"));
      ASSERT_NE(own, ours[device].end());
      EXPECT_EQ(own->second.at("rules"), "hta");
      EXPECT_EQ(own->second.at("base_count").get<double>(), NumberIn(row, "control_counts"));
      EXPECT_EQ(own->second.at("new_count").get<double>(), NumberIn(row, "test_counts"));
      EXPECT_EQ(own->second.at("delta_count").get<double>(), NumberIn(row, "diff_counts"));
      ExpectMicroseconds(own->second, "base_ns", NumberIn(row, "control_total_duration"));
      ExpectMicroseconds(own->second, "new_ns", NumberIn(row, "test_total_duration"));
      ExpectMicroseconds(own->second, "delta_ns", NumberIn(row, "diff_duration"));
      EXPECT_EQ(own->second.at("category"), row.at("counts_change_categories"));
    }
  }
}

TEST_P(HtaDiffGoldenTest, Lists) {
  std::map<std::string, int64_t> lists = {
      {"added", 0}, {"deleted", 0}, {"increased", 0}, {"decreased", 0}, {"unchanged", 0}};
  for (const json& row : Names({})) ++lists[row.at("list")];
  const json golden = json::parse(File("_ops_diff_counts.json"));
  EXPECT_EQ(lists, golden.get<decltype(lists)>());
}

INSTANTIATE_TEST_SUITE_P(
    Pairs, HtaDiffGoldenTest,
    testing::Values(HtaPair{"tiny", "kineto/diff_tiny/base.json", "kineto/diff_tiny/test.json",
                            "diff_tiny_hta_diff"},
                    HtaPair{"ddp", "kineto/diff_ddp/control_a100_rank3.json",
                            "kineto/diff_ddp/test_v100_rank1.json", "diff_ddp/hta_diff"}),
    [](const testing::TestParamInfo<HtaPair>& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace oplens::test::compat_diff_golden_test
