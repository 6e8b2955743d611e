#include <gtest/gtest.h>

#include "test/ops/cases.h"

namespace oplens::ops::test::normalization_test {
namespace {

TEST(NormalizationTest, LayerNorm) {
  CheckCases({
      // n = 6, 2 rows of 3: 8*6, 16*6. X, Y 48, gamma and beta 24, two statistics a row 16 = 88.
      // Backward: X, dY, dX 72, gamma and both gradients 36, statistics 16 = 124.
      {"F.layer_norm",
       "[2,3]float32 (3,) [3]float32 [3]float32 1e-05",
       "[2,3]fp32;[3]fp32;[3]fp32",
       {0, 48, 88},
       {Back({0, 96, 124})}},
      {"torch.layer_norm",
       "[2,3]float32 (3,) [3]float32 [3]float32 1e-05 True",
       "[2,3]fp32;[3]fp32;[3]fp32",
       {0, 48, 88},
       {Back({0, 96, 124})}},
      {"aten::native_layer_norm",
       "[2,3]float32 [3] [3]float32 [3]float32 1e-05",
       "[2,3]fp32;[3]fp32;[3]fp32",
       {0, 48, 88},
       {Back({0, 96, 124})}},
      // Without weights 6 and 11: 48 + 16; 72 + 16.
      {"F.layer_norm",
       "[2,3]float32 normalized_shape=[3]",
       "[2,3]fp32",
       {0, 36, 64},
       {Back({0, 66, 88})}},
      // gamma alone: 48 + 12 + 16; 72 + 24 + 16.
      {"F.layer_norm",
       "[2,3]float32 [3] [3]float32 None",
       "[2,3]fp32;[3]fp32",
       {0, 48, 76},
       {Back({0, 96, 112})}},
      // fp16 with fp32 weights, both dimensions normalised: one row. 24 + 48 + 8; 36 + 72 + 8.
      {"F.layer_norm",
       "[2,3]float16 (2,3) [2,3]float32 [2,3]float32",
       "[2,3]fp16;[2,3]fp32;[2,3]fp32",
       {0, 48, 80},
       {Back({0, 96, 116})}},
      // fp64 keeps fp64 statistics: 96 + 32; 144 + 32.
      {"F.layer_norm", "[2,3]float64 [3]", "[2,3]fp64", {0, 36, 128}, {Back({0, 66, 176})}},

      {"F.layer_norm", "[2,3]float32", Reason::kUnsupportedArgs},
      {"F.layer_norm", "[2,3]float32 'x'", Reason::kUnsupportedArgs},
      {"F.layer_norm", "[2,3]float32 [2]", Reason::kShapeMismatch},
      {"F.layer_norm", "[2,3]float32 [4,2,3]", Reason::kShapeMismatch},
      {"F.layer_norm", "[2,3]float32 []", Reason::kShapeMismatch},
      {"F.layer_norm", "[2,3]float32 [3] [2]float32", Reason::kShapeMismatch},
      {"F.layer_norm", "[2,3]float32 [3] [3]float32 [2,3]float32", Reason::kShapeMismatch},
      {"F.layer_norm", "[2,3]what [3]", Reason::kUnknownDType},
  });
}

TEST(NormalizationTest, RmsNorm) {
  CheckCases({
      // 4*6, 10*6. X, Y 48, gamma 12, one statistic a row 8 = 68; 72 + 24 + 8 = 104.
      {"F.rms_norm",
       "[2,3]float32 [3] [3]float32",
       "[2,3]fp32;[3]fp32",
       {0, 24, 68},
       {Back({0, 60, 104})}},
      {"torch.rms_norm",
       "[2,3]float32 [3] weight=[3]float32 eps=1e-6",
       "[2,3]fp32;[3]fp32",
       {0, 24, 68},
       {Back({0, 60, 104})}},
      {"F.rms_norm", "[2,3]float32 [3]", "[2,3]fp32", {0, 24, 56}, {Back({0, 60, 80})}},
      {"F.rms_norm", "[2,3]float32 [3] [2]float32", Reason::kShapeMismatch},
      // With the result as an argument: 24 + 24 + 12. The sum with a residual: 5*6; both are read
      // and written.
      {"rms_norm",
       "[2,3]float32 [2,3]float32 [3]float32 1e-05",
       "[2,3]fp32;[3]fp32",
       {0, 24, 60},
       {}},
      {"fused_add_rms_norm",
       "[2,3]float16 [2,3]float16 [3]float16 1e-05",
       "[2,3]fp16;[3]fp16",
       {0, 30, 54},
       {}},
      {"rms_norm", "[2,3]float32 [2,3]float32 [2]float32 1e-05", Reason::kShapeMismatch},
      {"fused_add_rms_norm", "[2,3]float32 [2,3]float32", Reason::kUnsupportedArgs},
  });
}

}  // namespace
}  // namespace oplens::ops::test::normalization_test
