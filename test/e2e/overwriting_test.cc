// No program overwrites what it reads, or one of its results with another.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/test_files.h"

namespace oplens::test::overwriting_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Overwriting : public testing::Test {
 protected:
  Overwriting() {
    const fs::path demo = fs::path(test::SourceDir()) / "examples/data/demo.sql";
    fs::create_directories(dir_ / "ranks");
    for (const char* name : {"a.sql", "base.sql", "ranks/r0.sql", "ranks/r1.sql"}) {
      fs::copy_file(demo, dir_ / name);
    }
    WriteFile(dir_ / "my.toml", "[[kernel]]\npattern = 'a'\nrole = 'main'\n");
    WriteFile(dir_ / "kernel_information.json", "{}");
    WriteFile(dir_ / "et.json", "{\"schema\": \"1.0.2-chakra.0.0.4\", \"nodes\": []}");
    WriteFile(dir_ / "run.sh", "exit 0\n");
    fs::create_symlink("my.toml", dir_ / "link.toml");
    fs::create_symlink("new.xml", dir_ / "link.xml");
    fs::create_hard_link(dir_ / "a.sql", dir_ / "hard.sql");
  }

  /// Runs a line of words in the folder, whose first names the program.
  RunResult Run(const std::string& line) const {
    return RunProgram(
        {"/bin/sh", "-c",
         "exec " + Program(line.substr(0, line.find(' '))) + line.substr(line.find(' '))},
        {.directory = dir_});
  }

  /// All files and what they hold.
  std::vector<std::pair<std::string, std::string>> Contents() const {
    std::vector<std::pair<std::string, std::string>> contents;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(dir_)) {
      if (entry.is_regular_file()) contents.push_back({entry.path(), ReadFile(entry.path())});
    }
    std::sort(contents.begin(), contents.end());
    return contents;
  }

  fs::path dir_ = TestDir();
};

TEST_F(Overwriting, WhatIsReadIsNotWritten) {
  ASSERT_EQ(Run("prof --save-baseline saved.oplens a.sql").exit_code, 0);
  const auto before = Contents();
  const std::string gate = "prof --fail-if 'total>0ms' --junit ";
  const std::string lines[] = {
      gate + "a.sql a.sql",
      gate + "hard.sql a.sql",
      gate + "ranks/../a.sql a.sql",
      gate + "base.sql --diff base.sql a.sql",
      gate + "ranks/r1.sql --diff ranks a.sql",
      gate + "saved.oplens --diff saved.oplens a.sql",
      gate + "ranks/r0.sql ranks",
      gate + "et.json --execution-trace et.json a.sql",
      gate + "my.toml --rules my.toml a.sql",
      gate + "base.sql --reference base.sql a.sql",
      gate + "my.toml --counters my.toml a.sql",
      gate + "kernel_information.json a.sql",
      "prof -o my.toml --rules my.toml a.sql",
      "prof -o my.toml --rules link.toml a.sql",
      "prof --sqlite link.toml --rules my.toml a.sql",
      "prof --save-baseline my.toml --rules my.toml a.sql",
      "prof --summary -o my.toml --rules my.toml a.sql",
      "prof -o kernel_information.json a.sql",
      "prof --sqlite kernel_information.json a.sql",
      "prof --check -o my.toml --rules my.toml a.sql",
      "prof --chrome -o a.sql a.sql",
      "prof --view overview -o saved.oplens saved.oplens",
      "prof a.sql >>a.sql",
      "parse -o kernel_information.json a.sql",
      "parse -o base.sql --reference base.sql a.sql",
      "parse a.sql >>hard.sql",
      "report -o my.toml --rules my.toml a.sql",
      "report -o kernel_information.json a.sql",
      "report -o base.sql --diff base.sql a.sql",
      "report -o ranks/r0.sql --diff ranks a.sql",
      "oplens a.sql >>a.sql",
      "oplens --rules my.toml a.sql >>my.toml",
      "record -f -o run.sh -- /bin/sh run.sh",
      "record -f -o a.sql -- ./a.sql",
  };
  for (const std::string& line : lines) {
    const RunResult result = Run(line);
    EXPECT_EQ(result.exit_code, 2) << line << "\n" << result.err;
    EXPECT_EQ(result.out, "") << line;
    EXPECT_THAT(result.err, HasSubstr(" itself: name another file\n")) << line;
    EXPECT_EQ(LineCount(result.err), 1) << line;
    ASSERT_EQ(Contents(), before) << line;
  }
}

TEST_F(Overwriting, NoResultTakesThePlaceOfAnother) {
  const auto before = Contents();
  const std::string gate = "prof --fail-if 'total>0ms' a.sql ";
  const std::string lines[] = {
      gate + "-o x --junit x",
      gate + "-o x --junit ranks/../x",
      gate + "--sqlite x --junit x",
      gate + "--json -o new.xml --junit link.xml",
      gate + "--junit -",
      gate + "--junit out.txt >out.txt",
      gate + "-o link.xml --junit new.xml",
  };
  for (const std::string& line : lines) {
    const RunResult result = Run(line);
    fs::remove(dir_ / "out.txt");  // The shell made it.
    EXPECT_EQ(result.exit_code, 2) << line << "\n" << result.err;
    EXPECT_EQ(result.out, "") << line;
    EXPECT_THAT(result.err, HasSubstr(" are the same: name two files\n")) << line;
    ASSERT_EQ(Contents(), before) << line;
  }
}

TEST_F(Overwriting, OtherFilesAreWritten) {
  const std::string lines[] = {
      "prof --fail-if 'total>1000s' --json -o ranks/x.json --junit x.json ranks",
      "prof --fail-if 'total>1000s' --json -o /dev/null --junit /dev/null a.sql",
      "prof -o old.txt a.sql",
      "prof -o old.txt a.sql",
      "record -f -o old.txt -- /bin/sh run.sh",
  };
  for (const std::string& line : lines) {
    const RunResult result = Run(line);
    EXPECT_EQ(result.exit_code, 0) << line << "\n" << result.err;
  }
}

}  // namespace
}  // namespace oplens::test::overwriting_test
