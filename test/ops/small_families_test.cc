// Dropout and embedding.
#include <gtest/gtest.h>

#include "test/ops/cases.h"

namespace oplens::ops::test {
namespace {

TEST(DropoutTest, Prices) {
  CheckCases({
      // n = 6: 5*6, 2*6; X, Y 48 and a one-byte mask 6.
      {"F.dropout", "[2,3]float32 0.2 True False", "[2,3]fp32", {0, 30, 54}, {Back({0, 12, 54})}},
      {"F.dropout",
       "[2,3]float32 p=0.2 training=True",
       "[2,3]fp32",
       {0, 30, 54},
       {Back({0, 12, 54})}},
      {"F.dropout", "[2,3]float32", "[2,3]fp32", {0, 30, 54}, {Back({0, 12, 54})}},
      {"torch.dropout",
       "[2,3]float32 0.2 train=True",
       "[2,3]fp32",
       {0, 30, 54},
       {Back({0, 12, 54})}},
      {"aten::native_dropout",
       "[2,3]float16 0.2 True",
       "[2,3]fp16",
       {0, 30, 30},
       {Back({0, 12, 30})}},
      {"torch._fused_dropout", "[2,3]float16 0.8", "[2,3]fp16", {0, 30, 30}, {Back({0, 12, 30})}},
      // Evaluation does nothing.
      {"F.dropout", "[2,3]float32 0.2 False", "[2,3]fp32", {}, {Back({})}},
      {"F.dropout", "[2,3]float32 p=0.2 training=False", "[2,3]fp32", {}, {Back({})}},

      {"F.dropout", "None", Reason::kUnsupportedArgs},
      {"F.dropout", "[2,3]float32 0.2 'yes'", Reason::kUnsupportedArgs},
      {"F.dropout", "[2,3]x 0.2", Reason::kUnknownDType},
      {"aten::native_dropout_backward", "[2,3]float32 [2,3]bool 1.25", Reason::kUnsupportedArgs},
  });
}

TEST(EmbeddingTest, Prices) {
  CheckCases({
      // 6 indices of 8 bytes pick rows of 5: 48 + 2 * 30*4 = 288.
      // Backward: 30 adds; indices 48, dY 120, dW 10*5*4 = 200.
      {"F.embedding",
       "[2,3]int64 [10,5]float32 None None 2.0 False False",
       "[2,3]int64;[10,5]fp32",
       {0, 0, 288},
       {Back({0, 30, 368})}},
      // torch.embedding has them the other way round.
      {"torch.embedding",
       "[10,5]float32 [2,3]int64 -1 False False",
       "[2,3]int64;[10,5]fp32",
       {0, 0, 288},
       {Back({0, 30, 368})}},
      // A sparse gradient has the picked rows only: 48 + 120 + 120.
      {"F.embedding",
       "[2,3]int64 [10,5]float32 None None 2.0 False True",
       "[2,3]int64;[10,5]fp32",
       {0, 0, 288},
       {Back({0, 30, 288})}},
      {"torch.embedding",
       "[10,5]float32 [2,3]int64 -1 False True",
       "[2,3]int64;[10,5]fp32",
       {0, 0, 288},
       {Back({0, 30, 288})}},
      {"F.embedding",
       "[2,3]int32 weight=[10,5]float16 sparse=True",
       "[2,3]int32;[10,5]fp16",
       {0, 0, 144},
       {Back({0, 30, 144})}},

      {"F.embedding", "[2,3]int64", Reason::kUnsupportedArgs},
      {"F.embedding", "[2,3]int64 [10,5]int64", Reason::kUnsupportedArgs},
      {"F.embedding", "[2,3]float32 [10,5]float32", Reason::kUnsupportedArgs},
      {"F.embedding", "[2,3]int64 [10]float32", Reason::kShapeMismatch},
      {"F.embedding", "[2,3]int64 [10,5]f", Reason::kUnknownDType},
      {"F.embedding", "[2,3]int64 [10,5]float32 None None 2.0 False 'no'",
       Reason::kUnsupportedArgs},
      {"aten::embedding_dense_backward", "[2,3,5]float32 [2,3]int64 10 -1 False",
       Reason::kUnsupportedArgs},
  });
}

}  // namespace
}  // namespace oplens::ops::test
