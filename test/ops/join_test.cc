#include <gtest/gtest.h>

#include "test/ops/cases.h"

namespace oplens::ops::test::join_test {
namespace {

TEST(JoinTest, Prices) {
  CheckCases({
      // 24 + 12 read, 36 written.
      {"torch.cat", "[2,3]float32 [1,3]float32", "[2,3]fp32;[1,3]fp32", {0, 0, 72}, {Back({})}},
      {"torch.cat",
       "[2,3]float32 [2,1]float32 dim=1",
       "[2,3]fp32;[2,1]fp32",
       {0, 0, 64},
       {Back({})}},
      {"torch.cat", "[2,3]float32 [2,1]float32 -1", "[2,3]fp32;[2,1]fp32", {0, 0, 64}, {Back({})}},
      {"torch.concat",
       "tensors=[2,3]float32 tensors=[1,3]float32 dim=0",
       "[2,3]fp32;[1,3]fp32",
       {0, 0, 72},
       {Back({})}},
      // An empty vector fits everything.
      {"torch.cat", "[0]float32 [2,3]float32", "[0]fp32;[2,3]fp32", {0, 0, 48}, {Back({})}},
      // fp16 with fp32 is written in fp32: 12 + 12 + 36.
      {"torch.cat", "[2,3]float16 [1,3]float32", "[2,3]fp16;[1,3]fp32", {0, 0, 60}, {Back({})}},
      {"torch.stack",
       "[2,3]float32 [2,3]float32 dim=1",
       "[2,3]fp32;[2,3]fp32",
       {0, 0, 96},
       {Back({})}},
      {"torch.stack", "[2,3]float32 [2,3]float32 2", "[2,3]fp32;[2,3]fp32", {0, 0, 96}, {Back({})}},
      // 24 read, 6 times as much written; the gradient adds the copies up.
      {"Tensor.repeat", "[2,3]float32 2 3", "[2,3]fp32", {0, 0, 168}, {Back({0, 36, 168})}},
      {"Tensor.repeat", "[2,3]float32 (2,1,3)", "[2,3]fp32", {0, 0, 168}, {Back({0, 36, 168})}},
      {"torch.flip", "[2,3]float32 (0,)", "[2,3]fp32", {0, 0, 48}, {Back({0, 0, 48})}},

      {"torch.cat", "dim=1", Reason::kUnsupportedArgs},
      {"torch.cat", "[2,3]float32 'x'", Reason::kUnsupportedArgs},
      {"torch.cat", "[2,3]float32 [2,3]x", Reason::kUnknownDType},
      {"torch.cat", "[2,3]float32 [2,2]float32", Reason::kShapeMismatch},
      {"torch.cat", "[2,3]float32 [2,3,1]float32", Reason::kShapeMismatch},
      {"torch.cat", "[2,3]float32 [2,3]float32 2", Reason::kShapeMismatch},
      {"torch.stack", "[2,3]float32 [2,2]float32", Reason::kShapeMismatch},
      {"torch.stack", "[2,3]float32 [2,3]float32 3", Reason::kShapeMismatch},
      {"Tensor.repeat", "[2,3]float32 2", Reason::kShapeMismatch},
      {"Tensor.repeat", "[2,3]float32 -2 1", Reason::kUnsupportedArgs},
      {"Tensor.repeat", "[2,3]float32 9223372036854775807 9223372036854775807",
       Reason::kCostOverflow},
  });
}

}  // namespace
}  // namespace oplens::ops::test::join_test
