// No way through a program leaves a range open, or closes one twice.

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "nvtx_annotate/annotate.h"
#include "test/annotate/annotate_fixture.h"

namespace oplens::test::balance_test {
namespace {

using annotate::DType;
using annotate::OpName;
using annotate::ScopedForward;
using annotate::ScopedLayer;
using annotate::ScopedOp;
using annotate::ScopedRange;
using annotate::Tensor;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

OpName Name(const char* mod, const char* op) { return {mod, op, nullptr, 0}; }

static_assert(!std::is_copy_constructible_v<ScopedOp> && !std::is_move_constructible_v<ScopedOp>);
static_assert(!std::is_copy_assignable_v<ScopedOp> && !std::is_move_assignable_v<ScopedOp>);
static_assert(std::is_nothrow_constructible_v<ScopedOp, OpName>);
static_assert(std::is_nothrow_destructible_v<ScopedOp>);

template <typename T>
concept OnHeap = requires {
  new T("text");
};
static_assert(!OnHeap<ScopedLayer> && !OnHeap<ScopedRange>);

class BalanceTest : public AnnotateTest {};

TEST_F(BalanceTest, Exceptions) {
  EXPECT_THAT(EmitOutline([] {
                const ScopedRange outer("outer");
                try {
                  const ScopedLayer layer("net");
                  const ScopedForward op(Name("torch", "mm"), Tensor({2}, DType::kFloat32));
                  throw std::runtime_error("in the op");
                } catch (const std::runtime_error&) {
                }
                const ScopedRange after("after");
              }),
              ElementsAre("outer", "  layer:net", ::testing::HasSubstr("'op': 'mm'"),
                          "      mm, seq = 0", "  after"));
}

void ReturnEarly(int where) {
  const ScopedLayer layer("f");
  if (where == 0) return;
  const ScopedOp op(Name("torch", "a"));
  if (where == 1) return;
  const ScopedOp inner(Name("torch", "b"));
}

TEST_F(BalanceTest, EarlyReturns) {
  EXPECT_THAT(EmitOutline([] {
                for (int where = 0; where < 3; ++where) ReturnEarly(where);
              }),
              ElementsAre("layer:f", "layer:f", "  " + OpDict("torch", "a", ""), "layer:f",
                          "  " + OpDict("torch", "a", ""), "    " + OpDict("torch", "b", "")));
}

TEST_F(BalanceTest, TokenEndsWhatBeganInIt) {
  EXPECT_THAT(
      EmitOutline([] {
        const uint64_t outer = oplens_layer_begin("outer");
        const uint64_t op = oplens_op_begin("torch", "a", nullptr, 0);
        const uint64_t inner = oplens_range_begin("inner");
        oplens_end(outer);
        const uint64_t after = oplens_layer_begin("after");
        oplens_end(inner);  // Ended with the outer one: ignored.
        oplens_end(op);
        oplens_end(after);
      }),
      ElementsAre("layer:outer", "  " + OpDict("torch", "a", ""), "    inner", "layer:after"));
}

TEST_F(BalanceTest, TokenIsEndedTwice) {
  EXPECT_THAT(EmitOutline([] {
                const uint64_t first = oplens_range_begin("first");
                oplens_end(first);
                oplens_end(first);
                const uint64_t second = oplens_range_begin("second");
                oplens_end(first);
                const uint64_t third = oplens_range_begin("third");
                oplens_end(third);
                oplens_end(second);
              }),
              ElementsAre("first", "second", "  third"));
}

TEST_F(BalanceTest, TokenOfAnotherThread) {
  EXPECT_THAT(EmitOutline([] {
                const uint64_t token = oplens_range_begin("here");
                std::thread([token] {
                  oplens_end(token);  // Before this thread has any range.
                  const uint64_t own = oplens_range_begin("there");
                  oplens_end(token);
                  oplens_end(own);
                }).join();
                const uint64_t inner = oplens_range_begin("inner");
                oplens_end(inner);
                oplens_end(token);
              }),
              ElementsAre("here", "  inner"));
  EXPECT_THAT(RangesOf(Capture()).faults, IsEmpty());
}

TEST_F(BalanceTest, MadeUpTokens) {
  EXPECT_THAT(EmitOutline([] {
                const uint64_t token = oplens_range_begin("range");
                for (const uint64_t other : {uint64_t{0}, uint64_t{1}, token + 1, UINT64_MAX,
                                             token << 32, token & 0xffffffff00000000}) {
                  oplens_end(other);
                }
                const uint64_t inner = oplens_range_begin("inner");
                oplens_end(inner);
                oplens_end(token);
              }),
              ElementsAre("range", "  inner"));
}

TEST_F(BalanceTest, ScopesAndTokensInOneAnother) {
  EXPECT_THAT(
      EmitOutline([] {
        const uint64_t token = oplens_range_begin("token");
        {
          const ScopedRange scope("scope");
          oplens_range_begin("left to the scope");
        }
        {
          const ScopedRange scope("closed by the token");
          oplens_end(token);
        }
        const ScopedRange last("last");
      }),
      ElementsAre("token", "  scope", "    left to the scope", "  closed by the token", "last"));
}

void Recurse(int depth) {
  if (depth == 0) return;
  const ScopedForward op(Name("torch", "deep"));
  Recurse(depth - 1);
}

TEST_F(BalanceTest, RangesDeeperThanAnyProgram) {
  const NvtxRanges ranges = Emit([] {
    const ScopedLayer layer("net");
    Recurse(10'000);
    const ScopedLayer inner("inner");
  });
  EXPECT_GT(ranges.ranges.size(), 1000U);
  EXPECT_EQ(ranges.ranges.back().text, "layer:net.inner");
}

TEST_F(BalanceTest, LayersDeeperThanTheirPathMayBe) {
  const NvtxRanges ranges = Emit([] {
    std::vector<uint64_t> tokens;
    for (int i = 0; i < 300; ++i) tokens.push_back(oplens_layer_begin("0123456789"));
    for (; !tokens.empty(); tokens.pop_back()) oplens_end(tokens.back());
    const ScopedLayer after("after");
  });
  ASSERT_EQ(ranges.ranges.size(), 301U);
  EXPECT_EQ(ranges.ranges[1].text, "layer:0123456789.0123456789");
  EXPECT_EQ(ranges.ranges.back().text, "layer:after");
  EXPECT_EQ(ranges.ranges.back().parent, -1);
}

TEST_F(BalanceTest, LongLayersAreCutAtACodePoint) {
  std::string name;
  for (int i = 0; i < 400; ++i) name += "\xe2\x82\xac";
  const NvtxRanges ranges = Emit([&] { const ScopedLayer layer(name.c_str()); });
  ASSERT_EQ(ranges.ranges.size(), 1U);
  std::string expected = "layer:";
  for (int i = 0; i < 512 / 3; ++i) expected += "%E2%82%AC";
  EXPECT_EQ(ranges.ranges[0].text, expected + "...");
}

/// Emits while its thread ends, after everything of the library's thread may be gone.
struct EmitsAtThreadEnd {
  ~EmitsAtThreadEnd() {
    { const ScopedRange range("late"); }
    const uint64_t token = oplens_forward_begin("torch", "late", nullptr, 0, nullptr);
    oplens_end(token);
  }
};

TEST_F(BalanceTest, RangesWhileAThreadEnds) {
  Emit([] {
    static thread_local EmitsAtThreadEnd before;
    (void)&before;
    { const ScopedRange range("range"); }
    static thread_local EmitsAtThreadEnd after;
    (void)&after;
  });
}

TEST_F(BalanceTest, ThreadEndsInARange) {
  // Scopes cannot; of tokens it is the program's fault, and only its own ranges stay open.
  std::thread([] {
    oplens_layer_begin("left open");
    oplens_op_begin("torch", "left open", nullptr, 0);
  }).join();
  EXPECT_THAT(EmitOutline([] { const ScopedLayer layer("after"); }), ElementsAre("layer:after"));
}

}  // namespace
}  // namespace oplens::test::balance_test
