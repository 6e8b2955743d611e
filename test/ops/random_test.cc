#include <gtest/gtest.h>

#include "ops/op_model.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::random_test {
namespace {

TEST(RandomTest, Prices) {
  CheckCases({
      {"torch.rand", "2 3", "[2,3]fp32", {0, 60, 24}, {}},
      {"torch.randn", "(2,3) dtype='float16'", "[2,3]fp16", {0, 60, 12}, {}},
      {"torch.randint", "9 (2,3)", "[2,3]int64", {0, 60, 48}, {}},
      {"torch.randint", "1 9 (6,) dtype='int32'", "[6]int32", {0, 60, 24}, {}},
      {"torch.rand_like", "[2,3]float16", "[2,3]fp16", {0, 60, 12}, {}},
      {"torch.randn_like", "[2,3]float16 dtype='float32'", "[2,3]fp32", {0, 60, 24}, {}},
      {"Tensor.uniform_", "[2,3]float32 0 1", "[2,3]fp32", {0, 60, 24}, {}},
      {"Tensor.normal_", "[2,3]float32 0.0 1.0", "[2,3]fp32", {0, 60, 24}, {}},
      {"Tensor.exponential_", "[6]float32", "[6]fp32", {0, 60, 24}, {}},
      // Tensors of means and deviations are read.
      {"torch.normal", "[2,3]float32 [3]float32", "[2,3]fp32", {0, 60, 60}, {}},
      {"torch.normal", "0.0 [6]float32", "[6]fp32", {0, 60, 48}, {}},
      {"torch.normal", "0.0 1.0 (2,3)", "[2,3]fp32", {0, 60, 24}, {}},
      {"torch.bernoulli", "[6]float32", "[6]fp32", {0, 60, 48}, {}},
      {"torch.bernoulli", "[6]float32 0.5", "[6]fp32", {0, 60, 24}, {}},
      {"Tensor.bernoulli_", "[6]float32 0.5", "[6]fp32", {0, 60, 24}, {}},
      {"Tensor.bernoulli_", "[6]float32", "[6]fp32", {0, 60, 24}, {}},
      {"Tensor.bernoulli_", "[6]float32 p=[6]float32", "[6]fp32", {0, 60, 48}, {}},
      // Two rows of 3 samples: 48 bytes, and 40 of probabilities.
      {"torch.multinomial", "[2,5]float32 3", "[2,3]int64", {0, 60, 88}, {}},
      {"torch.multinomial", "[5]float32 num_samples=3", "[3]int64", {0, 30, 44}, {}},
      // 3 + 4 passes of 10.
      {"torch.randperm", "10", "[10]int64", {0, 70, 80}, {}},
      {"torch.randperm", "10 dtype='int32'", "[10]int32", {0, 70, 40}, {}},
      {"torch.randperm", "0", "[0]int64", {0, 0, 0}, {}},

      {"torch.rand", "-2 3", Reason::kUnsupportedArgs},
      {"torch.rand", "?", Reason::kUnsupportedArgs},
      {"torch.randint", "9", Reason::kUnsupportedArgs},
      {"torch.randperm", "-1", Reason::kUnsupportedArgs},
      {"torch.multinomial", "[2,5]float32", Reason::kUnsupportedArgs},
      {"torch.multinomial", "[2,5,2]float32 3", Reason::kShapeMismatch},
      {"torch.normal", "0.0 1.0", Reason::kUnsupportedArgs},
      {"torch.rand", "2 dtype='x'", Reason::kUnknownDType},
  });
}

}  // namespace
}  // namespace oplens::ops::test::random_test
