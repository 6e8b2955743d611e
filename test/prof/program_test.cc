// The program prof as a user runs it. Wrong usage and full disks: test/e2e.

#include "test/support/program.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "prof/views/kernels/kernel_columns.h"
#include "test/prof/rows.h"
#include "test/support/test_files.h"

namespace oplens::prof::program_test {
namespace {

using test::Line;
using test::PlainRecord;
using test::Program;
using test::RunProgram;
using test::RunResult;
using test::TestDir;
using test::WriteFile;
using testing::HasSubstr;

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() { WriteFile(dict_, Line(PlainRecord()) + Line(PlainRecord())); }
  const std::filesystem::path dir_ = TestDir();
  const std::filesystem::path dict_ = dir_ / "net.dict";
};

TEST_F(ProgramTest, DefaultColumnsSeparatedByBlanks) {
  const RunResult result = RunProgram({Program("prof"), dict_.string()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out,
            "Idx Direction Sub Module Op Kernel Params Sil(ns)\n"
            "1 - - - mul scale_kernel - 100\n"
            "2 - - - mul scale_kernel - 100\n");
  EXPECT_THAT(result.err, HasSubstr("prof: FLOPs are known for 0 of 2 kernels\n"));
}

TEST_F(ProgramTest, OnlyKernelsWithPyProfsColumnsAreAsPyProfPrintsThem) {
  WriteFile(dict_, Line(PlainRecord()));
  const auto run = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {Program("prof"), "--quiet"});
    options.push_back(dict_.string());
    return RunProgram(options).out;
  };
  EXPECT_EQ(run({"-c", "sil,kernel"}), "Sil(ns) Kernel\n100 scale_kernel\n");
  EXPECT_EQ(run({"-c", "sil,kernel,flops,bytes"}),
            "Sil(ns) Kernel FLOPs Bytes\n100 scale_kernel - -\n");
  EXPECT_EQ(run({"-c", "sil,kernel,tc_why"}).substr(0, 26), "Sil(ns) Kernel       TCWhy");
  EXPECT_EQ(run({"-c", "sil,kernel,tc_why", "--blank"}).substr(0, 20), "Sil(ns) Kernel TCWhy");
  EXPECT_EQ(run({"--by", "kernel", "-c", "kernel,count"}),
            "Kernel       Count\nscale_kernel     1\n");
}

