#include <gtest/gtest.h>

#include "test/ops/cases.h"

namespace oplens::ops::test::gated_test {
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
      {"swiglu", "[2,6]bfloat16", "[2,6]bf16", {0, 132, 36}, {Back({0, 162, 60})}},
      {"geglu", "[2,6]bfloat16", "[2,6]bf16", {0, 150, 36}, {Back({0, 186, 60})}},
      {"reglu", "[2,6]bfloat16", "[2,6]bf16", {0, 12, 36}, {Back({0, 24, 60})}},
      // The halves in two tensors: 12 + 12 + 12; dY and, read and written, both.
      {"swiglu",
       "[2,3]bfloat16 [2,3]bfloat16",
       "[2,3]bf16;[2,3]bf16",
       {0, 132, 36},
       {Back({0, 162, 60})}},
      // The result first, or second.
      {"silu_and_mul", "[2,3]bf16 [2,6]bf16", "[2,6]bf16", {0, 132, 36}, {Back({0, 162, 60})}},
      {"silu_and_mul", "[2,6]bf16 [2,3]bf16", "[2,6]bf16", {0, 132, 36}, {Back({0, 162, 60})}},
      {"gelu_and_mul", "[2,3]bf16 [2,6]bf16", "[2,6]bf16", {0, 150, 36}, {Back({0, 186, 60})}},
      {"gelu_tanh_and_mul", "[2,3]bf16 [2,6]bf16", "[2,6]bf16", {0, 174, 36}, {Back({0, 222, 60})}},
      // A result of another type, as fp8.
      {"silu_and_mul", "[2,3]fp8e4m3 [2,6]bf16", "[2,6]bf16", {0, 132, 30}, {Back({0, 162, 54})}},

      {"F.prelu", "[2,3,2]float32 [2]float32", Reason::kShapeMismatch},
      {"F.prelu", "[2,3,2]float32", Reason::kUnsupportedArgs},
      {"F.glu", "[2,5]float32", Reason::kShapeMismatch},
      {"F.glu", "[2,6]float32 2", Reason::kShapeMismatch},
      {"silu_and_mul", "[2,3]bf16 [3,4]bf16", Reason::kShapeMismatch},
      {"silu_and_mul", "[2,3]bf16 [1,12]bf16", Reason::kShapeMismatch},
      {"silu_and_mul", "[]bf16 [2]bf16", Reason::kShapeMismatch},
      {"silu_and_mul", "[9223372036854775807]bf16 [9223372036854775806]bf16",
       Reason::kShapeMismatch},
      {"F.glu", "[]float32", Reason::kShapeMismatch},
      {"F.glu", "[2,6]float32 'x'", Reason::kUnsupportedArgs},
  });
}

}  // namespace
}  // namespace oplens::ops::test::gated_test
