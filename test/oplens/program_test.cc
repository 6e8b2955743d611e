// The program: its commands run the others, and its screen fits wherever it goes.

#include "test/support/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "oplens/text.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"
#include "test/support/whole_corpus.h"

namespace oplens::test::program_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kDemo = SourceDir() + "/examples/data/demo.sql";

RunResult RunOplens(std::vector<std::string> arguments, const RunOptions& options = {}) {
  arguments.insert(arguments.begin(), Program("oplens"));
  return RunProgram(arguments, options);
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

void ExpectFits(const std::string& text, size_t columns) {
  const std::vector<std::string> lines = LinesOf(text);
  EXPECT_LE(lines.size(), 40U);
  for (const std::string& line : lines) EXPECT_LE(screen::Width(line), columns) << line;
}

TEST(OplensProgramTest, WithoutArgumentsItSaysWhatItCanDo) {
  const RunResult result = RunOplens({});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_LE(LinesOf(result.out).size(), 20U);
  for (const char* word :
       {"record", "parse", "prof", "report", "kernels", "copies", "groups", "view", "timeline",
        "check", "baseline", "gate", "diff", "summary", "help"}) {
    EXPECT_THAT(result.out, HasSubstr("oplens " + std::string(word)));
  }
  EXPECT_EQ(RunOplens({"help"}).out, result.out);
  EXPECT_EQ(RunOplens({"help", "help"}).out, result.out);
  ExpectFits(result.out, 100);
}

TEST(OplensProgramTest, ACutTraceIsToldFirst) {
  // Two events, of which the second, the kernel, is not whole.
  const std::string event =
      R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2})";
  const std::string kernel =
      R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 4, "dur": 2})";
  const fs::path path = TestDir() / "cut.json";
  WriteFile(path, R"({"traceEvents": [)" + event + ", " + kernel.substr(0, 40));
  const RunResult result = RunOplens({path.string()});
  EXPECT_EQ(result.exit_code, 0);
  ASSERT_GE(LinesOf(result.out).size(), 2U);
  EXPECT_EQ(LinesOf(result.out)[1],
            "Not all of it could be read: the file ends early: 40 bytes after the last whole event "
            "are lost");
  EXPECT_THAT(result.out, HasSubstr("No work of a GPU is in what could be read"));
  EXPECT_THAT(result.out, Not(HasSubstr("to record it")));
  EXPECT_EQ(RunOplens({"--strict", path.string()}).exit_code, 3);
  for (const char* program : {"oplens", "parse", "prof"}) {
    const RunResult said = RunProgram({Program(program), path.string()});
    EXPECT_THAT(said.err, HasSubstr("[file-cut]")) << program;
    EXPECT_THAT(said.err, HasSubstr("file ends early: 40 bytes")) << program;
    EXPECT_EQ(RunProgram({Program(program), "--strict", path.string()}).exit_code, 3) << program;
  }
  ExpectFits(result.out, 100);
}

TEST(OplensProgramTest, RunsTheProgramsAsTheyAre) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"prof", "--csv", "-c", "idx,op", kDemo},
                                             {"prof", "--view", "nosuch", kDemo},
                                             {"prof", "--strict", kDemo},
                                             {"parse", "--format", "jsonl", kDemo},
                                             {"parse", "nosuch.sql"},
                                             {"report", "--version"},
                                             {"record", "--bad"}}) {
    std::vector<std::string> alone = command;
    alone.front() = Program(command.front());
    const RunResult expected = RunProgram(alone);
    const RunResult result = RunOplens(command);
    EXPECT_EQ(result.exit_code, expected.exit_code);
    EXPECT_EQ(result.out, expected.out);
    EXPECT_EQ(result.err, expected.err);
  }
  EXPECT_EQ(RunOplens({"prof", "--strict", kDemo}).exit_code, 3);
}

