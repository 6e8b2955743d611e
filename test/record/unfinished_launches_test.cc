// Launches without a kernel, which a recording that was cut off has.

#include "record/unfinished_launches.h"

#include <vector>

#include "test/record/spool_test.h"

namespace oplens::record::unfinished_launches_test {
namespace {

using spool::Table;
using test::RowRecord;
using test::SpoolStream;

constexpr int64_t kThread = 7;
constexpr int64_t kLaunchKernel = 211;  // cudaLaunchKernel
constexpr int64_t kGraphLaunch = 311;   // cudaGraphLaunch
constexpr int64_t kMalloc = 20;
constexpr int64_t kDriverLaunchKernel = 307;

std::string Call(Table table, int64_t cbid, int64_t start, int64_t correlation,
                 int64_t result = 0) {
  return RowRecord(table, {cbid, start, start + 5, int64_t{4711}, kThread, correlation, result});
}

class UnfinishedLaunches : public SpoolTest {
 protected:
  /// An image that started at `start_ns` and did not end.
  std::filesystem::path CutOffImage(int64_t start_ns, int number) const {
    const auto change = [start_ns](spool::ProcessPage* page) {
      page->state = spool::ProcessState::kRunning;
      page->cuda = spool::CudaState::kRecording;
      page->start_ns = start_ns;
    };
    return test::MakeSpoolImage(spool(), kProcess, output(), change, number);
  }
};

TEST_F(UnfinishedLaunches, AreThoseWithoutAKernel) {
  SpoolStream activity(CutOffImage(0, 0), spool::kActivityStream);
  const auto kernel = [&](int64_t start, int64_t end, int64_t correlation) {
    activity.Append(RowRecord(Table::kConcurrentKernel, KernelValues(start, end, correlation, 0)));
  };
  activity.Append(Call(Table::kRuntime, kLaunchKernel, 10, 1));
  kernel(20, 30, 1);
  activity.Append(Call(Table::kRuntime, kGraphLaunch, 20, 2));
  kernel(30, 40, 2);
  kernel(40, 50, 2);
  EXPECT_EQ(ConvertOne().unfinished_launches, 0);

  activity.Append(Call(Table::kRuntime, kMalloc, 50, 3));
  activity.Append(Call(Table::kRuntime, kLaunchKernel, 60, 4, 700));
  EXPECT_EQ(ConvertOne().unfinished_launches, 0) << "another call, and a launch that failed";

  activity.Append(
      RowRecord(Table::kGraphNode, {int64_t{72}, int64_t{kProcess}, kThread, int64_t{1}, int64_t{8},
                                    int64_t{0}, int64_t{0}, spool::kNullText}));
  activity.Append(Call(Table::kRuntime, kLaunchKernel, 70, 5));
  EXPECT_EQ(ConvertOne().unfinished_launches, 0) << "captured into a graph";

  activity.Append(Call(Table::kRuntime, kLaunchKernel, 80, 6));
  EXPECT_EQ(ConvertOne().unfinished_launches, 1);
  activity.Append(Call(Table::kDriver, kDriverLaunchKernel, 90, 7));
  EXPECT_EQ(ConvertOne().unfinished_launches, 2);
  activity.Append(Call(Table::kRuntime, kLaunchKernel, 100, 8));
  kernel(0, 0, 8);
  const ProcessSummary summary = ConvertOne();
  EXPECT_EQ(summary.unfinished_launches, 3) << "a kernel without times did not end";
  EXPECT_TRUE(summary.gpu_cut_off);
  EXPECT_EQ(Meta()["unfinished_launches"], "3");
}

TEST_F(UnfinishedLaunches, BelongToTheirImage) {
  SpoolStream first(CutOffImage(0, 0), spool::kActivityStream);
  first.Append(Call(Table::kRuntime, kLaunchKernel, 10, 1));
  // Numbers of calls begin anew.
  SpoolStream second(CutOffImage(1000, 1), spool::kActivityStream);
  second.Append(Call(Table::kRuntime, kLaunchKernel, 1010, 1));
  second.Append(RowRecord(Table::kConcurrentKernel, KernelValues(1020, 1030, 1, 0)));
  EXPECT_EQ(ConvertOne().unfinished_launches, 1);
}

TEST_F(UnfinishedLaunches, AreNotLookedForInAnImageThatEnded) {
  const std::filesystem::path image =
      MakeImage([](spool::ProcessPage* page) { page->cuda = spool::CudaState::kRecording; });
  SpoolStream(image, spool::kActivityStream).Append(Call(Table::kRuntime, kLaunchKernel, 10, 1));
  const ProcessSummary summary = ConvertOne();
  EXPECT_EQ(summary.unfinished_launches, 0);
  EXPECT_FALSE(summary.gpu_cut_off);
}

}  // namespace
}  // namespace oplens::record::unfinished_launches_test
