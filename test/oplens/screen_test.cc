// What a screen says is what prof's views say of the same file, to the last digit.

#include "oplens/screen.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "oplens/make_screen.h"
#include "parse/model/reason.h"
#include "prof/input/profile_records.h"
#include "prof/price/figures.h"
#include "test/support/kineto_builder.h"
#include "test/support/program.h"
#include "test/support/test_files.h"

namespace oplens::screen::screen_test {
namespace {

using nlohmann::json;
using test::CorpusDir;
using test::CorpusFile;
using test::KinetoBuilder;
using test::TestDir;

Screen ScreenOf(const std::vector<std::string>& paths) {
  prof::Inputs inputs(paths, {}, NeedsOfScreen());
  ScreenPlan plan;
  plan.inputs = paths;
  plan.several = inputs.paths().size() > 1;
  plan.pricing.peak_of = prof::ProductPeakOf;
  Diagnostics diagnostics;
  return MakeScreen(&inputs, plan, &diagnostics);
}

/// Rows of `prof --json` with these options.
std::vector<json> RowsOf(const std::vector<std::string>& paths, std::vector<std::string> options) {
  std::vector<std::string> command = {test::Program("prof"), "--quiet", "--json"};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), paths.begin(), paths.end());
  const test::RunResult result = test::RunProgram(command);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<json> rows;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) rows.push_back(json::parse(line));
  return rows;
}

double NumberOf(const json& row, const char* key) {
  return row[key].is_number() ? row[key].get<double>() : 0;
}
std::string TextOf(const json& row, const char* key) {
  return row[key].is_string() ? row[key].get<std::string>() : std::string();
}

void ExpectSame(const std::optional<double>& figure, const json& value, const std::string& what) {
  EXPECT_EQ(figure.has_value(), value.is_number()) << what;
  if (figure && value.is_number()) {
    EXPECT_DOUBLE_EQ(*figure, value.get<double>()) << what;
  }
}

void CheckTime(const Screen& screen, const std::vector<std::string>& paths) {
  std::vector<int64_t> totals;
  bool any = false;
  for (const json& row : RowsOf(paths, {"--view", "overview"})) {
    if (screen.ranks.size() > 1 && TextOf(row, "rank") != screen.shown_rank) continue;
    if (TextOf(row, "step") != "mean") {
      if (row["state"] == "steady") totals.push_back(row["total_ns"].get<int64_t>());
      continue;
    }
    if (any) continue;
    any = true;
    ASSERT_TRUE(screen.time.has_value());
    // A run counts from its cold start to its last work.
    const bool of_run = screen.steps.source == StepFacts::Source::kRun;
    const double cold_ns = of_run ? NumberOf(row, "cold_ns") : 0;
    const double end_ns = of_run ? NumberOf(row, "end_ns") : 0;
    const double all_ns = NumberOf(row, "total_ns");
    const double total_ns = all_ns - cold_ns - end_ns;
    EXPECT_DOUBLE_EQ(screen.time->cold_ns, cold_ns);
    EXPECT_DOUBLE_EQ(screen.time->end_ns, end_ns);
    EXPECT_DOUBLE_EQ(screen.time->total_ns, total_ns);
    for (const auto& [figure, key] :
         {std::pair(screen.time->busy_pct, "busy_pct"), {screen.time->mfu_pct, "mfu_pct"}}) {
      ASSERT_EQ(figure.has_value(), row[key].is_number()) << key;
      if (figure) {
        EXPECT_NEAR(*figure, NumberOf(row, key) * all_ns / total_ns, 1e-9) << key;
      }
    }
    double sum_ns = 0;
    double sum_pct = 0;
    for (const TimePart& part : screen.time->parts) {
      sum_ns += part.time_ns;
      sum_pct += part.share_pct;
      EXPECT_GT(part.time_ns, 0);
    }
    EXPECT_NEAR(sum_ns, total_ns, 1e-9 * sum_ns);
    EXPECT_NEAR(sum_pct, 100, 1e-6);
    const auto part_of = [&](const std::string& name) {
      const auto at = std::ranges::find(screen.time->parts, name, &TimePart::name);
      return at == screen.time->parts.end() ? 0 : at->time_ns;
    };
    EXPECT_DOUBLE_EQ(part_of("compute"), NumberOf(row, "kernel_ns"));
    EXPECT_DOUBLE_EQ(part_of("communication alone"), NumberOf(row, "comm_ns"));
    EXPECT_DOUBLE_EQ(part_of("copies"), NumberOf(row, "memcpy_ns"));
    EXPECT_DOUBLE_EQ(part_of("data loader"), NumberOf(row, "dataloader_ns"));
    EXPECT_DOUBLE_EQ(part_of("queued"), NumberOf(row, "queued_ns"));
    EXPECT_DOUBLE_EQ(part_of("cold start"), NumberOf(row, "cold_ns") - cold_ns);
    EXPECT_NEAR(part_of("nothing recorded"),
                NumberOf(row, "other_ns") - NumberOf(row, "queued_ns") - NumberOf(row, "cold_ns") -
                    NumberOf(row, "end_ns"),
                1e-9 * sum_ns);
  }
  EXPECT_EQ(any, screen.time.has_value());
  EXPECT_EQ(screen.steps.steady, totals.size());
  std::ranges::sort(totals);
  if (!totals.empty()) {
    EXPECT_EQ(screen.steps.median_ns, totals[(totals.size() - 1) / 2]);
  }
}

