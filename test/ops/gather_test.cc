#include <gtest/gtest.h>

#include "test/ops/cases.h"

namespace oplens::ops::test::gather_test {
namespace {

TEST(GatherTest, Prices) {
  CheckCases({
      // 4 indices of 8 bytes pick 2*4 of 6 elements, which are read once: 32 + 24 + 32. Backward: 8
      // adds, 32 + dY 32 + dX 24.
      {"torch.index_select",
       "[2,3]float32 1 [4]int64",
       "T=(2,3),D=1,I=4,fp32",
       {0, 0, 88},
       {Back({0, 8, 88})}},
      {"torch.index_select",
       "[2,3]float32 -1 index=[4]int64",
       "T=(2,3),D=1,I=4,fp32",
       {0, 0, 88},
       {Back({0, 8, 88})}},
      // An element an index: 32 + 2*16. Backward: 4 adds, 32 + 16 + 24.
      {"torch.gather", "[2,3]float32 1 [2,2]int64", "T=(2,3),fp32", {0, 0, 64}, {Back({0, 4, 72})}},
      {"torch.gather", "[2,3]int32 dim=1 index=[2,2]int64", "T=(2,3),int32", {0, 0, 64}, {}},
      {"torch.take", "[2,3]float32 [4]int64", "T=(2,3),fp32", {0, 0, 64}, {Back({0, 4, 72})}},

      // How many are kept depends on the values.
      // At most all of 6 elements: 24 + 6 + 24.
      {"torch.masked_select", "[6]float32 [6]bool", "T=(6,),fp32", {0, 0, 54}, {Back({0, 0, 54})}},
      // At least the elements are read; none may be other than 0.
      {"torch.nonzero", "[2,3]float32", "T=(2,3),fp32", {0, 0, 24}, {}},
      {"torch.nonzero", "[2,3]bool as_tuple=True", "T=(2,3),bool", {0, 0, 6}, {}},
      // 2x2 indices 32, 4 picked twice 32; backward 4 adds, indices, dY 16, dX 24.
      {"torch.take_along_dim",
       "[2,3]float32 [2,2]int64 1",
       "T=(2,3),fp32",
       {0, 0, 64},
       {Back({0, 4, 72})}},
      // The indices are broadcast to two rows.
      {"torch.take_along_dim",
       "[2,3]float32 [1,2]int64 dim=-1",
       "T=(2,3),fp32",
       {0, 0, 48},
       {Back({0, 4, 56})}},
      {"torch.take_along_dim",
       "[2,3]float32 [5]int64",
       "T=(2,3),fp32",
       {0, 0, 80},
       {Back({0, 5, 84})}},
      // Rows 0 and 1 of pairs: x[i, j] with 5 indices each, and x[i] with rows of 3, of which there
      // are two: 40 + 24 + 60.
      {"aten::index",
       "[2,3]float32 [5]int64 [5]int64",
       "T=(2,3),fp32",
       {0, 0, 120},
       {Back({0, 5, 124})}},
      {"aten::index", "[2,3]float32 [5]int64", "T=(2,3),fp32", {0, 0, 124}, {Back({0, 15, 124})}},
      // x[:, j], and indices that are broadcast: 4x1 with 5 make 20.
      {"aten::index",
       "[2,3]float32 None [5]int64",
       "T=(2,3),fp32",
       {0, 0, 104},
       {Back({0, 10, 104})}},
      {"aten::index",
       "[2,3,7]float32 [4,1]int64 [5]int64",
       "T=(2,3,7),fp32",
       {0, 0, 800},
       {Back({0, 140, 800})}},
      // A mask of both dimensions picks at most 6.
      {"aten::index", "[2,3]float32 [2,3]bool", "T=(2,3),fp32", {0, 0, 54}, {Back({0, 6, 54})}},
      {"aten::index", "[2,3]float32", Reason::kUnsupportedArgs},
      {"aten::index", "[2,3]float32 None", Reason::kUnsupportedArgs},
      {"aten::index", "[2,3]float32 [5]float32", Reason::kUnsupportedArgs},
      {"aten::index", "[2,3]float32 [5]int64 [4]int64", Reason::kShapeMismatch},
      {"aten::index", "[2]float32 [5]int64 [5]int64", Reason::kShapeMismatch},
      {"aten::index", "[2,3]float32 [3]bool", Reason::kShapeMismatch},
      {"torch.take_along_dim", "[2,3]float32 [5]int64 1", Reason::kShapeMismatch},
      {"torch.take_along_dim", "[2,3]float32 [2,2]int64 2", Reason::kShapeMismatch},
      {"torch.masked_select", "[6]float32 [5]bool", Reason::kShapeMismatch},
      // A dimension that was not recorded matters only where there are several.
      {"torch.index_select",
       "[9]float32 ? [4]int64",
       "T=(9,),D=0,I=4,fp32",
       {0, 0, 64},
       {Back({0, 4, 84})}},
      {"torch.index_select", "[9,2]float32 ? [4]int64", Reason::kUnsupportedArgs},
      {"torch.gather", "[9]float32 ? [4]int64", "T=(9,),fp32", {0, 0, 64}, {Back({0, 4, 84})}},
      {"torch.index_select", "[2,3]float32 2 [4]int64", Reason::kShapeMismatch},
      {"torch.index_select", "[2,3]float32 1 [2,2]int64", Reason::kShapeMismatch},
      {"torch.index_select", "[2,3]float32 1 [4]float32", Reason::kUnsupportedArgs},
      {"torch.index_select", "[2,3]float32 1", Reason::kUnsupportedArgs},
      {"torch.gather", "[2,3]float32 1 [4]int64", Reason::kShapeMismatch},
      {"torch.gather", "[2,3]float32 index=[2,2]int64", Reason::kUnsupportedArgs},
  });
}

// The indices of x[..] are a list that is not recorded: calls inside may tell the result.
TEST(GatherTest, IndicesThatAreNotRecorded) {
  CheckCases({
      // 4 of 2 rows of 3 are picked: at most all 6 elements are read, and 12 written.
      {"aten::index",
       "[2,3]float32 output=[4,3]float32 indices=[4]int64",
       "T=(2,3),fp32",
       {0, 0, 32 + 24 + 48},
       {Back({0, 12, 32 + 48 + 24})}},
  });
  // No FLOPs whatever they are.
  const PriceResult result = PriceCall(MakeCall("aten::index", "[2,3]float32 ?"));
  ASSERT_TRUE(result.price);
  EXPECT_EQ(result.price->forward[0].work.vec.Value(), 0);
  EXPECT_FALSE(result.price->bytes_known);
  EXPECT_EQ(result.price->why_no_bytes, Reason::kUnsupportedArgs);
  EXPECT_TRUE(result.price->backward.empty());
}

}  // namespace
}  // namespace oplens::ops::test::gather_test
