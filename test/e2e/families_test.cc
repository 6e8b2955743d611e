// The same run described once and written as each family of profiles gives the same table.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/network_run.h"
#include "test/support/test_files.h"

namespace oplens::test::families_test {
namespace {

std::string Table(const std::filesystem::path& profile) {
  const std::filesystem::path dict = TestDir() / "net.dict";
  const RunResult parsed = RunParse({profile.string(), "-o", dict.string()});
  EXPECT_EQ(parsed.exit_code, 0) << parsed.err;
  // How much of the GPU a profile tells differs: PyTorch's leave out clock and bandwidth.
  const RunResult table = RunProf({"--csv", "-c", "all", "--gpu", "V100 SXM2", dict.string()});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  return table.out;
}

class FamiliesTest : public testing::Test {
 protected:
  void SetUp() override {
    const NetworkRun run = ExampleNetwork();
    WriteNvprofRun(run, TestDir() / "net.sql");
    WriteNsysRun(run, TestDir() / "net.sqlite");
    WriteKinetoRun(run, TestDir() / "net.json");
  }
};

TEST_F(FamiliesTest, NsightSystemsEqualsNvprof) {
  EXPECT_EQ(Table(TestDir() / "net.sqlite"), Table(TestDir() / "net.sql"));
}

TEST_F(FamiliesTest, KinetoEqualsNvprof) {
  EXPECT_EQ(Table(TestDir() / "net.json"), Table(TestDir() / "net.sql"));
}

TEST_F(FamiliesTest, TheTableIsRight) {
  const std::filesystem::path dict = TestDir() / "net.dict";
  ASSERT_EQ(RunParse({(TestDir() / "net.json").string(), "-o", dict.string()}).exit_code, 0);
  const std::vector<nlohmann::json> rows = ProfRows(dict, {"-c", "all"});
  ASSERT_EQ(rows.size(), 10u);
  const auto column = [&](const char* key) {
    std::vector<nlohmann::json> values;
    for (const nlohmann::json& row : rows) values.push_back(row.at(key));
    return values;
  };
  using testing::ElementsAre;
  EXPECT_THAT(column("op"),
              ElementsAre("embedding", "addmm", "relu", "softmax", "threshold_backward", "mm", "mm",
                          "embedding", "mystery", nullptr));
  EXPECT_THAT(column("dir"), ElementsAre("fprop", "fprop", "fprop", "fprop", "bprop", "bprop",
                                         "bprop", "bprop", "fprop", nullptr));
  // 2 m n k, and the bias of addmm.
  EXPECT_EQ(rows[1]["flops"], 2 * 256 * 128 * 64 + 256 * 128);
  EXPECT_EQ(rows[5]["flops"], 2 * 256 * 64 * 128);
  EXPECT_EQ(rows[6]["flops"], 2 * 128 * 64 * 256);
  EXPECT_EQ(rows[1]["layer"], nlohmann::json::array({"Linear_0"}));
  EXPECT_EQ(rows[1]["trace"], nlohmann::json::array({"train.py:10", "net.py:20"}));
  EXPECT_EQ(rows[7]["layer"], nlohmann::json::array({"Embedding_0"}));
  EXPECT_EQ(rows[8]["range"], nlohmann::json::array({"iteration 7"}));
}

}  // namespace
}  // namespace oplens::test::families_test
