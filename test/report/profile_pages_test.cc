// What a page holds of a profile is what prof prints and what the profile says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "test/report/checked_page.h"
#include "test/report/read_page.h"
#include "test/support/network_run.h"
#include "test/support/test_files.h"

namespace oplens::test::profile_pages_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class FamiliesOfPagesTest : public testing::TestWithParam<std::string> {
 protected:
  std::string Write() {
    const fs::path path = TestDir() / GetParam();
    const NetworkRun run = ExampleNetwork();
    if (GetParam() == "net.sql") WriteNvprofRun(run, path);
    if (GetParam() == "net.sqlite") WriteNsysRun(run, path);
    if (GetParam() == "net.json") WriteKinetoRun(run, path);
    return path.string();
  }
};

TEST_P(FamiliesOfPagesTest, TablesTimelineAndLinks) {
  const std::string profile = Write();
  const ReadPage page = PageOf({profile}, {"--keep-paths", "--quiet"});
  EXPECT_EQ(page.summary().at("schema"), 2);
  EXPECT_THAT(page.summary().at("program").get<std::string>(), testing::StartsWith("oplens "));
  EXPECT_TRUE(page.summary().at("made").is_null());
  EXPECT_EQ(page.summary().at("left_out"), json::array());
  ExpectTablesOfProf(page, {profile});
  ExpectTimeline(page);
  ExpectLinks(page, 10);
  const json& rank = page.summary().at("ranks").at(0);
  EXPECT_GT(NumberOf(rank.at("duration_ns")), 0);
  EXPECT_FALSE(rank.at("devices").empty());
}

TEST_P(FamiliesOfPagesTest, SelectedSteps) {
  const std::string profile = Write();
  const ReadPage page = PageOf({profile}, {"--step-range", "0-3", "--keep-paths", "--quiet"});
  ExpectTablesOfProf(page, {profile}, {"--step-range", "0-3"});
}

INSTANTIATE_TEST_SUITE_P(All, FamiliesOfPagesTest,
                         testing::Values("net.sql", "net.sqlite", "net.json"),
                         [](const auto& of) { return of.param.substr(4); });

class CorpusPagesTest : public testing::TestWithParam<std::string> {};

TEST_P(CorpusPagesTest, TablesTimelineAndLinks) {
  OPLENS_NEED_CORPUS();
  const std::string profile = CorpusFile(GetParam()).string();
  const ReadPage page = PageOf({profile}, {"--keep-paths", "--quiet"});
  ExpectTablesOfProf(page, {profile});
  ExpectTimeline(page);
  ExpectLinks(page, 1);
}

INSTANTIATE_TEST_SUITE_P(All, CorpusPagesTest,
                         testing::Values("nvprof/lm.sql", "kineto/h100/bert_small.json"),
                         [](const auto& of) {
                           std::string name = of.param;
                           for (char& c : name) {
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace oplens::test::profile_pages_test
