#include <gtest/gtest.h>

#include "test/ops/cases.h"

namespace oplens::ops::test {
namespace {

TEST(GatherTest, Prices) {
  CheckCases({
      // 4 indices of 8 bytes, 2*4 picked: 32 + 2*32. Backward: 8 adds, 32 + dY 32 + dX 24.
      {"torch.index_select",
       "[2,3]float32 1 [4]int64",
       "T=(2,3),D=1,I=4,fp32",
       {0, 0, 96},
       {Back({0, 8, 88})}},
      {"torch.index_select",
       "[2,3]float32 -1 index=[4]int64",
       "T=(2,3),D=1,I=4,fp32",
       {0, 0, 96},
       {Back({0, 8, 88})}},
      // An element an index: 32 + 2*16. Backward: 4 adds, 32 + 16 + 24.
      {"torch.gather", "[2,3]float32 1 [2,2]int64", "T=(2,3),fp32", {0, 0, 64}, {Back({0, 4, 72})}},
      {"torch.gather", "[2,3]int32 dim=1 index=[2,2]int64", "T=(2,3),int32", {0, 0, 64}, {}},
      {"torch.take", "[2,3]float32 [4]int64", "T=(2,3),fp32", {0, 0, 64}, {Back({0, 4, 72})}},

      // How many are kept depends on the values.
      {"torch.masked_select", "[6]float32 [6]bool", Reason::kUnsupportedArgs},
      {"torch.nonzero", "[6]float32", Reason::kUnsupportedArgs},
      {"torch.index_select", "[2,3]float32 2 [4]int64", Reason::kShapeMismatch},
      {"torch.index_select", "[2,3]float32 1 [2,2]int64", Reason::kShapeMismatch},
      {"torch.index_select", "[2,3]float32 1 [4]float32", Reason::kUnsupportedArgs},
      {"torch.index_select", "[2,3]float32 1", Reason::kUnsupportedArgs},
      {"torch.gather", "[2,3]float32 1 [4]int64", Reason::kShapeMismatch},
      {"torch.gather", "[2,3]float32 index=[2,2]int64", Reason::kUnsupportedArgs},
  });
}

}  // namespace
}  // namespace oplens::ops::test
