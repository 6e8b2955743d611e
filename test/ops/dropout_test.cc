#include <gtest/gtest.h>

#include "test/ops/cases.h"

namespace oplens::ops::test::dropout_test {
namespace {

TEST(DropoutTest, Prices) {
  CheckCases({
      // n = 6: 4*6, 2*6; X, Y 48 and a one-byte mask 6.
      {"F.dropout", "[2,3]float32 0.2 True False", "[2,3]fp32", {0, 24, 54}, {Back({0, 12, 54})}},
      {"F.dropout",
       "[2,3]float32 p=0.2 training=True",
       "[2,3]fp32",
       {0, 24, 54},
       {Back({0, 12, 54})}},
      {"F.dropout", "[2,3]float32", "[2,3]fp32", {0, 24, 54}, {Back({0, 12, 54})}},
      {"torch.dropout",
       "[2,3]float32 0.2 train=True",
       "[2,3]fp32",
       {0, 24, 54},
       {Back({0, 12, 54})}},
      {"aten::native_dropout",
       "[2,3]float16 0.2 True",
       "[2,3]fp16",
       {0, 24, 30},
       {Back({0, 12, 30})}},
      {"torch._fused_dropout", "[2,3]float16 0.8", "[2,3]fp16", {0, 24, 30}, {Back({0, 12, 30})}},
      // A mask element per map: 12 products, 3 of 2*3.
      {"F.dropout1d", "[2,3,2]float32 0.2", "[2,3,2]fp32", {0, 30, 102}, {Back({0, 24, 102})}},
      // Evaluation does nothing.
      {"F.dropout", "[2,3]float32 0.2 False", "[2,3]fp32", {}, {Back({})}},
      {"F.dropout", "[2,3]float32 p=0.2 training=False", "[2,3]fp32", {}, {Back({})}},

      {"F.dropout", "None", Reason::kUnsupportedArgs},
      {"F.dropout", "[2,3]float32 0.2 'yes'", Reason::kUnsupportedArgs},
      {"F.dropout", "[2,3]x 0.2", Reason::kUnknownDType},
      {"aten::native_dropout_backward",
       "[2,3]float32 [2,3]bool 1.25",
       "[2,3]fp32",
       {0, 12, 54},
       {}},
  });
}

}  // namespace
}  // namespace oplens::ops::test::dropout_test
