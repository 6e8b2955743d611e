#include "record/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace oplens::record::options_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Options Read(std::vector<std::string> words) {
  words.insert(words.begin(), "record");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return ReadOptions(static_cast<int>(words.size()), argv.data());
}

std::string Refusal(const std::vector<std::string>& words) {
  try {
    Read(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(RecordOptions, HaveDefaults) {
  const Options options = Read({"-o", "net.sql", "--", "prog", "a"});
  EXPECT_EQ(options.output, "net.sql");
  EXPECT_THAT(options.command, ElementsAre("prog", "a"));
  EXPECT_THAT(options.trace, ElementsAre("cuda", "nvtx", "sync", "overhead"));
  EXPECT_TRUE(options.from_start);
  EXPECT_FALSE(options.force || options.children || options.quiet || options.keep_arguments ||
               options.strict);
  EXPECT_EQ(options.timeout_s, 0);
  EXPECT_EQ(options.recover, "");
  EXPECT_EQ(options.message, "");
}

TEST(RecordOptions, AreReadInEveryForm) {
  const Options options =
      Read({"-f", "--export-profile", "n,%p.sql", "--profile-from-start=off",
            "--profile-child-processes", "--trace", "nvtx,memory,nvtx", "--timeout", "12",
            "--quiet", "--strict", "--keep-arguments", "prog"});
  EXPECT_TRUE(options.strict);
  EXPECT_EQ(options.output, "n,%p.sql");
  EXPECT_TRUE(options.force && options.children && options.quiet && options.keep_arguments);
  EXPECT_FALSE(options.from_start);
  EXPECT_THAT(options.trace, ElementsAre("nvtx", "memory"));
  EXPECT_EQ(options.timeout_s, 12);
  EXPECT_THAT(options.command, ElementsAre("prog"));
}

TEST(RecordOptions, AReferenceNeedsRangesAndGraphs) {
  const Options options = Read({"-o", "net.sql", "--reference", "prog"});
  EXPECT_TRUE(options.reference);
  EXPECT_THAT(options.trace, ElementsAre("cuda", "nvtx"));
}

TEST(RecordOptions, MayStandTogether) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"-fo", "net.sql", "prog", "-x"},
        {"--force-overwrite", "--output=net.sql", "prog", "-x"},
        {"--force", "--export-profile=net.sql", "--", "prog", "-x"}}) {
    const Options options = Read(words);
    EXPECT_TRUE(options.force) << words[0];
    EXPECT_EQ(options.output, "net.sql") << words[0];
    EXPECT_THAT(options.command, ElementsAre("prog", "-x")) << words[0];
  }
}

TEST(RecordOptions, EndAtTheProgram) {
  const Options options =
      Read({"-o", "net.sql", "prog", "-f", "--timeout", "--", "-o", "x", "--help"});
  EXPECT_THAT(options.command, ElementsAre("prog", "-f", "--timeout", "--", "-o", "x", "--help"));
  EXPECT_FALSE(options.force);
  EXPECT_EQ(options.message, "");
  EXPECT_THAT(Read({"-o", "net.sql", "--", "-odd-name", "--"}).command,
              ElementsAre("-odd-name", "--"));
}

TEST(RecordOptions, PrintHelpAndVersion) {
  EXPECT_THAT(Read({"--help"}).message, HasSubstr("--profile-child-processes"));
  EXPECT_THAT(Read({"-h"}).message,
              HasSubstr("record -o net.sql -- python3 -m oplens_annotate train.py"));
  EXPECT_THAT(Read({"--version"}).message, testing::StartsWith("record (oplens) "));
}

TEST(RecordOptions, RecoverNeedsNoProgram) {
  const Options options = Read({"--recover", "net.sql", "-f", "--quiet"});
  EXPECT_EQ(options.recover, "net.sql");
  EXPECT_TRUE(options.force && options.quiet);
  EXPECT_THAT(options.command, IsEmpty());
}

struct Case {
  std::vector<std::string> words;
  const char* said;
};

TEST(RecordOptions, AreRefusedWithTheLineThatHelps) {
  ::unsetenv("OPLENS_TEST_UNSET");
  const Case cases[] = {
      {{}, "give the program to record: record -o net.sql -- PROGRAM ARGS"},
      {{"-o", "net.sql"}, "give the program to record"},
      {{"-o", "net.sql", "--"}, "give the program to record"},
      {{"-o", "net.sql", "--", ""}, "the name of the program is empty"},
      {{"prog"}, "give the database to write, before the program: record -o net.sql"},
      {{"-o"}, "record -h lists the options"},
      {{"--nonsense", "prog"}, "record -h lists the options"},
      {{"-o", "", "prog"}, "the name of the file is empty"},
      {{"-o", "a", "--export-profile", "b", "prog"}, "given twice"},
      {{"-o", "a", "-o", "b", "prog"}, "given twice"},
      {{"-o", "a", "--trace", "cuda,gpu", "prog"}, "--trace: there is no word 'gpu'"},
      {{"-o", "a", "--trace", "cuda,", "prog"},
       "there is no word ''; the words are cuda,nvtx,memory,sync,overhead"},
      {{"-o", "a", "--reference", "--trace", "cuda", "prog"}, "leave --trace out"},
      {{"-o", "a", "--profile-from-start", "no", "prog"}, "give on or off"},
      {{"-o", "a", "--timeout", "0", "prog"}, "--timeout 0: give seconds"},
      {{"-o", "a", "--timeout", "-1", "prog"}, "--timeout -1: give seconds"},
      {{"-o", "a", "--timeout", "1.5", "prog"}, "--timeout 1.5"},
      {{"-o", "a", "--timeout", "99999999999999999999", "prog"}, "give seconds"},
      {{"-o", "a", "--timeout", "1000000001", "prog"}, "from 1 to 1000000000"},
      {{"-o", "a.sql", "--profile-child-processes", "prog"}, "write %p into the name"},
      {{"-o", "a%%p.sql", "--profile-child-processes", "prog"}, "write %p into the name"},
      {{"-o", "a%d.sql", "prog"}, "\"%d\" is unknown"},
      {{"-o", "a%q.sql", "prog"}, "write %q{NAME}"},
      {{"-o", "a%q{OPLENS_TEST_UNSET}.sql", "prog"}, "no variable for %q{OPLENS_TEST_UNSET}"},
      {{"-o", std::string(5000, 'x'), "prog"}, "is too long"},
      {{"--recover", ""}, "the name of the file is empty"},
      {{"--recover", "net.sql", "--", "prog"}, "--recover starts no program"},
  };
  for (const Case& c : cases) EXPECT_THAT(Refusal(c.words), HasSubstr(c.said));
}

}  // namespace
}  // namespace oplens::record::options_test
