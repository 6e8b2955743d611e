// A screen as lines: how many, how wide, and what they say of what is not known.

#include "oplens/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "oplens/next_commands.h"
#include "oplens/text.h"

namespace oplens::screen::render_test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

TEST(TextTest, CutsByCharacters) {
  EXPECT_EQ(CutRight("abcdef", 6), "abcdef");
  EXPECT_EQ(CutRight("abcdefg", 6), "abc...");
  EXPECT_EQ(CutLeft("abcdefg", 6), "...efg");
  EXPECT_EQ(CutRight("核函数核函数", 5), "核函...");
  EXPECT_EQ(CutLeft("核函数核函数", 2), "函数");
  EXPECT_EQ(Width(Shown("a\tb\xff")), 4U);
  EXPECT_THAT(Shown("a\x1b[31m"), Not(HasSubstr("\x1b")));
}

TEST(TextTest, WrapsAtBlanksAndCutsLongWords) {
  EXPECT_EQ(Wrap("  aa bb cc", 4, 8), (std::vector<std::string>{"  aa bb", "    cc"}));
  for (const std::string& line : Wrap("x " + std::string(50, 'y') + " z", 2, 20)) {
    EXPECT_LE(Width(line), 20U);
  }
  EXPECT_TRUE(Wrap("", 2, 20).empty());
}

