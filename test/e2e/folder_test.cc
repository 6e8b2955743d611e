// Several profiles of one run: files and folders, one after the other, told apart by `rank`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/dict_text.h"
#include "test/support/test_files.h"

namespace oplens::test::folder_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

fs::path WriteProfile(const fs::path& path, const std::vector<std::string>& kernels) {
  SmallProfile profile;
  int64_t seq = 0;
  for (const std::string& kernel : kernels) profile.AnnotatedKernel("add", ++seq, kernel);
  fs::create_directories(path.parent_path());
  profile.builder.Write(path);
  return path;
}

/// "RANK KERNEL" of each record.
std::vector<std::string> RanksAndKernels(const std::string& dict) {
  std::vector<std::string> list;
  for (const std::string& line : Lines(dict)) {
    list.push_back(DictValue(line, "rank") + " " + DictValue(line, "kShortName"));
  }
  return list;
}

TEST(Folder, RecordsFollowEachOtherInNaturalOrder) {
  const fs::path dir = TestDir();
  WriteProfile(dir / "run" / "rank10.sql", {"c"});
  WriteProfile(dir / "run" / "rank2.sql", {"a", "b"});
  WriteFile(dir / "run" / "notes.txt", "no profile");
  const RunResult result = RunParse({(dir / "run").string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(RanksAndKernels(result.out), ElementsAre("'2' 'a'", "'2' 'b'", "'10' 'c'"));
  EXPECT_THAT(result.err, HasSubstr("rank2.sql: nvprof schema 12: 2 kernels"));
}

TEST(Folder, FilesComeInTheOrderGivenAndOnce) {
  const fs::path dir = TestDir();
  const std::string b = WriteProfile(dir / "b.sql", {"b"}).string();
  const std::string a = WriteProfile(dir / "a,1.sql", {"a"}).string();
  const RunResult result = RunParse({b, a, b, dir.string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(RanksAndKernels(result.out), ElementsAre("'b.sql' 'b'", "'a,1.sql' 'a'"));
}

TEST(Folder, RecordsAreThoseOfTheFileAlone) {
  const fs::path dir = TestDir();
  const std::string a = WriteProfile(dir / "a.sql", {"a", "x"}).string();
  const std::string b = WriteProfile(dir / "b.sql", {"b"}).string();
  std::string both;
  for (const std::string& file : {a, b}) {
    std::string alone = RunParse({file}).out;
    EXPECT_THAT(alone, HasSubstr("'rank': None"));
    const std::string name = "'" + fs::path(file).filename().string() + "'";
    for (size_t at = 0; (at = alone.find("'rank': None", at)) != std::string::npos;) {
      alone.replace(at, 12, "'rank': " + name);
    }
    both += alone;
  }
  EXPECT_EQ(RunParse({a, b}).out, both);
}

TEST(Folder, AnUnreadableFileInsideIsNamedAndLeftOut) {
  const fs::path dir = TestDir();
  WriteProfile(dir / "run" / "a.sql", {"a"});
  WriteFile(dir / "run" / "b.sql", "not a database at all");
  WriteProfile(dir / "run" / "c.sql", {"c"});
  const RunResult result = RunParse({"--quiet", (dir / "run").string()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(RanksAndKernels(result.out), ElementsAre("'a.sql' 'a'", "'c.sql' 'c'"));
  EXPECT_EQ(LineCount(result.err), 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("b.sql: "));
  EXPECT_THAT(result.err, HasSubstr("; left out"));
  EXPECT_EQ(RunParse({"--strict", (dir / "run").string()}).exit_code, 3);
}

TEST(Folder, FailsWhenNothingInsideCanBeRead) {
  const fs::path dir = TestDir();
  fs::create_directories(dir / "run");
  WriteFile(dir / "run" / "a.sql", "nothing");
  const fs::path out = dir / "out.dict";
  const RunResult result = RunParse({"-o", out.string(), (dir / "run").string()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("holds no profile that could be read"));
  EXPECT_FALSE(fs::exists(out));
}

TEST(Folder, AnUnreadableFileThatWasNamedStopsAll) {
  const fs::path dir = TestDir();
  const std::string good = WriteProfile(dir / "good.sql", {"a"}).string();
  WriteFile(dir / "bad.sql", "not a database at all");
  const fs::path out = dir / "out.dict";
  for (const std::string& bad : {(dir / "bad.sql").string(), (dir / "none.sql").string()}) {
    for (const bool to_file : {false, true}) {
      std::vector<std::string> command = {good, bad};
      if (to_file) command.insert(command.begin(), {"-o", out.string()});
      const RunResult result = RunParse(command);
      EXPECT_EQ(result.exit_code, 1);
      EXPECT_EQ(result.out, "");
      EXPECT_EQ(LineCount(result.err), 1) << result.err;
      EXPECT_THAT(result.err, HasSubstr(bad));
      EXPECT_FALSE(fs::exists(out));
    }
  }
}

TEST(Folder, NoInputIsOverwritten) {
  const fs::path dir = TestDir();
  const std::string a = WriteProfile(dir / "a.sql", {"a"}).string();
  const std::string b = WriteProfile(dir / "b.sql", {"b"}).string();
  const std::string before = ReadFile(b);
  for (const std::vector<std::string>& inputs : {std::vector{a, b}, std::vector{dir.string()}}) {
    std::vector<std::string> command = {"-o", b};
    command.insert(command.end(), inputs.begin(), inputs.end());
    const RunResult result = RunParse(command);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("is the input itself"));
    EXPECT_EQ(ReadFile(b), before);
  }
}

TEST(Folder, WhatIsSkippedIsCountedAndSaid) {
  const fs::path dir = TestDir();
  WriteProfile(dir / "rank0.sql", {"a"});
  WriteProfile(dir / "rank1.sql", {"b"});
  for (const char* name : {"train.py", "page.html", "a10.txt", "a9.txt", ".hidden", "x.oplens"}) {
    WriteFile(dir / name, "text");
  }
  WriteFile(dir / "output_code.py", "");  // Is read beside traces.
  fs::create_directories(dir / "older");
  const std::string said =
      ": 4 files beside the profiles are no profiles by their names and skipped: a9.txt, a10.txt, "
      "page.html, ...; 1 folder inside is not looked into\n";
  EXPECT_THAT(RunParse({dir.string()}).err, HasSubstr("parse" + said));
  EXPECT_THAT(RunProf({dir.string()}).err, HasSubstr("prof" + said));
  EXPECT_THAT(RunProf({"--view", "overview", dir.string()}).err, HasSubstr("prof" + said));
  EXPECT_THAT(RunProf({"--diff", dir.string(), dir.string()}).err, HasSubstr("prof" + said));
  const std::string page = (dir.parent_path() / "skipped_page.html").string();
  EXPECT_THAT(RunProgram({Program("report"), "-v", "-o", page, dir.string()}).err,
              HasSubstr("report" + said));
  EXPECT_THAT(RunProgram({Program("oplens"), dir.string()}).err, HasSubstr("oplens" + said));
  EXPECT_THAT(RunProgram({Program("oplens"), "--quiet", dir.string()}).err, "");
  EXPECT_THAT(RunProf({(dir / "rank0.sql").string()}).err, Not(HasSubstr("skipped")));
}

TEST(Folder, FilesThatAreNotOneRunAreNotShownAsOne) {
  const fs::path dir = TestDir();
  WriteProfile(dir / "bert.sql", {"a"});
  WriteProfile(dir / "vit.sql", {"b"});
  const std::string said = "the 2 inputs are not known to be one run";
  for (const char* option : {"--view=overview", "--view=operators", "--by=op"}) {
    const RunResult result = RunProf({option, "--csv", dir.string()});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.err, HasSubstr(said)) << option;
    EXPECT_THAT(result.err, HasSubstr("bert.sql does not say which rank it is of")) << option;
  }
  const RunResult screen = RunProgram({Program("oplens"), dir.string()});
  EXPECT_EQ(screen.exit_code, 0);
  EXPECT_THAT(screen.out, HasSubstr("\nFiles that are not known to be one run"));
  EXPECT_THAT(screen.out, HasSubstr("oplens diff BASE FILE"));
  for (const char* of_one : {"\nThe run", "step of rank", "\nOps", "\nKernels", "\nKnown"}) {
    EXPECT_THAT(screen.out, Not(HasSubstr(of_one)));
  }
  // Ranks that say so are one run, unless two say the same.
  fs::rename(dir / "bert.sql", dir / "rank0.sql");
  fs::rename(dir / "vit.sql", dir / "rank1.sql");
  EXPECT_THAT(RunProf({"--view=overview", dir.string()}).err, Not(HasSubstr(said)));
  EXPECT_THAT(RunProgram({Program("oplens"), dir.string()}).out, HasSubstr("\nOps"));
  fs::rename(dir / "rank1.sql", dir / "b_rank0.sql");
  EXPECT_THAT(RunProf({"--view=overview", dir.string()}).err,
              HasSubstr("b_rank0.sql and rank0.sql both say that they are rank 0"));
}

TEST(Folder, CountsNameTheFile) {
  const fs::path dir = TestDir();
  SmallProfile bare;
  bare.thread.Launch({.name = "k"});
  const fs::path a = dir / "a.sql";
  bare.builder.Write(a);
  const std::string b = WriteProfile(dir / "b.sql", {"b"}).string();
  const RunResult alone = RunParse({a.string()});
  EXPECT_THAT(alone.err, HasSubstr("\nparse: 1 kernels launched outside"));
  const RunResult both = RunParse({a.string(), b});
  EXPECT_THAT(both.err, HasSubstr("\nparse: a.sql: 1 kernels launched outside"));
  EXPECT_THAT(both.err, Not(HasSubstr("parse: b.sql: 1 kernels")));
}

TEST(Folder, PackedRecordsByTheNameOfTheOutput) {
  const fs::path dir = TestDir();
  const std::string a = WriteProfile(dir / "a.sql", {"a"}).string();
  const fs::path out = dir / "a.dict.gz";
  EXPECT_EQ(RunParse({"-o", out.string(), a}).exit_code, 0);
  EXPECT_EQ(ReadFile(out).substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(RunProgram({"/bin/gzip", "-dc", out.string()}).out, RunParse({a}).out);
}

}  // namespace
}  // namespace oplens::test::folder_test
