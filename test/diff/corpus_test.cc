#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "prof/verdicts/noise.h"
#include "prof/verdicts/steady_steps.h"
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

/// Time on the GPU in a steady step, by the view operators.
double DeviceSelfOfAStep(const std::string& file) {
  auto tables = Tables({"--view", "overview,operators", "--by", "step", file});
  std::map<std::string, bool> whole;
  for (const json& row : tables["overview"]) {
    if (row.at("step") != "mean") whole[row.at("step")] = row.at("state") == "steady";
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

/// The lengths of the steps of a profile, which are not cut, by rank; of runs with at least three.
std::vector<std::vector<double>> StepsOf(const std::string& file) {
  std::map<std::string, std::vector<double>> ranks;
  auto tables = Tables({"--view", "overview,setup", file});
  for (const json& row : tables["overview"]) {
    if (row.at("step") == "mean" || row.at("state") == "cut") continue;
    ranks[row.at("rank").dump()].push_back(NumberOf(row, "total_ns"));
  }
  std::vector<std::vector<double>> steps;
  for (auto& [rank, lengths] : ranks) {
    if (lengths.size() >= 3) steps.push_back(std::move(lengths));
  }
  return steps;
}

std::vector<double> SteadyOf(const std::vector<double>& lengths_ns) {
  std::vector<prof::StepLength> steps;
  for (const double length : lengths_ns) steps.push_back({std::llround(length), 0, false});
  const std::vector<prof::StepState> states = StatesOf(steps);
  std::vector<double> steady;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (states[i] == prof::StepState::kSteady) steady.push_back(lengths_ns[i]);
  }
  return steady;
}

// Two samples of the steps of one run differ by chance alone: of 200 such pairs at most 2 are told
// to be a change, for each run of the corpus.
TEST(DiffVerdictTest, ResamplesOfARunAreNoChange) {
  OPLENS_NEED_CORPUS();
  size_t runs = 0;
  for (const char* file :
       {"kineto/b300_moe/moe_01_many_experts_few_tokens.json",
        "kineto/b300_moe/moe_03_top1_sparse.json", "kineto/b300_moe/moe_05_large_capacity.json",
        "kineto/ddp_a100_nccl_meta/rank0.json", "kineto/ddp_v100_memory/rank1.json",
        "kineto/diff_ddp/control_a100_rank3.json", "kineto/diff_ddp/test_v100_rank1.json",
        "kineto/gpu_user_annotation/gp100_steps.json", "kineto/param_resnet/resnet.json",
        "kineto/resnet50_autograd_api_w4/worker0.json",
        "kineto/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json",
        "kineto/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json",
        "kineto/resnet50_v010_num_workers_4/worker0.pt.trace.json",
        "kineto/v100_ns/rank-0.Apr_03_18_51_38.1102.pt.trace.json", "nsys/llama_stream.sqlite",
        "nsys/lm27b_graph.sqlite", "nsys/lm27b_nvtx.sqlite"}) {
    SCOPED_TRACE(file);
    for (const std::vector<double>& steps : StepsOf(CorpusFile(file))) {
      ++runs;
      std::mt19937 random(1);
      int changed = 0;
      for (int pair = 0; pair < 200; ++pair) {
        std::vector<double> base;
        std::vector<double> now;
        for (size_t i = 0; i < steps.size(); ++i) {
          base.push_back(steps[random() % steps.size()]);
          now.push_back(steps[random() % steps.size()]);
        }
        const prof::Noise noise = prof::NoiseOfSteps(SteadyOf(base), SteadyOf(now));
        changed += noise.verdict == prof::Verdict::kChanged ? 1 : 0;
      }
      EXPECT_LE(changed, 2);
    }
  }
  EXPECT_EQ(runs, 17u);
}

TEST(DiffVerdictTest, MoreWorkersMendTheDataLoader) {
  OPLENS_NEED_CORPUS();
  auto tables = Tables(
      {"--diff", CorpusFile("kineto/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json"),
       CorpusFile("kineto/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json")});
  const auto verdict = tables["diff"].at(1).at("verdict").get<std::string>();
  EXPECT_THAT(verdict, testing::StartsWith("faster by "));
  EXPECT_THAT(verdict, HasSubstr("DataLoader"));
  EXPECT_THAT(tables["diff_causes"].at(0).at("cause").get<std::string>(), HasSubstr("DataLoader"));
}

}  // namespace
}  // namespace oplens::test::corpus_test
