// Products of libraries with operators of their own, experts and state space models.
#include <gtest/gtest.h>

#include "test/ops/cases.h"

namespace oplens::ops::test::engine_products_test {
namespace {

TEST(EngineProductsTest, ScaledProducts) {
  CheckCases({
      // 2 * 2*8*16; A 32, W 128, Y 32 bytes, scales 2 and 1 of four bytes.
      {"deep_gemm_fp8_fp8_bf16_nt",
       "[2,16]fp8e4m3 [2,1]fp32 [8,16]fp8e4m3 [1,1]fp32 [2,8]bf16",
       "M=8,N=2,K=16,fp8e4m3,fp8e4m3,bf16",
       {512, 0, 32 + 128 + 32 + 12},
       {}},
      {"fp8_scaled_mm",
       "[2,16]fp8e4m3 [16,8]fp8e4m3 [2]fp32 [8]fp32 15 [8]bf16",
       "M=8,N=2,K=16,fp8e4m3,fp8e4m3,bf16",
       {512, 0, 32 + 128 + 32 + 8 + 32 + 16},
       {}},
      {"gemm_a16w16",
       "[2,16]bf16 [8,16]bf16 ? 15",
       "M=8,N=2,K=16,bf16,bf16,bf16",
       {512, 0, 64 + 256 + 32},
       {}},
      // Two weights of 4 bits a byte.
      {"rowwise_scaled_linear_cutlass_s8s4",
       "[2,16]int8 [2]fp32 [8,8]int8 [8]fp32 None",
       "M=8,N=2,K=16,int8,int8,bf16",
       {512, 0, 32 + 64 + 32 + 40},
       {}},
      {"quant_llm_linear",
       "3 2 [2,16]fp16 [8,12]uint8 [8]fp16 1",
       "M=8,N=2,K=16,fp16,fp6",
       {512, 0, 64 + 96 + 16 + 32},
       {}},
      {"gemm_a16w16", "[2,16]bf16 [8,15]bf16", Reason::kShapeMismatch},
      {"gemm_a16w16", "[2,16]bf16 3", Reason::kUnsupportedArgs},
      {"quant_llm_linear", "[2,16]fp16", Reason::kUnsupportedArgs},
  });
}

TEST(EngineProductsTest, LayersOfTransformerEngine) {
  const PriceResult linear = PriceCall(MakeCall("F.linear", "[2,3,16]bf16 [8,16]bf16 [8]bf16"));
  const PriceResult own = PriceCall(MakeCall("_Linear", "[8,16]bf16 ? [2,3,16]bf16 [8]bf16 ? ?"));
  ASSERT_TRUE(own.price);
  EXPECT_EQ(FiguresOf(own.price->forward[0].work), FiguresOf(linear.price->forward[0].work));
  EXPECT_EQ(own.price->backward.size(), linear.price->backward.size());
  const PriceResult normed = PriceCall(
      MakeCall("_LayerNormLinear", "[2,3,16]bf16 [16]bf16 [16]bf16 [8,16]bf16 ? [8]bf16"));
  const PriceResult norm =
      PriceCall(MakeCall("F.layer_norm", "[2,3,16]bf16 (16) [16]bf16 [16]bf16"));
  ASSERT_TRUE(normed.price && norm.price);
  const Figures a = *FiguresOf(linear.price->forward[0].work);
  const Figures b = *FiguresOf(norm.price->forward[0].work);
  EXPECT_EQ(FiguresOf(normed.price->forward[0].work),
            (Figures{a.mma, a.vec + b.vec, a.bytes + b.bytes}));
  EXPECT_FALSE(PriceCall(MakeCall("_Linear", "[8,16]bf16")).price);
}

TEST(EngineExpertsTest, RowsAreABound) {
  OpCall call = MakeCall("moe_forward", "[5,16]bf16 [5,4]bf16 'layer' topk=2 intermediate=8");
  const PriceResult result = PriceCall(call);
  ASSERT_TRUE(result.price);
  const PricedOp& op = *result.price;
  EXPECT_EQ(op.params, "E=4,T=5,k=2,H=16,I=8,bf16,rows<=10");
  int64_t mma = 0;
  for (int64_t row = 0; row < 5 * 2; ++row) mma += 2 * 16 * (2 * 8) + 2 * 8 * 16;
  EXPECT_EQ(op.forward[0].work.mma.Value(), mma);
  EXPECT_TRUE(op.flops_bounded);
  EXPECT_FALSE(op.bytes_known);
  CheckCases({
      {"moe_forward", "[5,16]bf16 [5,4]bf16 'layer'", Reason::kUnsupportedArgs},
      {"moe_forward", "[5,16]bf16 [6,4]bf16 topk=2 intermediate=8", Reason::kShapeMismatch},
      {"moe_forward", "[5,16]bf16 [5,4]bf16 topk=9 intermediate=8", Reason::kShapeMismatch},
  });
}

TEST(StateSpaceTest, ScanAndConvolution) {
  // 24 outputs, states of 5.
  CheckCases({
      {"SelectiveScanFn",
       "[2,3,4]fp32 [2,3,4]fp32 [3,5]fp32 [2,5,4]fp32 [2,5,4]fp32 [3]fp32 [2,3,4]fp32 [3]fp32",
       "B=2,D=3,L=4,N=5,fp32",
       {0, 24 * 5 * 27 + 24 * 24, 4 * (24 + 24 + 15 + 40 + 40 + 3 + 24 + 3) + 96},
       {}},
      {"CausalConv1dFn",
       "[2,3,4]fp16 [3,4]fp16 [3]fp16",
       "[2,3,4]fp16;[3,4]fp16",
       {0, 24 * 8 + 24, 2 * 48 + 24 + 6},
       {}},
      {"SelectiveScanFn", "[2,3,4]fp32 [2,3,4]fp32 [4,5]fp32", Reason::kShapeMismatch},
      {"CausalConv1dFn", "[2,3,4]fp16", Reason::kUnsupportedArgs},
  });
}

}  // namespace
}  // namespace oplens::ops::test::engine_products_test
