// The programs in odd surroundings: closed or full standard streams, pipes in place of files.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "test/e2e/e2e.h"
#include "test/support/test_files.h"

namespace oplens::test::process_test {
namespace {

using testing::HasSubstr;

class ProcessTest : public testing::Test {
 protected:
  /// Runs a shell line in which $1 is `parse`, $2 a good profile and $3 a file to write.
  RunResult Shell(const std::string& line) {
    return RunProgram(
        {"/bin/sh", "-c", line, "sh", Program("parse"), profile_.string(), output_.string()});
  }

  SmallProfile small_;
  std::filesystem::path profile_ = [this] {
    small_.AnnotatedKernel("relu", 5, "k");
    return small_.Write();
  }();
  std::filesystem::path output_ = profile_.parent_path() / "out.dict";
};

TEST_F(ProcessTest, OutputFileWithClosedStandardStreams) {
  EXPECT_EQ(Shell("\"$1\" -o \"$3\" \"$2\" <&- >&- 2>&-").exit_code, 0);
  const std::string text = ReadFile(output_);
  EXPECT_EQ(LineCount(text), 1);
  EXPECT_EQ(text.rfind("{'kShortName'", 0), 0u) << "no message got into the file";
}

TEST_F(ProcessTest, ClosedStandardOutputIsAnError) {
  const RunResult result = Shell("\"$1\" \"$2\" >&-");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("standard output: cannot be written"));
}

TEST_F(ProcessTest, StandardErrorThatCannotBeWrittenChangesNothing) {
  EXPECT_EQ(Shell("\"$1\" \"$2\" >/dev/null 2>&-").exit_code, 0);
  EXPECT_EQ(Shell("\"$1\" \"$2\" >/dev/null 2>/dev/full").exit_code, 0);
  EXPECT_EQ(Shell("\"$1\" no-such-file 2>/dev/full").exit_code, 1);
  EXPECT_EQ(Shell("\"$1\" --no-such-option 2>/dev/full").exit_code, 2);
}

TEST_F(ProcessTest, HelpToAFullDiskFails) {
  EXPECT_EQ(Shell("\"$1\" --help >/dev/full").exit_code, 1);
}

TEST_F(ProcessTest, AnEmptyPipeIsRefused) {
  const std::filesystem::path pipe = profile_.parent_path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const RunResult result = RunProgram(
      {"/bin/sh", "-c", ": > \"$2\" & exec \"$1\" \"$2\"", "sh", Program("parse"), pipe.string()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("gave nothing to read"));
  EXPECT_EQ(RunParse({"/dev/null"}).exit_code, 1);
  EXPECT_EQ(RunParse({"/dev/zero"}).exit_code, 1);
}

TEST_F(ProcessTest, AFileSizeLimitIsAnErrorNotASignal) {
  const RunResult result = Shell("ulimit -f 0; \"$1\" -o \"$3\" \"$2\"");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("cannot be written"));
  EXPECT_FALSE(std::filesystem::exists(output_));
}

#ifndef __SANITIZE_ADDRESS__  // It takes all addresses there are.
TEST_F(ProcessTest, WithoutMemoryTheFileIsNamed) {
  // Much more than the programs themselves take.
  std::string trace = R"({"traceEvents": [)";
  for (int i = 0; i < 150'000; ++i) {
    trace +=
        fmt::format(R"({}{{"ph":"X","cat":"kernel","name":"k{}","pid":0,"tid":7,"ts":{},"dur":2,)"
                    R"("args":{{"device":0,"stream":7,"correlation":{}}}}})",
                    i == 0 ? "" : ",\n", i, 10 * i, i + 1);
  }
  trace += "]}";
  const std::filesystem::path folder = profile_.parent_path() / "ranks";
  std::filesystem::create_directory(folder);
  const std::filesystem::path file = folder / "large.json";
  WriteFile(file, trace);
  for (const std::filesystem::path& input : {file, folder}) {
    int told = 0;
    RunResult result;
    // From too little for the program itself to enough for all.
    for (int kilobytes = 24'000; kilobytes < 2'000'000; kilobytes += kilobytes / 8) {
      result =
          RunProgram({"/bin/sh", "-c", "ulimit -v $1; exec \"$2\" --quiet --view overview \"$3\"",
                      "sh", std::to_string(kilobytes), Program("prof"), input.string()});
      if (result.exit_code == 0) break;
      EXPECT_THAT(result.err, testing::Not(HasSubstr("bad_alloc"))) << kilobytes;
      if (result.err.rfind("prof: " + file.string(), 0) != 0) continue;
      EXPECT_EQ(result.exit_code, 1) << kilobytes;
      EXPECT_THAT(result.err, HasSubstr("there is not enough memory; raise the limit"));
      ++told;
    }
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_GT(told, 0) << input;
  }
}
#endif

TEST_F(ProcessTest, WithoutDescriptorsTheLimitIsNamed) {
  // 3 are of the program's start, and some may be inherited; one more opens its libraries, without
  // which it does not begin (127).
  for (const char* program : {"prof", "parse"}) {
    int told = 0;
    RunResult result;
    for (int descriptors = 4; descriptors < 30; ++descriptors) {
      result = RunProgram({"/bin/sh", "-c", "ulimit -n $1; exec \"$2\" --quiet \"$3\"", "sh",
                           std::to_string(descriptors), Program(program), profile_.string()});
      if (result.exit_code == 0) break;
      if (result.exit_code == 127) continue;
      EXPECT_EQ(result.exit_code, 1);
      EXPECT_THAT(result.err,
                  HasSubstr("Too many open files; raise the limit of open files: ulimit -n"));
      EXPECT_EQ(LineCount(result.err), 1) << result.err;
      ++told;
    }
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_GT(told, 0);
  }
}

TEST_F(ProcessTest, EmptyNamesAreWrongUsage) {
  EXPECT_EQ(RunParse({""}).exit_code, 2);
  EXPECT_EQ(RunParse({"-o", "", profile_.string()}).exit_code, 2);
  EXPECT_EQ(RunParse({"-o", profile_.string(), profile_.string()}).exit_code, 2);
}

}  // namespace
}  // namespace oplens::test::process_test
