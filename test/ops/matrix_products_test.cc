// Products over named indices, with scales, of experts, with sparse operands; factorizations.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "test/ops/cases.h"

namespace oplens::ops::test {
namespace {

TEST(EinsumTest, TwoOperands) {
  CheckCases({
      // A matrix product: 2 * 2 * 3 * 4; 6 + 12 + 8 elements.
      {"torch.einsum",
       "'ij,jk->ik' [2,3]fp32 [3,4]fp32",
       "[2,3]fp32;[3,4]fp32,fp32",
       {48, 0, 104},
       {Dgrad({48, 0, 104}), Wgrad({48, 0, 104})}},
      // Without a written result: letters that stand once, in their order.
      {"torch.einsum",
       "'ij,jk' [2,3]fp16 [3,4]fp16",
       "[2,3]fp16;[3,4]fp16,fp16",
       {48, 0, 52},
       {Dgrad({48, 0, 52}), Wgrad({48, 0, 52})}},
      // Nothing is summed: an outer product.
      {"torch.einsum",
       "'i,j->ij' [5]fp32 [7]fp32",
       "[5]fp32;[7]fp32,fp32",
       {0, 35, 188},
       {Dgrad({0, 35, 188}), Wgrad({0, 35, 188})}},
      // A batch under an ellipsis that broadcasts: 2 * (4 * 5) * 2 * 3 * 6.
      {"torch.einsum",
       "'...ij,...jk->...ik' [4,1,2,3]fp32 [5,3,6]fp32",
       "[4,1,2,3]fp32;[5,3,6]fp32,fp32",
       {1440, 0, 96 + 360 + 960},
       {Dgrad({1440, 0, 1416}), Wgrad({1440, 0, 1416})}},
      // A diagonal: each i once.
      {"torch.einsum",
       "'ii,ij->j' [3,3]fp32 [3,2]fp32",
       "[3,3]fp32;[3,2]fp32,fp32",
       {12, 0, 68},
       {Dgrad({12, 0, 68}), Wgrad({12, 0, 68})}},
      // A complex multiply-add is 8 real operations.
      {"torch.einsum",
       "'ij,jk->ik' [2,3]complex64 [3,4]complex64",
       "[2,3]c64;[3,4]c64,c64",
       {192, 0, 208},
       {Dgrad({192, 0, 208}), Wgrad({192, 0, 208})}},
  });
}

TEST(EinsumTest, OneAndManyOperands) {
  CheckCases({
      {"torch.einsum", "'ij->i' [2,3]fp32", "[2,3]fp32,fp32", {0, 6, 32}, {}},
      {"torch.einsum", "'ij->ji' [2,3]fp32", "[2,3]fp32,fp32", {0, 0, 48}, {}},
      // ((2,3)x(3,4)) x (4,5): 48 + 80.
      {"torch.einsum",
       "'ij,jk,kl->il' [2,3]fp32 [3,4]fp32 [4,5]fp32",
       "[2,3]fp32;[3,4]fp32;[4,5]fp32,fp32",
       {128, 0, 24 + 48 + 80 + 40},
       {}},
  });
  EXPECT_TRUE(PriceCall(MakeCall("torch.einsum", "'ij,jk,kl->il' [2,3]fp32 [3,4]fp32 [4,5]fp32"))
                  .price->mma_estimated);
}

TEST(EinsumTest, WhatDoesNotFit) {
  for (const char* args : {"'ij,jk->ik' [2,3]fp32 [4,4]fp32", "'ij,jk->ik' [2,3]fp32",
                           "'ij,jk->iz' [2,3]fp32 [3,4]fp32", "'i1,jk->ik' [2,3]fp32 [3,4]fp32",
                           "'ijk' [2,3]fp32", "'...i' []fp32"}) {
    EXPECT_EQ(PriceCall(MakeCall("torch.einsum", args)).reason, Reason::kShapeMismatch) << args;
  }
  for (const char* args :
       {"[2,3]fp32 [3,4]fp32", "'ij,jk->ik'", "'ij,jk->ik' [-2,3]fp32 [3,4]fp32"}) {
    EXPECT_EQ(PriceCall(MakeCall("torch.einsum", args)).reason, Reason::kUnsupportedArgs) << args;
  }
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
       "M=4,N=2,K=3,bf16,int8,bf16",
       {48, 12, 12 + 12 + 16 + 8},
       {}},
      {"torch._weight_int4pack_mm",
       "[2,64]bf16 [1,1,32,4]int32 32 [2,8,2]bf16",
       "M=8,N=2,K=64,bf16,int4,bf16",
       {2048, 512, 256 + 256 + 32 + 64},
       {}},
      {"torch._scaled_mm", "[2,3]fp8e4m3 [4,4]fp8e4m3", Reason::kShapeMismatch},
      {"torch._int_mm", "[2,3]int8", Reason::kUnsupportedArgs},
  });
}

TEST(QuantizedTest, Experts) {
  OpCall call = MakeCall("torch._grouped_mm", "[8,3]bf16 [4,3,5]bf16 offs=[4]int32");
  // Values were not recorded: all rows, all experts.
  const PricedOp bound = *PriceCall(call).price;
  EXPECT_EQ(FiguresOf(bound.forward[0].work), (Figures{240, 0, 48 + 120 + 80 + 16}));
  EXPECT_TRUE(bound.mma_estimated);
  // 2, 0, 3 and 1 rows: 6 in all, and 3 experts.
  call.args[2].int_list = {2, 2, 5, 6};
  const PricedOp exact = *PriceCall(call).price;
  EXPECT_EQ(FiguresOf(exact.forward[0].work), (Figures{180, 0, 48 + 90 + 80 + 16}));
  EXPECT_FALSE(exact.mma_estimated);
  // Ends that descend or go beyond the rows are no ends.
  for (const std::vector<int64_t>& ends : {std::vector<int64_t>{5, 2, 6, 8}, {2, 4, 6, 9}}) {
    call.args[2].int_list = ends;
    EXPECT_TRUE(PriceCall(call).price->mma_estimated);
  }
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

TEST(FactorizationTest, LeadingTerms) {
  CheckCases({
      {"torch.linalg_cholesky", "[2,3,3]fp32", "[2,3,3]fp32", {0, 18, 144}, {}},
      {"torch.linalg_lu", "[6,6]fp64", "[6,6]fp64", {0, 144, 864}, {}},
      {"torch.inverse", "[3,3]complex64", "[3,3]c64", {0, 216, 144}, {}},
      // 2 * 9 * (5 - 1)
      {"torch.linalg_qr", "[5,3]fp32", "[5,3]fp32", {0, 72, 120}, {}},
      {"torch.linalg_qr", "[3,5]fp32", "[3,5]fp32", {0, 72, 120}, {}},
      {"torch.linalg_solve", "[3,3]fp32 [3,2]fp32", "[3,3]fp32;[3,2]fp32", {0, 54, 84}, {}},
      {"torch.triangular_solve", "[3,2]fp32 [3,3]fp32", "[3,3]fp32;[3,2]fp32", {0, 18, 84}, {}},
      {"torch.linalg_cholesky", "[2,3]fp32", Reason::kShapeMismatch},
      {"torch.linalg_inv", "[3]fp32", Reason::kShapeMismatch},
      {"torch.linalg_solve", "[3,3]fp32", Reason::kUnsupportedArgs},
  });
}

}  // namespace
}  // namespace oplens::ops::test
