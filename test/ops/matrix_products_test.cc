// Products over named indices, with scales, of experts, with sparse operands; factorizations.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ops/kernels/share_work.h"
#include "ops/pricing.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::matrix_products_test {
namespace {

TEST(EinsumTest, TwoOperands) {
  CheckCases({
      // A matrix product: 2 * 2 * 3 * 4; 6 + 12 + 8 elements.
      {"torch.einsum",
       "'ij,jk->ik' [2,3]fp32 [3,4]fp32",
       "ij,jk->ik;[2,3]fp32;[3,4]fp32",
       {48, 0, 104},
       {Dgrad({48, 0, 104}), Wgrad({48, 0, 104})}},
      // Without a written result: letters that stand once, in their order.
      {"torch.einsum",
       "'ij,jk' [2,3]fp16 [3,4]fp16",
       "ij,jk;[2,3]fp16;[3,4]fp16",
       {48, 0, 52},
       {Dgrad({48, 0, 52}), Wgrad({48, 0, 52})}},
      // Nothing is summed: an outer product.
      {"torch.einsum",
       "'i,j->ij' [5]fp32 [7]fp32",
       "i,j->ij;[5]fp32;[7]fp32",
       {0, 35, 188},
       {Dgrad({0, 35, 188}), Wgrad({0, 35, 188})}},
      // A batch under an ellipsis that broadcasts: 2 * (4 * 5) * 2 * 3 * 6.
      {"torch.einsum",
       "'...ij,...jk->...ik' [4,1,2,3]fp32 [5,3,6]fp32",
       "...ij,...jk->...ik;[4,1,2,3]fp32;[5,3,6]fp32",
       {1440, 0, 96 + 360 + 960},
       {Dgrad({1440, 0, 1416}), Wgrad({1440, 0, 1416})}},
      // A diagonal: each i once.
      {"torch.einsum",
       "'ii,ij->j' [3,3]fp32 [3,2]fp32",
       "ii,ij->j;[3,3]fp32;[3,2]fp32",
       {12, 0, 68},
       {Dgrad({12, 0, 68}), Wgrad({12, 0, 68})}},
      // A complex multiply-add is 8 real operations.
      {"torch.einsum",
       "'ij,jk->ik' [2,3]complex64 [3,4]complex64",
       "ij,jk->ik;[2,3]c64;[3,4]c64",
       {192, 0, 208},
       {Dgrad({192, 0, 208}), Wgrad({192, 0, 208})}},
  });
}

TEST(EinsumTest, OneAndManyOperands) {
  CheckCases({
      {"torch.einsum", "'ij->i' [2,3]fp32", "ij->i;[2,3]fp32", {0, 6, 32}, {Back({})}},
      {"torch.einsum", "'ij->ji' [2,3]fp32", "ij->ji;[2,3]fp32", {0, 0, 48}, {Back({})}},
      // A diagonal is a view that is written; its gradient is no view.
      {"torch.einsum", "'ii->i' [3,3]fp32", "ii->i;[3,3]fp32", {0, 0, 48}, {}},
      {"torch.einsum", "'ii' [3,3]fp32", "ii;[3,3]fp32", {0, 3, 40}, {}},
      // A 0-d tensor that was recorded as its value scales the other operand.
      {"torch.einsum",
       "',i->i' 0.5 [3]fp32",
       ",i->i;[]fp32;[3]fp32",
       {0, 3, 28},
       {Wgrad({0, 3, 28})}},
      // ((2,3)x(3,4)) x (4,5): 48 + 80.
      {"torch.einsum",
       "'ij,jk,kl->il' [2,3]fp32 [3,4]fp32 [4,5]fp32",
       "ij,jk,kl->il;[2,3]fp32;[3,4]fp32;[4,5]fp32",
       {128, 0, 24 + 48 + 80 + 40},
       {}},
  });
  EXPECT_TRUE(PriceCall(MakeCall("torch.einsum", "'ij,jk,kl->il' [2,3]fp32 [3,4]fp32 [4,5]fp32"))
                  .price->mma_estimated);
}

TEST(EinsumTest, WhatDoesNotFit) {
  for (const char* args :
       {"'ij,jk->ik' [2,3]fp32 [4,4]fp32", "'ij,jk->ik' [2,3]fp32",
        "'ij,jk->iz' [2,3]fp32 [3,4]fp32", "'i1,jk->ik' [2,3]fp32 [3,4]fp32", "'ijk' [2,3]fp32",
        "'...i' []fp32", "'ii->i' [3,1]fp32", "'ij->ii' [3,3]fp32"}) {
    EXPECT_EQ(PriceCall(MakeCall("torch.einsum", args)).reason, Reason::kShapeMismatch) << args;
  }
  for (const char* args :
       {"[2,3]fp32 [3,4]fp32", "'ij,jk->ik'", "'ij,jk->ik' [-2,3]fp32 [3,4]fp32"}) {
    EXPECT_EQ(PriceCall(MakeCall("torch.einsum", args)).reason, Reason::kUnsupportedArgs) << args;
  }
}

TEST(EinsumTest, SaysWhichProductItIs) {
  const auto price = [](const char* args) {
    return *PriceCall(MakeCall("torch.einsum", args)).price;
  };
  // Heads and batch stay: 2 * 8 products of [5,3] and [3,7].
  const MatrixProduct scores = *price("'bhqd,bhkd->bhqk' [2,8,5,3]half [2,8,7,3]half").product;
  EXPECT_EQ(scores.batch, 16);
  EXPECT_EQ(scores.m, 5);
  EXPECT_EQ(scores.n, 7);
  EXPECT_EQ(scores.k, 3);
  // A dot product a row is no single row of a larger one.
  EXPECT_EQ(price("'bi,bi->b' [4,3]half [4,3]half").product->batch, 4);
  // Nothing is summed, or in one operand alone.
  EXPECT_FALSE(price("'i,j->ij' [4]half [3]half").product.has_value());
  EXPECT_FALSE(price("'ij,k->ik' [4,5]half [3]half").product.has_value());
  EXPECT_TRUE(price("'ij,k->ik' [4,5]half [3]half").matmul_like);
  EXPECT_FALSE(price("'i,j->ij' [4]half [3]half").matmul_like);
}

// The loop that an equation is.
RC_GTEST_PROP(EinsumTest, CountsTheLoop, ()) {
  const auto extent = [] { return *rc::gen::inRange(1, 6); };
  const int b = extent();
  const int i = extent();
  const int j = extent();
  const int k = extent();
  int64_t operations = 0;
  for (int n = 0; n < b; ++n) {
    for (int row = 0; row < i; ++row) {
      for (int column = 0; column < k; ++column) {
        for (int sum = 0; sum < j; ++sum) operations += 2;
      }
    }
  }
  const auto shape = [](int x, int y, int z) {
    return "[" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + "]fp32";
  };
  const auto result = PriceCall(
      MakeCall("torch.einsum", "'bij,bjk->bik' " + shape(b, i, j) + " " + shape(b, j, k)));
  RC_ASSERT(result.price.has_value());
  RC_ASSERT(result.price->forward[0].work.mma.Value() == operations);
}

TEST(QuantizedTest, ScaledProducts) {
  CheckCases({
      // 2*2*4*3; 6 + 12 one-byte elements, 8 of two bytes, two scales.
      {"torch._scaled_mm",
       "[2,3]float8_e4m3fn [3,4]float8_e5m2 scale_a=[]fp32 scale_b=[]fp32 out_dtype='bfloat16'",
       "M=4,N=2,K=3,fp8e4m3,fp8e5m2,bf16",
       {48, 0, 42},
       {}},
      {"torch._scaled_mm",
       "[2,3]float8_e4m3fn [3,4]float8_e4m3fn [2,1]fp32 [1,4]fp32 [4]bf16 None 'bfloat16'",
       "M=4,N=2,K=3,fp8e4m3,fp8e4m3,bf16",
       {48, 8, 18 + 16 + 24 + 8},
       {}},
      {"torch._int_mm", "[2,3]int8 [3,4]int8", "M=4,N=2,K=3,int8,int8,int32", {48, 0, 50}, {}},
      {"torch._weight_int8pack_mm",
       "[2,3]bf16 [4,3]int8 [4]bf16",
       "M=4,N=2,K=3,bf16,w8,g=3",
       {48, 12, 12 + 12 + 16 + 8},
       {}},
      {"torch._weight_int4pack_mm",
       "[2,64]bf16 [1,1,32,4]int32 32 [2,8,2]bf16",
       "M=8,N=2,K=64,bf16,w4,g=32",
       {2048, 512, 256 + 256 + 32 + 64},
       {}},
      {"torch._scaled_mm", "[2,3]fp8e4m3 [4,4]fp8e4m3", Reason::kShapeMismatch},
      {"torch._int_mm", "[2,3]int8", Reason::kUnsupportedArgs},
  });
}

TEST(QuantizedTest, Experts) {
  OpCall call = MakeCall("torch._grouped_mm", "[8,3]bf16 [4,3,5]bf16 offs=[4]int32");
  // Values were not recorded: all rows, all experts. An estimate that sums count.
  const PricedOp estimate = *PriceCall(call).price;
  EXPECT_EQ(FiguresOf(estimate.forward[0].work), (Figures{240, 0, 48 + 120 + 80 + 16}));
  EXPECT_TRUE(estimate.mma_estimated);
  EXPECT_FALSE(estimate.flops_bounded);
  const InstanceKernel kernels[] = {
      {"void at::cuda::detail::prepare_grouped_gemm_data<T>(P)", {1, 1, 1}, 1000},
      {"void cutlass::device_kernel<GroupProblemShape>(P)", {132, 1, 1}, 9000}};
  KernelShare shares[2];
  ShareWork(estimate, Direction::kForward, kernels, shares);
  EXPECT_EQ(shares[0].flops, 0);
  EXPECT_EQ(shares[1].flops, 240);
  EXPECT_EQ(shares[1].flops_kind, FlopsKind::kEstimate);
  EXPECT_FALSE(shares[1].flops_bound.has_value());
  // 2, 0, 3 and 1 rows: 6 in all, and 3 experts.
  call.args[2].int_list = {2, 2, 5, 6};
  const PricedOp exact = *PriceCall(call).price;
  EXPECT_EQ(FiguresOf(exact.forward[0].work), (Figures{180, 0, 48 + 90 + 80 + 16}));
  EXPECT_FALSE(exact.mma_estimated);
  EXPECT_EQ(exact.params, "E=4,T=8,N=5,K=3,bf16");
  // Its gradients are two more such products.
  ASSERT_EQ(exact.backward.size(), 2u);
  EXPECT_EQ(FiguresOf(exact.backward[0].work), FiguresOf(exact.forward[0].work));
  EXPECT_EQ(FiguresOf(exact.backward[1].work), FiguresOf(exact.forward[0].work));
  // Ends that descend, go beyond the rows or are of fewer groups are no ends.
  for (const std::vector<int64_t>& ends :
       {std::vector<int64_t>{5, 2, 6, 8}, {2, 4, 6, 9}, {2, 8}, {-1, 2, 4, 8}}) {
    call.args[2].int_list = ends;
    EXPECT_EQ(PriceCall(call).reason, Reason::kUnsupportedArgs);
  }
}

TEST(QuantizedTest, GroupsOfOtherExtents) {
  const auto both = [](Figures figures) {
    return std::vector<Gradient>{Dgrad(figures), Wgrad(figures)};
  };
  CheckCases({
      // Columns in groups: 2*8*5*3; 60 + 24 + 40 elements, 4 ends.
      {"torch._grouped_mm",
       "[4,5,3]bf16 [3,8]bf16 [4]int32",
       "E=4,T=8,N=5,K=3,bf16",
       {240, 0, 264},
       both({240, 0, 264})},
      // Sums in groups, a matrix each: 2*8*5*6; 40 + 48 + 4*30.
      {"torch._grouped_mm",
       "[5,8]bf16 [8,6]bf16 [4]int32",
       "E=4,T=8,N=6,K=5,bf16",
       {480, 0, 432},
       both({480, 0, 432})},
      // A batch: 2*4*2*5*3; 24 + 60 + 40.
      {"torch._grouped_mm",
       "[4,2,3]bf16 [4,3,5]bf16",
       "E=4,T=2,N=5,K=3,bf16",
       {240, 0, 248},
       both({240, 0, 248})},
      {"torch._scaled_grouped_mm",
       "[8,3]fp8e4m3 [4,3,5]fp8e4m3 [8]fp32 [4,5]fp32 [4]int32",
       "E=4,T=8,N=5,K=3,fp8e4m3",
       {240, 0, 24 + 60 + 80 + 32 + 80 + 16},
       {}},
      {"torch._grouped_mm", "[5,8]bf16 [8,6]bf16", Reason::kShapeMismatch},
      {"torch._grouped_mm", "[4,2,3]bf16 [5,3,5]bf16", Reason::kShapeMismatch},
      {"torch._grouped_mm", "[8,3]bf16 [4,3,5]bf16 [3]int32", Reason::kShapeMismatch},
      {"torch._grouped_mm", "[8,3]bf16 [4,2,5]bf16 [4]int32", Reason::kShapeMismatch},
      {"torch._grouped_mm", "[8]bf16 [4,2,5]bf16 [4]int32", Reason::kShapeMismatch},
  });
  EXPECT_FALSE(
      PriceCall(MakeCall("torch._grouped_mm", "[4,2,3]bf16 [4,3,5]bf16")).price->mma_estimated);
}

TEST(QuantizedTest, FusedExperts) {
  CheckCases({
      // 12 rows: 2*12*4*(10 + 5); the gate 22*12*5, weights and sums 2*12*4. x and Y 24 each, at
      // least
      // the two experts of one row, of 40 + 20 elements, 12 weights and indices.
      {"inplace_fused_experts",
       "[6,4]bf16 [3,10,4]bf16 [3,4,5]bf16 [6,2]fp32 [6,2]int32 True",
       "E=3,T=6,k=2,H=4,I=5,bf16",
       {1440, 1416, 96 + 240 + 96},
       {}},
      {"fused_moe_",
       "[6,4]bf16 [3,10,4]bf16 [3,4,5]bf16 [6,2]fp32 [6,2]int32 None 0",
       "E=3,T=6,k=2,H=4,I=5,bf16",
       {1440, 1416, 96 + 240 + 96},
       {}},
      {"rocm_aiter_fused_moe",
       "[6,4]bf16 [3,10,4]bf16 [3,4,5]bf16 [6,2]fp32 [6,2]int32 None 0",
       "E=3,T=6,k=2,H=4,I=5,bf16",
       {1440, 1416, 96 + 240 + 96},
       {}},
      // A list of arguments that was cut behind the weights, which have the shape of the indices.
      {"rocm_aiter_fused_moe",
       "[6,4]bf16 [3,10,4]bf16 [3,4,5]bf16 [6,2]fp32",
       "E=3,T=6,k=2,H=4,I=5,bf16",
       {1440, 1416, 96 + 240 + 48},
       {}},
      // Some experts may be on other GPUs: no weight is surely read.
      {"rocm_aiter_fused_moe",
       "[6,4]bf16 [3,10,4]bf16 [3,4,5]bf16 [6,2]fp32 [6,2]int32 [8]int32 0",
       "E=3,T=6,k=2,H=4,I=5,bf16,rows<=12",
       {1440, 1416, 96 + 96},
       {}},
      {"rocm_aiter_asm_moe_tkw1",
       "[6,4]bf16 [3,10,4]bf16 [3,4,5]bf16 [6,2]fp32 [6,2]int32 [3]fp32 [3]fp32 None None False "
       "None",
       "E=3,T=6,k=2,H=4,I=5,bf16",
       {1440, 1416, 96 + 240 + 96},
       {}},
      {"inplace_fused_experts",
       "[0,4]bf16 [3,10,4]bf16 [3,4,5]bf16 [0,2]fp32 [0,2]int32",
       "E=3,T=0,k=2,H=4,I=5,bf16",
       {0, 0, 0},
       {}},
      // Without a gate; one row reaches no more than two of the experts.
      {"outplace_fused_experts",
       "[1,4]bf16 [3,5,4]bf16 [3,4,5]bf16 [1,2]fp32 [1,2]int32",
       "E=3,T=1,k=2,H=4,I=5,bf16",
       {160, 226, 16 + 160 + 16},
       {}},
      {"fused_experts", "[6,4]bf16 [3,9,4]bf16 [3,4,5]bf16 [6,2]fp32 [6,2]int32",
       Reason::kShapeMismatch},
      {"fused_experts", "[6,4]bf16 [3,10,4]bf16 [3,4,5]bf16 [6,2]fp32", Reason::kUnsupportedArgs},
      // Other functions of the name: scores of all experts and a number, indices before the
      // weights.
      {"fused_moe", "[6,4]bf16 [3,10,4]bf16 [3,4,5]bf16 [6,3]fp32 2", Reason::kShapeMismatch},
      {"fused_moe", "[6,4]bf16 [6,2]int32 [6,2]fp32 [3,10,4]bf16 [3,4,5]bf16",
       Reason::kShapeMismatch},
  });
}

TEST(QuantizedTest, OtherScaledProducts) {
  CheckCases({
      // Scales as lists: 6 + 12 bytes, scales 8 + 16, bias 8, Y 16.
      {"torch._scaled_mm_v2",
       "[2,3]fp8e4m3 [3,4]fp8e4m3 [2,1]fp32 [0] [0] [1,4]fp32 [0] [0] [4]bf16 'bfloat16'",
       "M=4,N=2,K=3,fp8e4m3,fp8e4m3,bf16",
       {48, 8, 66},
       {}},
      {"torch._scaled_mm_v2",
       "[2,3]fp8e4m3 [3,4]fp8e4m3 [2,1]fp32 [0] [0] [1,4]fp32 [0] [0] dtype='bfloat16'",
       "M=4,N=2,K=3,fp8e4m3,fp8e4m3,bf16",
       {48, 0, 58},
       {}},
      {"F.scaled_mm",
       "[2,3]fp8e4m3 [3,4]fp8e4m3 scale_a=[1]fp32 scale_b=[1]fp32 bias=[4]bf16",
       "M=4,N=2,K=3,fp8e4m3,fp8e4m3,bf16",
       {48, 8, 50},
       {}},
      // The result first.
      {"cutlass_scaled_mm",
       "[2,4]bf16 [2,3]fp8e4m3 [3,4]fp8e4m3 [1]fp32 [1]fp32 None",
       "M=4,N=2,K=3,fp8e4m3,fp8e4m3,bf16",
       {48, 0, 42},
       {}},
      // Two numbers an element: K is 16.
      {"torch._scaled_mm",
       "[2,8]float4_e2m1fn_x2 [8,4]float4_e2m1fn_x2 []fp32 []fp32 None None 'bfloat16'",
       "M=4,N=2,K=16,fp4,fp4,bf16",
       {256, 0, 16 + 32 + 8 + 16},
       {}},
      {"torch._scaled_mm_v2", "[2,3]fp8e4m3 [3,4]fp8e4m3 [1]fp32 'x'", Reason::kUnknownDType},
      {"torch._scaled_mm_v2", "[2,3]fp8e4m3 [1]fp32", Reason::kShapeMismatch},
      {"torch._scaled_mm_v2", "[2,3]fp8e4m3", Reason::kUnsupportedArgs},
      {"cutlass_scaled_mm", "[2,4]bf16 [2,3]fp8e4m3", Reason::kUnsupportedArgs},
      {"torch._scaled_mm", "[2,8]float4_e2m1fn_x2 [8,4]fp8e4m3", Reason::kShapeMismatch},
      {"torch._scaled_mm",
       "[2,9223372036854775807]float4_e2m1fn_x2 [9223372036854775807,4]float4_e2m1fn_x2",
       Reason::kShapeMismatch},
  });
}

TEST(QuantizedTest, PackedWeights) {
  CheckCases({
      // 2*2*8*16, 16*8 weights; x 64, W 16 words, scales 32, zeros 2 words, Y 32.
      {"awq_gemm",
       "[2,16]fp16 [16,1]int32 [2,8]fp16 [2,1]int32 8",
       "M=8,N=2,K=16,fp16,w4,g=8",
       {512, 128, 64 + 64 + 32 + 8 + 32},
       {}},
      {"gptq_gemm",
       "[2,16]fp16 [2,8]int32 [2,1]int32 [2,8]fp16 [16]int32 True 4",
       "M=8,N=2,K=16,fp16,w4,g=8",
       {512, 128, 64 + 64 + 32 + 8 + 32},
       {}},
      // Twice as many bits: 4 words a column.
      {"gptq_gemm",
       "[2,16]fp16 [4,8]int32 [2,2]int32 [2,8]fp16 [16]int32 True True 8",
       "M=8,N=2,K=16,fp16,w8,g=8",
       {512, 128, 64 + 128 + 32 + 16 + 32},
       {}},
      // 2*2*16*64; x 256, 64*16 weights of 4 bits, scales 64, Y 64.
      {"gptq_marlin_gemm",
       "[2,64]bf16 None [4,32]int32 None [2,16]bf16 None [0]int32 [0]int32 [0]int32 [128]int32 "
       "1125899906843648 2 16 64 True False",
       "M=16,N=2,K=64,bf16,w4,g=32",
       {4096, 1024, 256 + 512 + 64 + 64},
       {}},
      {"gemv_4bit",
       "[1,64]bf16 [512,1]uint8 [16,64] [16]fp32 [16]fp32 64",
       "M=16,N=1,K=64,bf16,w4,g=64",
       {2048, 1024, 128 + 512 + 64 + 32},
       {}},
      {"torch._weight_int4pack_mm_with_scales_and_zeros",
       "[2,64]bf16 [1,1,32,4]int32 32 [2,8]bf16 [2,8]bf16",
       "M=8,N=2,K=64,bf16,w4,g=32",
       {2048, 512, 256 + 256 + 64 + 32},
       {}},
      {"awq_gemm", "[2,16]fp16 [8,1]int32 [2,8]fp16 [2,1]int32 8", Reason::kShapeMismatch},
      {"gptq_gemm", "[2,16]fp16 [2,8]int32 [2,1]int32 [2,9]fp16", Reason::kShapeMismatch},
      {"gptq_gemm", "[2,0]fp16 [0,8]int32 [0,1]int32 [0,8]fp16", Reason::kShapeMismatch},
      {"gptq_marlin_gemm", "[2,64]bf16 [4,32]int32 [2,16]bf16 [128]int32 3 16 64",
       Reason::kUnsupportedArgs},
      {"gptq_marlin_gemm", "[2,64]bf16 [4,32]int32 [2,16]bf16 [128]int32 2 1600 64",
       Reason::kShapeMismatch},
      {"gemv_4bit", "[1,64]bf16 [512,1]uint8 [16,32] [16]fp32 [16]fp32 64", Reason::kShapeMismatch},
  });
}

TEST(SparseTest, Prices) {
  CheckCases({
      // 6 values, 2 columns; 5 + 6 int64, 6 + 8 + 8 fp32.
      {"torch.sparse_mm",
       "nnz=6 crow=[5]int64 col=[6]int64 val=[6]fp32 dense=[4,2]fp32",
       "M=2,N=4,K=4,nnz=6,fp32",
       {24, 0, 88 + 88},
       {}},
      {"torch.sparse_mm", "nnz=7 crow=[5]int64 col=[6]int64 val=[6]fp32 dense=[4,2]fp32",
       Reason::kShapeMismatch},
      {"torch.sparse_mm", "nnz=7 crow=[5]int64", Reason::kUnsupportedArgs},
  });
}

TEST(SparseTest, ByCoordinates) {
  CheckCases({
      // 2 * 6 * 2; 12 int64, 6 + 8 + 10 fp32.
      {"torch.sparse_mm",
       "indices=[2,6]int64 val=[6]fp32 size=(5,4) dense=[4,2]fp32",
       "M=2,N=5,K=4,nnz=6,fp32",
       {24, 0, 96 + 96},
       {}},
      // A complex multiply-add is 8.
      {"torch.sparse_mm",
       "indices=[2,6]int64 val=[6]complex64 size=(5,4) dense=[4,2]complex64",
       "M=2,N=5,K=4,nnz=6,c64",
       {96, 0, 96 + 192},
       {}},
      {"torch.sparse_mm", "indices=[2,6]int64 val=[6]fp32 dense=[4,2]fp32",
       Reason::kUnsupportedArgs},
      {"torch.sparse_mm", "[5,4]fp32 [4,2]fp32", Reason::kUnsupportedArgs},
      {"torch.sparse_mm", "indices=[2,6]int64 val=[6]fp32 size=(5,3) dense=[4,2]fp32",
       Reason::kShapeMismatch},
      {"torch.sparse_mm", "indices=[3,6]int64 val=[6]fp32 size=(5,4) dense=[4,2]fp32",
       Reason::kShapeMismatch},
      {"torch.sparse_mm", "crow=[5]int64 col=[7]int64 val=[6]fp32 dense=[4,2]fp32",
       Reason::kShapeMismatch},
  });
}

TEST(SparseTest, TwoOfFour) {
  CheckCases({
      // [32,64] compressed to 9/16: 1152 elements. 2*32*8*64.
      {"torch._cslt_sparse_mm",
       "[1152]fp16 [64,8]fp16",
       "M=8,N=32,K=64,fp16,2:4,eff=16384",
       {32768, 0, 2304 + 1024 + 512},
       {}},
      {"torch._cslt_sparse_mm",
       "[1280]int8 [64,8]int8 [32]fp16 None 'float16' False 0",
       "M=8,N=32,K=64,int8,2:4,eff=16384",
       {32768, 256, 1280 + 512 + 512 + 64},
       {}},
      // 6 rows of 16, 4 outputs: 2*6*4*16; x 192, w 64, places 16, Y 48.
      {"torch._sparse_semi_structured_linear",
       "[2,3,16]fp16 [4,8]fp16 [4,2]int16 bias=[4]fp16",
       "M=4,N=6,K=16,fp16,2:4,eff=384",
       {768, 24, 192 + 64 + 16 + 48 + 8},
       {}},
      {"torch._sparse_semi_structured_mm",
       "[4,8]fp16 [4,2]int16 [16,6]fp16",
       "M=6,N=4,K=16,fp16,2:4,eff=384",
       {768, 0, 64 + 16 + 192 + 48},
       {}},
      {"torch._sparse_semi_structured_addmm",
       "[4]fp16 [4,8]fp16 [4,2]int16 [16,6]fp16 beta=2 alpha=3",
       "M=6,N=4,K=16,fp16,2:4,eff=384",
       {768, 72, 64 + 16 + 192 + 48 + 8},
       {}},
      {"torch._sparse_semi_structured_mm", "[4,8]fp16 [4,2]int16 [8,6]fp16",
       Reason::kShapeMismatch},
      {"torch._sparse_semi_structured_linear", "[3,16]fp16 [4,16]fp16 [4,2]int16",
       Reason::kShapeMismatch},
      {"torch._cslt_sparse_mm", "[1152]fp16 [0,8]fp16", Reason::kShapeMismatch},
      {"torch._cslt_sparse_mm", "[1152]fp16", Reason::kUnsupportedArgs},
  });
}

TEST(FactorizationTest, LeadingTerms) {
  CheckCases({
      {"torch.linalg_cholesky", "[2,3,3]fp32", "[2,3,3]fp32", {18, 0, 144}, {}},
      {"torch.linalg_lu", "[6,6]fp64", "[6,6]fp64", {144, 0, 864}, {}},
      {"torch.inverse", "[3,3]complex64", "[3,3]c64", {216, 0, 144}, {}},
      // 2 * 9 * (5 - 1)
      {"torch.linalg_qr", "[5,3]fp32", "[5,3]fp32", {72, 0, 120}, {}},
      {"torch.linalg_qr", "[3,5]fp32", "[3,5]fp32", {72, 0, 120}, {}},
      {"torch.linalg_solve", "[3,3]fp32 [3,2]fp32", "[3,3]fp32;[3,2]fp32", {54, 0, 84}, {}},
      {"torch.triangular_solve", "[3,2]fp32 [3,3]fp32", "[3,3]fp32;[3,2]fp32", {18, 0, 84}, {}},
      // A rectangle: 9 * (5 - 1); both factors. The determinant is one number of each matrix.
      {"torch.lu", "[5,3]fp32", "[5,3]fp32", {36, 0, 180}, {}},
      {"torch.det", "[2,6,6]fp32", "[2,6,6]fp32", {288, 0, 296}, {}},
      {"torch.linalg_svdvals", "[3,5]fp32", "[3,5]fp32", {144, 0, 72}, {}},
      {"aten::_linalg_eigh", "[4,4]fp32 'L' True", "[4,4]fp32", {576, 0, 128}, {}},
      // Broadcast: 5 right sides of [3,2], one matrix: 18 + 2 * 30 * 3; 9 + 30 + 30.
      {"torch.linalg_solve", "[3,3]fp32 [5,3,2]fp32", "[3,3]fp32;[5,3,2]fp32", {198, 0, 276}, {}},
      // A vector for each matrix.
      {"torch.linalg_solve", "[2,3,3]fp32 [2,3]fp32", "[2,3,3]fp32;[2,3]fp32", {72, 0, 120}, {}},
      // The old function has the right side first.
      {"torch.solve", "[3,2]fp32 [3,3]fp32", "[3,3]fp32;[3,2]fp32", {54, 0, 84}, {}},
      {"torch.cholesky_solve", "[3,2]fp32 [3,3]fp32", "[3,3]fp32;[3,2]fp32", {36, 0, 84}, {}},
      {"torch.linalg_solve", "[3,3]fp32 [4,2]fp32", Reason::kShapeMismatch},
      {"torch.linalg_solve", "[3,3]fp32 []fp32", Reason::kShapeMismatch},
      {"torch.linalg_eigh", "[4294967296,4294967296]fp32", Reason::kCostOverflow},
      {"torch.linalg_cholesky", "[2,3]fp32", Reason::kShapeMismatch},
      {"torch.linalg_inv", "[3]fp32", Reason::kShapeMismatch},
      {"torch.linalg_solve", "[3,3]fp32", Reason::kUnsupportedArgs},
  });
}

TEST(FactorizationTest, IsAnEstimateOfProducts) {
  const PricedOp price = *PriceCall(MakeCall("torch.linalg_cholesky", "[3,3]fp32")).price;
  EXPECT_TRUE(price.mma_estimated);
  EXPECT_TRUE(price.matmul_like);
}

}  // namespace
}  // namespace oplens::ops::test::matrix_products_test