TEST_F(ProgramTest, TheGpuMayBeGiven) {
  KernelRecord record = PlainRecord();
  record.registers_per_thread = 32;
  record.shared_memory_bytes = 0;
  WriteFile(dict_, Line(record));
  const auto run = [&](std::vector<std::string> options) {
    options.insert(options.begin(), Program("prof"));
    for (const char* option : {"-c", "theoretical_occupancy_pct", "--quiet", "--blank"})
      options.emplace_back(option);
    options.push_back(dict_.string());
    return RunProgram(options);
  };
  EXPECT_EQ(run({}).out, "TheoreticalOccupancy(%)\n-\n");
  EXPECT_EQ(run({"--gpu", "nvidia h200"}).out,
            "TheoreticalOccupancy(%)\n100.000\n");  // 32 blocks of 2 warps
  EXPECT_EQ(run({"--gpu", "A40"}).out, "TheoreticalOccupancy(%)\n66.667\n");  // 16 of 24
  const RunResult ambiguous = run({"--gpu", "V100"});
  EXPECT_EQ(ambiguous.exit_code, 2);
  EXPECT_THAT(ambiguous.err, HasSubstr("--gpu: there are several GPUs named 'V100'; give one of: "
                                       "V100 SXM2, V100 SXM2 32GB, V100 PCIe, V100 PCIe 32GB\n"));
  const RunResult wrong = run({"--gpu", "H2OO"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--gpu: no GPU is named 'H2OO'; give one of: Tesla P100 SXM2,"));
  EXPECT_THAT(wrong.err, HasSubstr("H200 SXM"));
}

TEST_F(ProgramTest, ReadsStandardInputWithoutAFile) {
  const std::string expected = RunProgram({Program("prof"), "--csv", dict_.string()}).out;
  EXPECT_EQ(RunProgram({Program("prof"), "--csv"}, {.stdin_path = dict_}).out, expected);
  EXPECT_EQ(RunProgram({Program("prof"), "--csv", "-"}, {.stdin_path = dict_}).out, expected);
  const std::string baseline = (dict_.parent_path() / "of.baseline").string();
  EXPECT_EQ(RunProgram({Program("prof"), "--view", "groups", "--save-baseline", baseline},
                       {.stdin_path = dict_})
                .exit_code,
            0);
}

TEST_F(ProgramTest, QuietSaysNothing) {
  EXPECT_EQ(RunProgram({Program("prof"), "--quiet", dict_.string()}).err, "");
  EXPECT_EQ(RunProgram({Program("prof"), "--quiet", "/dev/null"}).err, "");
}

TEST_F(ProgramTest, EmptyInputIsNoError) {
  const RunResult result = RunProgram({Program("prof"), "-c", "idx,op", "--csv"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "\"Idx\",\"Op\"\n");
  EXPECT_THAT(result.err, HasSubstr("standard input is empty"));
  EXPECT_EQ(RunProgram({Program("prof"), "/dev/null"}).exit_code, 0) << "no file in a folder";
}

TEST_F(ProgramTest, AnEmptyFileIsAnError) {
  const std::filesystem::path empty = dir_ / "empty.dict";
  const std::filesystem::path out = dir_ / "out.csv";
  WriteFile(empty, "");
  RunResult result = RunProgram({Program("prof"), "-o", out.string(), empty.string()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("prof: " + empty.string() + ": is empty"));
  EXPECT_FALSE(std::filesystem::exists(out));
  result = RunProgram({Program("prof"), dict_.string(), empty.string()});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("empty.dict: is empty"));
  EXPECT_NE(result.out, "") << "the others are shown";
  EXPECT_EQ(RunProgram({Program("prof")}, {.stdin_path = empty}).exit_code, 0);
}

TEST_F(ProgramTest, StrictTellsDamageAndNothingToShow) {
  const auto run = [&](std::vector<std::string> options, const std::filesystem::path& input) {
    options.insert(options.begin(), {Program("prof"), "--strict"});
    if (!input.empty()) options.push_back(input.string());
    return RunProgram(options);
  };
  EXPECT_EQ(run({}, dict_).exit_code, 0);
  EXPECT_EQ(run({"--by", "kernel"}, dict_).exit_code, 0);
  const RunResult none = run({"--range", "epoch"}, dict_);
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, HasSubstr("holds 'epoch'"));
  EXPECT_EQ(run({"--by", "kernel", "--range", "epoch"}, dict_).exit_code, 3);
  EXPECT_EQ(run({}, "").exit_code, 3) << "empty standard input";
  KernelRecord unlaunched = PlainRecord();
  unlaunched.reasons.Add(Reason::kNoLaunchCall);
  WriteFile(dict_, Line(unlaunched));
  EXPECT_EQ(run({}, dict_).exit_code, 3);
  EXPECT_EQ(run({"--quiet"}, dict_).exit_code, 3);
  EXPECT_EQ(RunProgram({Program("prof"), dict_.string()}).exit_code, 0);
  WriteFile(dict_, Line(PlainRecord()) + "no record\n");
  EXPECT_EQ(run({}, dict_).exit_code, 3);
}

TEST_F(ProgramTest, InputWithoutRecordsLeavesNothing) {
  WriteFile(dict_, "no record\n");
  const RunResult result =
      RunProgram({Program("prof"), "-o", (dir_ / "out.csv").string(), dict_.string()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("prof: " + dict_.string() + ": holds no kernel record"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "out.csv"));
}

TEST_F(ProgramTest, EmptyNamesAreWrongUsage) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{""}, {"-o", "", dict_.string()}}) {
    std::vector<std::string> command{Program("prof")};
    command.insert(command.end(), args.begin(), args.end());
    const RunResult result = RunProgram(command, {.stdin_path = dict_});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("is empty"));
  }
}

TEST_F(ProgramTest, TheInputIsNeverOverwritten) {
  const std::string before = test::ReadFile(dict_);
  const RunResult result = RunProgram({Program("prof"), "-o", dict_.string(), dict_.string()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(test::ReadFile(dict_), before);
}

TEST_F(ProgramTest, AFormatMayBeGivenTwice) {
  EXPECT_EQ(RunProgram({Program("prof"), "--csv", "--csv", dict_.string()}).exit_code, 0);
  EXPECT_EQ(RunProgram({Program("prof"), "--csv", "--json", dict_.string()}).exit_code, 2);
}

/// The text with one blank wherever it has several, or ends a line.
std::string Unwrapped(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += line.empty() ? word : " " + word;
  return line;
}

TEST_F(ProgramTest, HelpTellsTheUnitOfEveryColumn) {
  const std::string help = RunProgram({Program("prof"), "-h"}).out;
  for (const KernelColumn& column : KernelColumns()) {
    EXPECT_THAT(help, HasSubstr(fmt::format("\n  {} ", column.key))) << column.key;
    EXPECT_THAT(Unwrapped(help), HasSubstr(std::string(column.help))) << column.key;
    if (!column.unit.empty()) {
      EXPECT_THAT(help, HasSubstr(fmt::format("[{}]", column.unit)));
    }
  }
}

}  // namespace
}  // namespace oplens::prof::program_test
