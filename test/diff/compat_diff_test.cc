// `prof --diff --compat tb|hta` on made-up traces.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "prof/compat/hta/events.h"
#include "prof/compat/hta/views.h"
#include "test/support/kineto_builder.h"
#include "test/support/program.h"
#include "test/support/test_files.h"

namespace oplens::test::compat_diff_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A trace on one thread; times in us.
class MadeTrace {
 public:
  void Step(int64_t number, int64_t start_us, int64_t end_us) {
    trace_.AddHost("user_annotation", "ProfilerStep#" + std::to_string(number), start_us * 1000,
                   (end_us - start_us) * 1000);
  }
  void Annotation(const std::string& name, int64_t start_us, int64_t end_us) {
    trace_.AddHost("user_annotation", name, start_us * 1000, (end_us - start_us) * 1000);
  }
  void Module(const std::string& name, int64_t start_us, int64_t end_us) {
    trace_.AddHost("python_function", "nn.Module: " + name, start_us * 1000,
                   (end_us - start_us) * 1000, 1234, {{"Python module id", "1"}});
  }
  /// An operator; with a kernel of that length unless that is 0.
  void Op(const std::string& name, int64_t start_us, int64_t end_us, int64_t kernel_us = 0,
          int64_t stream = 7) {
    const std::string id = std::to_string(++external_id_);
    KinetoOperator op;
    op.name = name;
    op.start_ns = start_us * 1000;
    op.duration_ns = (end_us - start_us) * 1000;
    op.more = {{"External id", id}};
    trace_.AddOperator(op);
    if (kernel_us == 0) return;
    KinetoKernel kernel;
    kernel.name = "void of<int>(" + name + ")";
    kernel.start_ns = start_us * 1000 + 500'000;
    kernel.duration_ns = kernel_us * 1000;
    kernel.stream = stream;
    kernel.correlation = trace_.AddCall("cudaLaunchKernel", start_us * 1000, 1000, 1234,
                                        "cuda_runtime", {{"External id", id}});
    trace_.AddKernel(kernel);
  }
  std::string Write(const std::string& name) const {
    const std::filesystem::path path = TestDir() / name;
    trace_.Write(path);
    return path.string();
  }

 private:
  KinetoBuilder trace_;
  int64_t external_id_ = 100;
};

RunResult Prof(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), Program("prof"));
  return RunProgram(arguments);
}

std::vector<json> Rows(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--json", "--quiet"});
  const RunResult result = Prof(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<json> rows;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) rows.push_back(json::parse(line));
  return rows;
}

/// "0-1 Net Net 100 120": node, both names and values in us.
std::vector<std::string> Tree(const std::string& base, const std::string& now) {
  std::vector<std::string> nodes;
  for (const json& row : Rows({"--diff", base, now, "--compat", "tb", "--view", "tree"})) {
    nodes.push_back(row.at("node").get<std::string>() + " " + row.at("base").get<std::string>() +
                    " " + row.at("new").get<std::string>() + " " +
                    std::to_string(row.at("base_ns").get<int64_t>() / 1000) + " " +
                    std::to_string(row.at("new_ns").get<int64_t>() / 1000));
  }
  return nodes;
}

TEST(TbDiffTest, CallsAreCutWhereThoseOfAKindMatch) {
  MadeTrace base;
  base.Step(1, 0, 100);
  base.Op("aten::a", 1, 5);
  base.Op("aten::b", 6, 9, 20);
  base.Module("Net_0", 10, 50);
  base.Module("Linear_0", 12, 20);
  base.Op("aten::c", 22, 26);
  base.Annotation("Optimizer.step#SGD.step", 60, 90);
  MadeTrace now;
  now.Step(1, 0, 100);
  now.Module("Net_0", 10, 60);
  now.Module("Linear_0", 12, 25);
  now.Annotation("Optimizer.step#SGD.step", 70, 90);
  now.Op("aten::d", 92, 95);
  EXPECT_THAT(
      Tree(base.Write("base.json"), now.Write("new.json")),
      ElementsAre("0 CompositeNodes CompositeNodes 94 73",
                  // a by its length, b by its kernel: the new run has neither.
                  "0-0 CompositeNodes Blank 24 0", "0-1 nn.Module: Net_0 nn.Module: Net_0 40 50",
                  "0-1-0 nn.Module: Linear_0 nn.Module: Linear_0 8 13", "0-1-1 aten::c Blank 4 0",
                  "0-2 Optimizer.step#SGD.step Optimizer.step#SGD.step 30 20",
                  "0-3 Blank aten::d 0 3"));
}

