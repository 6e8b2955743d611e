#include "parse/source/profile_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "parse/readers/open_trace.h"
#include "test/support/test_files.h"

namespace oplens::parse::profile_list_test {
namespace {

namespace fs = std::filesystem;
using test::TestDir;
using test::WriteFile;
using testing::ElementsAre;
using testing::HasSubstr;

fs::path Touch(const fs::path& path) {
  fs::create_directories(path.parent_path());
  WriteFile(path, "x");
  return path;
}

std::vector<std::string> NamesOf(const std::vector<ProfileInput>& inputs) {
  std::vector<std::string> names;
  for (const ProfileInput& input : inputs) names.push_back(input.name);
  return names;
}

std::string ErrorOf(const std::vector<std::string>& arguments) {
  try {
    ListProfiles(arguments);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(NaturalLess, ComparesDigitsAsNumbers) {
  const std::vector<std::string> sorted = {
      "",
      "a",
      "a1",
      "a01",
      "a2",
      "a2b",
      "a10",
      "a10a2",
      "a10a10",
      "b",
      "r99999999999999999999998.x",
      "r99999999999999999999999.x",
  };
  std::vector<std::string> shuffled = sorted;
  std::reverse(shuffled.begin(), shuffled.end());
  std::sort(shuffled.begin(), shuffled.end(), NaturalLess);
  // "a01" is "a1" as a number: the text decides.
  std::vector<std::string> expected = sorted;
  std::swap(expected[2], expected[3]);
  EXPECT_EQ(shuffled, expected);
}

TEST(NaturalLess, IsAStrictOrder) {
  const std::vector<std::string> all = {"", "0", "00", "1", "01", "a0", "a00b", "a0b", "a", "a1b0"};
  for (const std::string& a : all) {
    EXPECT_FALSE(NaturalLess(a, a)) << a;
    for (const std::string& b : all) {
      EXPECT_EQ(NaturalLess(a, b) + NaturalLess(b, a), a == b ? 0 : 1) << a << " " << b;
      for (const std::string& c : all) {
        if (NaturalLess(a, b) && NaturalLess(b, c)) {
          EXPECT_TRUE(NaturalLess(a, c)) << a << b << c;
        }
      }
    }
  }
}

TEST(ListProfiles, ListsAFolderInNaturalOrder) {
  const fs::path dir = TestDir();
  for (const char* name : {"rank10.json", "rank2.json.gz", "rank1.json.zst", "a.sql", "b.sqlite",
                           "c.nvvp", "d.nvprof", "e.prof", "f.db"}) {
    Touch(dir / name);
  }
  for (const char* name : {"notes.txt", "net.dict", ".hidden.json", "json", ".json", "x.gz"}) {
    Touch(dir / name);
  }
  Touch(dir / "deeper.json" / "inside.json");
  const std::vector<ProfileInput> inputs = ListProfiles({dir.string()});
  EXPECT_THAT(NamesOf(inputs),
              ElementsAre("a.sql", "b.sqlite", "c.nvvp", "d.nvprof", "e.prof", "f.db",
                          "rank1.json.zst", "rank2.json.gz", "rank10.json"));
  EXPECT_EQ(inputs[0].path, (dir / "a.sql").string());
  EXPECT_TRUE(inputs[0].from_folder);
}

TEST(ListProfiles, KeepsTheOrderOfArgumentsAndAnyName) {
  const fs::path dir = TestDir();
  const fs::path second = Touch(dir / "z2.txt");
  const fs::path first = Touch(dir / "z10");
  const std::vector<ProfileInput> inputs = ListProfiles({first.string(), second.string()});
  EXPECT_THAT(NamesOf(inputs), ElementsAre("z10", "z2.txt"));
  EXPECT_FALSE(inputs[0].from_folder);
}

TEST(ListProfiles, CountsAFileOnce) {
  const fs::path dir = TestDir();
  const fs::path file = Touch(dir / "in" / "b.json");
  fs::create_symlink(file, dir / "in" / "a.json");
  const std::string roundabout = (dir / "in" / ".." / "in" / "b.json").string();
  const std::vector<ProfileInput> inputs =
      ListProfiles({roundabout, file.string(), (dir / "in").string()});
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(inputs[0].path, roundabout);
  EXPECT_EQ(inputs[0].name, "b.json");
}

TEST(ListProfiles, NamesTellInputsApart) {
  const fs::path dir = TestDir();
  const std::vector<std::string> files = {
      Touch(dir / "x" / "one" / "net.json").string(),
      Touch(dir / "y" / "one" / "net.json").string(),
      Touch(dir / "y" / "two" / "net.json").string(),
      Touch(dir / "y" / "two" / "other.json").string(),
  };
  EXPECT_THAT(NamesOf(ListProfiles(files)),
              ElementsAre("x/one/net.json", "y/one/net.json", "two/net.json", "other.json"));
}

TEST(ListProfiles, RefusesWhatIsNotThere) {
  const fs::path dir = TestDir();
  EXPECT_THAT(ErrorOf({(dir / "none.json").string()}), HasSubstr("none.json: cannot be opened"));
  Touch(dir / "notes.txt");
  EXPECT_THAT(ErrorOf({dir.string()}), HasSubstr("is a folder that holds no profile; give"));
}

std::string NameOf(int64_t rank, size_t inputs, TakenRanks* taken = nullptr) {
  Trace trace;
  trace.rank = rank;
  NameRank({.path = "/x/b.json", .name = "b.json"}, inputs, &trace, taken);
  return std::string(trace.strings.View(trace.rank_name));
}

TEST(NameRank, TakesTheFilesOwnRankElseItsName) {
  EXPECT_EQ(NameOf(3, 1), "3");
  EXPECT_EQ(NameOf(3, 2), "3");
  EXPECT_EQ(NameOf(kUnknownId, 1), "");
  EXPECT_EQ(NameOf(kUnknownId, 2), "b.json");
}

TEST(NameRank, TellsInputsOfOneRankApart) {
  TakenRanks taken;
  EXPECT_EQ(NameOf(0, 3, &taken), "0");
  EXPECT_EQ(NameOf(1, 3, &taken), "1");
  EXPECT_EQ(NameOf(0, 3, &taken), "0 (b.json)");
}

}  // namespace
}  // namespace oplens::parse::profile_list_test
