// Functions of inference engines, as PyTorch's profiler records them.
#include <gtest/gtest.h>

#include "parse/model/torch_call.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::inference_test {
namespace {

TEST(InferenceTest, Quantization) {
  CheckCases({
      // 12 one-byte results, 12 elements of two bytes, a scale.
      {"static_scaled_fp8_quant",
       "[3,4]fp8e4m3 [3,4]bf16 []fp32",
       "[3,4]bf16;[3,4]fp8e4m3",
       {0, 12, 40},
       {}},
      {"dynamic_per_token_scaled_fp8_quant",
       "[3,4]fp8e4m3 [3,4]bf16 [3,1]fp32 ?",
       "[3,4]bf16;[3,4]fp8e4m3",
       {0, 36, 48},
       {}},
      {"static_scaled_fp8_quant", "[3,4]fp8e4m3 [4,4]bf16 []fp32", Reason::kShapeMismatch},
      {"static_scaled_fp8_quant", "[3,4]fp8e4m3 ?", Reason::kUnsupportedArgs},
  });
}

TEST(InferenceTest, CacheWrites) {
  CheckCases({
      // 3 of 4 rows of 8 elements: keys and values are read as bf16 and written as one byte.
      {"reshape_and_cache_flash",
       "[4,2,4]bf16 [4,2,4]bf16 [9,16,2,4]uint8 [9,16,2,4]uint8 [3]int64 ? [1]fp32 [1]fp32",
       "[4,2,4]bf16;[4,2,4]bf16",
       {0, 0, 24 + 2 * (48 + 24)},
       {}},
      {"reshape_and_cache", "[4,2,4]bf16 [4,2,4]bf16 [9]uint8 [9]uint8 [5]int64",
       Reason::kShapeMismatch},
      {"reshape_and_cache", "[4,2,4]bf16 [4,2,4]bf16 ? ? [3]int64", Reason::kUnsupportedArgs},
  });
}

TEST(InferenceTest, NamesOfLinear) {
  const auto forward = [](std::string_view name, std::string_view args) {
    const PriceResult result = PriceCall(MakeTorchCall(name, MakeCall(name, args).args));
    return result.price ? FiguresOf(result.price->forward.front().work) : std::nullopt;
  };
  const auto linear = forward("aten::linear", "[6,3]bf16 [4,3]bf16 ?");
  ASSERT_TRUE(linear.has_value());
  EXPECT_EQ(forward("vllm::rocm_unquantized_gemm", "[6,3]bf16 [4,3]bf16 ?"), linear);
  EXPECT_EQ(forward("vllm::rocm_unquantized_gemm", "[6,3]bf16 [4,3]bf16 [4]bf16"),
            forward("aten::linear", "[6,3]bf16 [4,3]bf16 [4]bf16"));
  EXPECT_FALSE(forward("vllm::rocm_unquantized_gemm", "[6,3]bf16").has_value());
}

TEST(InferenceTest, ResultsFirst) {
  const auto price = [](std::string_view name, std::string_view args) {
    return PriceCall(MakeTorchCall(name, MakeCall(name, args).args)).price;
  };
  const auto gate = price("_C::silu_and_mul", "[3,4]bf16 [3,8]bf16");
  ASSERT_TRUE(gate.has_value());
  EXPECT_EQ(FiguresOf(gate->forward.front().work), (Figures{0, 264, 72}));
  const auto scaled = price("_C::cutlass_scaled_mm",
                            "[2,4]bf16 [2,3]float8_e4m3fn [3,4]float8_e4m3fn [1]fp32 [1]fp32 ?");
  ASSERT_TRUE(scaled.has_value());
  EXPECT_EQ(FiguresOf(scaled->forward.front().work), (Figures{48, 0, 42}));
}

}  // namespace
}  // namespace oplens::ops::test::inference_test
