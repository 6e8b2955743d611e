#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "test/support/program.h"
#include "test/support/test_files.h"

namespace oplens::test::corpus_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// The tables of `prof --json` by name.
std::map<std::string, std::vector<json>> Tables(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), Program("prof"));
  arguments.insert(arguments.end(), {"--json", "--quiet"});
  const RunResult result = RunProgram(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::map<std::string, std::vector<json>> tables;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    json row = json::parse(line);
    const std::string table = row.at("view");
    tables[table].push_back(std::move(row));
  }
  return tables;
}

double NumberOf(const json& row, const char* key) {
  return row.at(key).is_null() ? 0 : row.at(key).get<double>();
}

/// Time on the GPU in a whole step, by the view operators.
double DeviceSelfOfAStep(const std::string& file) {
  auto tables = Tables({"--view", "overview,operators", "--by", "step", file});
  std::map<std::string, bool> whole;
  for (const json& row : tables["overview"]) {
    if (row.at("step") != "mean") whole[row.at("step")] = row.at("state") == "whole";
  }
  size_t steps = 0;
  for (const auto& [step, is_whole] : whole) steps += is_whole ? 1 : 0;
  double sum = 0;
  for (const json& row : tables["operators"]) {
    if (row.at("step").is_null()) continue;
    const std::string step = std::to_string(row.at("step").get<int64_t>());
    if (steps > 0 && !whole[step]) continue;
    sum += NumberOf(row, "device_self_ns");
  }
  return sum / static_cast<double>(std::max<size_t>(steps, 1));
}

struct Pair {
  const char* base;
  const char* now;
};

class DiffCorpusTest : public testing::TestWithParam<Pair> {
 protected:
  void SetUp() override { OPLENS_NEED_CORPUS(); }
};

TEST_P(DiffCorpusTest, SumsAreExact) {
  const std::string base = CorpusFile(GetParam().base);
  const std::string now = CorpusFile(GetParam().now);
  auto tables = Tables({"--diff", base, now, "--view", "operators,overview", "--all"});
  double device_base = 0;
  double device_now = 0;
  for (const json& row : tables["diff_operators"]) {
    device_base += NumberOf(row, "base");
    device_now += NumberOf(row, "new");
  }
  EXPECT_NEAR(device_base, DeviceSelfOfAStep(base), 1e-3);
  EXPECT_NEAR(device_now, DeviceSelfOfAStep(now), 1e-3);
  const double change =
      NumberOf(tables["diff"].at(1), "total_ns") - NumberOf(tables["diff"].at(0), "total_ns");
  double causes = 0;
  for (const json& row : tables["diff_causes"]) causes += NumberOf(row, "delta_ns");
  EXPECT_NEAR(causes, change, 1);
  double parts = 0;
  for (const json& row : tables["diff_overview"]) {
    static const std::vector<std::string> kParts = {"kernel_ns", "memcpy_ns",  "memset_ns",
                                                    "comm_ns",   "runtime_ns", "dataloader_ns",
                                                    "cpu_ns",    "other_ns"};
    if (std::find(kParts.begin(), kParts.end(), row.at("figure")) != kParts.end()) {
      parts += NumberOf(row, "delta");
    }
  }
  EXPECT_NEAR(parts, change, 1e-3);
}

TEST_P(DiffCorpusTest, AFileAgainstItselfHasNoRow) {
  const std::string file = CorpusFile(GetParam().now);
  const auto tables = Tables({"--diff", file, file, "--view", "operators,overview,gpu,idle"});
  EXPECT_EQ(tables.size(), 1u) << "nothing but the totals";
}

INSTANTIATE_TEST_SUITE_P(
    Pairs, DiffCorpusTest,
    testing::Values(
        Pair{"kineto/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json",
             "kineto/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json"},
        Pair{"kineto/diff_ddp/control_a100_rank3.json", "kineto/diff_ddp/test_v100_rank1.json"},
        Pair{"kineto/diff_tiny/base.json", "kineto/diff_tiny/test.json"},
        Pair{"kineto/sam_amg/before_eager.json", "kineto/sam_amg/after_compiled_cudagraph.json"}),
    [](const testing::TestParamInfo<Pair>& tested) {
      const std::string name = tested.param.base;
      const size_t folder = name.find('/') + 1;
      return name.substr(folder, name.find('/', folder) - folder);
    });

TEST(DiffVerdictTest, MoreWorkersMendTheDataLoader) {
  OPLENS_NEED_CORPUS();
  auto tables = Tables(
      {"--diff", CorpusFile("kineto/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json"),
       CorpusFile("kineto/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json")});
  EXPECT_THAT(tables["diff"].at(1).at("verdict").get<std::string>(), HasSubstr("DataLoader"));
  EXPECT_THAT(tables["diff_causes"].at(0).at("cause").get<std::string>(), HasSubstr("DataLoader"));
}

}  // namespace
}  // namespace oplens::test::corpus_test
