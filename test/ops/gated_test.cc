#include <gtest/gtest.h>

#include "test/ops/cases.h"

namespace oplens::ops::test {
namespace {

TEST(GatedTest, Prices) {
  CheckCases({
      // prelu: 12 elements, 3 slopes. 48 + 12 + 48. dX and the summed gradient of the slopes:
      // 3*12; dY, x, dX 144, slopes read and written 24.
      {"F.prelu",
       "[2,3,2]float32 [3]float32",
       "[2,3,2]fp32;[3]fp32",
       {0, 24, 108},
       {Back({0, 36, 168})}},
      {"F.prelu",
       "[2,3,2]float32 [1]float32",
       "[2,3,2]fp32;[1]fp32",
       {0, 24, 100},
       {Back({0, 36, 152})}},
      // glu halves a dimension: 6 results of 12. 48 + 24; gradient: dY 24, x and dX 96.
      {"F.glu", "[2,6]float32", "[2,6]fp32", {0, 126, 72}, {Back({0, 150, 120})}},
      {"F.glu", "[2,6]float32 0", "[2,6]fp32", {0, 126, 72}, {Back({0, 150, 120})}},
      {"swiglu", "[2,6]bfloat16", "[2,6]bf16", {0, 132, 36}, {}},
      {"geglu", "[2,6]bfloat16", "[2,6]bf16", {0, 150, 36}, {}},

      {"F.prelu", "[2,3,2]float32 [2]float32", Reason::kShapeMismatch},
      {"F.prelu", "[2,3,2]float32", Reason::kUnsupportedArgs},
      {"F.glu", "[2,5]float32", Reason::kShapeMismatch},
      {"F.glu", "[2,6]float32 2", Reason::kShapeMismatch},
      {"F.glu", "[]float32", Reason::kShapeMismatch},
      {"F.glu", "[2,6]float32 'x'", Reason::kUnsupportedArgs},
  });
}

}  // namespace
}  // namespace oplens::ops::test
