#include <gtest/gtest.h>

#include "test/ops/cases.h"

namespace oplens::ops::test::creation_test {
namespace {

TEST(CreationTest, Prices) {
  CheckCases({
      {"torch.zeros", "2 3", "[2,3]fp32", {0, 0, 24}, {}},
      {"torch.ones", "(2,3)", "[2,3]fp32", {0, 0, 24}, {}},
      {"torch.ones", "size=[2,3] dtype='float16'", "[2,3]fp16", {0, 0, 12}, {}},
      {"torch.zeros", "[]", "[]fp32", {0, 0, 4}, {}},
      {"torch.empty", "2 3", "[2,3]fp32", {}, {}},
      {"Tensor.new_zeros", "[9]float16 2 3", "[2,3]fp16", {0, 0, 12}, {}},
      {"Tensor.new_empty", "[9]float16 (2,3)", "[2,3]fp16", {}, {}},
      // The type of full follows the value; integers are int64.
      {"torch.full", "(2,3) 0.5", "[2,3]fp32", {0, 0, 24}, {}},
      {"torch.full", "(2,3) 1", "[2,3]int64", {0, 0, 48}, {}},
      {"torch.full", "(2,3) True", "[2,3]bool", {0, 0, 6}, {}},
      {"torch.full", "(2,3) fill_value=1 dtype='int32'", "[2,3]int32", {0, 0, 24}, {}},
      {"torch.zeros_like", "[2,3]float16", "[2,3]fp16", {0, 0, 12}, {}},
      {"torch.zeros_like", "[2,3]float16 dtype='float32'", "[2,3]fp32", {0, 0, 24}, {}},
      // A 0-d tensor is recorded as its value: one element of the default type of its kind.
      {"torch.ones_like", "9.5", "[]fp32", {0, 0, 4}, {}},
      {"Tensor.zero_", "[2,3]float32", "[2,3]fp32", {0, 0, 24}, {}},
      {"Tensor.fill_", "[2,3]float32 0.5", "[2,3]fp32", {0, 0, 24}, {}},
      {"torch.eye", "3", "[3,3]fp32", {0, 0, 36}, {}},
      {"torch.eye", "3 2", "[3,2]fp32", {0, 0, 24}, {}},
      // arange: ceil((end - start) / step) integers.
      {"torch.arange", "10", "[10]int64", {0, 0, 80}, {}},
      {"torch.arange", "0 10 3", "[4]int64", {0, 0, 32}, {}},
      {"torch.arange", "10 0 -3", "[4]int64", {0, 0, 32}, {}},
      {"torch.arange", "9 0 -3", "[3]int64", {0, 0, 24}, {}},
      {"torch.arange", "0 1 0.25", "[4]fp32", {0, 0, 16}, {}},
      {"torch.arange", "end=3 dtype='int32'", "[3]int32", {0, 0, 12}, {}},
      {"torch.linspace", "0 1 5", "[5]fp32", {0, 0, 20}, {}},

      {"torch.zeros", "", Reason::kNoArguments},
      {"torch.zeros", "-2 3", Reason::kUnsupportedArgs},
      {"torch.zeros", "[2,3]float32", Reason::kUnsupportedArgs},
      {"torch.zeros", "2 dtype='x'", Reason::kUnknownDType},
      {"torch.zeros", "9223372036854775807", Reason::kCostOverflow},
      {"torch.zeros", "9223372036854775807 9223372036854775807 9223372036854775807",
       Reason::kCostOverflow},
      {"torch.full", "(2,3)", Reason::kUnsupportedArgs},
      {"torch.full", "(2,3) 'x'", Reason::kUnsupportedArgs},
      {"torch.arange", "", Reason::kNoArguments},
      {"torch.arange", "10 0", Reason::kUnsupportedArgs},
      {"torch.arange", "0 10 0", Reason::kUnsupportedArgs},
      {"torch.arange", "0 nan", Reason::kUnsupportedArgs},
      {"torch.arange", "0 1e300", Reason::kUnsupportedArgs},
      {"torch.arange", "0 1.0 0.0", Reason::kUnsupportedArgs},
      {"torch.arange", "-9223372036854775807 9223372036854775807", Reason::kUnsupportedArgs},
      {"torch.eye", "-1", Reason::kUnsupportedArgs},
      {"torch.linspace", "0 1 -5", Reason::kUnsupportedArgs},
  });
}

}  // namespace
}  // namespace oplens::ops::test::creation_test
