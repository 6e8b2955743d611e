#include <gtest/gtest.h>

#include "test/ops/cases.h"

namespace oplens::ops::test::reduction_test {
namespace {

TEST(ReductionTest, Sums) {
  CheckCases({
      // 6 elements to 1: 24 + 4. The gradient is an expanded view.
      {"torch.sum", "[2,3]float32", "T=(2,3),fp32", {0, 6, 28}, {Back({})}},
      {"Tensor.sum", "[2,3]float32 dim=1", "T=(2,3),fp32", {0, 6, 32}, {Back({})}},
      {"Tensor.sum", "[2,3]float32 -2 True", "T=(2,3),fp32", {0, 6, 36}, {Back({})}},
      {"Tensor.sum", "[2,3]float32 (0,1)", "T=(2,3),fp32", {0, 6, 28}, {Back({})}},
      {"Tensor.sum", "[2,3]float32 dim=None", "T=(2,3),fp32", {0, 6, 28}, {Back({})}},
      {"Tensor.sum", "[2,3]float32 []", "T=(2,3),fp32", {0, 6, 28}, {Back({})}},
      {"torch.sum", "[6]float16 dtype='float32'", "T=(6,),fp16", {0, 6, 16}, {Back({})}},
      // Integers add up in int64: 24 + 8; truth values: 6 + 8.
      {"torch.sum", "[6]int32", "T=(6,),int32", {0, 6, 32}, {}},
      {"torch.sum", "[6]bool", "T=(6,),bool", {0, 6, 14}, {}},
      {"torch.sum", "0.5", "T=(),fp32", {0, 1, 8}, {Back({})}},
      // A mean divides each result; its gradient too: 6 FLOPs, g 8 + dX 24.
      {"torch.mean", "[2,3]float32 1", "[2,3]fp32", {0, 8, 32}, {Back({0, 6, 32})}},
      {"torch.mean", "[2,3]float32", "[2,3]fp32", {0, 7, 28}, {Back({0, 6, 28})}},
      {"torch.prod", "[6]float32", "T=(6,),fp32", {0, 6, 28}, {Back({0, 12, 56})}},
      {"torch.cumsum", "[2,3]float32 1", "T=(2,3),fp32", {0, 6, 48}, {Back({0, 6, 48})}},
      {"torch.cumsum", "[6]bool dim=0", "T=(6,),bool", {0, 6, 54}, {}},
      {"torch.cummax", "[6]float32 0", "T=(6,),fp32", {0, 6, 96}, {Back({0, 6, 96})}},
      {"torch.logsumexp", "[2,3]float32 1", "T=(2,3),fp32", {0, 138, 32}, {Back({0, 132, 64})}},

      {"torch.sum", "", Reason::kNoArguments},
      {"torch.sum", "[2,3]float32 2", Reason::kShapeMismatch},
      {"torch.sum", "[2,3]float32 (0,0)", Reason::kShapeMismatch},
      {"torch.sum", "[2,3]float32 (0,-2)", Reason::kShapeMismatch},
      {"torch.sum", "[2,3]float32 'x'", Reason::kUnsupportedArgs},
      {"torch.sum", "[2,3]float32 dtype='x'", Reason::kUnknownDType},
      {"torch.sum", "[2,3]float33", Reason::kUnknownDType},
      // The dimension was not recorded.
      {"torch.cumsum", "[2,3]float32 ?", "T=(2,3),fp32", {0, 6, 48}, {Back({0, 6, 48})}},
      {"torch.cumsum", "[2,3]float32", Reason::kUnsupportedArgs},
      {"torch.cumsum", "[2,3]float32 5", Reason::kShapeMismatch},
  });
}

TEST(ReductionTest, Selections) {
  CheckCases({
      {"torch.max", "[2,3]float32", "T=(2,3),fp32", {0, 6, 28}, {Back({0, 24, 56})}},
      // With a dimension, values and int64 indices: 24 + 2*4 + 2*8.
      {"torch.max", "[2,3]float32 1", "T=(2,3),fp32", {0, 6, 48}, {Back({0, 0, 48})}},
      {"torch.min",
       "[2,3]float32 dim=1 keepdim=True",
       "T=(2,3),fp32",
       {0, 6, 48},
       {Back({0, 0, 48})}},
      // Of two tensors it is pointwise; the gradient: dY, both saved, both written.
      {"torch.max", "[6]float32 [6]float32", "[6]fp32;[6]fp32", {0, 6, 72}, {Back({0, 6, 120})}},
      {"torch.max",
       "[6]float32 other=[6]float32",
       "[6]fp32;[6]fp32",
       {0, 6, 72},
       {Back({0, 6, 120})}},
      {"torch.amax", "[2,3]float32 1", "T=(2,3),fp32", {0, 6, 32}, {Back({0, 24, 64})}},
      {"torch.argmax", "[2,3]float32 1", "T=(2,3),fp32", {0, 6, 40}, {}},
      {"Tensor.any", "[6]bool", "T=(6,),bool", {0, 6, 7}, {}},
      {"Tensor.all", "[2,3]float32 1", "T=(2,3),fp32", {0, 6, 26}, {}},
      {"torch.count_nonzero", "[6]float32", "T=(6,),fp32", {0, 6, 32}, {}},
      // equal: compare and reduce, 2 an element; one truth value out.
      {"torch.equal", "[6]float32 [6]float32", "[6]fp32;[6]fp32", {0, 12, 49}, {}},
      {"torch.equal", "[6]float32 [5]float32", Reason::kShapeMismatch},
      {"torch.max", "[6]float32 ?", Reason::kUnsupportedArgs},
  });
}

TEST(ReductionTest, VariancesAndNorms) {
  CheckCases({
      {"torch.var", "[2,3]float32", "T=(2,3),fp32", {0, 24, 28}, {Back({0, 24, 52})}},
      {"torch.var", "[2,3]float32 1 False True", "T=(2,3),fp32", {0, 24, 32}, {Back({0, 24, 56})}},
      // The second argument may be `unbiased`.
      {"torch.var", "[2,3]float32 False", "T=(2,3),fp32", {0, 24, 28}, {Back({0, 24, 52})}},
      // A root a result: 24 + 20*2.
      {"torch.std",
       "[2,3]float32 dim=1 correction=0",
       "T=(2,3),fp32",
       {0, 64, 32},
       {Back({0, 28, 64})}},
      {"torch.var_mean", "[2,3]float32 1", "T=(2,3),fp32", {0, 24, 40}, {Back({0, 30, 64})}},

      // 2*6 + a root 20.
      {"torch.norm", "[2,3]float32 2.0", "T=(2,3),fp32", {0, 32, 28}, {Back({0, 7, 56})}},
      {"torch.norm",
       "[2,3]float32 2.0 None False dtype=None",
       "T=(2,3),fp32",
       {0, 32, 28},
       {Back({0, 7, 56})}},
      {"torch.norm", "[2,3]float32", "T=(2,3),fp32", {0, 32, 28}, {Back({0, 7, 56})}},
      {"torch.norm", "[2,3]float32 'fro'", "T=(2,3),fp32", {0, 32, 28}, {Back({0, 7, 56})}},
      {"torch.norm", "[2,3]float32 2 1", "T=(2,3),fp32", {0, 52, 32}, {Back({0, 8, 64})}},
      {"torch.norm", "[2,3]float32 p=1", "T=(2,3),fp32", {0, 12, 28}, {Back({0, 12, 52})}},
      {"torch.norm", "[2,3]float32 inf", "T=(2,3),fp32", {0, 12, 28}, {Back({0, 24, 56})}},
      // Another order is a power 20 and an add each, and a root.
      {"torch.norm", "[2,3]float32 3", "T=(2,3),fp32", {0, 146, 28}, {Back({0, 133, 56})}},
      {"linalg_vector_norm",
       "[2,3]float16 ord=2 dim=(0,1)",
       "T=(2,3),fp16",
       {0, 32, 14},
       {Back({0, 7, 28})}},

      {"linalg_norm", "[2,3]float32", "T=(2,3),fp32", {0, 32, 28}, {Back({0, 7, 56})}},
      // Of a matrix, the largest sum of a column.
      {"linalg_norm", "[2,3]float32 1", "T=(2,3),fp32", {0, 12, 28}, {Back({0, 12, 52})}},
      {"linalg_norm", "[2,3]float32 3 1", "T=(2,3),fp32", {0, 166, 32}, {Back({0, 134, 64})}},
      {"linalg_norm", "[2,3]float32 2", Reason::kUnsupportedArgs},
      {"linalg_norm", "[2,3]float32 2 (0,1)", Reason::kUnsupportedArgs},
      // Orders 0: the gradient is zeros; an input that is not a number counts for nothing.
      {"torch.norm", "[2,3]float32 0", "T=(2,3),fp32", {0, 12, 28}, {Back({0, 0, 28})}},
      {"torch.nansum", "[2,3]float32", "T=(2,3),fp32", {0, 12, 28}, {Back({0, 6, 52})}},
      {"torch.aminmax", "[2,3]float32 dim=1", "T=(2,3),fp32", {0, 12, 40}, {Back({0, 48, 80})}},
      {"torch.std_mean", "[2,3]float32 1", "T=(2,3),fp32", {0, 64, 40}, {Back({0, 34, 80})}},
      {"torch.cumprod", "[6]float32 0", "T=(6,),fp32", {0, 6, 48}, {Back({0, 18, 96})}},
      {"torch.norm", "[2,3]float32 'nuc'", Reason::kUnsupportedArgs},
      {"torch.norm", "[2,3]float32 nan", Reason::kUnsupportedArgs},
      {"torch.norm", "[2,3]float32 2 7", Reason::kShapeMismatch},
      {"torch.norm", "2.0", "T=(),fp32", {0, 22, 8}, {Back({0, 2, 16})}},
  });
}

// Sums and comparisons are counted; exponentials and roots are weights.
TEST(ReductionTest, WhatIsCountedIsExact) {
  for (const char* op : {"torch.sum", "torch.mean", "torch.max", "torch.argmax", "torch.var"}) {
    EXPECT_FALSE(PriceCall(MakeCall(op, "[2,3]float32")).price->vec_estimated) << op;
  }
  for (const char* op : {"torch.logsumexp", "torch.std", "torch.norm"}) {
    EXPECT_TRUE(PriceCall(MakeCall(op, "[2,3]float32")).price->vec_estimated) << op;
  }
}

}  // namespace
}  // namespace oplens::ops::test::reduction_test
