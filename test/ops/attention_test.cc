#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ops/families/attention_call.h"
#include "ops/op_model.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::attention_test {
namespace {

// ---- pairs ----

int64_t CountedPairs(int64_t queries, int64_t keys, const Visibility& seen) {
  const int64_t shift = seen.bottom_right ? keys - queries : 0;
  int64_t pairs = 0;
  for (int64_t i = 0; i < queries; ++i) {
    for (int64_t j = 0; j < keys; ++j) {
      const int64_t ahead = j - i - shift;
      pairs += (seen.right < 0 || ahead <= seen.right) && (seen.left < 0 || -ahead <= seen.left);
    }
  }
  return pairs;
}

int64_t CountedKeys(int64_t queries, int64_t keys, const Visibility& seen) {
  const int64_t shift = seen.bottom_right ? keys - queries : 0;
  int64_t count = 0;
  for (int64_t j = 0; j < keys; ++j) {
    bool visible = false;
    for (int64_t i = 0; i < queries; ++i) {
      const int64_t ahead = j - i - shift;
      visible |= (seen.right < 0 || ahead <= seen.right) && (seen.left < 0 || -ahead <= seen.left);
    }
    count += visible;
  }
  return count;
}

TEST(AttentionPairs, AreThoseOfALoop) {
  std::mt19937 random(1);
  const auto number = [&](int least, int most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int round = 0; round < 5000; ++round) {
    const int64_t queries = number(0, 40);
    const int64_t keys = number(0, 40);
    const Visibility seen{number(-2, 45), number(-2, 45), number(0, 1) != 0};
    ASSERT_EQ(VisiblePairs(queries, keys, seen).Value(), CountedPairs(queries, keys, seen))
        << queries << " queries, " << keys << " keys, left " << seen.left << ", right "
        << seen.right << (seen.bottom_right ? ", bottom right" : "");
    ASSERT_EQ(VisibleKeys(queries, keys, seen), CountedKeys(queries, keys, seen))
        << queries << " queries, " << keys << " keys, left " << seen.left << ", right "
        << seen.right << (seen.bottom_right ? ", bottom right" : "");
  }
}

TEST(AttentionPairs, OfCausalSquaresAreTriangles) {
  for (const int64_t n : {1, 2, 512, 4096, 1 << 20}) {
    EXPECT_EQ(VisiblePairs(n, n, {-1, 0, false}).Value(), n * (n + 1) / 2);
    EXPECT_EQ(VisiblePairs(n, n, {-1, 0, true}).Value(), n * (n + 1) / 2);
    EXPECT_EQ(VisiblePairs(n, n, {0, 0, false}).Value(), n);
  }
  // One query at the end of its keys sees them all; from the top left, only the first.
  EXPECT_EQ(VisiblePairs(1, 1000, {-1, 0, true}).Value(), 1000);
  EXPECT_EQ(VisiblePairs(1, 1000, {-1, 0, false}).Value(), 1);
  // The first 900 queries see nothing.
  EXPECT_EQ(VisiblePairs(1000, 100, {-1, 0, true}).Value(), 5050);
}

TEST(AttentionPairs, OfAnyNumbersAreCountedOrOverflow) {
  constexpr int64_t kNumbers[] = {INT64_MIN, INT64_MIN + 1, -1,       0, 1, 2,
                                  1LL << 40, INT64_MAX - 1, INT64_MAX};
  for (const int64_t queries : kNumbers) {
    for (const int64_t keys : kNumbers) {
      for (const int64_t left : kNumbers) {
        for (const int64_t right : kNumbers) {
          for (const bool bottom : {false, true}) {
            const auto pairs = VisiblePairs(queries, keys, {left, right, bottom}).Value();
            EXPECT_TRUE(!pairs || *pairs >= 0)
                << queries << ' ' << keys << ' ' << left << ' ' << right;
          }
        }
      }
    }
  }
  EXPECT_EQ(VisiblePairs(1LL << 40, 4, {-1, 0, false}).Value(), (1LL << 42) - 6);
  EXPECT_EQ(VisiblePairs(1LL << 60, 1LL << 60, {2, 0, false}).Value(), 3 * (1LL << 60) - 3);
}

// ---- prices ----

constexpr const char* kSdpa = "F.scaled_dot_product_attention";

TEST(Attention, Prices) {
  CheckCases({
      // 2 * 2*4 * 15 pairs * (8 + 8); Q and O 192 elements, K and V 320, of 2 bytes; 24 rows.
      {kSdpa,
       "[2,4,3,8]float16 [2,4,5,8]float16 [2,4,5,8]float16",
       "B=2,H=4,Sq=3,Sk=5,D=8,fp16",
       {3840, 0, 2144},
       {Back({9600, 0, 4192})}},
      // Query i sees the keys 0 to i: 1 + 2 + 3 of 15. No query sees the last 2 keys, whose
      // gradients are zeros.
      {kSdpa,
       "[2,4,3,8]float16 [2,4,5,8]float16 [2,4,5,8]float16 is_causal=True",
       "B=2,H=4,Sq=3,Sk=5,D=8,fp16,pairs=6/15",
       {1536, 0, 1632},
       {Back({3840, 0, 3680})}},
      {kSdpa,
       "[2,4,3,8]float16 [2,4,5,8]float16 [2,4,5,8]float16 None 0.1 True",
       "B=2,H=4,Sq=3,Sk=5,D=8,fp16,pairs=6/15",
       {1536, 0, 1632},
       {Back({3840, 0, 3680})}},
      // A mask is read in both directions, as it is stored: 15 bytes.
      {kSdpa,
       "[2,4,3,8]float16 [2,4,5,8]float16 [2,4,5,8]float16 attn_mask=[3,5]bool",
       "B=2,H=4,Sq=3,Sk=5,D=8,fp16",
       {3840, 0, 2159},
       {Back({9600, 0, 4207})}},
      // Dv = 2: Q 4*3*8, K 4*5*8, V 4*5*2, O 4*3*2 elements of 4 bytes, 12 rows.
      {kSdpa,
       "[4,3,8]float32 [4,5,8]float32 [4,5,2]float32",
       "B=1,H=4,Sq=3,Sk=5,D=8,Dv=2,fp32",
       {1200, 0, 1328},
       {Back({3360, 0, 2608})}},
      {kSdpa,
       "[3,8]float32 [5,8]float32 [5,8]float32",
       "B=1,H=1,Sq=3,Sk=5,D=8,fp32",
       {480, 0, 524},
       {Back({1200, 0, 1036})}},
      // Two heads of Q for each of K and V.
      {kSdpa,
       "[1,4,3,8]float16 [1,2,5,8]float16 [1,2,5,8]float16 enable_gqa=True",
       "B=1,H=4,Hk=2,Sq=3,Sk=5,D=8,fp16",
       {1920, 0, 752},
       {Back({4800, 0, 1456})}},
      // K and V of one member serve the batch.
      {kSdpa,
       "[2,1,3,8]float16 [1,1,5,8]float16 [1,1,5,8]float16",
       "B=2,H=1,Sq=3,Sk=5,D=8,fp16",
       {960, 0, 376},
       {Back({2400, 0, 728})}},
      {kSdpa,
       "[0,4,3,8]float16 [0,4,5,8]float16 [0,4,5,8]float16",
       "B=0,H=4,Sq=3,Sk=5,D=8,fp16",
       {0, 0, 0},
       {Back({0, 0, 0})}},
      {kSdpa, "[2,4,3,8]float16 [2,4,5,9]float16 [2,4,5,8]float16", Reason::kShapeMismatch},
      {kSdpa, "[2,4,3,8]float16 [2,4,5,8]float16 [2,4,6,8]float16", Reason::kShapeMismatch},
      {kSdpa, "[2,4,3,8]float16 [3,4,5,8]float16 [3,4,5,8]float16", Reason::kShapeMismatch},
      {kSdpa, "[2,4,3,8]float16 [2,3,5,8]float16 [2,3,5,8]float16", Reason::kShapeMismatch},
      {kSdpa, "[1,4,3,8]float16 [1,2,5,8]float16 [1,2,5,8]float16 enable_gqa=False",
       Reason::kShapeMismatch},
      {kSdpa, "[2,4,3,8]float16 [2,4,5,8]float16 [2,4,5,8]float16 [4,5]bool",
       Reason::kShapeMismatch},
      {kSdpa, "[2,4,3,8]float16 [2,4,5,8]float16 [2,4,5,8]float16 [3,5]bool 0.0 True",
       Reason::kUnsupportedArgs},
      {kSdpa, "[8]float16 [8]float16 [8]float16", Reason::kShapeMismatch},
      {kSdpa, "[2,4,3,8]float16 [2,4,5,8]float16", Reason::kUnsupportedArgs},
      {kSdpa, "[2,4,3,8]int64 [2,4,5,8]int64 [2,4,5,8]int64", Reason::kUnsupportedArgs},
      {kSdpa, "[2,4,3,8]float16 [2,4,5,8]float16 ?", Reason::kUnsupportedArgs},
      // The math function keeps P: 2 * 6 * 8 * (2*8 + 2*8).
      {"_scaled_dot_product_attention_math",
       "[2,4,3,8]float16 [2,4,5,8]float16 [2,4,5,8]float16 None 0.0 True",
       "B=2,H=4,Sq=3,Sk=5,D=8,fp16,pairs=6/15",
       {1536, 0, 1632},
       {Back({3072, 0, 3680})}},
      {"_fused_sdp_choice",
       "[2,4,3,8]float16 [2,4,5,8]float16 [2,4,5,8]float16",
       "[2,4,3,8]fp16",
       {},
       {}},
      {"_fused_sdp_choice", "None 1", Reason::kUnsupportedArgs},
  });
}

// Sequences come before heads, and the last query stands over the last key.
TEST(Attention, PricesOfFlashAttention) {
  constexpr const char* kOperands = "[2,3,4,8]float16 [2,5,4,8]float16 [2,5,4,8]float16 ";
  const std::string operands = kOperands;
  CheckCases({
      {"flash_attn_func",
       operands,
       "B=2,H=4,Sq=3,Sk=5,D=8,fp16",
       {3840, 0, 2144},
       {Back({9600, 0, 4192})}},
      // 3 + 4 + 5
      {"flash_attn_func",
       operands + "causal=True",
       "B=2,H=4,Sq=3,Sk=5,D=8,fp16,pairs=12/15",
       {3072, 0, 2144},
       {Back({7680, 0, 4192})}},
      // Each sees its own key and the one before: none the first of 5 keys.
      {"flash_attn_func",
       operands + "0.0 None True (1,-1)",
       "B=2,H=4,Sq=3,Sk=5,D=8,fp16,pairs=6/15",
       {1536, 0, 1888},
       {Back({3840, 0, 3936})}},
      // The query at key 2, 3, 4 sees one on both sides: 3 + 3 + 2.
      {"flash_attn::_flash_attn_forward",
       operands + "0.0 0.1 False 1 1",
       "B=2,H=4,Sq=3,Sk=5,D=8,fp16,pairs=8/15",
       {2048, 0, 1888},
       {Back({5120, 0, 3936})}},
      {"_flash_attention_forward",
       operands + "None None 3 5 0.0 True False window_size_left=1",
       "B=2,H=4,Sq=3,Sk=5,D=8,fp16,pairs=6/15",
       {1536, 0, 1888},
       {Back({3840, 0, 3936})}},
      {"_efficient_attention_forward",
       operands + "None None None 3 5 0.0 1 True",
       "B=2,H=4,Sq=3,Sk=5,D=8,fp16,pairs=6/15",
       {1536, 0, 1632},
       {Back({3840, 0, 3680})}},
      // From the bottom right; without statistics 4 * 24 bytes fewer.
      {"_efficient_attention_forward",
       operands + "None None None 3 5 0.0 2 False",
       "B=2,H=4,Sq=3,Sk=5,D=8,fp16,pairs=12/15",
       {3072, 0, 2048},
       {Back({7680, 0, 4192})}},
      {"memory_efficient_attention",
       operands + "attn_bias=[2,4,3,5]float16",
       "B=2,H=4,Sq=3,Sk=5,D=8,fp16",
       {3840, 0, 2384},
       {Back({9600, 0, 4432})}},
      {"memory_efficient_attention",
       "[2,3,8]float16 [2,5,8]float16 [2,5,8]float16",
       "B=2,H=1,Sq=3,Sk=5,D=8,fp16",
       {960, 0, 536},
       {Back({2400, 0, 1048})}},
      {"flash_attn_func", "[2,3,4,8]float16 [1,5,4,8]float16 [1,5,4,8]float16",
       Reason::kShapeMismatch},
      {"flash_attn_func", "[3,4,8]float16 [5,4,8]float16 [5,4,8]float16", Reason::kShapeMismatch},
      {"flash_attn_func", operands + "window_size=(1,2,3)", Reason::kUnsupportedArgs},
      {"_efficient_attention_forward", operands + "None None None 3 5 0.0 3",
       Reason::kUnsupportedArgs},
      {"memory_efficient_attention", operands + "?", Reason::kUnsupportedArgs},
      {"flash_attn_varlen_func",
       "[8,4,8]float16 [9,4,8]float16 [9,4,8]float16 [3]int32 [3]int32 5 6 "
       "block_table=[2,7]int32",
       Reason::kUnsupportedArgs},
  });
}

TEST(Attention, OfSequencesOfDifferentLengths) {
  const std::string operands = "[8,4,8]float16 [9,4,8]float16 [9,4,8]float16 ";
  CheckCases({
      // 3 x 3 and 5 x 6; Q and O 256 elements, K and V 288, 32 rows.
      {"flash_attn_varlen_func",
       operands + "[0,3,8] [0,3,9] 5 6",
       "B=2,H=4,Tq=8,Tk=9,Sq=5,Sk=6,D=8,fp16",
       {4992, 0, 2304},
       {Back({12480, 0, 4480})}},
      // 6 and 2 + 3 + 4 + 5 + 6.
      {"flash_attn_varlen_func",
       operands + "[0,3,8] [0,3,9] 5 6 causal=True",
       "B=2,H=4,Tq=8,Tk=9,Sq=5,Sk=6,D=8,fp16,pairs=26/39",
       {3328, 0, 2304},
       {Back({8320, 0, 4480})}},
      // At most 5 x 6 twice.
      {"flash_attn_varlen_func",
       operands + "[3]int32 [3]int32 5 6",
       "B=2,H=4,Tq=8,Tk=9,Sq=5,Sk=6,D=8,fp16,pairs<=60",
       {7680, 0, 2304},
       {Back({19200, 0, 4480})}},
      {"_efficient_attention_forward",
       "[1,8,4,8]float16 [1,9,4,8]float16 [1,9,4,8]float16 None [3]int32 [3]int32 5 6 0.0 0 True",
       "B=2,H=4,Tq=8,Tk=9,Sq=5,Sk=6,D=8,fp16,pairs<=60",
       {7680, 0, 2304},
       {Back({19200, 0, 4480})}},
      {"flash_attn_varlen_func", operands + "[0,3,7] [0,3,9] 5 6", Reason::kShapeMismatch},
      {"flash_attn_varlen_func", operands + "[0,9,8] [0,3,9] 9 6", Reason::kShapeMismatch},
      {"flash_attn_varlen_func", operands + "[3]int32 [4]int32 5 6", Reason::kShapeMismatch},
      {"flash_attn_varlen_func", operands + "[3]int32 [3]int32 3 6", Reason::kShapeMismatch},
      {"flash_attn_varlen_func", operands + "[3]int32 [3]int32", Reason::kUnsupportedArgs},
      {"flash_attn_varlen_func", operands + "[3]int32 None 5 6", Reason::kUnsupportedArgs},
      {"flash_attn_varlen_func", operands + "[0]int32 [0]int32 5 6", Reason::kUnsupportedArgs},
  });
}

PricedOp PriceOf(const OpCall& call) {
  const PriceResult result = PriceCall(call);
  EXPECT_TRUE(result.price.has_value()) << ReasonWord(result.reason);
  return result.price.value_or(PricedOp());
}

PricedOp PriceOf(std::string_view op, std::string_view args) { return PriceOf(MakeCall(op, args)); }

TEST(Attention, UpperBoundsAreMarked) {
  const std::string operands = "[2,3,4,8]float16 [2,5,4,8]float16 [2,5,4,8]float16 ";
  EXPECT_FALSE(PriceOf("flash_attn_func", operands).mma_estimated);
  EXPECT_TRUE(PriceOf("FlashAttnFunc", operands).mma_estimated);
  EXPECT_TRUE(PriceOf("flash_attn::_flash_attn_forward", operands).mma_estimated);
  EXPECT_FALSE(PriceOf("FlashAttnFunc", operands + "0.0 None True").mma_estimated);
  EXPECT_TRUE(PriceOf("FlashAttnFunc", operands + "0.0 None ?").mma_estimated);
  const std::string heads_first = "[2,4,3,8]float16 [2,4,5,8]float16 [2,4,5,8]float16 ";
  EXPECT_TRUE(PriceOf("flex_attention", heads_first + "block_mask=?").mma_estimated);
  EXPECT_FALSE(PriceOf("flex_attention", heads_first + "? None").mma_estimated);
  EXPECT_TRUE(PriceOf("_flash_attention_forward", operands + "seqused_k=[2]int32").mma_estimated);
  const std::string varlen = "[8,4,8]float16 [8,4,8]float16 [8,4,8]float16 ";
  // Two of 4 fill the 8; two of 5 do not.
  EXPECT_FALSE(PriceOf("flash_attn_varlen_func", varlen + "[3]int32 [3]int32 4 4").mma_estimated);
  EXPECT_TRUE(PriceOf("flash_attn_varlen_func", varlen + "[3]int32 [3]int32 5 5").mma_estimated);
  EXPECT_FALSE(PriceOf("flash_attn_varlen_func", varlen + "[0,1,8] [0,2,8] 9 9").mma_estimated);
}

TEST(Attention, TheProductIsThatOfTheScores) {
  const PricedOp price =
      PriceOf(kSdpa, "[2,4,3,8]float16 [2,2,5,8]bfloat16 [2,2,5,6]bfloat16 is_causal=True");
  EXPECT_TRUE(price.matmul_like);
  ASSERT_TRUE(price.product.has_value());
  const MatrixProduct& product = *price.product;
  EXPECT_EQ(product.kind, MatrixProduct::Kind::kAttention);
  EXPECT_EQ(product.batch, 8);
  EXPECT_EQ(product.m, 3);
  EXPECT_EQ(product.n, 5);
  EXPECT_EQ(product.k, 8);
  EXPECT_EQ(product.left, DType::kFloat16);
  EXPECT_EQ(product.right, DType::kBFloat16);
  ASSERT_EQ(product.extents.size(), 2u);
  EXPECT_EQ(product.extents[0].name, "D");
  EXPECT_EQ(product.extents[1].extent, 6);
}

// An xformers mask is an object of its own class.
TEST(Attention, MaskObjects) {
  OpCall call = MakeCall("memory_efficient_attention",
                         "[2,3,4,8]float16 [2,5,4,8]float16 [2,5,4,8]float16 ?");
  call.args.back().type = "LowerTriangularMask";
  EXPECT_EQ(PriceOf(call).params, "B=2,H=4,Sq=3,Sk=5,D=8,fp16,pairs=6/15");
  call.args.back().type = "LowerTriangularFromBottomRightMask";
  EXPECT_EQ(PriceOf(call).params, "B=2,H=4,Sq=3,Sk=5,D=8,fp16,pairs=12/15");
}

TEST(Attention, HalfAsManyHeadsOfKeysChangeOnlyBytes) {
  const PricedOp all = PriceOf(kSdpa, "[1,8,64,16]half [1,8,64,16]half [1,8,64,16]half");
  const PricedOp half = PriceOf(kSdpa, "[1,8,64,16]half [1,4,64,16]half [1,4,64,16]half");
  EXPECT_EQ(all.forward[0].work.mma, half.forward[0].work.mma);
  EXPECT_EQ(all.backward[0].work.mma, half.backward[0].work.mma);
  EXPECT_EQ((all.forward[0].work.bytes - half.forward[0].work.bytes).Value(), 2 * 4 * 64 * 16 * 2);
}

}  // namespace
}  // namespace oplens::ops::test::attention_test
