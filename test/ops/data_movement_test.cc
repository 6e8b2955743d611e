// Views, copies, conversions, creation, joins and gathers: no FLOPs.
#include <gtest/gtest.h>

#include "test/ops/cases.h"

namespace oplens::ops::test {
namespace {

TEST(DataMovementTest, Views) {
  CheckCases({
      {"Tensor.view", "[2,3]float32 -1", "T=(2,3),fp32", {}, {Back({})}},
      {"Tensor.reshape", "[2,3]float32 (6,)", "T=(2,3),fp32", {}, {Back({})}},
      {"aten::_unsafe_view", "[2,3]float32 [6]", "T=(2,3),fp32", {}, {Back({})}},
      {"Tensor.unsqueeze_", "[2,3]float32 0", "T=(2,3),fp32", {}, {Back({})}},
      {"torch.chunk", "[2,3]float32 2 0", "T=(2,3),fp32", {}, {}},
      {"Tensor.unfold", "[6]float32 0 2 1", "T=(6,),fp32", {}, {}},
      // As a function it gathers patches.
      {"F.unfold", "[1,3,8,8]float32 3", Reason::kUnknownOp},
      {"Tensor.view", "", Reason::kUnsupportedArgs},
      {"Tensor.view", "? 3", Reason::kUnsupportedArgs},
      {"Tensor.view", "[2,3]e 3", Reason::kUnknownDType},
  });
}

TEST(DataMovementTest, SomeViewsMayCopy) {
  const auto bytes = [](std::string_view op) {
    const auto price = PriceCall(MakeCall(op, "[2,3]float32 (6,)")).price;
    return price->bytes_if_copied ? price->bytes_if_copied->Value() : std::nullopt;
  };
  EXPECT_EQ(bytes("Tensor.reshape"), 48);  // 24 read, 24 written
  EXPECT_EQ(bytes("Tensor.flatten"), 48);
  EXPECT_EQ(bytes("Tensor.view"), std::nullopt);
}

TEST(DataMovementTest, Copies) {
  CheckCases({
      {"Tensor.contiguous", "[2,3]float32", "T=(2,3),fp32", {0, 0, 48}, {Back({})}},
      {"Tensor.clone", "[2,3]float16", "T=(2,3),fp16", {0, 0, 24}, {Back({})}},
      // copy_(dst, src): fp32 read, fp16 written; the gradient converts back.
      {"Tensor.copy_", "[6]float16 [6]float32", "T=(6,),fp32,fp16", {0, 0, 36}, {Back({0, 0, 36})}},
      {"Tensor.copy_", "[2,3]float32 [3]float32 True", "T=(2,3),fp32,fp32", {0, 0, 36}, {Back({})}},
      {"Tensor.copy_", "[2,3]float32 0.5", "T=(2,3),fp32,fp32", {0, 0, 24}, {Back({})}},
      {"Tensor.half", "[6]float32", "[6]fp32", {0, 0, 36}, {Back({0, 0, 36})}},
      {"Tensor.long", "[6]float32", "[6]fp32", {0, 0, 72}, {Back({0, 0, 72})}},
      {"Tensor.float", "[6]float32", "[6]fp32", {0, 0, 48}, {Back({})}},
      {"Tensor.to", "[6]float32 'float16'", "[6]fp32", {0, 0, 36}, {Back({0, 0, 36})}},
      {"Tensor.to", "[6]float32 dtype='torch.bfloat16'", "[6]fp32", {0, 0, 36}, {Back({0, 0, 36})}},
      {"Tensor.to",
       "[6]float32 'cuda:0' 'float16' True",
       "[6]fp32",
       {0, 0, 36},
       {Back({0, 0, 36})}},
      {"Tensor.to", "[6]float32 'cuda'", "[6]fp32", {0, 0, 48}, {Back({})}},
      {"Tensor.to", "[6]float32 [9]float16", "[6]fp32", {0, 0, 36}, {Back({0, 0, 36})}},
      {"Tensor.type_as", "[6]float32 [9]float16", "[6]fp32", {0, 0, 36}, {Back({0, 0, 36})}},
      {"Tensor.type",
       "[6]float32 'torch.cuda.HalfTensor'",
       "[6]fp32",
       {0, 0, 36},
       {Back({0, 0, 36})}},

      // The annotation drops a dtype that is no string: what it converts to is not known.
      {"Tensor.to", "[6]float32", Reason::kUnsupportedArgs},
      {"Tensor.to", "[6]float32 ?", Reason::kUnsupportedArgs},
      {"Tensor.to", "[6]float32 non_blocking=True", Reason::kUnsupportedArgs},
      {"Tensor.to", "[6]float32 'float17'", Reason::kUnknownDType},
      {"Tensor.to", "[6]float32 [6]x", Reason::kUnknownDType},
      {"Tensor.half", "", Reason::kUnsupportedArgs},
      {"Tensor.copy_", "[6]float32", Reason::kUnsupportedArgs},
      {"Tensor.copy_", "[3]float32 [2,3]float32", Reason::kShapeMismatch},
      {"Tensor.copy_", "[6]float32 [5]float32", Reason::kShapeMismatch},
  });
}

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
      {"torch.arange", "0 1 0.25", "[4]fp32", {0, 0, 16}, {}},
      {"torch.arange", "end=3 dtype='int32'", "[3]int32", {0, 0, 12}, {}},
      {"torch.linspace", "0 1 5", "[5]fp32", {0, 0, 20}, {}},
      {"torch.tril", "[2,3]float32", "[2,3]fp32", {0, 0, 48}, {Back({0, 0, 48})}},