TEST(TbDiffTest, ASingleCallOnBothSidesIsLookedInto) {
  MadeTrace base;
  base.Op("aten::outer", 0, 50);
  base.Module("Net_0", 10, 20);
  base.Op("aten::t", 30, 35);
  MadeTrace now;
  now.Op("aten::other", 0, 60);
  now.Module("Net_0", 10, 30);
  EXPECT_THAT(Tree(base.Write("base.json"), now.Write("new.json")),
              ElementsAre("0 aten::outer aten::other 50 60",
                          "0-0 nn.Module: Net_0 nn.Module: Net_0 10 20", "0-1 aten::t Blank 5 0"));
}

TEST(TbDiffTest, AMatchLiesBehindTheOneBefore) {
  MadeTrace base;
  base.Step(1, 0, 100);
  base.Module("A_0", 10, 20);
  base.Module("B_0", 30, 40);
  MadeTrace now;
  now.Step(1, 0, 100);
  now.Module("B_0", 10, 20);
  now.Module("A_0", 30, 40);
  // Greedy: B of the new run stands before what A matched.
  EXPECT_THAT(
      Tree(base.Write("base.json"), now.Write("new.json")),
      ElementsAre("0 CompositeNodes CompositeNodes 20 20", "0-0 Blank nn.Module: B_0 0 10",
                  "0-1 nn.Module: A_0 nn.Module: A_0 10 10", "0-2 nn.Module: B_0 Blank 10 0"));
}

