#include "test/support/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"

namespace oplens::test::program_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A training loop of three layers, as PyTorch's profiler writes it.
struct Loop {
  int64_t steps = 8;
  int64_t kernel_ns[3] = {30'000, 20'000, 10'000};
  std::string kernel[3] = {"ampere_fp16_s16816gemm_fp16_128x64", "vectorized_add", "reduce_kernel"};
  bool has_layer[3] = {true, true, true};
  std::string dims[3] = {"[[32, 64], [64, 64]]", "[[32, 64], [32, 64]]", "[[32, 64]]"};
  int64_t late_every = 0;
  int64_t shift_ns = 0;
  int64_t stream = 7;
  bool reverse = false;  // The events of each step in the other order.
};

constexpr const char* kOps[] = {"aten::mm", "aten::add", "aten::sum"};

std::filesystem::path Write(const Loop& loop, const std::filesystem::path& path) {
  KinetoBuilder trace;
  int64_t now_ns = 1'000'000 + loop.shift_ns;
  for (int64_t step = 0; step < loop.steps; ++step) {
    // A little noise that is the same in every run of so many steps.
    const int64_t noise_ns = 100 * ((step * 7) % 5);
    const int64_t start_ns = now_ns;
    std::vector<int> order = {0, 1, 2};
    if (loop.reverse) order = {2, 1, 0};
    for (const int i : order) {
      if (!loop.has_layer[i]) continue;
      const int64_t at_ns = start_ns + 100'000 * (i + 1);
      KinetoOperator op;
      op.name = kOps[i];
      op.start_ns = at_ns;
      op.duration_ns = 20'000;
      op.dims = loop.dims[i];
      op.types = R"(["c10::Half", "c10::Half"])";
      trace.AddOperator(op);
      KinetoKernel kernel;
      kernel.name = loop.kernel[i];
      kernel.start_ns = at_ns + 15'000;
      kernel.duration_ns = loop.kernel_ns[i] + noise_ns;
      kernel.stream = loop.stream;
      trace.Launch(kernel, at_ns + 5'000);
    }
    int64_t length_ns = 500'000 + noise_ns;
    if (loop.late_every > 0 && step % loop.late_every == 0) length_ns += 400'000;
    trace.AddHost("user_annotation", "ProfilerStep#" + std::to_string(step), start_ns, length_ns);
    now_ns += length_ns + 1'000;
  }
  trace.Write(path);
  return path;
}

class DiffProgramTest : public testing::Test {
 protected:
  std::filesystem::path File(const std::string& name, const Loop& loop) {
    return Write(loop, TestDir() / name);
  }
  RunResult Prof(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("prof"));
    return RunProgram(arguments);
  }

  /// Rows of a table of `prof --diff ... --json`.
  std::vector<nlohmann::json> Rows(const std::vector<std::string>& arguments,
                                   const std::string& table = "diff_operators") {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--json", "--quiet"});
    const RunResult result = Prof(all);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<nlohmann::json> rows;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) {
      nlohmann::json row = nlohmann::json::parse(line);
      if (row.at("view") == table) rows.push_back(std::move(row));
    }
    return rows;
  }

  std::vector<std::string> Changes(const std::filesystem::path& base,
                                   const std::filesystem::path& now) {
    std::vector<std::string> changes;
    for (const nlohmann::json& row : Rows({"--diff", base.string(), now.string()})) {
      changes.push_back(row.at("change").get<std::string>() + " " +
                        row.at("op").get<std::string>());
    }
    return changes;
  }
};

