#include "prof/price/row_queue.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "prof/price/row_pool.h"
#include "test/prof/rows.h"

namespace oplens::prof::row_queue_test {
namespace {

using test::PlainRecord;
using testing::Each;
using testing::ElementsAre;

constexpr std::string_view kGemm = "volta_sgemm_32x128_tn";
constexpr std::string_view kOtherGemm = "volta_sgemm_64x64_nn";
constexpr std::string_view kAdd = "void elementwise_kernel<512, 1, add_functor>(int)";
constexpr std::string_view kSplitK = "void splitKreduce_kernel<float>(float*)";

// A matrix op: its forward is one part, its backward two.
Annotation MatrixOp(int64_t id, int64_t flops, int64_t bytes) {
  Annotation annotation;
  annotation.id = id;
  annotation.op = "mm";
  annotation.price.emplace();
  annotation.price->matmul_like = true;
  annotation.price->forward = {{ops::Part::kForward, {flops, 0, bytes}}};
  annotation.price->backward = {{ops::Part::kDgrad, {flops, 0, bytes}},
                                {ops::Part::kWgrad, {flops, 0, bytes}}};
  return annotation;
}

ForwardOp OpNumbered(int64_t id) {
  ForwardOp op;
  op.id = id;
  return op;
}

// What goes into the queue.
struct Kernel {
  std::string_view name = kGemm;
  const Annotation* priced = nullptr;
  std::optional<int64_t> start_ns = std::nullopt;
  int64_t thread_id = 7;
  int64_t stream_id = 3;
  int64_t process_id = -1;
  std::vector<int64_t> seq_ids = {};
  const ForwardOp* forward = nullptr;
  std::vector<std::string_view> trace = {};
  int64_t grid_x = 1;
  int64_t forward_run = 0;
  std::vector<OuterCall> outer = {};
  Direction direction = Direction::kForward;  // Of one without `forward`.
};

class Queue {
 public:
  void Push(const Kernel& kernel) {
    std::unique_ptr<WaitingRow> row = pool_.New();
    row->record = PlainRecord();
    row->record.long_name = kernel.name;
    row->record.thread_id = kernel.thread_id;
    row->record.stream_id = kernel.stream_id;
    if (kernel.process_id >= 0) row->record.process_id = kernel.process_id;
    row->record.seq_ids = kernel.seq_ids;
    row->record.trace = kernel.trace;
    row->record.grid = {kernel.grid_x, 1, 1};
    row->record.direction = kernel.forward != nullptr ? Direction::kBackward : kernel.direction;
    row->row = PricedKernel();
    row->row.index = ++pushed_;
    row->resolution = {kernel.priced, kernel.start_ns, kernel.forward};
    row->resolution.forward_run = kernel.forward_run;
    row->outer = kernel.outer;
    queue_.Push(std::move(row));
    while (auto ready = queue_.PopReady()) Take(std::move(ready));
  }
  // The FLOPs of all rows in the order of their numbers; -1: unknown.
  std::vector<int64_t> Finish() {
    while (auto row = queue_.PopFirst()) Take(std::move(row));
    return flops_;
  }
  int64_t taken() const { return static_cast<int64_t>(flops_.size()); }
  const std::vector<ReasonSet>& reasons() const { return reasons_; }

 private:
  void Take(std::unique_ptr<WaitingRow> row) {
    EXPECT_EQ(row->row.index, taken() + 1) << "rows leave in the order in which they came";
    flops_.push_back(row->row.share.flops.value_or(-1));
    if (!row->row.reasons.Has(Reason::kUnknownRole)) {
      EXPECT_EQ(row->row.share.flops.has_value(), row->row.share.bytes.has_value());
    }
    reasons_.push_back(row->row.reasons);
    pool_.Recycle(std::move(row));
  }

