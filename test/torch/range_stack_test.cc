#include "nvtx_annotate/torch/range_stack.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>

#include "nvtx_annotate/torch/node_owners.h"

namespace oplens::annotate::torch::range_stack_test {
namespace {

// Tokens are those of no range: ending them does nothing.
constexpr uint64_t kToken = ~uint64_t{0};

Surroundings Inside(int64_t seq) { return {seq, Place::kOp, markers::Direction::kForward}; }

TEST(RangeStackTest, SurroundingsAreThoseOfTheInnermost) {
  RangeStack* const stack = RangeStack::OfThread();
  ASSERT_NE(stack, nullptr);
  EXPECT_EQ(stack->surroundings().place, Place::kOutside);
  const auto outer = stack->Push(kToken, Inside(1));
  const auto inner = stack->Push(kToken, Inside(2));
  EXPECT_EQ(stack->surroundings().seq, 2);
  stack->End(inner);
  EXPECT_EQ(stack->surroundings().seq, 1);
  stack->End(outer);
  EXPECT_EQ(stack->surroundings().seq, -1);
}

TEST(RangeStackTest, EndingTheOuterEndsTheInner) {
  RangeStack* const stack = RangeStack::OfThread();
  const auto outer = stack->Push(kToken, Inside(1));
  const auto inner = stack->Push(kToken, Inside(2));
  stack->End(outer);
  EXPECT_EQ(stack->surroundings().seq, -1);
  // What ends afterwards is not taken for another range in its place.
  const auto next = stack->Push(kToken, Inside(3));
  const auto second = stack->Push(kToken, Inside(4));
  stack->End(inner);
  stack->End(outer);
  EXPECT_EQ(stack->surroundings().seq, 4);
  stack->End(second);
  stack->End(next);
}

TEST(RangeStackTest, AnotherThreadEndsARange) {
  RangeStack* const stack = RangeStack::OfThread();
  const auto outer = stack->Push(kToken, Inside(1));
  const auto inner = stack->Push(kToken, Inside(2));
  std::thread([&] { stack->End(outer); }).join();
  stack->EndRequested();
  // The inner range is still open: the outer one waits for it.
  EXPECT_EQ(stack->surroundings().seq, 2);
  stack->End(inner);
  EXPECT_EQ(stack->surroundings().seq, -1);

  const auto last = stack->Push(kToken, Inside(3));
  std::thread([&] { stack->End(last); }).join();
  stack->EndRequested();
  EXPECT_EQ(stack->surroundings().seq, -1);
}

TEST(RangeStackTest, StacksOutliveTheirThreads) {
  RangeStack* first = nullptr;
  RangeStack::Mark mark;
  std::thread([&] {
    first = RangeStack::OfThread();
    mark = first->Push(kToken, Inside(1));
  }).join();
  first->End(mark);
  std::thread([&] {
    EXPECT_EQ(RangeStack::OfThread(), first);
    EXPECT_EQ(first->surroundings().place, Place::kOutside);
  }).join();
}

TEST(RangeStackTest, ObjectsStandBesideTheirRanges) {
  RangeStack* const stack = RangeStack::OfThread();
  const auto outer = stack->Push(kToken, Inside(1));
  void* const first = stack->NewObject();
  const auto inner = stack->Push(kToken, Inside(2));
  void* const second = stack->NewObject();
  EXPECT_NE(second, first);
  std::memset(second, 0xff, RangeStack::kObjectBytes);
  EXPECT_EQ(stack->surroundings().seq, 2);
  stack->End(inner);
  EXPECT_EQ(stack->surroundings().seq, 1);
  std::thread([&] { RangeStack::DeleteObject(second); }).join();
  stack->Push(kToken, Inside(3));
  EXPECT_EQ(stack->NewObject(), second);
  RangeStack::DeleteObject(second);
  RangeStack::DeleteObject(first);
  stack->End(outer);
}

/// Of ranges that ended on another thread, or in another order.
TEST(RangeStackTest, ObjectsThatAreLeftKeepTheirMemory) {
  RangeStack* const stack = RangeStack::OfThread();
  std::set<void*> objects;
  for (int i = 0; i < 100; ++i) {
    const auto range = stack->Push(kToken, Inside(1));
    void* const object = stack->NewObject();
    std::memset(object, i, RangeStack::kObjectBytes);
    EXPECT_TRUE(objects.insert(object).second);
    stack->End(range);
  }
  for (void* const object : objects) RangeStack::DeleteObject(object);
}

TEST(RangeStackTest, DepthIsLimited) {
  RangeStack* const stack = RangeStack::OfThread();
  const auto first = stack->Push(kToken, Inside(0));
  size_t pushed = 1;
  for (; stack->HasRoom(); ++pushed) stack->Push(kToken, Inside(static_cast<int64_t>(pushed)));
  EXPECT_EQ(pushed, markers::kMaxDepth - 1);
  EXPECT_EQ(stack->surroundings().seq, static_cast<int64_t>(pushed - 1));
  stack->End(first);
  EXPECT_EQ(stack->surroundings().seq, -1);
}

TEST(NodeOwnersTest, FindsTheCallOfANumber) {
  static NodeOwners owners;
  EXPECT_EQ(owners.Find(1, 7), 0U);
  owners.Set(1, 7, 100);
  owners.Set(2, 7, 200);
  owners.Set(1, 0, 300);
  EXPECT_EQ(owners.Find(1, 7), 100U);
  EXPECT_EQ(owners.Find(2, 7), 200U);
  EXPECT_EQ(owners.Find(1, 0), 300U);
  EXPECT_EQ(owners.Find(1, 8), 0U);
  // The next one in its place is another node's.
  owners.Set(1, 7 + (size_t{1} << 17), 400);
  EXPECT_EQ(owners.Find(1, 7), 0U);
  EXPECT_EQ(owners.Find(1, 7 + (size_t{1} << 17)), 400U);
}

TEST(ThreadNumbersTest, FindsWhatWasSet) {
  static ThreadNumbers numbers;
  EXPECT_EQ(numbers.Find(1), 0U);
  numbers.Set(1, 1234);
  EXPECT_EQ(numbers.Find(1), 1234U);
  // The next one in its place is another thread.
  EXPECT_EQ(numbers.Find(1 + 16384), 0U);
  numbers.Set(1 + 16384, 77);
  EXPECT_EQ(numbers.Find(1 + 16384), 77U);
  EXPECT_EQ(numbers.Find(1), 0U);
}

}  // namespace
}  // namespace oplens::annotate::torch::range_stack_test