TEST_F(DiffProgramTest, AFileAgainstItselfHasNoRow) {
  const auto file = File("a.json", {});
  EXPECT_THAT(Changes(file, file), IsEmpty());
  const RunResult result = Prof({"--diff", file.string(), file.string()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("no change"));
}

TEST_F(DiffProgramTest, OtherStreamsOrderAndClocksAreNoChange) {
  Loop other;
  other.stream = 20;
  other.reverse = true;
  other.shift_ns = 123'456'789'000;
  EXPECT_THAT(Changes(File("a.json", {}), File("b.json", other)), IsEmpty());
}

TEST_F(DiffProgramTest, OneKernelThreeTimesSlower) {
  Loop other;
  other.kernel_ns[1] *= 3;
  EXPECT_THAT(Changes(File("a.json", {}), File("b.json", other)), ElementsAre("slower add"));
}

TEST_F(DiffProgramTest, OneShapeDoubled) {
  Loop other;
  other.dims[0] = "[[64, 64], [64, 64]]";
  other.kernel_ns[0] *= 2;
  EXPECT_THAT(Changes(File("a.json", {}), File("b.json", other)), ElementsAre("shape mm"));
}

TEST_F(DiffProgramTest, OneLayerRemoved) {
  Loop other;
  other.has_layer[2] = false;
  EXPECT_THAT(Changes(File("a.json", {}), File("b.json", other)), ElementsAre("removed sum"));
}

TEST_F(DiffProgramTest, AKernelRenamed) {
  Loop other;
  other.kernel[1] = "vectorized_add_v2";
  EXPECT_THAT(Changes(File("a.json", {}), File("b.json", other)), ElementsAre("kernel add"));
}

TEST_F(DiffProgramTest, EveryFourthStepLate) {
  Loop base;
  base.steps = 40;
  Loop other = base;
  other.late_every = 4;
  const auto a = File("a.json", base);
  const auto b = File("b.json", other);
  EXPECT_THAT(Changes(a, b), IsEmpty());
  const RunResult result = Prof({"--diff", a.string(), b.string()});
  EXPECT_THAT(result.out, HasSubstr("one in 4"));
}

TEST_F(DiffProgramTest, TheTablesAreThere) {
  Loop other;
  other.kernel_ns[1] *= 3;
  const auto a = File("a.json", {});
  const auto b = File("b.json", other);
  const std::vector<std::string> diff = {"--diff", a.string(), b.string(), "--view",
                                         "operators,overview,gpu"};
  EXPECT_EQ(Rows(diff, "diff").size(), 2u);
  EXPECT_FALSE(Rows(diff, "diff_causes").empty());
  EXPECT_FALSE(Rows(diff, "diff_overview").empty());
  EXPECT_FALSE(Rows(diff, "diff_gpu").empty());
}

TEST_F(DiffProgramTest, TheChangesOfOverviewAreThatOfTheTotal) {
  Loop other;
  other.kernel_ns[1] *= 3;
  other.late_every = 3;
  const auto rows = Rows({"--diff", File("a.json", {}).string(), File("b.json", other).string(),
                          "--view", "overview", "--all"},
                         "diff_overview");
  std::map<std::string, double> delta;
  for (const nlohmann::json& row : rows) {
    if (!row.at("delta").is_null()) delta[row.at("figure")] = row.at("delta");
  }
  double parts = 0;
  for (const char* part : {"kernel_ns", "memcpy_ns", "memset_ns", "comm_ns", "runtime_ns",
                           "dataloader_ns", "cpu_ns", "other_ns"}) {
    parts += delta[part];
  }
  EXPECT_NEAR(parts, delta.at("total_ns"), 0.01);
  EXPECT_GT(parts, 100'000);
}

TEST_F(DiffProgramTest, ABaseThatCannotBeReadIsOneLine) {
  const auto file = File("a.json", {});
  const RunResult result = Prof({"--diff", (TestDir() / "none.json").string(), file.string()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("none.json"));
  EXPECT_THAT(result.out, IsEmpty());
}

TEST_F(DiffProgramTest, WhatDoesNotGoTogetherIsRefused) {
  const std::string file = File("a.json", {}).string();
  EXPECT_EQ(Prof({"--diff", file, file, "--copies"}).exit_code, 2);
  EXPECT_EQ(Prof({"--all", file}).exit_code, 2);
  EXPECT_EQ(Prof({"--diff", file, file, "--view", "kernels"}).exit_code, 2);
  EXPECT_EQ(Prof({"--diff", "", file}).exit_code, 2);
}

TEST_F(DiffProgramTest, ABaselineSaysWhatItsProfileSays) {
  Loop other;
  other.kernel_ns[1] *= 3;
  const std::string a = File("a.json", {}).string();
  const std::string b = File("b.json", other).string();
  const std::string saved = (TestDir() / "a.baseline").string();
  ASSERT_EQ(Prof({"--save-baseline", saved, a}).exit_code, 0);
  const std::vector<std::string> views = {"--view", "operators,overview,gpu", "--all"};
  const auto of_file = Rows({"--diff", a, b, views[0], views[1], views[2]}, "diff_operators");
  const auto of_saved = Rows({"--diff", saved, b, views[0], views[1], views[2]}, "diff_operators");
  EXPECT_EQ(of_file, of_saved);
  EXPECT_THAT(Changes(saved, b), ElementsAre("slower add"));
  EXPECT_THAT(Changes(saved, a), IsEmpty());
}

TEST_F(DiffProgramTest, ABaselineThatIsDamagedIsOneLine) {
  const std::string a = File("a.json", {}).string();
  const auto saved = TestDir() / "a.baseline";
  ASSERT_EQ(Prof({"--save-baseline", saved.string(), a}).exit_code, 0);
  const std::string bytes = ReadFile(saved);
  for (const std::string& damaged :
       {bytes.substr(0, bytes.size() / 2), bytes.substr(0, 20), bytes + "x", [&] {
          std::string edited = bytes;
          edited[bytes.size() / 2] = static_cast<char>(edited[bytes.size() / 2] ^ 0x55);
          return edited;
        }()}) {
    WriteFile(saved, damaged);
    const RunResult result = Prof({"--diff", saved.string(), a});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

TEST_F(DiffProgramTest, AGateDecidesTheExitCode) {
  Loop other;
  other.kernel_ns[1] *= 3;
  const std::string a = File("a.json", {}).string();
  const std::string b = File("b.json", other).string();
  const auto code = [&](const std::vector<std::string>& gate) {
    std::vector<std::string> arguments = {"--diff", a, b, "--quiet"};
    arguments.insert(arguments.end(), gate.begin(), gate.end());
    return Prof(arguments).exit_code;
  };
  EXPECT_EQ(code({"--fail-if", "op(add)>+10%"}), 5);
  EXPECT_EQ(code({"--fail-if", "op(mm)>+10%"}), 0);
  EXPECT_EQ(code({"--fail-if", "op(no_such)>+10%"}), 4);
  EXPECT_EQ(code({"--fail-if", "op(no_such)>+10%", "--fail-if", "op(add)>+10%"}), 4);
  EXPECT_EQ(code({"--fail-if", "memory.peak>+0"}), 4) << "no memory was recorded";
  EXPECT_EQ(code({"--fail-if", "op(add>+10%"}), 2);
  EXPECT_EQ(code({"--require-comparable"}), 0);
  Loop shapes;
  shapes.dims[0] = "[[64, 64], [64, 64]]";
  EXPECT_EQ(Prof({"--diff", a, File("c.json", shapes).string(), "--require-comparable", "--quiet"})
                .exit_code,
            4);
  EXPECT_EQ(Prof({"--fail-if", "gpu.busy_pct<101", a, "--quiet"}).exit_code, 5) << "of one run";
  EXPECT_EQ(Prof({"--fail-if", "gpu.busy_pct<1", a, "--quiet"}).exit_code, 0);
}

TEST_F(DiffProgramTest, CutDataIsNeitherAPassNorAFailure) {
  const std::string a = File("a.json", {}).string();
  const std::string bytes = ReadFile(a);
  const std::string cut = (TestDir() / "cut.json").string();
  // Behind an event: nothing is half there.
  WriteFile(cut, bytes.substr(0, bytes.rfind("},", bytes.size() * 3 / 4) + 2));
  const std::string saved = (TestDir() / "cut.baseline").string();
  EXPECT_EQ(Prof({"--save-baseline", saved, cut, "--quiet"}).exit_code, 0);
  const std::string junit = (TestDir() / "gate.xml").string();
  for (const std::string& lost : {cut, saved}) {
    for (const char* expression : {"total>1s", "total>1ns"}) {
      const RunResult result = Prof({"--fail-if", expression, "--junit", junit, lost});
      EXPECT_EQ(result.exit_code, 4) << expression;
      EXPECT_THAT(result.err, HasSubstr("the run lost data (file-cut 1)"));
      EXPECT_THAT(ReadFile(junit), HasSubstr("errors=\"1\""));
    }
    EXPECT_EQ(Prof({"--diff", a, lost, "--fail-if", "total>+1%"}).exit_code, 4);
    EXPECT_EQ(Prof({"--diff", lost, a, "--fail-if", "total>+1%"}).exit_code, 4);
    EXPECT_EQ(Prof({"--diff", a, lost, "--require-comparable", "--strict"}).exit_code, 4);
    EXPECT_EQ(Prof({"--diff", a, lost, "--strict"}).exit_code, 3);
    EXPECT_EQ(Prof({"--diff", a, lost}).exit_code, 0);
    EXPECT_EQ(Prof({"--view", "overview", "--strict", lost}).exit_code, 3);
    EXPECT_EQ(Prof({"--view", "overview", lost}).exit_code, 0);
  }
  EXPECT_EQ(RunProgram({Program("report"), "--diff", a, cut, "--strict", "-o",
                        (TestDir() / "diff.html").string()})
                .exit_code,
            3);
}

TEST_F(DiffProgramTest, AFileThatIsLeftOutIsNeitherAPassNorAFailure) {
  const auto folder = TestDir() / "ranks";
  std::filesystem::create_directory(folder);
  Write({}, folder / "rank0.json");
  Write({}, folder / "rank1.json");
  EXPECT_EQ(Prof({"--fail-if", "total>1s", folder.string()}).exit_code, 0);
  const std::string saved = (TestDir() / "ranks.baseline").string();
  WriteFile(folder / "rank1.json", "garbage");
  const RunResult result = Prof({"--fail-if", "total>1s", folder.string()});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("the run lost data (1 left out)"));
  EXPECT_EQ(Prof({"--fail-if", "total>1ns", folder.string()}).exit_code, 4);
  EXPECT_EQ(Prof({"--save-baseline", saved, folder.string()}).exit_code, 3);
  EXPECT_EQ(Prof({"--fail-if", "total>1s", saved}).exit_code, 4);
  WriteFile(folder / "rank0.json", "garbage");
  EXPECT_EQ(Prof({"--fail-if", "total>1s", folder.string()}).exit_code, 1) << "nothing is read";
}

TEST_F(DiffProgramTest, AGateWritesAReport) {
  const std::string a = File("a.json", {}).string();
  const auto junit = TestDir() / "gate.xml";
  EXPECT_EQ(Prof({"--diff", a, a, "--fail-if", "total>120ms", "--junit", junit.string()}).exit_code,
            0);
  EXPECT_THAT(ReadFile(junit), HasSubstr("total>120ms"));
}

TEST_F(DiffProgramTest, GroupsAreComparedByTheirKeys) {
  Loop other;
  other.kernel_ns[1] *= 3;
  const std::string a = File("a.json", {}).string();
  const std::string b = File("b.json", other).string();
  size_t slower = 0;
  for (const nlohmann::json& row :
       Rows({"--diff", a, b, "--view", "groups", "--by", "op"}, "diff_groups")) {
    // The kernel behind a longer one waits less.
    if (row.at("figure") == "gap_ns") continue;
    EXPECT_EQ(row.at("op"), "add") << row;
    slower += row.at("figure") == "total" && row.at("change") == "slower" ? 1u : 0u;
  }
  EXPECT_EQ(slower, 1u);
}

/// Lines of the table behind its heading, which begins with `view`.
std::vector<std::string> TableLines(const std::string& out, const std::string& view) {
  std::vector<std::string> lines;
  std::istringstream text(out.substr(std::min(out.find("\n" + view) + 1, out.size())));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// Lines have one row a group; CSV and --by figure have one a figure.
TEST_F(DiffProgramTest, ViewsOfSeveralFiguresHaveOneLineARow) {
  Loop other;
  other.kernel_ns[1] *= 3;
  other.kernel_ns[0] *= 2;
  const std::string a = File("a.json", {}).string();
  const std::string b = File("b.json", other).string();
  const std::vector<std::string> diff = {"--diff", a, b, "--view", "groups", "--quiet"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = diff;
    all.insert(all.end(), more.begin(), more.end());
    return Prof(all).out;
  };
  const auto lines =
      TableLines(with({"--by", "op", "--blank"}), "groups by total: 2 of 3 rows changed");
  ASSERT_EQ(lines.size(), 5u) << with({"--by", "op"});
  EXPECT_THAT(lines[2], testing::StartsWith("Op Base New Delta Delta% Share% Noise Change"));
  EXPECT_THAT(lines[3], testing::StartsWith("add 20200 60200 40000 "));
  EXPECT_THAT(lines[3], HasSubstr(" 57.143 "));  // Of 70 us more.
  EXPECT_THAT(lines[4], testing::StartsWith("mm 30200 60200 30000 "));
  EXPECT_EQ(TableLines(with({"--by", "op", "--all"}), "groups by total").size(), 6u);
  EXPECT_THAT(with({"--by", "op,figure"}), HasSubstr("figures changed"));
  EXPECT_THAT(with({"--by", "op,figure", "--blank"}), HasSubstr("\nadd total ns "));
  EXPECT_THAT(with({"--by", "op", "--csv"}), HasSubstr("\"add\",\"total\",\"ns\""));
}

TEST_F(DiffProgramTest, OperatorsByTheirKeys) {
  Loop other;
  other.kernel_ns[1] *= 3;
  const std::string a = File("a.json", {}).string();
  const std::string b = File("b.json", other).string();
  const auto rows = Rows({"--diff", a, b, "--by", "op", "--all"});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].at("op"), "add");
  EXPECT_FALSE(rows[0].contains("shape"));
  EXPECT_EQ(rows[0].at("delta"), 40'000);
}

// Of a step: its parts, not what overlaps them.
TEST_F(DiffProgramTest, LinesOfOverviewAreItsParts) {
  Loop other;
  other.kernel_ns[1] *= 3;
  const std::vector<std::string> diff = {"--diff",
                                         File("a.json", {}).string(),
                                         File("b.json", other).string(),
                                         "--view",
                                         "overview",
                                         "--quiet",
                                         "--blank",
                                         "--all"};
  const std::string out = Prof(diff).out;
  EXPECT_THAT(out, HasSubstr("\nkernel_ns ns "));
  EXPECT_THAT(out, HasSubstr("\ntotal_ns ns "));
  EXPECT_THAT(out, HasSubstr("\nbusy_pct % "));
  EXPECT_THAT(out, Not(HasSubstr("_exposed_ns")));
  std::vector<std::string> by_figure = diff;
  by_figure.insert(by_figure.end(), {"--by", "figure"});
  EXPECT_THAT(Prof(by_figure).out, HasSubstr("kernel_exposed_ns"));
}

TEST_F(DiffProgramTest, EveryViewThatCanBeComparedIs) {
  const std::string a = File("a.json", {}).string();
  const RunResult result = Prof({"--diff", a, a, "--view", "all", "--json", "--all", "--quiet"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("diff_groups"));
  EXPECT_THAT(result.out, Not(HasSubstr("\"change\":\"slower\"")));
}

TEST_F(DiffProgramTest, APageShowsIt) {
  Loop other;
  other.kernel_ns[1] *= 3;
  const std::string a = File("a.json", {}).string();
  const std::string b = File("b.json", other).string();
  const auto page = TestDir() / "diff.html";
  const RunResult result = RunProgram({Program("report"), "--diff", a, b, "-o", page.string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(ReadFile(page), HasSubstr("kernels slower"));
}

TEST_F(DiffProgramTest, NamesCannotMoveTheCursor) {
  Loop other;
  other.kernel[1] = "evil\x1b[2Jkernel";
  const RunResult result =
      Prof({"--diff", File("a.json", {}).string(), File("b.json", other).string()});
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace oplens::test::program_test
