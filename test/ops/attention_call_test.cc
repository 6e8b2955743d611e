// Calls of attention as the dispatcher of PyTorch records them.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "ops/op_model.h"
#include "parse/model/torch_call.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::attention_call_test {
namespace {

struct NativeCase {
  std::string_view name;
  std::string_view args;
  std::string_view params;
  Figures figures;
};

const std::vector<NativeCase> kNative = {
    {"aten::scaled_dot_product_attention",
     "[2,4,3,8]float16 [2,4,5,8]float16 [2,4,5,8]float16 ? 0.0 True ? False",
     "B=2,H=4,Sq=3,Sk=5,D=8,fp16,pairs=6/15",
     {1536, 0, 1632}},
    {"aten::_scaled_dot_product_flash_attention",
     "[2,4,3,8]float16 [2,4,3,8]float16 [2,4,3,8]float16 0.0 True False 0.125",
     "B=2,H=4,Sq=3,Sk=3,D=8,fp16,pairs=6/9",
     {1536, 0, 1632}},
    {"aten::_scaled_dot_product_efficient_attention",
     "[2,4,3,8]float16 [2,4,5,8]float16 [2,4,5,8]float16 [2,4,3,5]float16 False 0.0 False",
     "B=2,H=4,Sq=3,Sk=5,D=8,fp16",
     {3840, 0, 2288}},
    {"aten::_scaled_dot_product_cudnn_attention",
     "[2,4,3,8]float16 [2,4,5,8]float16 [2,4,5,8]float16 ? True 0.0 True False ?",
     "B=2,H=4,Sq=3,Sk=5,D=8,fp16,pairs=6/15",
     {1536, 0, 1632}},
    {"aten::_flash_attention_forward",
     "[2,3,4,8]float16 [2,5,4,8]float16 [2,5,4,8]float16 ? ? 3 5 0.0 False False 0.125 ? ? ? ?",
     "B=2,H=4,Sq=3,Sk=5,D=8,fp16",
     {3840, 0, 2144}},
    {"aten::_flash_attention_forward",
     "[2,3,4,8]float16 [2,5,4,8]float16 [2,5,4,8]float16 ? ? 3 5 0.0 True False 0.125 1 0 ? ?",
     "B=2,H=4,Sq=3,Sk=5,D=8,fp16,pairs=6/15",
     {1536, 0, 1888}},
    {"aten::_efficient_attention_forward",
     "[2,3,4,8]float16 [2,5,4,8]float16 [2,5,4,8]float16 ? ? ? 3 5 0.0 1 True ? ?",
     "B=2,H=4,Sq=3,Sk=5,D=8,fp16,pairs=6/15",
     {1536, 0, 1632}},
    {"xformers::efficient_attention_forward_cutlass",
     "[2,3,4,8]float16 [2,5,4,8]float16 [2,5,4,8]float16 ? ? ? 3 5 0.0 False 2 ? ? ?",
     "B=2,H=4,Sq=3,Sk=5,D=8,fp16,pairs=12/15",
     {3072, 0, 2048}},
    // dY, Q, K, V, Y, statistics, ..: 2 * 8 * 6 * (3*8 + 2*8).
    {"aten::_scaled_dot_product_flash_attention_backward",
     "[2,4,3,8]float16 [2,4,3,8]float16 [2,4,3,8]float16 [2,4,3,8]float16 [2,4,3,8]float16 "
     "[2,4,3]float32 ? ? 3 3 0.0 True []int64 []int64 0.125",
     "B=2,H=4,Sq=3,Sk=3,D=8,fp16,pairs=6/9",
     {3840, 0, 3168}},
    {"aten::_scaled_dot_product_efficient_attention_backward",
     "[2,4,3,8]float16 [2,4,3,8]float16 [2,4,5,8]float16 [2,4,5,8]float16 [2,4,3,5]float16 "
     "[2,4,3,8]float16 [2,4,3]float32 []int64 []int64 0.0 ? False",
     "B=2,H=4,Sq=3,Sk=5,D=8,fp16",
     {9600, 0, 4432}},
    {"aten::_scaled_dot_product_cudnn_attention_backward",
     "[2,4,3,8]float16 [2,4,3,8]float16 [2,4,5,8]float16 [2,4,5,8]float16 [2,4,3,8]float16 "
     "[2,4,3]float32 []int64 []int64 [3,5]float16 ? ? 3 5 0.0 False",
     "B=2,H=4,Sq=3,Sk=5,D=8,fp16",
     {9600, 0, 4222}},
    {"aten::_flash_attention_backward",
     "[2,3,4,8]float16 [2,3,4,8]float16 [2,5,4,8]float16 [2,5,4,8]float16 [2,3,4,8]float16 "
     "[2,4,3]float32 ? ? 3 5 0.0 True []int64 []int64 0.125",
     "B=2,H=4,Sq=3,Sk=5,D=8,fp16,pairs=12/15",
     {7680, 0, 4192}},
    {"aten::_efficient_attention_backward",
     "[2,3,4,8]float16 [2,3,4,8]float16 [2,5,4,8]float16 [2,5,4,8]float16 ? [2,3,4,8]float16 "
     "? ? 3 5 [2,4,3]float32 0.0 []int64 []int64 2 False",
     "B=2,H=4,Sq=3,Sk=5,D=8,fp16,pairs=12/15",
     {7680, 0, 4192}},
    {"flash_attn::_flash_attn_backward",
     "[2,3,4,8]float16 [2,3,4,8]float16 [2,5,4,8]float16 [2,5,4,8]float16 [2,3,4,8]float16 "
     "[2,4,3]float32 [2,3,4,8]float16 [2,5,4,8]float16 [2,5,4,8]float16 0.0 0.125 True -1 0",
     "B=2,H=4,Sq=3,Sk=5,D=8,fp16,pairs=12/15",
     {7680, 0, 4192}},
    {"flash_attn::_flash_attn_varlen_backward",
     "[8,4,8]float16 [8,4,8]float16 [9,4,8]float16 [9,4,8]float16 [8,4,8]float16 [4,8]float32 "
     "[8,4,8]float16 [9,4,8]float16 [9,4,8]float16 [3]int32 [3]int32 5 6 0.0 0.125 False -1 -1",
     "B=2,H=4,Tq=8,Tk=9,Sq=5,Sk=6,D=8,fp16,pairs<=60",
     {19200, 0, 4480}},
};

void CheckNative(const NativeCase& expected, const PriceResult& result) {
  ASSERT_TRUE(result.price.has_value()) << ReasonWord(result.reason);
  ASSERT_EQ(result.price->forward.size(), 1u);
  EXPECT_EQ(FiguresOf(result.price->forward[0].work), expected.figures);
  EXPECT_EQ(result.price->params, expected.params);
}

TEST(Attention, PricesOfTheDispatchersCalls) {
  for (const NativeCase& expected : kNative) {
    SCOPED_TRACE(std::string(expected.name) + ' ' + std::string(expected.args));
    const OpCall raw = MakeCall(expected.name, expected.args);
    {
      SCOPED_TRACE("by the schema");
      CheckNative(expected, PriceCall(MakeTorchCall(expected.name, raw.args)));
    }
    OpCall plain = raw;
    // As where nobody knows the schema: absent arguments are None.
    for (OpArg& arg : plain.args) {
      if (arg.kind == OpArg::Kind::kOther) arg.kind = OpArg::Kind::kNone;
    }
    CheckNative(expected, PriceCall(plain));
  }
}

// A profiler that records types but no values: causal or not is open.
TEST(Attention, AValueThatWasNotRecordedIsAnUpperBound) {
  OpCall call = MakeCall("", "[2,4,3,8]float16 [2,4,3,8]float16 [2,4,3,8]float16 ? ? ? ?");
  for (size_t i = 3; i < call.args.size(); ++i) call.args[i].type = "Scalar";
  const PriceResult result =
      PriceCall(MakeTorchCall("aten::_scaled_dot_product_flash_attention", call.args));
  ASSERT_TRUE(result.price.has_value());
  EXPECT_TRUE(result.price->mma_estimated);
  EXPECT_EQ(result.price->forward[0].work.mma.Value(), 2 * 8 * 9 * 16);
}

TEST(Attention, GradientFunctionsWithTooFewArgumentsHaveNone) {
  for (const NativeCase& expected : kNative) {
    if (!expected.name.ends_with("_backward")) continue;
    const PriceResult result = PriceCall(MakeTorchCall(
        expected.name, MakeCall("", "[2,4,3,8]float16 [2,4,3,8]float16 [2,4,3,8]float16").args));
    EXPECT_FALSE(result.price.has_value()) << expected.name;
    EXPECT_EQ(result.reason, Reason::kUnsupportedArgs);
  }
}

}  // namespace
}  // namespace oplens::ops::test::attention_call_test
