#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "prof/compat/tb/views.h"
#include "prof/views/views.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"

namespace oplens::prof::tb_modules_test {
namespace {

using test::KinetoBuilder;
using test::KinetoKernel;
using test::KinetoOperator;
using test::ViewRow;
using ::testing::HasSubstr;

class TbModulesTest : public ::testing::Test {
 protected:
  void Module(const std::string& name, int64_t id, int64_t start_us, int64_t end_us) {
    builder_.AddHost("python_function", "nn.Module: " + name, start_us * 1000,
                     (end_us - start_us) * 1000, 1234, {{"Python module id", std::to_string(id)}});
  }
  /// An operator whose call of 1 us launches a kernel, unless that has no time.
  void Call(const std::string& name, int64_t start_us, int64_t end_us, int64_t kernel_us) {
    const std::string id = std::to_string(++external_id_);
    KinetoOperator op;
    op.name = name;
    op.start_ns = start_us * 1000;
    op.duration_ns = (end_us - start_us) * 1000;
    op.more = {{"External id", id}};
    builder_.AddOperator(op);
    if (kernel_us == 0) return;
    KinetoKernel kernel;
    kernel.start_ns = start_us * 1000 + 500000;
    kernel.duration_ns = kernel_us * 1000;
    kernel.correlation = builder_.AddCall("cudaLaunchKernel", start_us * 1000, 1000, 1234,
                                          "cuda_runtime", {{"External id", id}});
    builder_.AddKernel(kernel);
  }
  std::unique_ptr<Partial> Find() {
    const std::filesystem::path path = test::TestDir() / "trace.json";
    builder_.Write(path);
    return test::PartialOf(test::ViewBy("tb", "modules"), {path.string()});
  }

  KinetoBuilder builder_;
  int64_t external_id_ = 100;
};

// |- Net_0 ------------------------------------------| 0..100
//   |- Linear_1 --------|   |- Linear_1 --|  |- add -|
//      |- linear -----|        |- t -|
//         |- addmm -|
TEST_F(TbModulesTest, ARowACallWithTheSumsOfAll) {
  Module("Net_0", 0, 0, 100);
  Module("Linear_1", 4, 10, 40);
  Call("aten::linear", 12, 38, 0);
  Call("aten::addmm", 20, 30, 7);
  Module("Linear_1", 4, 50, 60);
  Call("aten::t", 52, 54, 0);
  Call("aten::add", 70, 80, 3);
  const auto rows = test::RowsOf(*Find());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].at("name"), "Net_0");
  EXPECT_EQ(rows[0].at("level"), "0");
  EXPECT_EQ(rows[0].at("operators"), "1");
  EXPECT_EQ(rows[0].at("host_total_ns"), "100000");
  EXPECT_EQ(rows[0].at("host_self_ns"), "50000");  // Less 30, 10 and 10.
  EXPECT_EQ(rows[0].at("device_total_ns"), "10000");
  EXPECT_EQ(rows[0].at("device_self_ns"), "3000");
  EXPECT_EQ(rows[0].at("mean_ns"), "10000");
  EXPECT_EQ(rows[1], rows[2]);
  EXPECT_EQ(rows[1].at("name"), "Linear_1");
  EXPECT_EQ(rows[1].at("id"), "4");
  EXPECT_EQ(rows[1].at("level"), "1");
  EXPECT_EQ(rows[1].at("calls"), "2");
  EXPECT_EQ(rows[1].at("operators"), "2");
  EXPECT_EQ(rows[1].at("host_total_ns"), "40000");
  EXPECT_EQ(rows[1].at("host_self_ns"), "12000");  // Less 26 and 2.
  EXPECT_EQ(rows[1].at("device_self_ns"), "7000");
  EXPECT_EQ(rows[1].at("mean_ns"), "3500");
}

TEST_F(TbModulesTest, EqualTreesAreShownOnce) {
  for (const int64_t start_us : {0, 200, 400}) {
    Module("Net_0", 0, start_us, start_us + 100);
    if (start_us < 400) Module("Linear_1", 0, start_us + 10, start_us + 20);
  }
  Module("A_0", 0, 600, 650);
  std::vector<std::string> names;
  for (const ViewRow& row : test::RowsOf(*Find())) names.push_back(row.at("name"));
  EXPECT_THAT(names, ::testing::ElementsAre("A_0", "Net_0", "Net_0", "Linear_1"));
}

// The mean is of the host where the device did nothing.
TEST_F(TbModulesTest, WithoutWorkOfADevice) {
  Module("Net_0", 0, 0, 100);
  Call("aten::add", 10, 20, 0);
  const auto rows = test::RowsOf(*Find());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("device_total_ns"), "0");
  EXPECT_EQ(rows[0].at("mean_ns"), "100000");
}

TEST_F(TbModulesTest, MergedInAnyOrder) {
  Module("Net_0", 0, 0, 100);
  const auto one = Find();
  Module("Other_0", 0, 200, 300);
  const auto two = Find();
  const auto forth = MakeTbModules({});
  forth->Merge(*one);
  forth->Merge(*two);
  const auto back = MakeTbModules({});
  back->Merge(*two);
  back->Merge(*one);
  EXPECT_EQ(test::RowsOf(*forth), test::RowsOf(*back));
  EXPECT_EQ(test::RowsOf(*forth).size(), 3u);
}

TEST_F(TbModulesTest, OtherFilesHaveANote) {
  const auto partial = MakeTbModules({});
  partial->Begin(nullptr);
  partial->End(nullptr);
  EXPECT_TRUE(test::RowsOf(*partial).empty());
  ASSERT_EQ(partial->Notes().size(), 1u);
  EXPECT_THAT(partial->Notes()[0], HasSubstr("JSON trace"));
}

}  // namespace
}  // namespace oplens::prof::tb_modules_test
