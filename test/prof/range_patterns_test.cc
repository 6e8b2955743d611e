#include "prof/range_patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "test/prof/rows.h"

namespace oplens::prof::range_patterns_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RangePatternsTest : public testing::Test {
 protected:
  PricedKernel RowIn(std::vector<std::string_view> ranges,
                     std::vector<std::string_view> layers = {}) {
    record_ = test::PlainRecord();
    record_.range = std::move(ranges);
    record_.layer = std::move(layers);
    PricedKernel row;
    row.record = &record_;
    row.layer = record_.layer;
    return row;
  }
  KernelRecord record_;
};

TEST_F(RangePatternsTest, KeepsWhatIsInside) {
  RangeFilter filter("epoch [12]|stem");
  EXPECT_TRUE(filter.Keeps(RowIn({"run", "epoch 1, batch 7"})));
  EXPECT_FALSE(filter.Keeps(RowIn({"run", "epoch 3"})));
  EXPECT_TRUE(filter.Keeps(RowIn({"run"}, {"net", "stem"})));
  EXPECT_FALSE(filter.Keeps(RowIn({})));
  EXPECT_THAT(filter.Notes(), IsEmpty());
}

TEST_F(RangePatternsTest, KeepsTheBackwardPassThatSomebodyInsideWaitsFor) {
  RangeFilter filter("^backward$");
  PricedKernel row = RowIn({});
  record_.caller_range = {"epoch 1", "backward"};
  EXPECT_TRUE(filter.Keeps(row));
  record_.caller_range = {"epoch 1"};
  EXPECT_FALSE(filter.Keeps(row));
}

TEST_F(RangePatternsTest, AStepHasEveryThread) {
  RangeFilter filter("ProfilerStep#7$");
  PricedKernel row = RowIn({});
  record_.step = 7;
  EXPECT_TRUE(filter.Keeps(row));
  record_.step = 17;
  EXPECT_FALSE(filter.Keeps(row));
  record_.step.reset();
  EXPECT_FALSE(filter.Keeps(row));
}

TEST_F(RangePatternsTest, StepsOfBackwardKernelsAreThoseOfWhoWaits) {
  StepFinder steps("iteration");
  PricedKernel row = RowIn({});
  record_.caller_range = {"iteration 4"};
  EXPECT_EQ(steps.StepOf(row), 4);
}

TEST_F(RangePatternsTest, SaysThatNothingIsInside) {
  RangeFilter filter("epoch");
  EXPECT_THAT(filter.Notes(), IsEmpty());
  EXPECT_FALSE(filter.Keeps(RowIn({"run"})));
  EXPECT_THAT(filter.Notes(), ElementsAre(HasSubstr("of the 1 kernels holds 'epoch'")));
}

TEST_F(RangePatternsTest, StepIsTheNumber) {
  StepFinder any("iteration");
  EXPECT_EQ(any.StepOf(RowIn({"job 3", "iteration 12 of 40"})), 12);
  StepFinder group("it(?:er)?_\\w+:(\\d+)");
  EXPECT_EQ(group.StepOf(RowIn({"it_v2:7"})), 7);
  EXPECT_EQ(group.StepOf(RowIn({"it_v2:-"}, {"iter_a:8"})), 8);
  EXPECT_EQ(group.StepOf(RowIn({"iter_a:1", "iter_b:2"})), 1);  // The outermost.
  EXPECT_THAT(group.Notes(), IsEmpty());
}

TEST_F(RangePatternsTest, TextsWithoutANumberSayNothing) {
  StepFinder steps("iteration");
  EXPECT_EQ(steps.StepOf(RowIn({"iteration"})), std::nullopt);
  EXPECT_EQ(steps.StepOf(RowIn({"iteration 99999999999999999999"})), std::nullopt);
  EXPECT_THAT(steps.Notes(), ElementsAre(HasSubstr("2 kernels are in a match without a number "
                                                   "(\"iteration\")")));
  StepFinder none("epoch");
  EXPECT_EQ(none.StepOf(RowIn({"iteration 1"})), std::nullopt);
  EXPECT_THAT(none.Notes(), ElementsAre(HasSubstr("holds 'epoch'")));
}

TEST_F(RangePatternsTest, WhatATextSays) {
  const StepFinder any("iteration");
  EXPECT_FALSE(any.TextOf("epoch 3").matches);
  EXPECT_EQ(any.TextOf("job 3, iteration 12").number, 12);
  EXPECT_TRUE(any.TextOf("iteration").matches);
  EXPECT_EQ(any.TextOf("iteration").number, std::nullopt);
  EXPECT_FALSE(any.TextOf("iteration 12").picked);
  const StepFinder group("iteration (\\w+)");
  EXPECT_TRUE(group.TextOf("iteration 12").picked);
  EXPECT_FALSE(group.TextOf("iteration x").matches);
}

TEST_F(RangePatternsTest, RangesOfAProfileNeedNoNumber) {
  StepFinder steps("iteration");
  PricedKernel row = RowIn({"iteration"});
  row.work = 0;
  EXPECT_EQ(steps.StepOf(row), std::nullopt);
  EXPECT_THAT(steps.Notes(), IsEmpty());
}

TEST_F(RangePatternsTest, BackwardKernelsOfAnotherThreadFollow) {
  StepFinder steps("iteration");
  EXPECT_EQ(steps.StepOf(RowIn({"iteration 1"})), 1);
  const auto backward = [&](int64_t thread_id, Direction direction, int64_t process_id) {
    RowIn({});
    record_.thread_id = thread_id;
    record_.direction = direction;
    if (process_id > 0) record_.process_id = process_id;
    PricedKernel row;
    row.record = &record_;
    return steps.StepOf(row);
  };
  EXPECT_EQ(backward(99, Direction::kBackward, 0), 1);
  EXPECT_EQ(backward(99, Direction::kForward, 0), std::nullopt);
  EXPECT_EQ(backward(7, Direction::kBackward, 0), std::nullopt);   // The thread of the ranges.
  EXPECT_EQ(backward(99, Direction::kBackward, 5), std::nullopt);  // Another process.
  EXPECT_EQ(steps.StepOf(RowIn({"iteration 2"})), 2);
  EXPECT_EQ(backward(99, Direction::kBackward, 0), 2);
  steps.Restart();
  EXPECT_EQ(backward(99, Direction::kBackward, 0), std::nullopt);
}

TEST_F(RangePatternsTest, RefusesWhatIsNoPattern) {
  EXPECT_THROW(RangeFilter("epoch ("), UsageError);
  EXPECT_THROW(StepFinder("[z-a]"), UsageError);
}

}  // namespace
}  // namespace oplens::prof::range_patterns_test