void CheckGpu(const Screen& screen, const std::vector<std::string>& paths) {
  if (!screen.gpu) return;
  bool found = false;
  for (const json& row : RowsOf(paths, {"--view", "gpu"})) {
    if (TextOf(row, "rank") != screen.gpu->rank || row["device"].dump() != screen.gpu->device) {
      continue;
    }
    found = true;
    ExpectSame(screen.gpu->sm_efficiency_pct, row["sm_efficiency_pct"], "sm_efficiency_pct");
    ExpectSame(screen.gpu->achieved_occupancy_pct, row["achieved_occupancy_pct"],
               "achieved_occupancy_pct");
    ExpectSame(screen.gpu->tc_least_pct, row["tc_least_pct"], "tc_least_pct");
    ExpectSame(screen.gpu->tc_known_pct, row["tc_known_pct"], "tc_known_pct");
  }
  EXPECT_TRUE(found);
  // Idle time is of the steps that the mean is over.
  std::map<int64_t, double> steps_ns;
  for (const bool steady : {true, false}) {
    for (const json& row : RowsOf(paths, {"--view", "overview"})) {
      if (TextOf(row, "rank") != screen.gpu->rank || TextOf(row, "step") == "mean") continue;
      if ((row["state"] == "steady") != steady) continue;
      steps_ns[std::stoll(TextOf(row, "step"))] = NumberOf(row, "total_ns");
    }
    if (!steps_ns.empty()) break;
  }
  double total_ns = 0;
  for (const auto& [step, ns] : steps_ns) total_ns += ns;
  const double outside_ns = screen.time->cold_ns + screen.time->end_ns;
  total_ns -= outside_ns;
  std::map<std::string, double> causes_ns;
  for (const json& row : RowsOf(paths, {"--view", "idle", "--by", "step"})) {
    if (TextOf(row, "rank") != screen.gpu->rank || row["device"].dump() != screen.gpu->device ||
        !steps_ns.contains(row["step"].get<int64_t>())) {
      continue;
    }
    causes_ns[TextOf(row, "cause")] += NumberOf(row, "idle_ns");
  }
  const bool of_run = screen.steps.source == StepFacts::Source::kRun;
  for (const auto& [cause, ns] : causes_ns) {
    if (cause == "(all)") {
      EXPECT_NEAR(screen.gpu->idle_pct.value_or(-1), 100 * (ns - outside_ns) / total_ns, 1e-9);
      continue;
    }
    if (of_run && (cause == "cold-start" || cause == "tail")) continue;
    const auto at = std::ranges::find(screen.gpu->causes, cause, &IdleTime::cause);
    ASSERT_NE(at, screen.gpu->causes.end());
    EXPECT_NEAR(at->share_pct, 100 * ns / total_ns, 1e-9);
  }
  causes_ns.erase("(all)");
  if (of_run) {
    causes_ns.erase("cold-start");
    causes_ns.erase("tail");
  }
  EXPECT_EQ(causes_ns.size(), screen.gpu->causes.size());
}

