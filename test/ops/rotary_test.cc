#include <gtest/gtest.h>

#include <string>

#include "ops/op_model.h"
#include "parse/model/torch_call.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::rotary_test {
namespace {

TEST(Rotary, Prices) {
  CheckCases({
      // 2*4*6*8 = 384 elements, read and written; two tables of 48.
      {"rotary_embedding",
       "q=[2,4,6,8]bfloat16 cos=[6,8]float32 sin=[6,8]float32",
       "[2,4,6,8]bf16",
       {0, 1152, 1920},
       {Back({0, 1152, 1920})}},
      {"rotary_embedding",
       "[2,4,6,8]bfloat16 [6,8]float32 [6,8]float32",
       "[2,4,6,8]bf16",
       {0, 1152, 1920},
       {Back({0, 1152, 1920})}},
      // 192 more of K, and positions.
      {"apply_rotary_pos_emb",
       "[2,4,6,8]float16 [2,2,6,8]float16 [2,6,8]float16 [2,6,8]float16 [2,6]int64",
       "[2,4,6,8]fp16;[2,2,6,8]fp16",
       {0, 1728, 2784},
       {Back({0, 1728, 2784})}},
      {"apply_rotary_pos_emb",
       "[2,4,6,8]float16 [2,2,6,8]float16 cos=[2,6,8]float16 sin=[2,6,8]float16 unsqueeze_dim=1",
       "[2,4,6,8]fp16;[2,2,6,8]fp16",
       {0, 1728, 2688},
       {Back({0, 1728, 2688})}},
      // 2 of 8 columns are turned.
      {"fused_rope",
       "[6,2,4,8]float16 [6,1,1,2]float32",
       "[6,2,4,8]fp16",
       {0, 288, 1584},
       {Back({0, 288, 1584})}},
      {"fused_rope_forward",
       "[6,2,4,8]float16 [6,1,1,2]float32",
       "[6,2,4,8]fp16",
       {0, 288, 1584},
       {Back({0, 288, 1584})}},
      {"fused_rope_backward",
       "[6,2,4,8]float16 [6,1,1,2]float32",
       "[6,2,4,8]fp16",
       {0, 288, 1584},
       {}},
      // A column for two.
      {"apply_rotary_emb",
       "[2,6,4,8]float16 [6,4]float16 [6,4]float16",
       "[2,6,4,8]fp16",
       {0, 1152, 1632},
       {Back({0, 1152, 1632})}},
      {"rotary_embedding",
       "[0,4,6,8]float16 [6,8]float16 [6,8]float16",
       "[0,4,6,8]fp16",
       {0, 0, 192},
       {Back({0, 0, 192})}},
      {"rotary_embedding", "[2,4,6,8]float16 [6,9]float16 [6,9]float16", Reason::kShapeMismatch},
      {"rotary_embedding", "[2,4,6,8]float16 [6,8]float16 [6,4]float16", Reason::kShapeMismatch},
      {"rotary_embedding", "[]float16 [6,8]float16 [6,8]float16", Reason::kShapeMismatch},
      {"rotary_embedding", "[2,4,6,8]float16", Reason::kUnsupportedArgs},
      {"rotary_embedding", "[6]int64 [2,6]int64 [2,6]int64", Reason::kUnsupportedArgs},
      {"rotary_embedding", "None", Reason::kUnsupportedArgs},
  });
}

// Heads of 8, of which 4 columns are turned, in place.
TEST(Rotary, PricesWithACache) {
  CheckCases({
      // 5 rows of 3 heads and of 1: 80 elements; 5 rows of the table.
      {"rotary_embedding",
       "[5]int64 [5,24]bfloat16 [5,8]bfloat16 8 [100,4]bfloat16 True",
       "[5,24]bf16;[5,8]bf16",
       {0, 240, 400},
       {}},
      {"rotary_embedding",
       "[5]int64 [5,3,8]bfloat16 None 8 [100,4]bfloat16 True",
       "[5,3,8]bf16",
       {0, 180, 320},
       {}},
      // The table has only 2 rows.
      {"rotary_embedding",
       "[5]int64 [5,24]bfloat16 [5,8]bfloat16 8 [2,4]bfloat16 False",
       "[5,24]bf16;[5,8]bf16",
       {0, 240, 376},
       {}},
      {"rotary_embedding", "[5]int64 [5,23]bfloat16 [5,8]bfloat16 8 [100,4]bfloat16 True",
       Reason::kShapeMismatch},
      {"rotary_embedding", "[7]int64 [5,24]bfloat16 [5,8]bfloat16 8 [100,4]bfloat16 True",
       Reason::kShapeMismatch},
      {"rotary_embedding", "[5]int64 [5,24]bfloat16 [5,8]bfloat16 8 [100,16]bfloat16 True",
       Reason::kShapeMismatch},
      {"rotary_embedding", "[5]int64 [5,24]bfloat16 [5,8]bfloat16 0 [100,4]bfloat16 True",
       Reason::kShapeMismatch},
  });
}

TEST(Rotary, AsAnExtensionRecordsIt) {
  const OpCall call = MakeTorchCall("_C::rotary_embedding",
                                    MakeCall("",
                                             "[888]int64 [888,512]bfloat16 [888,64]bfloat16 64 "
                                             "[131072,64]bfloat16 True")
                                        .args);
  const PriceResult result = PriceCall(call);
  ASSERT_TRUE(result.price.has_value()) << ReasonWord(result.reason);
  EXPECT_EQ(FiguresOf(result.price->forward[0].work),
            (Figures{0, 3 * 888 * 576, 2 * 2 * 888 * 576 + 888 * 8 + 888 * 64 * 2}));
}

}  // namespace
}  // namespace oplens::ops::test::rotary_test
