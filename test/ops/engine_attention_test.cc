// Attention over the caches of inference engines: exact where the arguments leave no choice, else a
// bound.
#include <gtest/gtest.h>

#include <algorithm>

#include "test/ops/cases.h"

namespace oplens::ops::test::engine_attention_test {
namespace {

// Pairs of one head of a sequence whose queries are the last of its keys.
int64_t CountCausal(int64_t queries, int64_t keys, int64_t window) {
  int64_t pairs = 0;
  for (int64_t q = 0; q < queries; ++q) {
    for (int64_t k = 0; k < keys; ++k) {
      const int64_t before = q + keys - queries - k;
      if (before >= 0 && (window < 0 || before <= window)) ++pairs;
    }
  }
  return pairs;
}

PricedOp PriceOf(const char* op, const char* args) {
  const PriceResult result = PriceCall(MakeCall(op, args));
  EXPECT_TRUE(result.price) << op << " " << args;
  return result.price.value_or(PricedOp());
}

int64_t MmaOf(const PricedOp& op) { return op.forward.at(0).work.mma.Value().value_or(-1); }

TEST(EngineAttentionTest, BatchPrefillOfFullSequences) {
  // 3 sequences of 7 queries and keys each, 4 heads of 16, two of the cache.
  const PricedOp op = PriceOf("mha_batch_prefill",
                              "[21,4,16]bf16 [99,2,16]bf16 [99,2,16]bf16 [4]int32 [4]int32 "
                              "[30]int32 7 7 0.0 0.25 0.0 False True -1 -1 0 False False");
  const int64_t pairs = 3 * CountCausal(7, 7, -1);
  EXPECT_EQ(MmaOf(op), pairs * 4 * 2 * 32);
  EXPECT_FALSE(op.flops_bounded);
  EXPECT_TRUE(op.bytes_known);
  // Queries and results, keys and values of 21 tokens, offsets and pages.
  EXPECT_EQ(op.forward[0].work.bytes.Value(), 2 * 21 * 4 * 16 * 2 + 2 * 21 * 2 * 16 * 2 + 38 * 4);
  EXPECT_EQ(op.params, "T=21,H=4,Hk=2,D=16,bf16,pairs=84");
}

TEST(EngineAttentionTest, BatchPrefillWithAWindow) {
  const PricedOp op = PriceOf("mha_batch_prefill",
                              "[21,4,16]bf16 [99,4,16]bf16 [99,4,16]bf16 [4]int32 [4]int32 "
                              "[30]int32 7 7 0.0 0.25 0.0 False True 2 0 0 False False");
  EXPECT_EQ(MmaOf(op), 3 * CountCausal(7, 7, 2) * 4 * 2 * 32);
}

TEST(EngineAttentionTest, BatchPrefillOfUnknownLengths) {
  const char* const kBound =
      "[20,4,16]bf16 [99,2,16]bf16 [99,2,16]bf16 [4]int32 [4]int32 [30]int32 7 9 0.0 0.25 0.0 "
      "False True -1 -1";
  const PricedOp op = PriceOf("mha_batch_prefill", kBound);
  EXPECT_TRUE(op.flops_bounded);
  EXPECT_FALSE(op.bytes_known);
  EXPECT_EQ(op.params, "T=20,H=4,Hk=2,D=16,bf16,pairs<=180");
  // Whatever the lengths are, there are no more pairs.
  int64_t most = 0;
  for (int64_t a = 1; a <= 7; ++a) {
    for (int64_t b = 1; b <= 7; ++b) {
      const int64_t c = 20 - a - b;
      if (c < 1 || c > 7) continue;
      most = std::max(most, CountCausal(a, 9, -1) + CountCausal(b, 9, -1) + CountCausal(c, 9, -1));
    }
  }
  EXPECT_LE(most * 4 * 2 * 32, MmaOf(op));
}

TEST(EngineAttentionTest, UnifiedAttentionHasALowerBound) {
  const PricedOp op =
      PriceOf("unified_attention_with_output",
              "[8,4,16]bf16 [8,2,16]bf16 [8,2,16]bf16 [8,4,16]bf16 'layer' None None");
  EXPECT_TRUE(op.flops_bounded);
  EXPECT_EQ(op.params, "T=8,H=4,Hk=2,D=16,bf16,pairs>=8");
  EXPECT_EQ(MmaOf(op), 8 * 4 * 2 * 32);
  EXPECT_FALSE(op.bytes_known);
}

TEST(EngineAttentionTest, PagedAttention) {
  // 3 sequences of at most 10 keys; 4 pages of 4 hold 16.
  PricedOp op = PriceOf("paged_attention_v1",
                        "[3,4,16]bf16 [3,4,16]bf16 [9,2,2,4,8]bf16 [9,2,16,4]bf16 2 0.25 "
                        "[3,4]int32 [3]int32 4 10 None");
  EXPECT_TRUE(op.flops_bounded);
  EXPECT_EQ(op.params, "T=3,H=4,Hk=2,D=16,bf16,pairs<=30");
  // Lengths that are recorded: 10 + 2 + 5.
  OpCall call = MakeCall("paged_attention_v1",
                         "[3,4,16]bf16 [3,4,16]bf16 [9]bf16 [9]bf16 2 0.25 [3,4]int32 [10,2,5] "
                         "4 10 None");
  op = *PriceCall(call).price;
  EXPECT_FALSE(op.flops_bounded);
  EXPECT_EQ(MmaOf(op), 17 * 4 * 2 * 32);
}

TEST(EngineAttentionTest, CacheFunctions) {
  // Two sequences of one query, caches of 12 keys each.
  PricedOp op =
      PriceOf("flash_attn_with_kvcache", "[2,1,4,16]bf16 [2,12,2,16]bf16 [2,12,2,16]bf16");
  EXPECT_TRUE(op.flops_bounded);
  EXPECT_EQ(op.params, "T=2,H=4,Hk=2,D=16,bf16,pairs<=24");
  op = PriceOf("flash_attn_with_kvcache",
               "[2,1,4,16]bf16 [2,12,2,16]bf16 [2,12,2,16]bf16 None None None None [3,9]");
  EXPECT_FALSE(op.flops_bounded);
  EXPECT_EQ(MmaOf(op), 12 * 4 * 2 * 32);
  // A function of that name of nobody who is known.
  EXPECT_FALSE(PriceCall(MakeCall("fwd", "[2,1,4,16]bf16 [2,12,2,16]bf16 [2,12,2,16]bf16")).price);
}

TEST(EngineAttentionTest, ScoresWithPositions) {
  const PricedOp op = PriceOf("custom_flash_aligned",
                              "[1,2,8,16]bf16 [1,2,8,16]bf16 [1,2,8,16]bf16 [1,2,8,16]bf16 0.1");
  EXPECT_EQ(FiguresOf(op.forward[0].work), (Figures{2 * 64 * 2 * 32, 2 * 64 * 2, 5 * 256 * 2}));
  EXPECT_TRUE(op.product);
}

TEST(EngineAttentionTest, RefusesOtherArguments) {
  CheckCases({
      {"unified_attention", "[8,4,16]bf16 [8,3,16]bf16 [8,3,16]bf16", Reason::kShapeMismatch},
      {"unified_attention", "[8,64]bf16 [8,32]bf16 [8,32]bf16", Reason::kUnsupportedArgs},
      {"unified_attention", "3 4 5", Reason::kUnsupportedArgs},
      {"paged_attention_v1", "[3,4,16]bf16 [3,4,16]bf16", Reason::kUnsupportedArgs},
      {"paged_attention_v2", "[3,4,16]bf16", Reason::kUnsupportedArgs},
      {"mha_batch_prefill", "[21,4,16]bf16 [99,2,16]bf16", Reason::kUnsupportedArgs},
      {"mha_batch_prefill",
       "[21,4,16]bf16 [99,2,8]bf16 [99,2,16]bf16 [4]int32 [4]int32 [30]int32 7 7 0.0 0.2 0.0 "
       "False True",
       Reason::kShapeMismatch},
      {"flash_attn_with_kvcache", "[2,1,4,16]bf16 [2,12,2,8]bf16 [2,12,2,8]bf16",
       Reason::kShapeMismatch},
      {"custom_flash_aligned", "[1,2,8,16]bf16 [1,2,8,16]bf16 [1,2,8,16]bf16",
       Reason::kUnsupportedArgs},
  });
}

}  // namespace
}  // namespace oplens::ops::test::engine_attention_test
