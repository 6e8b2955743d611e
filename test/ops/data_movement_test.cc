#include <gtest/gtest.h>

#include "test/ops/cases.h"

namespace oplens::ops::test::data_movement_test {
namespace {

TEST(DataMovementTest, Views) {
  CheckCases({
      {"Tensor.view", "[2,3]float32 -1", "T=(2,3),fp32", {}, {Back({})}},
      {"Tensor.reshape", "[2,3]float32 (6,)", "T=(2,3),fp32", {}, {Back({})}},
      {"aten::_unsafe_view", "[2,3]float32 [6]", "T=(2,3),fp32", {}, {Back({})}},
      {"Tensor.unsqueeze_", "[2,3]float32 0", "T=(2,3),fp32", {}, {Back({})}},
      {"torch.chunk", "[2,3]float32 2 0", "T=(2,3),fp32", {}, {Back({0, 0, 48})}},
      {"Tensor.unfold", "[6]float32 0 2 1", "T=(6,),fp32", {}, {Back({0, 10, 64})}},
      // As a function it gathers patches.
      {"Tensor.view", "", Reason::kNoArguments},
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
      {"Tensor.half", "", Reason::kNoArguments},
      {"Tensor.copy_", "[6]float32", Reason::kUnsupportedArgs},
      {"Tensor.copy_", "[3]float32 [2,3]float32", Reason::kShapeMismatch},
      {"Tensor.copy_", "[6]float32 [5]float32", Reason::kShapeMismatch},
  });
}

}  // namespace
}  // namespace oplens::ops::test::data_movement_test