      {"torch.zeros", "", Reason::kUnsupportedArgs},
      {"torch.zeros", "-2 3", Reason::kUnsupportedArgs},
      {"torch.zeros", "[2,3]float32", Reason::kUnsupportedArgs},
      {"torch.zeros", "2 dtype='x'", Reason::kUnknownDType},
      {"torch.zeros", "9223372036854775807", Reason::kCostOverflow},
      {"torch.zeros", "9223372036854775807 9223372036854775807 9223372036854775807",
       Reason::kCostOverflow},
      {"torch.full", "(2,3)", Reason::kUnsupportedArgs},
      {"torch.full", "(2,3) 'x'", Reason::kUnsupportedArgs},
      {"torch.arange", "", Reason::kUnsupportedArgs},
      {"torch.arange", "10 0", Reason::kUnsupportedArgs},
      {"torch.arange", "0 10 0", Reason::kUnsupportedArgs},
      {"torch.arange", "0 nan", Reason::kUnsupportedArgs},
      {"torch.arange", "0 1e300", Reason::kUnsupportedArgs},
      {"torch.arange", "0 1.0 0.0", Reason::kUnsupportedArgs},
      {"torch.arange", "-9223372036854775807 9223372036854775807", Reason::kUnsupportedArgs},
      {"torch.eye", "-1", Reason::kUnsupportedArgs},
      {"torch.linspace", "0 1 -5", Reason::kUnsupportedArgs},
      {"torch.tril", "[3]float32", Reason::kShapeMismatch},
  });
}

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

TEST(GatherTest, Prices) {
  CheckCases({
      // 4 indices of 8 bytes, 2*4 picked: 32 + 2*32. Backward: 8 adds, 32 + dY 32 + dX 24.
      {"torch.index_select",
       "[2,3]float32 1 [4]int64",
       "T=(2,3),D=1,I=4,fp32",
       {0, 0, 96},
       {Back({0, 8, 88})}},
      {"torch.index_select",
       "[2,3]float32 -1 index=[4]int64",
       "T=(2,3),D=1,I=4,fp32",
       {0, 0, 96},
       {Back({0, 8, 88})}},
      // An element an index: 32 + 2*16. Backward: 4 adds, 32 + 16 + 24.
      {"torch.gather", "[2,3]float32 1 [2,2]int64", "T=(2,3),fp32", {0, 0, 64}, {Back({0, 4, 72})}},
      {"torch.gather", "[2,3]int32 dim=1 index=[2,2]int64", "T=(2,3),int32", {0, 0, 64}, {}},
      {"torch.take", "[2,3]float32 [4]int64", "T=(2,3),fp32", {0, 0, 64}, {Back({0, 4, 72})}},

      // How many are kept depends on the values.
      {"torch.masked_select", "[6]float32 [6]bool", Reason::kUnsupportedArgs},
      {"torch.nonzero", "[6]float32", Reason::kUnsupportedArgs},
      {"torch.index_select", "[2,3]float32 2 [4]int64", Reason::kShapeMismatch},
      {"torch.index_select", "[2,3]float32 1 [2,2]int64", Reason::kShapeMismatch},
      {"torch.index_select", "[2,3]float32 1 [4]float32", Reason::kUnsupportedArgs},
      {"torch.index_select", "[2,3]float32 1", Reason::kUnsupportedArgs},
      {"torch.gather", "[2,3]float32 1 [4]int64", Reason::kShapeMismatch},
      {"torch.gather", "[2,3]float32 index=[2,2]int64", Reason::kUnsupportedArgs},
  });
}

}  // namespace
}  // namespace oplens::ops::test