void CheckVerdict(const Screen& screen, const std::vector<std::string>& paths) {
  for (const json& row : RowsOf(paths, {"--view", "verdict"})) {
    if (screen.ranks.size() > 1 && TextOf(row, "rank") != screen.shown_rank) continue;
    EXPECT_EQ(screen.verdict, TextOf(row, "verdict"));
    return;
  }
  EXPECT_EQ(screen.verdict, "");
}

void CheckCosts(const Costs& costs, const std::vector<std::string>& paths, const std::string& key) {
  std::vector<json> rows = RowsOf(paths, {"--view", "groups", "--by", key});
  double share_pct = costs.others_pct;
  for (const Cost& cost : costs.rows) {
    const auto row = std::ranges::find_if(
        rows, [&](const json& other) { return TextOf(other, key.c_str()) == cost.name; });
    ASSERT_NE(row, rows.end()) << cost.name;
    EXPECT_EQ(cost.kernels, (*row)["count"].get<int64_t>());
    EXPECT_DOUBLE_EQ(cost.total_ns, NumberOf(*row, "total"));
    EXPECT_DOUBLE_EQ(cost.share_pct, NumberOf(*row, "share"));
    const auto expect = [&](const std::optional<double>& figure, const char* of,
                            const char* known) {
      if (NumberOf(*row, known) >= 50) {
        ExpectSame(figure, (*row)[of], cost.name + " " + of);
      } else {
        EXPECT_FALSE(figure.has_value()) << cost.name << " " << of;
      }
    };
    expect(cost.tflops, "tflops", "flops_known");
    expect(cost.gbps, "gbps", "bytes_known");
    expect(cost.tc_pct, "tc", "tc_known");
    share_pct += cost.share_pct;
  }
  if (!costs.rows.empty() && screen::kMostOps < rows.size()) {
    EXPECT_NEAR(share_pct, 100, 1e-6);
  }
}

/// Bounds and layers, out of all rows of kernels.
void CheckKernels(const Screen& screen, const std::vector<std::string>& paths) {
  struct Sum {
    double total_ns = 0;
    double bound_ns = 0;
    double roof_ns = 0;
  };
  std::map<std::string, Sum> ops;
  std::map<std::string, Sum> layers;
  double kernel_ns = 0;
  double missed_ns = 0;
  int64_t kernels = 0;
  for (const json& row : RowsOf(paths, {"-c", "all"})) {
    const double ns = NumberOf(row, "sil");
    ++kernels;
    kernel_ns += ns;
    Sum& op = ops[TextOf(row, "op")];
    op.total_ns += ns;
    if (row["bound"].is_string()) {
      op.bound_ns += ns;
      op.roof_ns += ns / 100 * std::max(NumberOf(row, "pct_math"), NumberOf(row, "pct_dram"));
    }
    if (row["tc_elig"] == "1" && row["tc"] == 0) missed_ns += ns;
    if (!row["layer"].empty()) layers[row["layer"].back().get<std::string>()].total_ns += ns;
  }
  EXPECT_EQ(screen.kernels, kernels);
  if (screen.replays == 0) {
    EXPECT_DOUBLE_EQ(screen.kernel_ns, kernel_ns);
  }
  for (const Cost& cost : screen.ops.rows) {
    if (cost.name == "(graph replay)") continue;
    const Sum& sum = ops[cost.name];
    EXPECT_EQ(cost.roof_pct.has_value(), !cost.bound.empty());
    if (cost.roof_pct) {
      EXPECT_NEAR(*cost.roof_pct, 100 * sum.roof_ns / sum.bound_ns, 1e-6);
    }
    if (!cost.roof_pct) {
      EXPECT_LE(sum.bound_ns, sum.total_ns / 2) << cost.name;
    }
  }
  if (screen.missed_tc_pct) {
    EXPECT_NEAR(*screen.missed_tc_pct, 100 * missed_ns / kernel_ns, 1e-9);
  }
  EXPECT_EQ(screen.layers.rows.empty(), layers.empty());
  for (const Cost& cost : screen.layers.rows) {
    double total_ns = 0;
    size_t names = 0;
    for (const auto& [name, sum] : layers) {
      std::string folded;  // Another way to fold: the trailing number of "Linear_3".
      folded = name.substr(0, name.find_last_not_of("0123456789") + 1) + "*";
      if (name != cost.name && folded != cost.name) continue;
      total_ns += sum.total_ns;
      ++names;
    }
    if (names > 0) {
      EXPECT_DOUBLE_EQ(cost.total_ns, total_ns) << cost.name;
    }
  }
}

