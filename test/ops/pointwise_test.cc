// Prices of elementwise ops. n is the number of elements of the result.
#include <gtest/gtest.h>

#include "test/ops/cases.h"

namespace oplens::ops::test::pointwise_test {
namespace {

TEST(PointwiseTest, Arithmetic) {
  CheckCases({
      // n = 6. Two tensors in, one out: 3*24. The gradients are dY itself.
      {"torch.add", "[2,3]float32 [2,3]float32", "[2,3]fp32;[2,3]fp32", {0, 6, 72}, {Back({})}},
      {"Tensor.__iadd__",
       "[2,3]float32 [2,3]float32",
       "[2,3]fp32;[2,3]fp32",
       {0, 6, 72},
       {Back({})}},
      {"aten::add_.Tensor",
       "[2,3]float32 [2,3]float32",
       "[2,3]fp32;[2,3]fp32",
       {0, 6, 72},
       {Back({})}},
      // A broadcast operand is read once, 12; its gradient sums dY: 6 FLOPs, 24 + 12.
      {"torch.add", "[2,3]float32 [3]float32", "[2,3]fp32;[3]fp32", {0, 6, 60}, {Back({0, 6, 36})}},
      // Both broadcast: two sums. 8 + 12 + 24; 24+8 + 24+12.
      {"torch.sub",
       "[2,1]float32 [3]float32",
       "[2,1]fp32;[3]fp32",
       {0, 6, 44},
       {Back({0, 12, 68})}},
      // A number is an argument of the kernel: no bytes.
      {"Tensor.__add__", "[2,3]float32 1.5", "[2,3]fp32;[]fp32", {0, 6, 48}, {Back({})}},
      {"Tensor.__rsub__", "[2,3]float32 1", "[2,3]fp32;[]int64", {0, 6, 48}, {Back({})}},
      // A factor alpha costs a multiplication; 1 does not.
      {"torch.add", "[6]float32 [6]float32 alpha=2", "[6]fp32;[6]fp32", {0, 12, 72}, {Back({})}},
      {"torch.add", "[6]float32 [6]float32 alpha=1", "[6]fp32;[6]fp32", {0, 6, 72}, {Back({})}},
      {"torch.add", "[6]float32 [6]float32 alpha=1.0", "[6]fp32;[6]fp32", {0, 6, 72}, {Back({})}},
      // The same as it was recorded when alpha stood in between.
      {"Tensor.add_", "[6]float32 -20 [6]float32", "[6]fp32;[6]fp32", {0, 12, 72}, {Back({})}},
      {"Tensor.add_", "[6]float32 1 [6]float32", "[6]fp32;[6]fp32", {0, 6, 72}, {Back({})}},
      // mul: a gradient an operand, each reads dY and the other: 2 * 3*24, 2*6.
      {"torch.mul", "[6]float32 [6]float32", "[6]fp32;[6]fp32", {0, 6, 72}, {Back({0, 12, 144})}},
      {"torch.mul", "[6]float32 0.5", "[6]fp32;[]fp32", {0, 6, 48}, {Back({0, 6, 48})}},
      // da: dY 24 + b 12 + 24; db: dY 24 + a 24 + 12, and a sum.
      {"torch.mul",
       "[2,3]float32 [3]float32",
       "[2,3]fp32;[3]fp32",
       {0, 6, 60},
       {Back({0, 18, 120})}},
      // Only the float operand has a gradient: dY 24, b 48, da 24.
      {"torch.mul", "[6]float32 [6]int64", "[6]fp32;[6]int64", {0, 6, 96}, {Back({0, 6, 96})}},
      // div: da 1 (dY, b, da); db 4 (dY, a, b, db): 3*24 + 4*24.
      {"torch.div", "[6]float32 [6]float32", "[6]fp32;[6]fp32", {0, 6, 72}, {Back({0, 30, 168})}},
      {"Tensor.__truediv__", "[6]float32 2", "[6]fp32;[]int64", {0, 6, 48}, {Back({0, 6, 48})}},
      // 1 / x: x is the divisor: dY, x, dX.
      {"Tensor.__rtruediv__", "[6]float32 2.0", "[6]fp32;[]fp32", {0, 6, 48}, {Back({0, 24, 72})}},
      {"torch.div", "2.0 [6]float32", "[]fp32;[6]fp32", {0, 6, 48}, {Back({0, 24, 72})}},
      // Integers divide into fp32, unless rounded.
      {"torch.div", "[6]int64 [6]int64", "[6]int64;[6]int64", {0, 6, 120}, {}},
      {"torch.div",
       "[6]int64 [6]int64 rounding_mode='floor'",
       "[6]int64;[6]int64",
       {0, 6, 144},
       {}},
      // What is rounded has gradients of zeros: 24 + 24 are written.
      {"torch.div",
       "[6]float32 [6]float32 rounding_mode='trunc'",
       "[6]fp32;[6]fp32",
       {0, 6, 72},
       {Back({0, 0, 48})}},
      {"torch.floor_divide", "[6]int64 2", "[6]int64;[]int64", {0, 6, 96}, {}},
      {"torch.remainder", "[6]float32 2.0", "[6]fp32;[]fp32", {0, 18, 48}, {Back({0, 6, 72})}},
      {"torch.neg", "[6]float32", "[6]fp32", {0, 6, 48}, {Back({0, 6, 48})}},
      {"torch.abs", "[6]float32", "[6]fp32", {0, 6, 48}, {Back({0, 6, 72})}},
      {"torch.reciprocal", "[6]float32", "[6]fp32", {0, 6, 48}, {Back({0, 12, 72})}},

      {"torch.add", "[2,3]float32 [4]float32", Reason::kShapeMismatch},
      {"torch.add", "[2,3]float32", Reason::kUnsupportedArgs},
      {"torch.add", "[6]float32 [6]float32 [6]float32", Reason::kUnsupportedArgs},
      {"torch.add", "[6]float32 [6]float32 2.0", Reason::kUnsupportedArgs},
      {"torch.mul", "[6]float32 2.0 [6]float32", Reason::kUnsupportedArgs},
      {"torch.add", "[6]float32 ?", Reason::kUnsupportedArgs},
      {"torch.add", "[6]float32 (1,2)", Reason::kUnsupportedArgs},
      {"torch.add", "[-6]float32 [6]float32", Reason::kUnsupportedArgs},
      {"torch.add", "[6]quaternion [6]float32", Reason::kUnknownDType},
      // In place, the result must have the shape of the first operand.
      {"Tensor.add_", "[3]float32 [2,3]float32", Reason::kShapeMismatch},
      {"torch.add", "[9223372036854775807]float32 [9223372036854775807]float32",
       Reason::kCostOverflow},
      {"torch.exp", "[4294967296,4294967296,4294967296]float32", Reason::kCostOverflow},
      {"torch.exp", "[9223372036854775807,9223372036854775807,9223372036854775807,0]float32",
       Reason::kCostOverflow},
  });
}

TEST(PointwiseTest, TypesOfTheResult) {
  CheckCases({
      // Two tensors: the wider. 12 + 24 in, 24 out; gradients in their own types are dY.
      {"torch.add", "[6]float16 [6]float32", "[6]fp16;[6]fp32", {0, 6, 60}, {Back({})}},
      // fp16 and bf16: fp32. 12 + 12 + 24.
      {"torch.add", "[6]float16 [6]bfloat16", "[6]fp16;[6]bf16", {0, 6, 48}, {Back({})}},
      // A tensor of integers does not widen a float. 12 + 48 + 12.
      {"torch.add", "[6]float16 [6]int64", "[6]fp16;[6]int64", {0, 6, 72}, {Back({})}},
      // uint8 with int8: int16. 6 + 6 + 12.
      {"torch.add", "[6]uint8 [6]int8", "[6]uint8;[6]int8", {0, 6, 24}, {}},
      // A number raises only the category: fp16 stays, int becomes fp32, bool becomes int64.
      {"torch.add", "[6]float16 1.5", "[6]fp16;[]fp32", {0, 6, 24}, {Back({})}},
      {"torch.add", "[6]int32 2", "[6]int32;[]int64", {0, 6, 48}, {}},
      {"torch.add", "[6]int16 1.5", "[6]int16;[]fp32", {0, 6, 36}, {}},
      {"torch.add", "[6]bool 1", "[6]bool;[]int64", {0, 6, 54}, {}},
      // So does a tensor without dimensions, which is read: 12 + 4 + 12; its gradient is a sum 12
      // + 4.
      {"torch.add", "[6]float16 []float32", "[6]fp16;[]fp32", {0, 6, 28}, {Back({0, 6, 16})}},
      // In place, the first operand's type. 12 + 24 + 12.
      {"Tensor.__iadd__", "[6]float16 [6]float32", "[6]fp16;[6]fp32", {0, 6, 48}, {Back({})}},
      // Comparisons give one byte each. 24 + 24 + 6.
      {"torch.gt", "[6]float32 [6]float32", "[6]fp32;[6]fp32", {0, 6, 54}, {}},
      {"Tensor.__eq__", "[6]float32 True", "[6]fp32;[]bool", {0, 6, 30}, {}},
      {"torch.logical_not", "[6]float32", "[6]fp32", {0, 6, 30}, {}},
      {"Tensor.__and__", "[6]bool [6]bool", "[6]bool;[6]bool", {0, 6, 18}, {}},
      // Functions of integers are fp32: 48 + 24.
      {"torch.sqrt", "[6]int64", "[6]int64", {0, 120, 72}, {}},
      // complex64 with fp64: complex128. 48 + 48 + 96.
      {"torch.add", "[6]complex64 [6]float64", "[6]c64;[6]fp64", {0, 6, 192}, {Back({})}},
      // 4-bit elements: 5 of them take 3 bytes.
      {"torch.add", "[5]int4 [5]int4", "[5]int4;[5]int4", {0, 5, 9}, {}},
      // Without any tensor, the operand whose method it is was a 0-d tensor.
      {"Tensor.__mul__", "0.5 2.0", "[]fp32;[]fp32", {0, 1, 8}, {Back({0, 1, 8})}},
  });
}

TEST(PointwiseTest, Functions) {
  CheckCases({
      {"torch.exp", "[6]float32", "[6]fp32", {0, 120, 48}, {Back({0, 6, 72})}},
      {"Tensor.exp_", "[6]float32", "[6]fp32", {0, 120, 48}, {Back({0, 6, 72})}},
      {"torch.rsqrt", "[6]float32", "[6]fp32", {0, 120, 48}, {Back({0, 12, 72})}},
      {"torch.tanh", "[6]float16", "[6]fp16", {0, 120, 24}, {Back({0, 18, 36})}},
      {"torch.erf", "[6]float16", "[6]fp16", {0, 120, 24}, {Back({0, 138, 36})}},
      {"torch.atan2",
       "[6]float32 [6]float32",
       "[6]fp32;[6]fp32",
       {0, 120, 72},
       {Back({0, 18, 120})}},
      // A power is an exponential of a logarithm, but for small integers; 2 ** x is not small.
      {"torch.pow", "[6]float32 2", "[6]fp32;[]int64", {0, 6, 48}, {Back({0, 12, 72})}},
      {"torch.pow", "[6]float32 2.0", "[6]fp32;[]fp32", {0, 6, 48}, {Back({0, 12, 72})}},
      {"torch.pow", "[6]float32 2.5", "[6]fp32;[]fp32", {0, 120, 48}, {Back({0, 132, 72})}},
      {"Tensor.__rpow__", "[6]float32 2", "[6]fp32;[]int64", {0, 120, 48}, {Back({0, 132, 72})}},
      {"torch.pow", "2 [6]float32", "[]int64;[6]fp32", {0, 120, 48}, {Back({0, 132, 72})}},
      {"F.relu", "[6]float32 inplace=False", "[6]fp32", {0, 6, 48}, {Back({0, 6, 72})}},
      {"F.leaky_relu", "[6]float32 0.01 True", "[6]fp32", {0, 12, 48}, {Back({0, 12, 72})}},
      {"F.gelu", "[6]float32", "[6]fp32", {0, 144, 48}, {Back({0, 168, 72})}},
      {"F.gelu", "[6]float32 approximate='none'", "[6]fp32", {0, 144, 48}, {Back({0, 168, 72})}},
      {"F.gelu", "[6]float32 approximate='tanh'", "[6]fp32", {0, 168, 48}, {Back({0, 204, 72})}},
      {"F.softplus", "[6]float32 1 20", "[6]fp32", {0, 246, 48}, {Back({0, 132, 72})}},
      {"torch.clamp",
       "[6]float32 0.0 1.0",
       "[6]fp32;[]fp32;[]fp32",
       {0, 6, 48},
       {Back({0, 6, 72})}},
      {"torch.clip",
       "[6]float32 min=0.0 max=None",
       "[6]fp32;[]fp32",
       {0, 6, 48},
       {Back({0, 6, 72})}},

      {"torch.exp", "[6]float32 [6]float32", Reason::kUnsupportedArgs},
      {"torch.exp", "", Reason::kNoArguments},
      {"F.relu", "None", Reason::kUnsupportedArgs},
      {"F.relu", "'x'", Reason::kUnsupportedArgs},
      {"torch.clamp", "[6]float32 0.0 1.0 2.0", Reason::kUnsupportedArgs},
      {"torch.sinc", "[6]float32", Reason::kUnknownOp},
  });
}

TEST(PointwiseTest, ThreeOperands) {
  CheckCases({
      // where: 6 one-byte conditions, 24 + 24, out 24. Gradients: dY 24, condition 6, both 48.
      {"torch.where",
       "[6]bool [6]float32 [6]float32",
       "[6]bool;[6]fp32;[6]fp32",
       {0, 6, 78},
       {Back({0, 6, 78})}},
      {"torch.where",
       "[6]bool [6]float32 0.0",
       "[6]bool;[6]fp32;[]fp32",
       {0, 6, 54},
       {Back({0, 6, 54})}},
      // The method has the condition second.
      {"Tensor.where",
       "[6]float32 [6]bool [6]float32",
       "[6]bool;[6]fp32;[6]fp32",
       {0, 6, 78},
       {Back({0, 6, 78})}},
      // masked_fill: x 24, mask 3, out 24; gradient: dY, mask, dX.
      {"Tensor.masked_fill_",
       "[2,3]float32 [3]bool 0.0",
       "[2,3]fp32;[3]bool;[]fp32",
       {0, 6, 51},
       {Back({0, 6, 51})}},
      {"Tensor.masked_fill",
       "[2,3]float16 mask=[3]bool value=-1.0",
       "[2,3]fp16;[3]bool;[]fp32",
       {0, 6, 27},
       {Back({0, 6, 27})}},
      // addcmul: 3 a result; 4 tensors. Gradient: dY, three saved, three written: 7*24.
      {"torch.addcmul",
       "[6]float32 [6]float32 [6]float32 value=0.5",
       "[6]fp32;[6]fp32;[6]fp32",
       {0, 18, 96},
       {Back({0, 24, 168})}},
      {"torch.addcdiv",
       "[6]float32 0.5 [6]float32 [6]float32",
       "[6]fp32;[6]fp32;[6]fp32",
       {0, 18, 96},
       {Back({0, 30, 168})}},
      // lerp with a number: 3 tensors; gradient: dY, two saved, two written.
      {"torch.lerp",
       "[6]float32 [6]float32 0.5",
       "[6]fp32;[6]fp32;[]fp32",
       {0, 18, 72},
       {Back({0, 12, 120})}},

      {"torch.where", "[6]bool", Reason::kUnsupportedArgs},
      {"torch.where", "[6]bool [5]float32 [6]float32", Reason::kShapeMismatch},
      {"torch.addcmul", "[6]float32 [6]float32", Reason::kUnsupportedArgs},
      {"torch.addcmul", "[6]float32 0.5 0.5 [6]float32 [6]float32", Reason::kUnsupportedArgs},
  });
}

TEST(PointwiseTest, NumbersWithoutValues) {
  CheckCases({
      {"Tensor.mul_", "[6]float16 ?Scalar", "[6]fp16;[]?", {0, 6, 24}, {Back({0, 6, 24})}},
      {"torch.add", "[6]int32 ?Scalar", "[6]int32;[]?", {0, 6, 48}, {}},
      {"torch.gt", "[6]float32 ?object", "[6]fp32;[]?", {0, 6, 30}, {}},
      // What an exponent costs hangs on its value.
      {"torch.pow", "[6]float32 ?Scalar", Reason::kUnsupportedArgs},
      {"torch.mul", "?Scalar [6]float32", Reason::kUnsupportedArgs},
      {"torch.where", "[6]bool ?Scalar [6]float32", Reason::kUnsupportedArgs},
  });
}

TEST(PointwiseTest, SaysWhichWeightsAreOperations) {
  const auto estimated = [](const char* op, const char* args) {
    return PriceCall(MakeCall(op, args)).price->vec_estimated;
  };
  EXPECT_FALSE(estimated("torch.add", "[6]float32 [6]float32"));
  EXPECT_FALSE(estimated("torch.mul", "[6]float32 2"));
  EXPECT_FALSE(estimated("torch.gt", "[6]float32 2"));
  EXPECT_FALSE(estimated("torch.relu", "[6]what"));
  EXPECT_FALSE(estimated("torch.addcmul", "[6]float32 [6]float32 [6]float32"));
  EXPECT_TRUE(estimated("torch.exp", "[6]float32"));
  EXPECT_TRUE(estimated("F.gelu", "[6]float32"));
  EXPECT_TRUE(estimated("torch.pow", "[6]float32 2.5"));
  // A product of complex numbers is several operations.
  EXPECT_TRUE(estimated("torch.mul", "[6]complex64 [6]float32"));
}

}  // namespace
}  // namespace oplens::ops::test::pointwise_test