TEST(OplensProgramTest, CommandsDoWhatOptionsOfProfDo) {
  const std::string saved = (TestDir() / "base.oplens").string();
  const std::string kept = (TestDir() / "kept.oplens").string();
  struct Case {
    std::vector<std::string> command;
    std::vector<std::string> prof;
  };
  const Case cases[] = {
      {{"kernels", "--csv", "--top", "3", kDemo}, {"--csv", "--top", "3", kDemo}},
      {{"copies", "--csv", kDemo}, {"--copies", "--csv", kDemo}},
      {{"groups", "--csv", "op,dir", kDemo}, {"--by", "op,dir", "--csv", kDemo}},
      {{"groups", "op,dir", kDemo, "--top", "2"}, {"--by", "op,dir", "--top", "2", kDemo}},
      {{"view", "idle", kDemo}, {"--view", "idle", kDemo}},
      {{"view", "list"}, {"--view", "list"}},
      {{"view", "nosuch", kDemo}, {"--view", "nosuch", kDemo}},
      {{"timeline", kDemo}, {"--chrome", kDemo}},
      {{"check", "--strict", kDemo}, {"--check", "--strict", kDemo}},
      {{"baseline", saved, kDemo}, {"--save-baseline", saved, kDemo}},
      {{"gate", "--fail-if", "op(mm).calls>1", kDemo}, {"--fail-if", "op(mm).calls>1", kDemo}},
      {{"diff", "--csv", kDemo, kDemo}, {"--diff", kDemo, "--csv", kDemo}},
      {{"summary", "-o", kept, kDemo}, {"--summary", "-o", kept, kDemo}},
      {{"kernels", "nosuch.sql"}, {"nosuch.sql"}},
  };
  for (const Case& one : cases) {
    std::vector<std::string> prof = one.prof;
    prof.insert(prof.begin(), Program("prof"));
    const RunResult expected = RunProgram(prof);
    fs::remove(kept);
    const RunResult result = RunOplens(one.command);
    SCOPED_TRACE(one.command.front());
    EXPECT_EQ(result.exit_code, expected.exit_code);
    EXPECT_EQ(result.out, expected.out);
    EXPECT_EQ(result.err, expected.err);
    fs::remove(kept);
  }
}

TEST(OplensProgramTest, CommandsKnowTheirOwnOptionsOnly) {
  struct Case {
    std::vector<std::string> command;
    std::string says;
  };
  const Case cases[] = {
      {{"kernels", "--fail-if", "x>1", kDemo},
       "oplens kernels has no option --fail-if; oplens help"},
      {{"view", "idle", "--summary", kDemo}, "oplens view has no option --summary"},
      {{"baseline", "x.oplens", "-w", "80", kDemo}, "oplens baseline has no option -w"},
      {{"diff", "--where", "sil>1", kDemo, kDemo}, "oplens diff has no option --where"},
      {{"check", "--junit", "x.xml", kDemo}, "oplens check has no option --junit"},
      {{"check", "--csv", kDemo}, "oplens check has no option --csv"},
      {{"timeline", "-w", "80", kDemo}, "oplens timeline has no option -w"},
      {{"view"}, "oplens view takes: VIEW FILE..."},
      {{"view", "idle", "--view", "gpu", kDemo}, "oplens view takes: VIEW FILE..."},
      {{"diff", kDemo}, "oplens diff takes: BASE NEW..."},
      {{"gate", kDemo}, "oplens gate takes: --fail-if EXPR FILE..."},
      {{"kernels", "--sortt", "x"}, "--sort?; oplens help kernels lists the options"},
  };
  for (const Case& one : cases) {
    const RunResult result = RunOplens(one.command);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(one.says));
  }
  const std::string diff = RunOplens({"help", "diff"}).out;
  EXPECT_THAT(diff, StartsWith("oplens diff - what changed"));
  EXPECT_THAT(diff, HasSubstr("--fail-if EXPR"));
  EXPECT_THAT(diff, HasSubstr("  --all "));
  EXPECT_THAT(diff, Not(HasSubstr("With --diff: ")));
  EXPECT_THAT(diff, Not(HasSubstr("--summary-dir")));
  EXPECT_THAT(diff, Not(HasSubstr("--what-if")));
  EXPECT_EQ(RunOplens({"diff", "-h"}).out, diff);
  EXPECT_EQ(RunOplens({"help", "parse"}).out, RunProgram({Program("parse"), "-h"}).out);
}

TEST(OplensProgramTest, ALinkToItRunsThatProgram) {
  const fs::path link = TestDir() / "prof";
  fs::create_symlink(Program("oplens"), link);
  EXPECT_EQ(RunProgram({link.string(), "--version"}).out,
            RunProgram({Program("prof"), "--version"}).out);
  const fs::path other = TestDir() / "view";
  fs::create_symlink(Program("oplens"), other);
  EXPECT_THAT(RunProgram({other.string(), "--version"}).out, StartsWith("oplens "));
}

TEST(OplensProgramTest, ARecordedProgramGetsItsSignalsAsEver) {
  // SIGPIPE must not be ignored for it.
  const RunResult result = RunOplens(
      {"record", "-o", (TestDir() / "x.sql").string(), "--", "/bin/sh", "-c", "kill -PIPE $$"});
  EXPECT_EQ(result.exit_code, RunProgram({Program("record"), "-o", (TestDir() / "y.sql").string(),
                                          "--", "/bin/sh", "-c", "kill -PIPE $$"})
                                  .exit_code);
  EXPECT_EQ(result.exit_code, 128 + 13);
}

