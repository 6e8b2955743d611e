// `parse --check`: what a profile holds, and which columns it fills.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include "prof/views/kernel_columns.h"
#include "test/e2e/e2e.h"
#include "test/support/dict_text.h"
#include "test/support/test_files.h"

namespace oplens::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kDemo = std::string(OPLENS_SOURCE_DIR) + "/examples/data/demo.sql";

/// The keys of the lines after "columns of prof".
std::multiset<std::string> NamedColumns(const std::string& description) {
  std::multiset<std::string> keys;
  bool in_list = false;
  for (const std::string& line : Lines(description)) {
    std::istringstream words(line);
    std::string word;
    while (in_list && words >> word && std::isdigit(static_cast<unsigned char>(word[0])) == 0) {
      keys.insert(word);
    }
    in_list = in_list || line.starts_with("columns of prof");
  }
  return keys;
}

TEST(Check, NamesEveryColumnOfProfOnce) {
  const RunResult result = RunParse({"--check", kDemo});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::multiset<std::string> all;
  for (const prof::Column& column : prof::KernelColumns()) all.insert(std::string(column.key));
  EXPECT_EQ(NamedColumns(result.out), all);
}

TEST(Check, DescribesTheFile) {
  const RunResult result = RunParse({"--check", kDemo});
  EXPECT_THAT(result.out, StartsWith(kDemo + ": nvprof, schema "));
  EXPECT_THAT(result.out, HasSubstr("\n  GPU 0: "));
  EXPECT_THAT(result.out, ContainsRegex("  idx reason +[0-9]+ of [0-9]+\n"));
}

TEST(Check, AgreesWithTheRecords) {
  const std::vector<nlohmann::json> records = Records(kDemo);
  const auto having = [&](auto has) { return std::count_if(records.begin(), records.end(), has); };
  const std::string text = RunParse({"--check", kDemo}).out;
  const auto line = [&](const std::string& keys, auto has) {
    return "  " + keys + " +" + std::to_string(having(has)) + " of " +
           std::to_string(records.size());
  };
  using nlohmann::json;
  EXPECT_THAT(text,
              ContainsRegex(line("trace", [](const json& r) { return !r["trace"].empty(); })));
  EXPECT_THAT(text,
              ContainsRegex(line("layer", [](const json& r) { return !r["layer"].empty(); })));
  EXPECT_THAT(text,
              ContainsRegex(line("range", [](const json& r) { return !r["range"].empty(); })));
  EXPECT_THAT(text, ContainsRegex(line("op mod", [](const json& r) { return !r["op"].empty(); })));
}

TEST(Check, SeveralFilesFollowEachOther) {
  const std::filesystem::path dir = TestDir();
  SmallProfile().builder.Write(dir / "a.sql");
  SmallProfile().builder.Write(dir / "b.sql");
  const RunResult result = RunParse({"--check", "--quiet", dir.string()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, StartsWith((dir / "a.sql").string() + ": nvprof"));
  EXPECT_THAT(result.out, HasSubstr("\n\n" + (dir / "b.sql").string() + ": nvprof"));
  EXPECT_THAT(result.out, HasSubstr("holds no kernel"));
}

TEST(Check, AnUnreadableFileIsAnError) {
  const RunResult result = RunParse({"--check", "/dev/null"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(LineCount(result.err), 1);
}

}  // namespace
}  // namespace oplens::test