void CheckLosses(const Screen& screen, const std::vector<std::string>& paths) {
  const std::vector<json> rows = RowsOf(paths, {"--view", "losses"});
  std::vector<std::string> words;
  for (const json& row : rows) {
    const std::string word = TextOf(row, "loss");
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  }
  EXPECT_EQ(screen.losses.size() + screen.more_losses, words.size());
  for (const LossFact& loss : screen.losses) {
    const auto row = std::ranges::find_if(rows, [&](const json& other) {
      return TextOf(other, "loss") == loss.loss && TextOf(other, "rank") == loss.rank;
    });
    ASSERT_NE(row, rows.end());
    EXPECT_EQ(loss.count, (*row)["count"].get<int64_t>());
    ExpectSame(loss.share_pct, (*row)["share_pct"], loss.loss);
    EXPECT_EQ(loss.mend, TextOf(*row, "mend"));
    for (const json& other : rows) {
      if (TextOf(other, "loss") == loss.loss) {
        EXPECT_GE(loss.share_pct.value_or(1), NumberOf(other, "share_pct"));
      }
    }
  }
}

void CheckRanks(const Screen& screen, const std::vector<std::string>& paths) {
  if (screen.ranks.empty()) return;
  for (const json& row : RowsOf(paths, {"--view", "distributed"})) {
    if (TextOf(row, "step") != "mean") continue;
    const auto rank = std::ranges::find(screen.ranks, TextOf(row, "rank"), &RankTime::rank);
    ASSERT_NE(rank, screen.ranks.end());
    EXPECT_DOUBLE_EQ(rank->compute_ns.value_or(-1),
                     NumberOf(row, "computation_ns") + NumberOf(row, "overlap_ns"));
    ExpectSame(rank->communication_ns, row["communication_ns"], "communication_ns");
    ExpectSame(rank->wait_ns, row["wait_ns"], "wait_ns");
    EXPECT_LE(rank->compute_ns, screen.ranks.front().compute_ns);
  }
}

void CheckAll(const std::vector<std::string>& paths) {
  SCOPED_TRACE(paths.front());
  const Screen screen = ScreenOf(paths);
  CheckTime(screen, paths);
  CheckGpu(screen, paths);
  CheckVerdict(screen, paths);
  CheckCosts(screen.ops, paths, "op");
  CheckCosts(screen.kernel_names, paths, "kernel");
  CheckKernels(screen, paths);
  CheckLosses(screen, paths);
  CheckRanks(screen, paths);
}

const std::string kDemo = test::SourceDir() + "/examples/data/demo.sql";

TEST(ScreenTest, SaysOfTheDemoWhatTheViewsSay) {
  CheckAll({kDemo});
  const Screen screen = ScreenOf({kDemo});
  EXPECT_THAT(screen.profilers, testing::ElementsAre("nvprof"));
  EXPECT_THAT(screen.gpus, testing::ElementsAre(GpuFact{"Tesla V100-SXM2-16GB", 1}));
  EXPECT_EQ(screen.steps.source, StepFacts::Source::kRun);
  EXPECT_EQ(screen.kernels, 131);
  EXPECT_TRUE(screen.peaks_known);
  ASSERT_FALSE(screen.layers.rows.empty());
  EXPECT_EQ(screen.layers.rows.front().name, "decoder");
}

