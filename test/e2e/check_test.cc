// `parse --check`: what a profile holds, and which columns it fills.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "prof/views/kernels/kernel_columns.h"
#include "test/e2e/e2e.h"
#include "test/support/dict_text.h"
#include "test/support/test_files.h"

namespace oplens::test::check_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kDemo = SourceDir() + "/examples/data/demo.sql";

/// The counts of the lines after "columns": by column, and whether they are upper bounds.
struct ColumnCount {
  int64_t kernels = 0;
  bool at_most = false;
};

std::map<std::string, ColumnCount> CountsOf(const std::string& description) {
  std::map<std::string, ColumnCount> counts;
  bool in_list = false;
  const std::regex line_form("  (\\S.*?) +(at most )?([0-9]+) of [0-9]+.*");
  for (const std::string& line : Lines(description)) {
    std::smatch parts;
    if (in_list && std::regex_match(line, parts, line_form)) {
      std::istringstream keys(parts[1]);
      for (std::string key; keys >> key;) counts[key] = {std::stoll(parts[3]), parts[2].matched};
    }
    in_list = in_list || line.starts_with("columns");
  }
  return counts;
}

TEST(Check, NamesEveryColumnOfProfOnce) {
  const RunResult result = RunParse({"--check", kDemo});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::set<std::string> all;
  for (const prof::KernelColumn& column : prof::KernelColumns())
    all.insert(std::string(column.key));
  std::set<std::string> named;
  for (const auto& [key, count] : CountsOf(result.out)) named.insert(key);
  EXPECT_EQ(named, all);
}

TEST(Check, DescribesTheFile) {
  const RunResult result = RunParse({"--check", kDemo});
  EXPECT_THAT(result.out, StartsWith(kDemo + ": nvprof, schema "));
  EXPECT_THAT(result.out, HasSubstr("\n  GPU 0: "));
  EXPECT_THAT(result.out,
              ContainsRegex("  idx device stream flops_kind reason +[0-9]+ of [0-9]+\n"));
}

// What parse knows of: names and launches tell prof more.
const std::string kRecorded = "range,capture,vocabulary,repetition,reference";

/// The kernels with a value by column, as `prof --json -c all` prints them.
std::map<std::string, int64_t> PrintedCounts(const std::filesystem::path& input,
                                             const std::vector<std::string>& options = {}) {
  std::map<std::string, int64_t> counts;
  std::vector<std::string> arguments = {"-c", "all"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  for (const nlohmann::json& row : ProfRows(input, arguments)) {
    for (const auto& [key, value] : row.items()) {
      counts[key] +=
          (value.is_null() || value == nlohmann::json::array()) && key != "reason" ? 0 : 1;
    }
  }
  return counts;
}

TEST(Check, AgreesWithWhatProfPrints) {
  const std::map<std::string, int64_t> printed = PrintedCounts(kDemo);
  const auto priced = CountsOf(RunProf({"--check", kDemo}).out);
  const auto described = CountsOf(RunParse({"--check", kDemo}).out);
  EXPECT_EQ(priced.size(), prof::KernelColumns().size());
  EXPECT_EQ(described.size(), prof::KernelColumns().size());
  for (const auto& [key, count] : priced) {
    EXPECT_EQ(count.kernels, printed.at(key)) << key;
    EXPECT_FALSE(count.at_most) << key;
  }
  const std::map<std::string, int64_t> recorded = PrintedCounts(kDemo, {"--evidence", kRecorded});
  for (const auto& [key, count] : described) {
    const int64_t kernels = recorded.at(key);
    EXPECT_TRUE(count.kernels == kernels || (count.at_most && count.kernels > kernels)) << key;
  }
  EXPECT_TRUE(described.at("flops").at_most);
  EXPECT_TRUE(described.at("layer").at_most) << "a backward kernel has that of its forward op";
  EXPECT_FALSE(described.at("pid").at_most);
}

TEST(Check, OfProfSaysWhyACostIsUnknown) {
  const std::string text = RunProf({"--check", "-c", "op,flops,layer", kDemo}).out;
  EXPECT_THAT(text, StartsWith("columns, and the kernels that have them\n  op "));
  EXPECT_THAT(text, ContainsRegex("flops +[0-9]+ of [0-9]+ +1 no-launch"));
  EXPECT_THAT(text, ContainsRegex("layer +[0-9]+ of [0-9]+\n"));
  EXPECT_EQ(RunProf({"--check", "--csv", kDemo}).exit_code, 2);
  EXPECT_EQ(RunProf({"--check", "--by", "op", kDemo}).exit_code, 2);
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
}  // namespace oplens::test::check_test