TEST(OplensProgramTest, SaysWhatWasMeant) {
  const RunResult swapped = RunOplens({"porf", kDemo});
  EXPECT_EQ(swapped.exit_code, 2);
  EXPECT_EQ(swapped.err, "oplens: there is no command and no file 'porf': oplens prof?\n");
  EXPECT_THAT(RunOplens({"pars"}).err, HasSubstr("oplens parse?"));
  EXPECT_THAT(RunOplens({"help", "recrod"}).err, HasSubstr("oplens help record?"));
  EXPECT_THAT(RunOplens({"wholly-other"}).err, Not(HasSubstr("?")));
  EXPECT_EQ(RunOplens({"wholly-other"}).exit_code, 2);
  EXPECT_EQ(RunOplens({"--nosuch"}).exit_code, 2);
  EXPECT_EQ(RunOplens({"--quiet"}).exit_code, 2);
}

TEST(OplensProgramTest, RefusesWhatIsNoProfileAsProfDoes) {
  for (const std::string& name : {std::string("nosuch.sql"), std::string("picture.json"),
                                  std::string("empty.sqlite"), std::string("text.txt")}) {
    const fs::path path = TestDir() / name;
    if (name == "picture.json") WriteFile(path, "\x89PNG\r\n\x1a\n, and more");
    if (name == "empty.sqlite") WriteFile(path, "");
    if (name == "text.txt") WriteFile(path, "nothing of a GPU\n");
    const RunResult expected = RunProgram({Program("prof"), path.string()});
    const RunResult result = RunOplens({path.string()});
    EXPECT_EQ(result.exit_code, 1) << name;
    EXPECT_EQ(result.out, "");
    // The same words, in our own name.
    EXPECT_EQ(result.err, "oplens" + expected.err.substr(std::string("prof").size())) << name;
  }
}

TEST(OplensProgramTest, OneBadFileIsToldAndTheOthersAreShown) {
  const std::string bad = (TestDir() / "bad.txt").string();
  WriteFile(bad, "nothing of a GPU\n");
  const RunResult alone = RunOplens({kDemo});
  for (const std::vector<std::string>& inputs : std::vector<std::vector<std::string>>{
           {bad, kDemo}, {kDemo, bad}, {kDemo, "nosuch.sql"}, {"nosuch.sql", bad, kDemo}}) {
    const RunResult result = RunOplens(inputs);
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_THAT(result.err, HasSubstr("left out"));
    EXPECT_THAT(result.out, HasSubstr("131 kernels, 4.13 ms"));
    EXPECT_THAT(result.out, Not(HasSubstr("processes")));
  }
  EXPECT_EQ(RunOplens({"--strict", kDemo, bad}).exit_code, 3);
  EXPECT_EQ(RunOplens({bad, "nosuch.sql"}).exit_code, 1);
}

TEST(OplensProgramTest, ReadsRecordsFromStandardInput) {
  const fs::path records = TestDir() / "demo.dict";
  ASSERT_EQ(RunProgram({Program("parse"), kDemo, "-o", records.string()}).exit_code, 0);
  const RunResult result = RunOplens({"-"}, {.stdin_path = records});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, StartsWith("standard input\nrecords; Tesla V100-SXM2-16GB; 131 kernels"));
  EXPECT_THAT(result.out, HasSubstr("are not in records"));
  ExpectFits(result.out, 100);
}

TEST(OplensProgramTest, ALargeRunIsTheSameForAnyNumberOfThreads) {
  constexpr int kKernels = 6000;
  KinetoBuilder builder;
  for (int i = 0; i < kKernels; ++i) {
    const int64_t start_ns = i * int64_t{10'000};
    // Without an op; the launch of the second is read with what the first wrote.
    if (i % 3 == 0) {
      builder.AddOperator({.start_ns = start_ns, .dims = "[[16, 32], [32, 64]]"});
      builder.Launch({.name = "sgemm"}, start_ns + 100);
    } else if (i % 3 == 1) {
      builder.Launch({.name = "void at::native::vectorized_elementwise_kernel<4, "
                              "at::native::BinaryFunctor<float, float, float, "
                              "at::native::binary_internal::MulFunctor<float> >, "
                              "at::detail::Array<char*, 3> >(int, X)",
                      .grid = {640, 1, 1}},
                     start_ns);
    } else {
      builder.Launch({.name = "void at::native::(anonymous namespace)::"
                              "vectorized_layer_norm_kernel<float, float>(int, float)",
                      .duration_ns = 2000 + i % 7,
                      .grid = {2048, 1, 1},
                      .block = {32, 4, 1}},
                     start_ns);
    }
  }
  const std::string path = (TestDir() / "large.json").string();
  builder.Write(path);
  const RunResult one = RunOplens({"--threads", "1", path});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("layer_norm"));
  for (const char* threads : {"2", "3", "8"}) {
    const RunResult result = RunOplens({"--threads", threads, path});
    EXPECT_EQ(result.out + result.err, one.out + one.err) << threads;
    // Several runs, of which the last is large.
    EXPECT_EQ(RunOplens({"--threads", threads, kDemo, path}).out,
              RunOplens({"--threads", "1", kDemo, path}).out)
        << threads;
  }
}

