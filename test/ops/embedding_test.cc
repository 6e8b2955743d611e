#include <gtest/gtest.h>

#include "test/ops/cases.h"

namespace oplens::ops::test::embedding_test {
namespace {

TEST(EmbeddingTest, Prices) {
  CheckCases({
      // 6 indices of 8 bytes pick rows of 5: 48 + 2 * 30*4 = 288.
      // Backward: 30 adds; indices 48, dY 120, dW 10*5*4 = 200.
      {"F.embedding",
       "[2,3]int64 [10,5]float32 None None 2.0 False False",
       "[2,3]int64;[10,5]fp32",
       {0, 0, 288},
       {Back({0, 30, 368})}},
      // 6 of 2 rows: 48 + 2*5*4 + 30*4.
      {"F.embedding",
       "[2,3]int64 [2,5]float32",
       "[2,3]int64;[2,5]fp32",
       {0, 0, 208},
       {Back({0, 30, 208})}},
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
      {"aten::embedding_dense_backward",
       "[2,3,5]float32 [2,3]int64 10 -1 False",
       "[2,3]int64;[10,5]fp32",
       {0, 30, 368},
       {}},
  });
}

}  // namespace
}  // namespace oplens::ops::test::embedding_test
