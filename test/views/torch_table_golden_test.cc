#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "prof/views/calls/events.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"

namespace oplens::prof::torch_table_golden_test {
namespace {

/// A table of PyTorch's, and how it was asked for.
struct Case {
  std::string asked;  ///< "@ by=shape,stack sort=cpu_time limit=3"
  std::string table;
};

std::vector<Case> CasesIn(const std::string& text) {
  std::vector<Case> cases;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('@')) {
      cases.push_back({line, {}});
    } else {
      cases.back().table += line + "\n";
    }
  }
  return cases;
}

std::vector<std::string> Split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

ViewOptions OptionsOf(const std::string& asked) {
  ViewOptions options;
  for (const std::string& word : Split(asked, ' ')) {
    const std::string value = word.substr(word.find('=') + 1);
    if (word.starts_with("by=")) options.by = Split(value, ',');
    if (word.starts_with("sort=")) options.sort = value;
    if (word.starts_with("limit=")) options.top = std::stoul(value);
  }
  return options;
}

// What PyTorch printed (torch_tables/make_tables.py, make_tables_2_13.py), byte for byte.
void ExpectTables(const std::string& name, const std::string& rules, const std::string& ending) {
  const std::filesystem::path folder = test::SourceDir() + "/test/views/torch_tables";
  const std::string trace = (folder / (name + ".json")).string();
  const std::vector<Case> cases = CasesIn(test::ReadFile(folder / (name + ending)));
  EXPECT_FALSE(cases.empty());
  for (const Case& one : cases) {
    SCOPED_TRACE(one.asked);
    const auto partial =
        test::PartialOf(test::ViewBy(rules, "events"), {trace}, OptionsOf(one.asked));
    ASSERT_TRUE(partial->IsDocument());
    EXPECT_EQ(partial->Document(), one.table);
  }
}

class TorchTableGoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(TorchTableGoldenTest, Of113) { ExpectTables(GetParam(), "torch-1.13", ".txt"); }
// These files have no mark of PyTorch 2.
TEST_P(TorchTableGoldenTest, OfTheFile) { ExpectTables(GetParam(), "torch", ".txt"); }
TEST_P(TorchTableGoldenTest, Of213) { ExpectTables(GetParam(), "torch-2.13", ".2.13.txt"); }

INSTANTIATE_TEST_SUITE_P(Traces, TorchTableGoldenTest,
                         ::testing::Values("network", "no_work", "no_memory", "no_arguments",
                                           "kernels", "nothing", "anything_0", "anything_1",
                                           "anything_2"),
                         [](const auto& one) { return one.param; });

class Torch2TableGoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(Torch2TableGoldenTest, Of213) { ExpectTables(GetParam(), "torch-2.13", ".2.13.txt"); }
TEST_P(Torch2TableGoldenTest, OfTheFile) { ExpectTables(GetParam(), "torch", ".2.13.txt"); }

INSTANTIATE_TEST_SUITE_P(Traces, Torch2TableGoldenTest,
                         ::testing::Values("since_2", "since_2_xpu", "since_2_mtia",
                                           "since_2_privateuse1", "since_2_anything_0",
                                           "since_2_anything_1", "since_2_anything_2"),
                         [](const auto& one) { return one.param; });

TEST(TorchTableGoldenFilesTest, SeveralFilesAreAdded) {
  const std::string trace = test::SourceDir() + "/test/views/torch_tables/since_2_xpu.json";
  const auto one = test::PartialOf(test::ViewBy("torch", "events"), {trace});
  const auto other = test::PartialOf(test::ViewBy("torch", "events"), {trace});
  EXPECT_NE(one->Document().find("\nSelf XPU time total: 70.002us\n"), std::string::npos);
  one->Merge(*other);
  const std::string both = one->Document();
  EXPECT_NE(both.find("\nSelf XPU time total: 140.004us\n"), std::string::npos) << both;
  const std::string single = other->Document();
  EXPECT_EQ(std::count(both.begin(), both.end(), '\n'),
            std::count(single.begin(), single.end(), '\n'));
}

// The lists above have them all.
TEST(TorchTableGoldenFilesTest, EveryTraceIsCompared) {
  size_t tables = 0;
  size_t tables_2 = 0;
  for (const std::string& name : test::FilesIn(test::SourceDir() + "/test/views/torch_tables")) {
    // Those of scripts/check_torch_tables.py.
    if (name.ends_with("corpus.2.13.txt") || name.ends_with("examples.2.13.txt")) continue;
    const bool of_2 = name.ends_with(".2.13.txt");
    tables += name.ends_with(".txt") && !of_2 ? 1u : 0u;
    tables_2 += of_2 ? 1u : 0u;
  }
  EXPECT_EQ(tables, 9u);
  EXPECT_EQ(tables_2, 16u);
}

}  // namespace
}  // namespace oplens::prof::torch_table_golden_test
