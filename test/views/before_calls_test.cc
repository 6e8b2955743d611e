#include "prof/views/calls/before_calls.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/views/made_run.h"

namespace oplens::test::before_calls_test {
namespace {

constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)";

/// "op work idle" of each call, as it is in the set.
std::vector<std::string> Before(MadeRun* made) {
  const prof::CollectiveSet set = made->calls([](prof::PricedKernel* kernel) {
    if (kernel->record->short_name != "plain") kernel->op = kernel->record->short_name;
  });
  std::vector<std::string> before;
  for (const auto& [rank, recordings] : set.ranks()) {
    for (const prof::CollectiveSet::Recording& recording : recordings) {
      for (const prof::CollectiveSet::Call& call : prof::CollectiveSet::CallsOf(recording)) {
        const prof::WorkName* const work = set.WorkBefore(call);
        before.push_back((work != nullptr ? work->op : "-") + " " +
                         std::to_string(call.before.idle_permille));
      }
    }
  }
  return before;
}

TEST(BeforeCallsTest, SaysWhatTookMostSinceTheCallBefore) {
  MadeRun made;
  made.AddKernel(0, 100, kNoLaunch, "a");
  made.AddKernel(100, 150, kNoLaunch, "b");
  made.AddKernel(150, 220, kNoLaunch, "b");
  made.AddKernel(220, 300, kNoLaunch, kAllReduce);
  made.AddKernel(300, 350, kNoLaunch, "plain");
  made.AddKernel(400, 500, kNoLaunch, kAllReduce);
  made.AddKernel(600, 700, kNoLaunch, kAllReduce);
  made.AddKernel(700, 900, kNoLaunch, "b");  // Behind the last.
  EXPECT_EQ(Before(&made), (std::vector<std::string>{"b 0", "plain 500", "- 1000"}));
}

TEST(BeforeCallsTest, CountsWhatRunsBesideACallForTheNext) {
  MadeRun made;
  made.AddKernel(0, 100, kNoLaunch, kAllReduce);
  made.AddKernel(20, 180, kNoLaunch, "a");  // 80 of it behind the call.
  made.AddKernel(180, 190, kNoLaunch, "b");
  made.AddKernel(200, 300, kNoLaunch, kAllReduce);
  EXPECT_EQ(Before(&made), (std::vector<std::string>{"- 0", "a 100"}));
}

TEST(BeforeCallsTest, OfEqualOnesTheFirstByTextIsSaid) {
  for (const bool swapped : {false, true}) {
    MadeRun made;
    made.AddKernel(0, 100, kNoLaunch, swapped ? "b" : "a");
    made.AddKernel(100, 200, kNoLaunch, swapped ? "a" : "b");
    made.AddKernel(200, 300, kNoLaunch, kAllReduce);
    EXPECT_EQ(Before(&made), std::vector<std::string>{"a 0"});
  }
}

TEST(BeforeCallsTest, KnowsNothingWhereNobodyLooked) {
  MadeRun made;
  made.AddKernel(0, 100, kNoLaunch, "a");
  made.AddKernel(100, 200, kNoLaunch, kAllReduce);
  prof::CollectiveSet set;
  set.Add(made.run());
  const prof::CollectiveSet::Call call =
      prof::CollectiveSet::CallsOf(set.ranks().begin()->second[0])[0];
  EXPECT_EQ(set.WorkBefore(call), nullptr);
  EXPECT_EQ(call.before.idle_permille, -1);
}

}  // namespace
}  // namespace oplens::test::before_calls_test
