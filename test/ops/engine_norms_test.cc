// Norms and softmaxes of engines, apex and Megatron.
#include <gtest/gtest.h>

#include "test/ops/cases.h"

namespace oplens::ops::test::engine_norms_test {
namespace {

TEST(EngineNormsTest, RmsNorms) {
  CheckCases({
      // Result, x: 2 * 24 bytes, the weight 8.
      {"rmsnorm", "[3,4]bf16 [3,4]bf16 [4]bf16 0.1", "[3,4]bf16;[4]bf16", {0, 48, 56}, {}},
      {"rmsnorm", "[3,4]bf16 [4]bf16 0.1", "[3,4]bf16;[4]bf16", {0, 48, 56}, {}},
      {"rms_norm", "[3,4]bf16 [4]bf16 0.1 0", "[3,4]bf16;[4]bf16", {0, 48, 56}, {}},
      // x and the residual, both read and written.
      {"fused_add_rmsnorm",
       "[3,4]bf16 [3,4]bf16 [4]bf16 0.1",
       "[3,4]bf16;[4]bf16",
       {0, 60, 4 * 24 + 8},
       {}},
      {"add_rmsnorm",
       "[3,4]bf16 [3,4]bf16 [3,4]bf16 [3,4]bf16 [4]bf16 0.1",
       "[3,4]bf16;[4]bf16",
       {0, 60, 4 * 24 + 8},
       {}},
      // One byte an element of the result, one fp32 for the scale.
      {"rms_norm_static_fp8_quant",
       "[3,4]fp8e4m3 [3,4]bf16 [4]bf16 [1]fp32 0.1",
       "[3,4]bf16;[4]bf16",
       {0, 60, 12 + 24 + 8 + 4},
       {}},
      {"fused_add_rms_norm_static_fp8_quant",
       "[3,4]fp8e4m3 [3,4]bf16 [3,4]bf16 [4]bf16 [1]fp32 0.1",
       "[3,4]bf16;[4]bf16",
       {0, 72, 12 + 24 + 48 + 8 + 4},
       {}},
      {"rmsnorm", "[3,4]bf16 [3,4]bf16 [5]bf16 0.1", Reason::kShapeMismatch},
      {"rmsnorm", "[3,4]bf16 [2,4]bf16 [4]bf16 0.1", Reason::kShapeMismatch},
      {"add_rmsnorm", "[3,4]bf16 [3,4]bf16 [4]bf16 0.1", Reason::kUnsupportedArgs},
      {"rmsnorm", "1 2 3", Reason::kUnsupportedArgs},
  });
}

TEST(EngineNormsTest, NormsOfApex) {
  // As layer_norm and rms_norm of the same operands.
  for (const auto& [op, args, twin, twin_args] :
       {std::tuple("FusedLayerNormAffineFunction", "[3,4]fp16 [4]fp16 [4]fp16 ? 0.1",
                   "F.layer_norm", "[3,4]fp16 (4) [4]fp16 [4]fp16"),
        std::tuple("FusedRMSNormAffineFunction", "[3,4]fp16 [4]fp16 ? 0.1", "F.rms_norm",
                   "[3,4]fp16 (4) [4]fp16")}) {
    const PriceResult price = PriceCall(MakeCall(op, args));
    const PriceResult same = PriceCall(MakeCall(twin, twin_args));
    ASSERT_TRUE(price.price && same.price) << op;
    EXPECT_EQ(FiguresOf(price.price->forward[0].work), FiguresOf(same.price->forward[0].work));
    EXPECT_EQ(FiguresOf(price.price->backward[0].work), FiguresOf(same.price->backward[0].work));
  }
  EXPECT_FALSE(PriceCall(MakeCall("FusedLayerNormAffineFunction", "[3,4]fp16 ?")).price);
}

TEST(EngineNormsTest, CausalSoftmax) {
  int64_t seen = 0;
  for (int64_t row = 0; row < 5; ++row) seen += row + 1;
  seen *= 3;
  // What is seen is read, all 75 elements are written.
  CheckCases({
      {"ScaledUpperTriangMaskedSoftmax",
       "[3,5,5]fp16 ?",
       "[3,5,5]fp16",
       {0, 25 * seen, 2 * seen + 150},
       {{Part::kBackward, {0, 5 * seen, 4 * seen + 150}}}},
      {"ScaledUpperTriangMaskedSoftmax", "[3,5,4]fp16 ?", Reason::kShapeMismatch},
      {"ScaledMaskedSoftmax",
       "[2,3,4,5]fp16 [2,1,4,5]bool ?",
       "[2,3,4,5]fp16",
       {0, 26 * 120, 480 + 40},
       {{Part::kBackward, {0, 5 * 120, 720}}}},
      {"ScaledSoftmax",
       "[2,3,4,5]fp16 ?",
       "[2,3,4,5]fp16",
       {0, 25 * 120, 480},
       {{Part::kBackward, {0, 5 * 120, 720}}}},
      {"ScaledSoftmax", "3", Reason::kUnsupportedArgs},
  });
}

}  // namespace
}  // namespace oplens::ops::test::engine_norms_test
