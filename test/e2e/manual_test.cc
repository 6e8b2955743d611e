// Help, manual pages and completion of the real programs, read by the tools that read them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "test/e2e/e2e.h"
#include "test/support/dict_text.h"
#include "test/support/test_files.h"

namespace oplens::test::manual_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

constexpr const char* kPrograms[] = {"oplens", "parse", "prof", "record", "report"};

bool IsThere(const std::string& tool) {
  return RunProgram({"/bin/sh", "-c", "command -v " + tool + " >/dev/null"}).exit_code == 0;
}

class ManualTest : public testing::TestWithParam<const char*> {
 protected:
  std::string Program() const { return test::Program(GetParam()); }

  /// What the program prints of a kind, as a file.
  std::string Made(const std::string& kind) const {
    const RunResult result = RunProgram({Program(), "--manual", kind});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const std::filesystem::path path = TestDir() / (std::string(GetParam()) + "." + kind);
    WriteFile(path, result.out);
    return path.string();
  }
};

INSTANTIATE_TEST_SUITE_P(Of, ManualTest, testing::ValuesIn(kPrograms),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(ManualTest, HelpIsAtMostHundredWideWithThreeExamples) {
  const RunResult help = RunProgram({Program(), "-h"});
  int examples = 0;
  for (const std::string& line : Lines(help.out)) {
    EXPECT_LE(line.size(), 100U) << line;
    if (line.rfind(std::string("  ") + GetParam() + " ", 0) == 0) ++examples;
  }
  EXPECT_GE(examples, 4);  // With the usage.
  EXPECT_THAT(help.out, HasSubstr("\nExamples:\n"));
  EXPECT_THAT(help.out, Not(HasSubstr("Other options")));
}

TEST_P(ManualTest, HelpFitsATerminalOfSixtyColumns) {
  RunOptions terminal;
  terminal.terminal_columns = 60;
  const RunResult help = RunProgram({Program(), "-h"}, terminal);
  EXPECT_EQ(help.exit_code, 0);
  size_t longer = 0;
  for (const std::string& line : Lines(help.out)) longer += line.size() > 60 ? 1U : 0U;
  EXPECT_LE(longer, 4U);  // Commands of examples are not broken.
}

TEST_P(ManualTest, MandocFindsNothing) {
  if (!IsThere("mandoc")) GTEST_SKIP() << "mandoc is not installed";
  const RunResult lint = RunProgram({"/usr/bin/env", "mandoc", "-T", "lint", Made("man")});
  for (const std::string& line : Lines(lint.out + lint.err)) {
    // The page has no date: it is of the version that it names. Headings are one line.
    if (line.find("missing date") != line.npos || line.find("longer than 80") != line.npos)
      continue;
    ADD_FAILURE() << line;
  }
}

TEST_P(ManualTest, ScriptsAreRight) {
  const RunResult bash = RunProgram({"/usr/bin/env", "bash", "-n", Made("bash")});
  EXPECT_EQ(bash.exit_code, 0) << bash.err;
  if (!IsThere("zsh")) GTEST_SKIP() << "zsh is not installed";
  const RunResult zsh = RunProgram({"/usr/bin/env", "zsh", "-n", Made("zsh")});
  EXPECT_EQ(zsh.exit_code, 0) << zsh.err;
}

/// What bash offers when TAB is typed at the end of the last of these words.
std::vector<std::string> Completed(const std::vector<std::string>& words) {
  std::string array;
  for (const std::string& word : words) array += " '" + word + "'";
  const std::string command = "source <(" + Program(words.front()) +
                              " --manual bash) && COMP_WORDS=(" + array +
                              ") && COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) && _oplens_complete_" +
                              words.front() + "; printf '%s\\n' \"${COMPREPLY[@]}\"";
  const RunResult result = RunProgram({"/usr/bin/env", "bash", "-c", command});
  EXPECT_EQ(result.err, "");
  std::vector<std::string> lines = Lines(result.out);
  if (lines == std::vector<std::string>{""}) lines.clear();
  return lines;
}

TEST(CompletionTest, OfProf) {
  EXPECT_THAT(Completed({"prof", "--vi"}), ElementsAre("--view"));
  EXPECT_THAT(Completed({"prof", "-c", "ker"}), ElementsAre("kernel"));
  EXPECT_THAT(Completed({"prof", "-c", "op,ker"}), ElementsAre("op,kernel"));
  EXPECT_THAT(Completed({"prof", "--view", "ov"}), ElementsAre("overview"));
  EXPECT_THAT(Completed({"prof", "--view", "gpu,ov"}), ElementsAre("gpu,overview"));
  EXPECT_THAT(Completed({"prof", "--view", "=", "ov"}), ElementsAre("overview"));
  EXPECT_THAT(Completed({"prof", "--view", "="}), IsSupersetOf({"overview", "all", "list"}));
  EXPECT_THAT(Completed({"prof", "--by", "laye"}), ElementsAre("layer"));
  EXPECT_THAT(Completed({"prof", "--compat", "tor"}),
              ElementsAre("torch", "torch-1.13", "torch-2.13", "torch-legacy"));
  EXPECT_THAT(Completed({"prof", "--op", "o"}), ElementsAre("outer"));
  EXPECT_THAT(Completed({"prof", "--top", ""}), IsEmpty());
}

TEST(CompletionTest, OfTheOthers) {
  EXPECT_THAT(Completed({"parse", "--format", "ch"}), ElementsAre("chrome"));
  EXPECT_THAT(Completed({"report", "--no"}), ElementsAre("--no-host"));
  EXPECT_THAT(Completed({"record", "--trace", "cuda,n"}), ElementsAre("cuda,nvtx"));
  EXPECT_THAT(Completed({"record", "-o", "x.sql", "--", "bas"}), Contains("bash"));
}

TEST(CompletionTest, FilesWhereNoWordIsMeant) {
  const std::string folder = SourceDir() + "/examples/da";
  EXPECT_THAT(Completed({"prof", folder}), ElementsAre(folder + "ta"));
  EXPECT_THAT(Completed({"prof", "--rules", folder}), ElementsAre(folder + "ta"));
}

}  // namespace
}  // namespace oplens::test::manual_test