  RowPool pool_;
  RowQueue queue_;
  int64_t pushed_ = 0;
  std::vector<int64_t> flops_;
  std::vector<ReasonSet> reasons_;
};

std::vector<int64_t> FlopsOf(const std::vector<Kernel>& kernels) {
  Queue queue;
  for (const Kernel& kernel : kernels) queue.Push(kernel);
  return queue.Finish();
}

class RowQueueTest : public testing::Test {
 protected:
  Annotation mm_ = MatrixOp(1, 1000, 10);
  Annotation other_ = MatrixOp(2, 77, 10);
  ForwardOp forward_ = OpNumbered(1);
  ForwardOp other_forward_ = OpNumbered(2);
};

TEST_F(RowQueueTest, WithoutPriceNothingIsKnown) { EXPECT_THAT(FlopsOf({{}}), ElementsAre(-1)); }

TEST_F(RowQueueTest, ACallInTheBackwardPassIsChargedAsItself) {
  Kernel first{kGemm, &mm_, 50};
  first.direction = Direction::kBackward;
  Kernel second{kGemm, &mm_, 60};
  second.direction = Direction::kBackward;
  EXPECT_THAT(FlopsOf({first, second}), ElementsAre(1000, 1000));
  // The same without the times at which the calls began.
  first.start_ns.reset();
  second.start_ns.reset();
  EXPECT_THAT(FlopsOf({first, second}), ElementsAre(1000, 1000));
}

TEST_F(RowQueueTest, HelpersOfACallGetNothing) {
  EXPECT_THAT(FlopsOf({{kGemm, &mm_, 50}, {kSplitK, &mm_, 50}}), ElementsAre(1000, 0));
}

TEST_F(RowQueueTest, TheStartOfTheRangeTellsCallsApart) {
  EXPECT_THAT(FlopsOf({{kGemm, &mm_, 50}, {kGemm, &mm_, 60}}), ElementsAre(1000, 1000));
  EXPECT_THAT(FlopsOf({{kGemm, &mm_, 50}, {kGemm, &mm_, 50}}), ElementsAre(500, 500));
  EXPECT_THAT(FlopsOf({{kGemm, &mm_, 50, 7}, {kGemm, &mm_, 50, 8}}), ElementsAre(1000, 1000))
      << "two threads";
  EXPECT_THAT(FlopsOf({{kGemm, &mm_, 50, 7, 3, 1}, {kGemm, &mm_, 50, 7, 3, 2}}),
              ElementsAre(1000, 1000))
      << "two processes";
  EXPECT_THAT(FlopsOf({{kGemm, &mm_, 50}, {kGemm, &other_, 50}}), ElementsAre(1000, 77))
      << "two ranges that begin together";
}

TEST_F(RowQueueTest, KernelsOfOneCallMayLieApart) {
  // Two streams run side by side, so the kernels of two calls alternate.
  EXPECT_THAT(FlopsOf({{kGemm, &mm_, 50, 7, 1},
                       {kGemm, &other_, 60, 7, 2},
                       {kSplitK, &mm_, 50, 7, 1},
                       {},
                       {kSplitK, &other_, 60, 7, 2}}),
              ElementsAre(1000, 77, 0, -1, 0));
}

TEST_F(RowQueueTest, ABackwardNodeIsOneCall) {
  const std::vector<int64_t> flops = FlopsOf({{kGemm, &mm_, {}, 7, 3, -1, {5}, &forward_},
                                              {kOtherGemm, &mm_, {}, 7, 3, -1, {5}, &forward_},
                                              {kGemm, &mm_, {}, 7, 3, -1, {6}, &forward_}});
  EXPECT_EQ(flops[0] + flops[1], 2000) << "both gradients";
  EXPECT_EQ(flops[2], 1000) << "of another node only one kernel is there";
}

TEST_F(RowQueueTest, BackwardNodesOfOneNumberButOtherOpsAreApart) {
  const std::vector<int64_t> flops =
      FlopsOf({{kGemm, &mm_, {}, 7, 3, -1, {0}, &forward_},
               {kGemm, &other_, {}, 7, 3, -1, {0}, &other_forward_}});
  EXPECT_THAT(flops, ElementsAre(1000, 77));
}

TEST_F(RowQueueTest, WithoutStartsFollowersWithOtherNamesAreOneCall) {
  EXPECT_THAT(FlopsOf({{kGemm, &mm_}, {kSplitK, &mm_}}), ElementsAre(1000, 0));
  EXPECT_THAT(FlopsOf({{kGemm, &mm_}, {kSplitK, &mm_}, {kGemm, &mm_}, {kSplitK, &mm_}}),
              ElementsAre(1000, 0, 1000, 0))
      << "a name that comes again begins a new call";
  EXPECT_THAT(FlopsOf({{kGemm, &mm_}, {}, {kOtherGemm, &mm_}}), ElementsAre(1000, -1, 1000))
      << "another op between them ends the call";
  EXPECT_THAT(FlopsOf({{kGemm, &mm_}, {kOtherGemm, &mm_, {}, 8}}), ElementsAre(1000, 1000));
  EXPECT_THAT(FlopsOf({{kGemm, &mm_}, {kOtherGemm, &mm_, {}, 7, 3, -1, {4}}}),
              ElementsAre(1000, 1000));
  EXPECT_THAT(FlopsOf({{kGemm, &mm_}, {kOtherGemm, &mm_, {}, 7, 3, -1, {}, nullptr, {"a.py:1"}}}),
              ElementsAre(1000, 1000));
}

TEST_F(RowQueueTest, WithoutStartsStreamsDoNotDisturbEachOther) {
  EXPECT_THAT(FlopsOf({{kGemm, &mm_, {}, 7, 1},
                       {kGemm, &other_, {}, 7, 2},
                       {kSplitK, &mm_, {}, 7, 1},
                       {kSplitK, &other_, {}, 7, 2}}),
              ElementsAre(1000, 77, 0, 0));
}

TEST_F(RowQueueTest, RowsLeaveOnceTheirCallIsClosed) {
  Queue queue;
  queue.Push({kGemm, &mm_, 50});
  for (int64_t i = 1; i < InstanceGrouper::kWindow; ++i) queue.Push({});
  EXPECT_EQ(queue.taken(), 0);
  queue.Push({});
  EXPECT_EQ(queue.taken(), InstanceGrouper::kWindow + 1);
  queue.Push({});
  EXPECT_EQ(queue.taken(), InstanceGrouper::kWindow + 2) << "rows without a call do not wait";
}

// On another stream, far behind: the work is given away already.
TEST_F(RowQueueTest, ALateKernelOfAClosedCallIsNotCountedAgain) {
  Queue queue;
  queue.Push({kGemm, &mm_, 50});
  for (int64_t i = 0; i < 3 * InstanceGrouper::kWindow; ++i) queue.Push({});
  queue.Push({kOtherGemm, &mm_, 50});
  const std::vector<int64_t> flops = queue.Finish();
  EXPECT_EQ(flops.front(), 1000);
  EXPECT_EQ(flops.back(), -1);
  EXPECT_TRUE(queue.reasons().back().Has(Reason::kUnknownRole));
}

// Sequence ids may come again in the next iteration, with the same op.
TEST_F(RowQueueTest, ABackwardNodeMayComeAgain) {
  Queue queue;
  queue.Push({kGemm, &mm_, {}, 7, 3, -1, {5}, &forward_});
  for (int64_t i = 0; i < 3 * InstanceGrouper::kWindow; ++i) queue.Push({});
  queue.Push({kGemm, &mm_, {}, 7, 3, -1, {5}, &forward_});
  EXPECT_EQ(queue.Finish().back(), 1000);
}

TEST_F(RowQueueTest, EachRunOfTheForwardOpHasItsBackward) {
  std::vector<Kernel> kernels;
  for (int64_t run : {1, 2}) {
    kernels.push_back({kGemm, &mm_, {}, 7, 3, -1, {5}, &forward_, {}, 1, run});
    kernels.push_back({kOtherGemm, &mm_, {}, 7, 3, -1, {5}, &forward_, {}, 1, run});
  }
  EXPECT_THAT(FlopsOf(kernels), Each(1000));
}

TEST_F(RowQueueTest, ASecondPassOverOneForwardPassIsCountedAgain) {
  const Kernel gemm{kGemm, &mm_, {}, 7, 3, -1, {5}, &forward_};
  const Kernel other_gemm{kOtherGemm, &mm_, {}, 7, 3, -1, {5}, &forward_};
  EXPECT_THAT(FlopsOf({gemm, other_gemm, gemm, other_gemm}), Each(1000)) << "all gradients twice";
  EXPECT_THAT(FlopsOf({gemm, gemm, gemm, gemm}), Each(1000)) << "one kernel for both gradients";
  EXPECT_THAT(FlopsOf({gemm, {}, gemm}), ElementsAre(1000, -1, 1000)) << "another op in between";
  EXPECT_THAT(FlopsOf({gemm, {"x", nullptr, {}, 7, 9}, gemm}), ElementsAre(1000, -1, 1000))
      << "both gradients: another stream says nothing";

  Annotation relu = MatrixOp(3, 600, 10);
  relu.price->matmul_like = false;
  relu.price->backward = {{ops::Part::kBackward, {0, 600, 10}}};
  const Kernel add{kAdd, &relu, {}, 7, 3, -1, {6}, &other_forward_};
  EXPECT_THAT(FlopsOf({add, add}), ElementsAre(300, 300)) << "an op may launch a kernel twice";
  EXPECT_THAT(FlopsOf({add, gemm, add, gemm}), ElementsAre(600, 1000, 600, 1000));
}

// linear holds matmul; a kernel under linear alone does not get the product again.
TEST_F(RowQueueTest, WorkOfANestedCallIsNotCountedAgain) {
  Annotation linear = MatrixOp(3, 1000, 10);
  const std::vector<OuterCall> outer = {{&linear, 40}};
  const Kernel inside{kGemm, &mm_, 50, 7, 3, -1, {}, nullptr, {}, 1, 0, outer};
  const Kernel outside{kAdd, &linear, 40};
  const Kernel other_call{kGemm, &linear, 41};
  EXPECT_THAT(FlopsOf({inside, outside, other_call}), ElementsAre(1000, -1, 1000));
  EXPECT_THAT(FlopsOf({outside, inside}), ElementsAre(-1, 1000));

  linear.price->forward.front().work.vec = 6;
  EXPECT_THAT(FlopsOf({inside, outside}), ElementsAre(1000, 6)) << "the bias is left";

  Queue late;
  late.Push(inside);
  for (int64_t i = 0; i < 3 * InstanceGrouper::kWindow; ++i) late.Push({});
  late.Push(outside);
  EXPECT_EQ(late.Finish().back(), 6);
}

// One call of more kernels than may wait: its work is given away once.
TEST_F(RowQueueTest, AnEndlessCallIsNotCountedTwice) {
  Queue queue;
  const auto kernels = static_cast<int64_t>(RowQueue::kMaxRows) * 3;
  for (int64_t i = 0; i < kernels; ++i) queue.Push({kGemm, &mm_, 50});
  EXPECT_GT(queue.taken(), kernels - static_cast<int64_t>(RowQueue::kMaxRows) - 2);
  int64_t sum = 0;
  int64_t unknown = 0;
  for (int64_t flops : queue.Finish()) (flops < 0 ? unknown : sum) += flops;
  EXPECT_EQ(sum, 1000);
  EXPECT_LT(unknown, 0);
  EXPECT_TRUE(queue.reasons().back().Has(Reason::kUnknownRole));
}

TEST_F(RowQueueTest, HugeLinesDoNotWait) {
  RowQueue queue;
  for (int i = 0; i < 3; ++i) {
    auto row = std::make_unique<WaitingRow>();
    row->line.assign(RowQueue::kMaxBytes, 'x');
    row->record = PlainRecord();
    row->resolution = {&mm_, 50 + i, nullptr};
    queue.Push(std::move(row));
    int taken = 0;
    while (auto ready = queue.PopReady()) ++taken;
    EXPECT_EQ(taken, i == 0 ? 0 : 1);
  }
}

TEST_F(RowQueueTest, MoreStreamsThanAreRemembered) {
  Queue queue;
  for (int64_t i = 0; i < 20000; ++i) queue.Push({kGemm, &mm_, {}, 7, i});
  EXPECT_THAT(queue.Finish(), Each(1000));
}

// Whatever calls run side by side, the kernels of each add up to its work.
RC_GTEST_PROP(RowQueueProperty, KernelsOfACallAddUpToItsWork, ()) {
  const auto names = std::vector<std::string_view>{kGemm, kOtherGemm, kAdd, kSplitK};
  const auto call_count = *rc::gen::inRange<size_t>(1, 40);
  struct Call {
    Annotation annotation;
    ForwardOp forward;
    bool backward = false;
    std::vector<Kernel> kernels;
    int64_t expected = 0;
  };
  std::vector<std::unique_ptr<Call>> calls;
  for (size_t i = 0; i < call_count; ++i) {
    auto call = std::make_unique<Call>();
    const auto flops = *rc::gen::inRange<int64_t>(0, 1000000);
    call->annotation = MatrixOp(static_cast<int64_t>(i) + 1, flops, flops / 3);
    call->forward.id = static_cast<int64_t>(i) + 1;
    call->backward = *rc::gen::arbitrary<bool>();
    const auto kernel_count = *rc::gen::inRange<size_t>(1, 6);
    for (size_t k = 0; k < kernel_count; ++k) {
      Kernel kernel;
      kernel.name = k == 0 ? kGemm : *rc::gen::elementOf(names);
      kernel.priced = &call->annotation;
      kernel.stream_id = *rc::gen::inRange<int64_t>(0, 3);
      kernel.thread_id = static_cast<int64_t>(i % 3);
      kernel.grid_x = *rc::gen::inRange<int64_t>(1, 50);
      kernel.start_ns = static_cast<int64_t>(i);
      kernel.seq_ids = {static_cast<int64_t>(i)};
      if (call->backward) {
        kernel.forward = &call->forward;
        kernel.grid_x = static_cast<int64_t>(k) + 1;  // An equal kernel may begin a new call.
      }
      call->kernels.push_back(kernel);
    }
    calls.push_back(std::move(call));
  }
  // Calls of three threads interleave at random.
  std::vector<std::pair<size_t, Kernel>> order;
  for (size_t base = 0; base < call_count; base += 3) {
    std::vector<std::pair<size_t, Kernel>> block;
    for (size_t i = base; i < std::min(base + 3, call_count); ++i) {
      for (const Kernel& kernel : calls[i]->kernels) block.emplace_back(i, kernel);
    }
    while (!block.empty()) {
      const auto pick = *rc::gen::inRange<size_t>(0, block.size());
      order.push_back(block[pick]);
      block.erase(block.begin() + static_cast<std::ptrdiff_t>(pick));
    }
  }
  Queue queue;
  for (const auto& [call, kernel] : order) queue.Push(kernel);
  const std::vector<int64_t> flops = queue.Finish();
  std::map<size_t, int64_t> sums;
  for (size_t i = 0; i < order.size(); ++i) {
    RC_ASSERT(flops[i] >= 0);
    sums[order[i].first] += flops[i];
  }
  for (size_t i = 0; i < call_count; ++i) {
    const int64_t work = *calls[i]->annotation.price->forward[0].work.mma.Value();
    if (!calls[i]->backward) {
      RC_ASSERT(sums[i] == work);
    } else {  // A gradient without a kernel costs nothing.
      RC_ASSERT(sums[i] == work || sums[i] == 2 * work);
    }
  }
}

}  // namespace
}  // namespace oplens::prof::row_queue_test