TEST(TbDiffTest, OperatorsOfTheStepsWithTheirDeltas) {
  MadeTrace base;
  base.Op("aten::before", 0, 5);
  base.Step(1, 10, 50);
  base.Op("aten::a", 11, 21, 20);
  base.Step(2, 50, 100);
  base.Op("aten::a", 51, 61, 30);
  MadeTrace now;
  now.Step(1, 10, 50);
  now.Op("aten::a", 11, 31, 10);
  now.Op("aten::b", 40, 45);
  const auto rows = Rows({"--diff", base.Write("base.json"), now.Write("new.json"), "--compat",
                          "tb", "--view", "operators"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("op"), "aten::a");
  EXPECT_EQ(rows[0].at("base_calls"), 2);
  EXPECT_EQ(rows[0].at("new_calls"), 1);
  EXPECT_EQ(rows[0].at("delta_calls_pct"), -50.0);
  EXPECT_EQ(rows[0].at("delta_device_self_ns"), 10'000 - 50'000);
  EXPECT_EQ(rows[0].at("delta_host_total_ns"), 0);
  EXPECT_EQ(rows[1].at("op"), "aten::b");
  EXPECT_EQ(rows[1].at("base_calls"), 0);
  EXPECT_TRUE(rows[1].at("delta_calls_pct").is_null()) << "of nothing";
}

TEST(HtaDiffTest, TheFirstStepOfEach) {
  MadeTrace base;
  base.Step(3, 0, 50);
  base.Step(4, 50, 100);
  base.Op("aten::a", 10, 20, 5);
  base.Op("aten::a", 25, 30);
  base.Op("aten::lost", 40, 45, 5, 0);  // Work on stream 0 is of no step.
  base.Op("aten::late", 60, 70, 5);
  base.Op("aten::gone", 31, 35);
  MadeTrace now;
  now.Step(1, 0, 50);
  now.Op("aten::a", 10, 24, 9);
  now.Op("aten::lost", 40, 45);
  now.Op("aten::fresh", 30, 36);
  std::vector<std::string> lines;
  for (const json& row : Rows({"--diff", base.Write("base.json"), now.Write("new.json"), "--compat",
                               "hta", "--by", "device"})) {
    const std::string name = row.at("name");
    if (name.starts_with("Profiler")) continue;
    lines.push_back(row.at("device").get<std::string>() + " " + name + " " +
                    row.at("base_count").dump() + " " + row.at("new_count").dump() + " " +
                    row.at("delta_ns").dump() + " " + row.at("category").get<std::string>() + " " +
                    row.at("list").get<std::string>());
  }
  EXPECT_THAT(lines,
              ElementsAre("cpu aten::fresh 0 1 6000 + added",
                          "gpu void of<int>(aten::a) 1 1 4000 = unchanged",
                          "cpu aten::lost 1 1 0 = unchanged", "cpu aten::a 2 1 -1000 - decreased",
                          "cpu cudaLaunchKernel 2 1 -1000 - decreased",
                          "cpu aten::gone 1 0 -4000 - deleted"));
}

TEST(HtaDiffTest, ShortNames) {
  using prof::HtaShortName;
  EXPECT_EQ(HtaShortName("aten::mm"), "aten::mm");
  EXPECT_EQ(HtaShortName("## all2all (wait) ##"), "##");
  EXPECT_EQ(HtaShortName("void at::native::f<4, at::g<int>, h<char*, 3> >(int, k<int>)"),
            "at::native::f");
  EXPECT_EQ(HtaShortName("auto x(int)->int"), "xint");
  EXPECT_EQ(HtaShortName("a>b<c"), "b<c");
  EXPECT_EQ(HtaShortName("(a "), "");
  EXPECT_EQ(HtaShortName("Memcpy DtoD (Device -> Device)"), "Memcpy DtoD (Device -> Device)");
}

TEST(HtaDiffTest, ShortNamesJoin) {
  MadeTrace base;
  base.Step(1, 0, 50);
  base.Op("aten::a", 10, 20, 5);
  base.Op("aten::b", 30, 40, 6);
  const std::string file = base.Write("base.json");
  size_t joined = 0;
  for (const json& row : Rows({"--diff", file, file, "--compat", "hta", "--by", "short_name"})) {
    EXPECT_FALSE(row.contains("device"));
    if (row.at("name") != "of") continue;
    EXPECT_EQ(row.at("new_count"), 2);
    ++joined;
  }
  EXPECT_EQ(joined, 1u);
}

TEST(CompatDiffTest, WhatIsRefused) {
  MadeTrace made;
  made.Step(1, 0, 50);
  made.Op("aten::a", 10, 20, 5);
  const std::string file = made.Write("made.json");
  const auto refused = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--diff", file, file});
    const RunResult result = Prof(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.out;
    EXPECT_THAT(result.out, IsEmpty());
    return result.err;
  };
  EXPECT_THAT(refused({"--compat", "torch"}), HasSubstr("tb or hta"));
  EXPECT_THAT(refused({"--compat", "tb", "--view", "gpu"}),
              AllOf(HasSubstr("'gpu'"), HasSubstr("operators,tree")));
  EXPECT_THAT(refused({"--compat", "hta", "--by", "shape"}),
              AllOf(HasSubstr("'shape'"), HasSubstr("short_name")));
  EXPECT_THAT(refused({"--compat", "tb", "--view", "tree,operators", "--csv"}),
              HasSubstr("--json"));
  EXPECT_THAT(refused({"--compat", "tb", "--step-range", "1-2"}), HasSubstr("whole runs"));
}

TEST(CompatDiffTest, OneTableFitsLinesForPrograms) {
  MadeTrace made;
  made.Step(1, 0, 50);
  made.Op("aten::a", 10, 20, 5);
  const std::string file = made.Write("made.json");
  const RunResult result =
      Prof({"--diff", file, file, "--compat", "tb", "--csv", "--header", "keys"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              testing::StartsWith(R"("rules","op","base_calls","new_calls","delta_calls",)"));
  const RunResult lines = Prof({"--diff", file, file, "--compat", "tb", "--top", "1"});
  EXPECT_THAT(lines.out, AllOf(HasSubstr("\noperators\n"), HasSubstr("\ntree\n")));
}

TEST(CompatDiffTest, FilesWithoutTheNumbersAreSaid) {
  const std::string file = SourceDir() + "/examples/data/demo.sql";
  for (const std::string rules : {"tb", "hta"}) {
    const RunResult result = Prof({"--diff", file, file, "--compat", rules, "--json"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_THAT(result.err, HasSubstr("--compat " + rules + " goes by numbers")) << result.err;
  }
}

TEST(CompatDiffTest, OfSeveralRanksTheFirst) {
  const std::filesystem::path folder = TestDir() / "ranks";
  std::filesystem::create_directories(folder);
  for (const std::string rank : {"0", "1"}) {
    MadeTrace made;
    made.Step(1, 0, 50);
    made.Op("aten::of" + rank, 10, 20, 5);
    std::filesystem::rename(made.Write("rank.json"), folder / ("rank_" + rank + ".json"));
  }
  const RunResult result = Prof({"--diff", folder.string(), folder.string(), "--compat", "tb",
                                 "--view", "operators", "--csv"});
  EXPECT_THAT(result.out, AllOf(HasSubstr("aten::of0"), testing::Not(HasSubstr("aten::of1"))));
  EXPECT_THAT(result.err, HasSubstr("compare one: 0;"));
}

}  // namespace
}  // namespace oplens::test::compat_diff_test
