#include <gtest/gtest.h>

#include "ops/op_model.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::sorting_test {
namespace {

TEST(SortingTest, Sorts) {
  CheckCases({
      // 24 elements in rows of 6: 3 comparisons each. 96 + 96 + 192; backward 96 + 192 + 96.
      {"torch.sort", "[4,6]float32", "T=(4,6),fp32", {0, 72, 384}, {Back({0, 0, 384})}},
      // Columns of 4: 2 each.
      {"torch.sort", "[4,6]float32 dim=0", "T=(4,6),fp32", {0, 48, 384}, {Back({0, 0, 384})}},
      {"torch.sort", "[4,6]float32 -2 True", "T=(4,6),fp32", {0, 48, 384}, {Back({0, 0, 384})}},
      {"aten::sort",
       "[4,6]float32 False 0 True",
       "T=(4,6),fp32",
       {0, 48, 384},
       {Back({0, 0, 384})}},
      {"torch.argsort", "[8]int32", "T=(8,),int32", {0, 24, 128}, {}},
      {"torch.msort", "[4,6]float32", "T=(4,6),fp32", {0, 48, 384}, {Back({0, 0, 384})}},
      {"torch.sort", "[5,1]float32", "T=(5,1),fp32", {0, 0, 80}, {Back({0, 0, 80})}},
      {"torch.sort", "[0]float32", "T=(0,),fp32", {0, 0, 0}, {Back({0, 0, 0})}},
      {"torch.sort", "0.5", "T=(),fp32", {0, 0, 16}, {}},
      {"torch.sort", "[4,6]float32 2", Reason::kShapeMismatch},
      {"torch.sort", "[4,6]float32 'x'", Reason::kUnsupportedArgs},
  });
}

TEST(SortingTest, Selections) {
  CheckCases({
      // 24 elements, 2 of each row: 96 + 8*(4 + 8).
      {"torch.topk", "[4,6]float32 2", "T=(4,6),fp32", {0, 24, 192}, {Back({0, 0, 192})}},
      {"torch.topk", "[4,6]float32 k=3 dim=0", "T=(4,6),fp32", {0, 24, 312}, {Back({0, 0, 312})}},
      {"torch.topk", "[4,6]float16 0", "T=(4,6),fp16", {0, 24, 48}, {Back({0, 0, 48})}},
      {"torch.kthvalue", "[4,6]float32 2", "T=(4,6),fp32", {0, 24, 144}, {Back({0, 0, 144})}},
      {"torch.kthvalue", "[4,6]float32 2 0", "T=(4,6),fp32", {0, 24, 168}, {Back({0, 0, 168})}},
      {"torch.mode", "[4,6]float32", "T=(4,6),fp32", {0, 24, 144}, {Back({0, 0, 144})}},
      {"torch.median", "[4,6]float32 1", "T=(4,6),fp32", {0, 24, 144}, {Back({0, 0, 144})}},
      // Of all: one value. The gradient compares: X, dX, the value and g.
      {"torch.median", "[4,6]float32", "T=(4,6),fp32", {0, 24, 100}, {Back({0, 24, 200})}},
      {"torch.topk", "[4,6]float32 7", Reason::kShapeMismatch},
      {"torch.topk", "[4,6]float32 -1", Reason::kUnsupportedArgs},
      {"torch.topk", "[4,6]float32", Reason::kUnsupportedArgs},
      {"torch.topk", "[4,6]float32 ?", Reason::kUnsupportedArgs},
      {"torch.kthvalue", "[4,6]float32 0", Reason::kShapeMismatch},
      {"aten::value_selecting_reduction_backward",
       "[4]float32 1 [4]int64 [4,6] False",
       "T=(4,),fp32",
       {0, 0, 144},
       {}},
      {"aten::value_selecting_reduction_backward", "[4]float32 1 [5]int64 [4,6] False",
       Reason::kShapeMismatch},
      {"aten::value_selecting_reduction_backward", "[4]float32 1 [4]int64",
       Reason::kUnsupportedArgs},
  });
}

TEST(SortingTest, CountsAndSearches) {
  CheckCases({
      // 4 comparisons each of 10: 40; 40 in, at most 40 out.
      {"torch.unique", "[10]float32", "T=(10,),fp32", {0, 40, 80}, {}},
      {"torch.unique",
       "[10]float32 return_inverse=True return_counts=True",
       "T=(10,),fp32",
       {0, 40, 240},
       {}},
      {"aten::_unique2", "[10]float32 True False True", "T=(10,),fp32", {0, 40, 160}, {}},
      {"aten::unique_dim", "[10]float32 0 True True False", "T=(10,),fp32", {0, 40, 160}, {}},
      {"torch.unique_consecutive", "[10]int64 True", "T=(10,),int64", {0, 10, 240}, {}},
      {"torch.bincount", "[10]int64 minlength=5", "T=(10,),int64", {0, 10, 120}, {}},
      {"torch.bincount", "[10]int64 [10]float32 5", "T=(10,),int64", {0, 10, 140}, {}},
      {"torch.histc", "[10]float32 4", "T=(10,),fp32", {0, 10, 56}, {}},
      {"torch.histc", "[10]float32", "T=(10,),fp32", {0, 10, 440}, {}},
      // 5 boundaries take 3 comparisons: 40 + 20 + 80.
      {"torch.bucketize", "[10]float32 [5]float32", "[10]fp32;[5]fp32", {0, 30, 140}, {}},
      {"torch.bucketize",
       "[10]float32 [5]float32 out_int32=True",
       "[10]fp32;[5]fp32",
       {0, 30, 100},
       {}},
      {"torch.searchsorted", "[5]float32 [2,5]float32", "[2,5]fp32;[5]fp32", {0, 30, 140}, {}},
      {"torch.searchsorted", "[2,5]float32 [2,3]float32", "[2,3]fp32;[2,5]fp32", {0, 18, 112}, {}},
      {"torch.searchsorted", "[5]float32 0.5", "[]fp32;[5]fp32", {0, 3, 28}, {}},
      {"torch.searchsorted", "[2,5]float32 [3,3]float32", Reason::kShapeMismatch},
      {"torch.bucketize", "[10]float32 [5,1]float32", Reason::kShapeMismatch},
      {"torch.bincount", "[10]float32", Reason::kUnsupportedArgs},
      {"torch.bincount", "[10]int64 [9]float32", Reason::kShapeMismatch},
      {"torch.histc", "[10]float32 0", Reason::kUnsupportedArgs},
  });
}

}  // namespace
}  // namespace oplens::ops::test::sorting_test