TEST(TextTest, WritesFiguresWithThreeDigits) {
  EXPECT_EQ(TimeText(0), "0 ns");
  EXPECT_EQ(TimeText(999), "999 ns");
  EXPECT_EQ(TimeText(999'600), "1.00 ms");
  EXPECT_EQ(TimeText(4'391'896), "4.39 ms");
  EXPECT_EQ(TimeText(2.4e12), "2400 s");
  EXPECT_EQ(RateText(0), "0");
  EXPECT_EQ(RateText(0.004), "<0.01");
  EXPECT_EQ(RateText(9.996), "10.0");
  EXPECT_EQ(RateText(711.9), "712");
  EXPECT_EQ(PercentText(0), "0.0");
  EXPECT_EQ(PercentText(0.01), "<0.1");
  EXPECT_EQ(PercentText(99.97), "100.0");
}

TEST(TextTest, QuotesForTheShell) {
  EXPECT_EQ(ShellWord("run/a-1.json.gz"), "run/a-1.json.gz");
  EXPECT_EQ(ShellWord("my run.json"), "'my run.json'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellWord(""), "''");
}

Cost LongCost() {
  Cost cost;
  cost.name = std::string(300, 'k');
  cost.largest = std::string(300, 'p');
  cost.alike = 123456;
  cost.largest_pct = 12.3;
  cost.kernels = 123456789;
  cost.total_ns = 9e18;
  cost.share_pct = 100;
  cost.tflops = 1e12;
  cost.gbps = 1e12;
  cost.tc_pct = 100;
  cost.bound = "latency";
  cost.roof_pct = 12345;
  return cost;
}

/// As much of everything as there can be.
Screen FullScreen() {
  Screen screen;
  screen.inputs = {std::string(200, 'f') + " x.json", "b.json"};
  screen.profilers = {"nvprof", "Nsight Systems 2024.6.2.225", "PyTorch's profiler"};
  screen.gpus = {{std::string(120, 'G'), 8}, {"", 2}};
  screen.runs = 128;
  screen.kernels = 1'000'000'000;
  screen.replays = 5;
  screen.kernel_ns = 9e18;
  screen.op_known_pct = 12;
  screen.flops_known_pct = 3;
  screen.span_busy_pct = 99;
  screen.shown_rank = std::string(90, 'r');
  screen.steps = {StepFacts::Source::kMarked,
                  "",
                  1000,
                  9'000'000'000,
                  8'000'000'000,
                  10'000'000'000,
                  5'000'000'000,
                  {{"warm-up", 1, "-9000000000000000000", 99'000'000'000}, {"cut", 2, "7", 5}},
                  "",
                  ""};
  screen.verdict = "the GPU waits in " + std::string(200, 'c') + ": 53 % of a step";
  screen.verdict_command = "view idle --by call,op";
  StepTime& time = screen.time.emplace();
  time.total_ns = 9e18;
  for (int i = 0; i < 8; ++i) time.parts.push_back({"communication alone", 1e18, 12.5});
  time.busy_pct = 1;
  time.mfu_pct = 100;
  time.communication_pct = 12.5;
  GpuUse& gpu = screen.gpu.emplace();
  gpu.device = "-2147483648";
  gpu.sm_efficiency_pct = gpu.achieved_occupancy_pct = gpu.tc_least_pct = 50;
  gpu.tc_known_pct = 60;
  gpu.idle_pct = 99.9;
  gpu.causes = {{"communication", 40}, {"dataloader", 30}, {"other-stream", 20}, {"tail", 9}};
  screen.are_ranks = true;
  for (int i = 0; i < 9; ++i) {
    screen.ranks.push_back({std::string(90, 'r'), 9e18, 9e18, 9e18, 9e18});
  }
  screen.slowest_by_pct = 50;
  screen.missed_tc_pct = 33;
  screen.layers.rows.assign(3, LongCost());
  screen.ops.rows.assign(5, LongCost());
  screen.kernel_names.rows.assign(6, LongCost());
  for (const char* word : {"launch-before-recording", "calls-not-recorded", "step-cut"}) {
    screen.losses.push_back({word, std::string(90, 'r'), 1 << 30, 99.9, std::string(400, 'w'),
                             "many words " + std::string(90, 'm') + " that mend it, and more"});
  }
  screen.more_losses = 9;
  screen.gap = GapFact{"op, shapes, FLOPs, bytes", 88, std::string(300, 'm')};
  screen.layers_flag = "flag";
  return screen;
}

TEST(RenderTest, FitsWhateverThereIs) {
  for (size_t columns = 0; columns < 200; ++columns) {
    const std::string text = Render(FullScreen(), {columns});
    const size_t most = std::clamp(columns, kLeastColumns, kMostColumns);
    const std::vector<std::string> lines = LinesOf(text);
    EXPECT_LE(lines.size(), kMostLines) << columns;
    for (const std::string& line : lines) EXPECT_LE(Width(line), most) << columns << ": " << line;
    EXPECT_THAT(text, HasSubstr("\nNext\n")) << columns;
    EXPECT_THAT(text, HasSubstr("report -o run.html")) << columns;
  }
}

TEST(RenderTest, NarrowTablesKeepShareAndBound) {
  const std::string text = Render(FullScreen(), {60});
  EXPECT_THAT(text, HasSubstr("share %"));
  EXPECT_THAT(text, HasSubstr("bound"));
  EXPECT_THAT(text, Not(HasSubstr("GB/s")));
}

TEST(RenderTest, MarkdownHasHeadingsAndTables) {
  Screen screen = FullScreen();
  screen.ops.rows.front().name = "a|b";
  screen.verdict = "the GPU waits in <b>@someone</b>";
  const std::string text = Render(screen, {.markdown = true});
  EXPECT_THAT(text, testing::StartsWith("### fff"));
  EXPECT_THAT(text, HasSubstr("\n\n### Ops of the recording\n\n|  | share % | time |"));
  EXPECT_THAT(text, HasSubstr("\n| `a\\|b ["));
  EXPECT_THAT(text, HasSubstr("\\<b\\>@<!-- -->someone"));
  EXPECT_THAT(text, HasSubstr("\n\n### Next\n\n|  | shows |\n| :--- | :--- |\n"));
  EXPECT_THAT(text, HasSubstr("| `oplens report -o run.html "));
  EXPECT_THAT(text, Not(HasSubstr("\n\n\n")));
  size_t content = 0;
  for (const std::string& line : LinesOf(text)) {
    if (!line.empty() && !line.starts_with("| :---") && !line.starts_with("|  |")) ++content;
  }
  EXPECT_LE(content, kMostLines);
}

TEST(RenderTest, ColoursAreEscapesAndNothingElse) {
  const std::string plain = Render(FullScreen(), {100, false});
  std::string coloured = Render(FullScreen(), {100, true});
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  EXPECT_THAT(coloured, HasSubstr("\x1b[1m"));
  for (const std::string escape : {"\x1b[1m", "\x1b[2m", "\x1b[0m"}) {
    for (size_t at = 0; (at = coloured.find(escape)) != std::string::npos;) {
      coloured.erase(at, escape.size());
    }
  }
  EXPECT_EQ(coloured, plain);
}

TEST(RenderTest, SaysUnknownWhereNothingIsKnown) {
  Screen screen;
  screen.inputs = {"a.sql"};
  screen.kernels = 3;
  screen.kernel_ns = 300;
  Cost cost;
  cost.name = "k";
  cost.kernels = 3;
  cost.total_ns = 300;
  cost.share_pct = 100;
  screen.kernel_names.rows = {cost};
  const std::string text = Render(screen, {});
  EXPECT_THAT(text, HasSubstr("GPU unknown"));
  EXPECT_THAT(text, testing::ContainsRegex("k +100\\.0 +300 ns\n"));
  EXPECT_THAT(text, Not(HasSubstr("busy")));
  EXPECT_THAT(text, Not(HasSubstr("Tensor Cores")));
  EXPECT_THAT(text, Not(HasSubstr("Idle")));
  EXPECT_THAT(text, Not(HasSubstr("Ops")));
}

TEST(RenderTest, SaysHowMuchIsInferredAndHowToDoWithout) {
  Screen screen = FullScreen();
  const auto share = [&](Evidence evidence) -> double& {
    return screen.op_by_pct[static_cast<size_t>(evidence)];
  };
  share(Evidence::kRange) = 92;
  EXPECT_THAT(Render(screen, {}), Not(HasSubstr("op: recorded")));
  share(Evidence::kRepetition) = 7.5;
  const auto line = [&] {
    std::string text = Render(screen, {.columns = 200});
    text.erase(0, text.find("  op: recorded"));
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(line(), "  op: recorded 92.0 %, by other steps 7.5 %; without: --evidence range");
  share(Evidence::kRange) = 3;
  share(Evidence::kRepetition) = 0.01;
  share(Evidence::kCapture) = 41;
  EXPECT_EQ(line(), "  op: recorded 3.0 %, by capture 41.0 %");
  share(Evidence::kName) = 13;
  EXPECT_EQ(line(),
            "  op: recorded 3.0 %, by capture 41.0 %, by name 13.0 %; without: --evidence range");
  share(Evidence::kCapture) = share(Evidence::kName) = 0;
  screen.flops_by_launch_pct = 31;
  std::string text = Render(screen, {.columns = 200});
  EXPECT_THAT(text, HasSubstr("\n  FLOPs by launches alone 31.0 %; without: --evidence range\n"));
  share(Evidence::kName) = 13;
  EXPECT_EQ(
      line(),
      "  op: recorded 3.0 %, by name 13.0 %; FLOPs by launches alone 31.0 %; without: --evidence "
      "range");
  screen.op_known_pct = 97;
  EXPECT_THAT(Render(screen, {}), HasSubstr("Ops of the recording"));
  share(Evidence::kName) = 80;
  EXPECT_THAT(Render(screen, {}), HasSubstr("Ops, most by the names of the kernels"));
}

TEST(RenderTest, OpsOfRepetitionsAreNotBelowNoKernelsRepeat) {
  Screen screen = FullScreen();
  screen.ranks.clear();
  screen.steps = {StepFacts::Source::kRun, "", 0, {}, {}, {}, {}, {}, "", ""};
  EXPECT_THAT(Render(screen, {}), HasSubstr("no steps are marked, no kernels repeat"));
  screen.op_by_pct[static_cast<size_t>(Evidence::kRepetition)] = 7.5;
  const std::string text = Render(screen, {.columns = 200});
  EXPECT_THAT(text, HasSubstr("no steps are marked\n"));
  EXPECT_THAT(text, Not(HasSubstr("no kernels repeat")));
  EXPECT_THAT(text, HasSubstr("by the same kernels elsewhere 7.5 %;"));
  EXPECT_THAT(text, Not(HasSubstr("other steps")));
}

TEST(RenderTest, TensorCoresOfWhatIsKnownAreALowerBound) {
  Screen screen = FullScreen();
  screen.gpu->tc_least_pct = 56.659;  // A lower bound is not rounded up.
  screen.gpu->tc_known_pct = 77.9;
  EXPECT_THAT(Render(screen, {.columns = 200}),
              HasSubstr("Tensor Cores at least 56.6 % of kernel time (known of 77.9 %)"));
  screen.gpu->tc_known_pct = 100;
  EXPECT_THAT(Render(screen, {.columns = 200}),
              HasSubstr("Tensor Cores 56.7 % of kernel time; 33.0 % is"));
}

TEST(RenderTest, ABoundThatSaysNothingIsNotShown) {
  Screen screen = FullScreen();
  screen.time->mfu_pct = 0.09;
  screen.flops_known_pct = 3;
  EXPECT_THAT(Render(screen, {}), Not(HasSubstr("MFU")));
  screen.time->mfu_pct = 0.19;
  EXPECT_THAT(Render(screen, {}), HasSubstr("MFU at least 0.1 %"));
  screen.time->mfu_pct = 0.04;
  screen.flops_known_pct = 100;
  screen.replays = 0;
  EXPECT_THAT(Render(screen, {}), HasSubstr("MFU <0.1 %"));
}

TEST(RenderTest, MostIsMoreThanHalf) {
  Screen screen = FullScreen();
  EXPECT_THAT(Render(screen, {}), HasSubstr("the largest, 12.3 %: "));
  screen.layers.rows[0].share_pct = 24.5;
  EXPECT_THAT(Render(screen, {}), HasSubstr("most of it, 12.3 %: "));
}

TEST(RenderTest, SaysWhatAGpuIsTakenFor) {
  Screen screen = FullScreen();
  screen.profilers.clear();
  screen.gpus = {{"AMD Instinct MI300X VF", 1, true}};
  EXPECT_THAT(Render(screen, {.columns = 200}),
              HasSubstr("1 GPU taken for AMD Instinct MI300X VF;"));
}

TEST(RenderTest, ColumnsOfWhichNothingIsKnownAreLeftOut) {
  Screen screen;
  Cost cost;
  cost.name = "k";
  screen.kernel_names.rows = {cost, cost};
  EXPECT_THAT(Render(screen, {}), Not(HasSubstr("TFLOP/s")));
  screen.kernel_names.rows.back().tflops = 0;
  EXPECT_THAT(Render(screen, {}), HasSubstr("TFLOP/s"));
  EXPECT_THAT(Render(screen, {}), HasSubstr(" -\n"));
}

TEST(RenderTest, HidesWhatIsOfKernelsWhereReplaysHideThem) {
  Screen screen = FullScreen();
  screen.replay_pct = 90;
  EXPECT_THAT(Render(screen, {}), Not(HasSubstr("SM efficiency")));
  EXPECT_THAT(Render(screen, {}), Not(HasSubstr("Tensor Cores")));
}

TEST(RenderTest, TheVerdictIsOnTopAndOfAPopulationThatIsNamed) {
  Screen screen = FullScreen();
  screen.ranks.clear();
  screen.verdict = "the GPU waits for the data loader: 53.0 % of a step";
  const std::string text = Render(screen, {.columns = 200});
  EXPECT_THAT(text, HasSubstr("\nThe GPU waits for the data loader: 53.0 % of a step\n"));
  EXPECT_LT(text.find("The GPU waits"), text.find("A step: median 9.00 s"));
  EXPECT_THAT(text, HasSubstr("(8.00 s to 10.0 s) of 1000 steady steps\n"));
  EXPECT_THAT(text, HasSubstr("  Left out: step -9000000000000000000 (warm-up, 99.0 s), 2 steps "
                              "(cut, up to 5 ns)\n"));
  EXPECT_THAT(text, HasSubstr("  On the host 5.00 s, with its GPU work 9.00 s"));
  EXPECT_THAT(text, HasSubstr(": MFU at least 180.0 %, 100.0 %"));
  EXPECT_THAT(text, HasSubstr("Kernels of the recording"));
  screen.steps.source = StepFacts::Source::kRepetition;
  screen.steps.outside = "12 % of the run lie outside";
  EXPECT_THAT(Render(screen, {.columns = 200}), HasSubstr("A repetition: median"));
  EXPECT_THAT(Render(screen, {.columns = 200}), HasSubstr("\n  12 % of the run lie outside\n"));
  screen.steps.phase = "decode";
  EXPECT_THAT(Render(screen, {.columns = 200}), HasSubstr("\nA decode repetition: median"));
  screen.steps.host_median_ns = 8'900'000'000;
  EXPECT_THAT(Render(screen, {.columns = 200}), Not(HasSubstr("On the host")));
}

TEST(RenderTest, SmallLossesShareALine) {
  Screen screen;
  screen.kernels = 1;
  screen.losses = {{"no-op", "", 3, 0.04, "why", ""}, {"no-range", "", 3, 0.01, "why", "mend"}};
  EXPECT_THAT(Render(screen, {}), HasSubstr("below 0.05 % of GPU time: no-op, no-range\n"));
}

TEST(RenderTest, FilesAreNoRanksUnlessTheySaySo) {
  Screen screen = FullScreen();
  EXPECT_THAT(Render(screen, {100}), HasSubstr("\nRanks"));
  screen.are_ranks = false;
  const std::string text = Render(screen, {100});
  EXPECT_THAT(text, HasSubstr("\nFiles, which do not say that they are ranks"));
  EXPECT_THAT(text, Not(HasSubstr("waits")));
  EXPECT_THAT(text, Not(HasSubstr("view stragglers")));
}

TEST(NextCommandsTest, FitWhatWasFound) {
  const auto commands_of = [](const Screen& screen) {
    std::vector<std::string> commands;
    for (const NextCommand& next : NextCommands(screen, 3)) commands.push_back(next.command);
    return commands;
  };
  EXPECT_THAT(commands_of(Screen()), SizeIs(0));
  Screen screen;
  screen.kernels = 1;
  screen.flops_known_pct = 100;
  EXPECT_THAT(commands_of(screen), testing::ElementsAre("report -o run.html"));
  screen.verdict_command = "view idle --by call,op";
  EXPECT_THAT(commands_of(screen),
              testing::ElementsAre("view idle --by call,op", "report -o run.html"));
  screen.flops_known_pct = 0;
  EXPECT_THAT(commands_of(screen),
              testing::ElementsAre("view idle --by call,op", "check", "report -o run.html"));
  EXPECT_THAT(
      commands_of(FullScreen()),
      testing::ElementsAre("view idle --by call,op", "view stragglers", "report -o run.html"));
  screen.verdict_command = "check";
  EXPECT_THAT(commands_of(screen), testing::ElementsAre("check", "report -o run.html"))
      << "no command twice";
}

}  // namespace
}  // namespace oplens::screen::render_test
