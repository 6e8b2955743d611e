#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "prof/compat/tb/views.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"

namespace oplens::test::tb_distributed_test {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// A range of a collective with two inputs, and a kernel with its external id or another.
struct Call {
  std::string name = "nccl:all_reduce";
  int64_t start_us = 0;
  int64_t duration_us = 0;
  int64_t kernel_us = -1;  ///< Start of its kernel; -1: none has its external id.
  int64_t kernel_duration_us = 0;
};

std::string WriteRank(int rank, const std::vector<Call>& calls) {
  KinetoBuilder builder({.whole_microseconds = true});
  builder.AddMember("distributedInfo", fmt::format(R"({{"rank": {}, "world_size": 2}})", rank));
  builder.AddHost("user_annotation", "ProfilerStep#5", 0, 1'000'000);
  builder.AddKernel({.name = "gemm", .start_ns = 20'000, .duration_ns = 100'000});
  int64_t id = 1000;
  for (const Call& call : calls) {
    const std::string external = std::to_string(++id);
    builder.AddHost("user_annotation", call.name, call.start_us * 1000, call.duration_us * 1000,
                    1234,
                    {{"External id", external},
                     {"Input Dims", "[[10, 2], [3]]"},
                     {"Input type", R"(["float", "signed char"])"}});
    if (call.kernel_us < 0) continue;
    builder.AddKernel({.name = "ncclKernel",
                       .start_ns = call.kernel_us * 1000,
                       .duration_ns = call.kernel_duration_us * 1000,
                       .more = {{"External id", external}}});
  }
  const auto path = TestDir() / fmt::format("rank{}.json", rank);
  builder.Write(path);
  return path.string();
}

std::unique_ptr<prof::Partial> Tb(std::string_view view, const std::vector<std::string>& paths) {
  return PartialOf(ViewBy("tb", view), paths);
}

// rank 0   range |100-110|   kernel |200----260|   transfers: 6 and 40
// rank 1   range |102-108|   kernel    |220-260|
TEST(TbDistributedTest, TheShortestRangeIsTheTransfer) {
  const std::vector<std::string> paths = {WriteRank(0, {{"nccl:all_reduce", 100, 10, 200, 60}}),
                                          WriteRank(1, {{"nccl:all_reduce", 102, 6, 220, 40}})};
  const auto rows = RowsOf(*Tb("distributed", paths));
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].at("step"), "5");
  EXPECT_EQ(rows[0].at("latency_ns"), "70000");
  EXPECT_EQ(rows[0].at("transfer_ns"), "46000");
  EXPECT_EQ(rows[0].at("wait_ns"), "24000");
  EXPECT_EQ(rows[0].at("computation_ns"), "90000");  // Without the range.
  EXPECT_EQ(rows[0].at("overlap_ns"), "10000");
  EXPECT_EQ(rows[0].at("communication_ns"), "60000");
  EXPECT_EQ(rows[0].at("other_ns"), "840000");
  EXPECT_EQ(rows[2].at("wait_ns"), "0");
  const auto calls = RowsOf(*Tb("collectives", paths));
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].at("kind"), "nccl:all_reduce");
  EXPECT_EQ(calls[0].at("total_bytes"), "80");  // It does not know the other type.
  EXPECT_EQ(calls[0].at("latency_ns"), "70000");
}

TEST(TbDistributedTest, MergesInAnyOrder) {
  const std::string first = WriteRank(0, {{"nccl:all_reduce", 100, 10}});
  const std::string second = WriteRank(1, {{"nccl:all_reduce", 102, 6}});
  for (const char* const view : {"distributed", "collectives"}) {
    const auto together = RowsOf(*Tb(view, {first, second}));
    EXPECT_EQ(together.size(), view == std::string("distributed") ? 4u : 2u);
    const auto all = Tb(view, {second});
    all->Merge(*Tb(view, {first}));
    EXPECT_EQ(RowsOf(*all), together);
  }
}

TEST(TbDistributedTest, SaysWhyThePluginShowsNothing) {
  const std::string one = WriteRank(0, {{"nccl:all_reduce", 100, 10}});
  for (const auto& [calls, why] : std::vector<std::pair<std::vector<Call>, const char*>>{
           {{}, "knows no collective"},
           {{{"nccl:all_to_all", 100, 10}}, "knows no collective"},
           {{{"nccl:all_reduce", 100, 10}, {"gloo:all_reduce", 200, 10}}, "knows no collective"},
           {{{"nccl:all_reduce", 100, 10}, {"nccl:reduce", 200, 10}}, "counts of calls"},
           {{{"nccl:all_reduce", 100, 10, 200, 5}}, "counts of kernels"}}) {
    const auto partial = Tb("distributed", {one, WriteRank(1, calls)});
    EXPECT_TRUE(RowsOf(*partial).empty());
    EXPECT_THAT(partial->Notes(), Contains(HasSubstr(why)));
  }
}

TEST(TbDistributedTest, TakesNoKeys) {
  EXPECT_THROW(prof::MakeTbCollectives({.by = {"kind"}}), UsageError);
}

}  // namespace
}  // namespace oplens::test::tb_distributed_test
