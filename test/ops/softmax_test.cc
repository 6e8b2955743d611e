#include <gtest/gtest.h>

#include "test/ops/cases.h"

namespace oplens::ops::test::softmax_test {
namespace {

TEST(SoftmaxTest, Prices) {
  CheckCases({
      // n = 6: 24*6 = 144, 4*6 = 24. X, Y 48; dY, Y, dX 72.
      {"F.softmax", "[2,3]float32 dim=-1", "[2,3]fp32", {0, 144, 48}, {Back({0, 24, 72})}},
      {"Tensor.softmax", "[2,3]float32 -1", "[2,3]fp32", {0, 144, 48}, {Back({0, 24, 72})}},
      {"torch.softmax", "[2,3]float32 1", "[2,3]fp32", {0, 144, 48}, {Back({0, 24, 72})}},
      {"F.softmax", "[2,3]float32 -1 3 None", "[2,3]fp32", {0, 144, 48}, {Back({0, 24, 72})}},
      // Y in fp32: 12 + 24; dY, Y in fp32, dX in fp16: 24 + 24 + 12.
      {"F.softmax",
       "[2,3]float16 dim=-1 _stacklevel=3 dtype='float32'",
       "[2,3]fp16",
       {0, 144, 36},
       {Back({0, 24, 60})}},
      {"torch.softmax",
       "[2,3]float16 1 'torch.float32'",
       "[2,3]fp16",
       {0, 144, 36},
       {Back({0, 24, 60})}},
      {"aten::_softmax", "[2,3]float16 1 True", "[2,3]fp16", {0, 144, 36}, {Back({0, 24, 60})}},
      {"aten::_softmax", "[2,3]float16 1 False", "[2,3]fp16", {0, 144, 24}, {Back({0, 24, 36})}},
      // log_softmax: a logarithm a row, 2 rows: 144 + 40; 23*6 = 138.
      {"F.log_softmax", "[2,3]float32 dim=-1", "[2,3]fp32", {0, 184, 48}, {Back({0, 138, 72})}},
      // Over the other dimension, 3 rows.
      {"Tensor.log_softmax", "[2,3]float32 0", "[2,3]fp32", {0, 204, 48}, {Back({0, 138, 72})}},
      // Without dim, functional takes 1 of two dimensions and 0 of three: 2 rows; 6 rows of 12.
      {"F.log_softmax", "[2,3]float32", "[2,3]fp32", {0, 184, 48}, {Back({0, 138, 72})}},
      {"F.log_softmax", "[2,3,2]float32 None", "[2,3,2]fp32", {0, 408, 96}, {Back({0, 276, 144})}},
      {"torch.softmax", "0.5 0", "[]fp32", {0, 24, 8}, {Back({0, 4, 12})}},

      {"torch.softmax", "[2,3]float32", Reason::kUnsupportedArgs},
      {"F.softmax", "", Reason::kNoArguments},
      {"F.softmax", "[2,3]float32 2", Reason::kShapeMismatch},
      {"F.softmax", "[2,3]float32 -3", Reason::kShapeMismatch},
      {"F.softmax", "[2,3]float32 'x'", Reason::kUnsupportedArgs},
      {"F.softmax", "[2,3]float32 1 dtype='x'", Reason::kUnknownDType},
      {"F.softmax", "[2,3]float32 1 dtype=3", Reason::kUnsupportedArgs},
      {"F.softmax", "[2,3]float32 1 3 None 4", Reason::kUnsupportedArgs},
      {"F.softmax", "[3037000500,3037000500]float32 0", Reason::kCostOverflow},
  });
}

}  // namespace
}  // namespace oplens::ops::test::softmax_test