TEST(OplensProgramTest, LooksAtAPart) {
  const RunResult none = RunOplens({"--step-range", "7", kDemo});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_THAT(none.out, HasSubstr("no step lies in what is selected"));
  EXPECT_EQ(RunOplens({"--strict", "--step-range", "7", kDemo}).exit_code, 3);
  EXPECT_THAT(RunOplens({"--time-range", "0-2", kDemo}).out, Not(HasSubstr("131 kernels")));
  EXPECT_THAT(RunOplens({"--gpu", "H100", kDemo}).err, Not(HasSubstr("no GPU")));
}

TEST(OplensProgramTest, KeepsToTheTerminal) {
  for (const int columns : {50, 80, 99, 200}) {
    RunOptions options;
    options.terminal_columns = columns;
    options.environment = {"NO_COLOR=1", "COLUMNS", "TERM=xterm"};
    const RunResult result = RunOplens({kDemo}, options);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, Not(HasSubstr("\x1b")));
    ExpectFits(result.out, static_cast<size_t>(std::min(columns, 100)));
  }
  RunOptions colours;
  colours.terminal_columns = 100;
  colours.environment = {"NO_COLOR", "TERM=xterm"};
  EXPECT_THAT(RunOplens({kDemo}, colours).out, HasSubstr("\x1b[1m"));
  colours.environment = {"NO_COLOR", "TERM=dumb"};
  EXPECT_THAT(RunOplens({kDemo}, colours).out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(RunOplens({kDemo}).out, Not(HasSubstr("\x1b"))) << "a pipe";
}

TEST(OplensProgramTest, TheScreenOfTheDocsIsWhatComes) {
  const std::string docs = ReadFile(fs::path(SourceDir()) / "docs/oplens.md");
  RunOptions options;
  options.directory = SourceDir();
  EXPECT_THAT(docs, HasSubstr("```\n$ oplens examples/data/demo.sql\n" +
                              RunOplens({"examples/data/demo.sql"}, options).out + "```\n"));
  EXPECT_THAT(docs, HasSubstr("```\n$ oplens\n" + RunOplens({}).out + "```\n"));
}

TEST(OplensProgramTest, AClosedPipeIsNoFailure) {
  RunOptions options;
  options.closed_stdout = true;
  EXPECT_EQ(RunOplens({kDemo}, options).exit_code, 0);
}

// A few kernels outside of replays say nothing of what the replays ran.
TEST(OplensProgramTest, OpsByNameAreSharesOfReplaysToo) {
  OPLENS_NEED_CORPUS();
  const RunResult result = RunOplens({CorpusFile("nsys/lm27b_graph.sqlite").string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, Not(HasSubstr("most of its kernel time")));
  EXPECT_THAT(result.out, HasSubstr("Known of kernel time: op <0.1 %, FLOPs <0.1 %"));
  EXPECT_THAT(result.out, Not(HasSubstr("by name 100.0 %")));
}

TEST(OplensProgramTest, FitsForEveryFileOfTheCorpus) {
  OPLENS_NEED_CORPUS();
  SKIP_WITH_SANITIZERS();
  constexpr uintmax_t kFastBytes = 3'500'000;
  size_t shown = 0;
  for (const auto& entry : fs::recursive_directory_iterator(CorpusDir().path)) {
    const std::string path = entry.path().string();
    if (!entry.is_regular_file() || !path.ends_with(".gz") || entry.file_size() > kFastBytes ||
        path.find("/golden/") != std::string::npos) {
      continue;
    }
    const std::string name = fs::relative(entry.path(), CorpusDir().path).string();
    const RunResult result =
        RunOplens({CorpusFile(name.substr(0, name.size() - std::string(".gz").size())).string()});
    EXPECT_LE(result.exit_code, 1) << name << ": " << result.err;
    if (result.exit_code != 0) {
      EXPECT_EQ(result.out, "") << name;
      EXPECT_THAT(result.err, StartsWith("oplens: ")) << name;
      continue;
    }
    SCOPED_TRACE(name);
    ++shown;
    ExpectFits(result.out, 100);
    EXPECT_THAT(result.out, Not(HasSubstr("nan")));
    EXPECT_THAT(result.out, Not(HasSubstr("inf ")));
  }
  EXPECT_GE(shown, 60U);
}

}  // namespace
}  // namespace oplens::test::program_test