TEST(ScreenTest, OfRecordsItKnowsKernelsAlone) {
  const std::string records = (test::TestDir() / "demo.dict").string();
  ASSERT_EQ(test::RunProgram({test::Program("parse"), kDemo, "-o", records}).exit_code, 0);
  const Screen profile = ScreenOf({kDemo});
  const Screen screen = ScreenOf({records});
  EXPECT_TRUE(screen.records);
  EXPECT_FALSE(screen.time.has_value());
  EXPECT_FALSE(screen.gpu.has_value());
  EXPECT_FALSE(screen.steps.median_ns.has_value());
  EXPECT_EQ(screen.gpus, profile.gpus);
  EXPECT_EQ(screen.kernels, profile.kernels);
  EXPECT_EQ(screen.kernel_ns, profile.kernel_ns);
  ASSERT_EQ(screen.ops.rows.size(), profile.ops.rows.size());
  for (size_t i = 0; i < screen.ops.rows.size(); ++i) {
    EXPECT_EQ(screen.ops.rows[i].name, profile.ops.rows[i].name);
    EXPECT_EQ(screen.ops.rows[i].tflops, profile.ops.rows[i].tflops);
    EXPECT_EQ(screen.ops.rows[i].roof_pct, profile.ops.rows[i].roof_pct);
  }
}

TEST(ScreenTest, SaysOfRealProfilesWhatTheViewsSay) {
  OPLENS_NEED_CORPUS();
  for (const char* name :
       {"nvprof/lm.sql", "nvprof/thesis.nvprof", "nsys/lm27b_graph.sqlite", "nsys/mmagic.sqlite",
        "kineto/h100/timesformer.json", "kineto/ddp_a100_nccl_meta/rank0.json",
        "kineto/sglang_qwen3_8b/prefill_decode.json", "kineto/xdit_flux/capture_compiled.json",
        "kineto/cpu_only/rank_non_gpu.json"}) {
    CheckAll({CorpusFile(name).string()});
  }
}

TEST(ScreenTest, OfSeveralRanksItShowsWhoComputesLongest) {
  OPLENS_NEED_CORPUS();
  const std::string folder = (CorpusDir().path / "kineto/dlrm_w8").string();
  CheckAll({folder});
  const Screen screen = ScreenOf({folder});
  EXPECT_EQ(screen.runs, 8U);
  ASSERT_EQ(screen.ranks.size(), 8U);
  EXPECT_EQ(screen.shown_rank, screen.ranks.front().rank);
  ASSERT_TRUE(screen.slowest_by_pct.has_value());
  EXPECT_GE(*screen.slowest_by_pct, 0);
}

// Of an A100 and a V100, nine days apart: which of them computes longer says nothing.
TEST(ScreenTest, RanksOfOtherRunsAreNotCompared) {
  OPLENS_NEED_CORPUS();
  const Screen screen = ScreenOf({(CorpusDir().path / "kineto/diff_ddp").string()});
  EXPECT_FALSE(screen.slowest_by_pct);
  const auto is_other = [](const auto& culprit) { return culprit.cause == "other run"; };
  EXPECT_TRUE(std::ranges::any_of(screen.culprits, is_other));
}

TEST(ScreenTest, OfFilesThatAreNotOneRunItSaysWhatIsWrong) {
  std::vector<std::string> paths;
  for (int file = 0; file < 3; ++file) {
    KinetoBuilder builder;
    builder.AddMember("distributedInfo",
                      fmt::format(R"({{"rank": {}, "world_size": 3}})", file == 2 ? 1 : file));
    builder.AddKernel({.name = "gemm", .start_ns = 5'000, .duration_ns = 1'000 + file * 1'000'000});
    paths.push_back((TestDir() / fmt::format("file{}.json", file)).string());
    builder.Write(paths.back());
  }
  const Screen screen = ScreenOf(paths);
  EXPECT_FALSE(screen.one_run);
  std::vector<std::string> said;
  for (const auto& culprit : screen.culprits) said.push_back(culprit.who + ": " + culprit.cause);
  EXPECT_EQ(said, (std::vector<std::string>{"rank 2: missing", "rank 1: twice"}));
}

}  // namespace
}  // namespace oplens::screen::screen_test
