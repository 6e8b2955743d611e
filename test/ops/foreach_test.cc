// Functions of lists of tensors cost what their op does for each member.

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/op_model.h"
#include "parse/model/torch_call.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::foreach_test {
namespace {

TEST(ForeachTest, Prices) {
  CheckCases({
      // 6 + 4 elements: 3 x 4 bytes each, 1 FLOP each.
      {"torch._foreach_add",
       "1:[2,3]float32 1:[4]float32 2:[2,3]float32 2:[4]float32",
       "L=2,N=10,fp32",
       {0, 10, 120},
       {}},
      // A factor costs one more.
      {"torch._foreach_add_",
       "1:[2,3]float32 1:[4]float32 2:[2,3]float32 2:[4]float32 alpha=-0.5",
       "L=2,N=10,fp32",
       {0, 20, 120},
       {}},
      // One number for all, one each, and numbers whose values are not known.
      {"torch._foreach_mul_", "1:[2,3]float32 1:[4]float16 0.5", "L=2,N=10,mixed", {0, 10, 64}, {}},
      {"torch._foreach_mul_",
       "1:[2,3]float32 1:[4]float16 (2,3)",
       "L=2,N=10,mixed",
       {0, 10, 64},
       {}},
      {"torch._foreach_div_",
       "1:[2,3]float32 1:[4]float32 (0.5,0.25)",
       "L=2,N=10,fp32",
       {0, 10, 80},
       {}},
      {"torch._foreach_div_",
       "1:[2,3]float32 1:[4]float32 ?ScalarList",
       "L=2,N=10,fp32",
       {0, 10, 80},
       {}},
      // A tensor for all: 4 bytes read by each.
      {"torch._foreach_mul_",
       "1:[2,3]float32 1:[4]float32 []float32",
       "L=2,N=10,fp32",
       {0, 10, 88},
       {}},
      {"torch._foreach_sub", "1:[2]float32 2:[2]float32", "L=1,N=2,fp32", {0, 2, 24}, {}},
      {"torch._foreach_sqrt", "1:[2,3]float32 1:[]float32", "L=2,N=7,fp32", {0, 140, 56}, {}},
      {"torch._foreach_neg_", "1:[2]float32", "L=1,N=2,fp32", {0, 2, 16}, {}},
      {"torch._foreach_exp", "1:[5]float32", "L=1,N=5,fp32", {0, 100, 40}, {}},
      {"torch._foreach_maximum_", "1:[5]float32 2:[5]float32", "L=1,N=5,fp32", {0, 5, 60}, {}},
      {"torch._foreach_clamp_min_", "1:[5]float32 0", "L=1,N=5,fp32", {0, 5, 40}, {}},
      {"torch._foreach_zero_", "1:[5]float32 1:[3]float16", "L=2,N=8,mixed", {0, 0, 26}, {}},
      {"torch._foreach_copy_", "1:[5]float16 2:[5]float32", "L=1,N=5,fp16", {0, 0, 30}, {}},
      // Three operands read, one written.
      {"torch._foreach_addcmul_",
       "1:[5]float32 2:[5]float32 3:[5]float32 value=0.1",
       "L=1,N=5,fp32",
       {0, 15, 80},
       {}},
      {"torch._foreach_addcdiv_",
       "1:[5]float32 1:[2]float32 2:[5]float32 2:[2]float32 3:[5]float32 3:[2]float32",
       "L=2,N=7,fp32",
       {0, 21, 112},
       {}},
      {"torch._foreach_addcdiv_",
       "1:[5]float32 1:[2]float32 2:[5]float32 2:[2]float32 3:[5]float32 3:[2]float32 (-0.1,-0.01)",
       "L=2,N=7,fp32",
       {0, 21, 112},
       {}},
      {"torch._foreach_lerp_", "1:[5]float32 2:[5]float32 0.9", "L=1,N=5,fp32", {0, 15, 60}, {}},
      // 2 an element, a root each.
      {"torch._foreach_norm", "1:[5]float32 1:[2]float32", "L=2,N=7,fp32", {0, 54, 36}, {}},
      // The number is the base.
      {"torch._foreach_pow", "2.0 1:[5]float32", "L=1,N=5,fp32", {0, 100, 40}, {}},
      // Keywords divide lists too; all tensors are the one list that a function of one takes.
      {"torch._foreach_add_",
       "self=[2]float32 self=[3]float32 other=[2]float32 other=[3]float32",
       "L=2,N=5,fp32",
       {0, 5, 60},
       {}},
      {"torch._foreach_sqrt_", "[2]float32 [3]float32", "L=2,N=5,fp32", {0, 100, 40}, {}},
      {"torch._foreach_mul_", "[2]float32 0.5", "L=1,N=2,fp32", {0, 2, 16}, {}},

      // Where lists are not told apart, two could be one.
      {"torch._foreach_add_", "[2]float32 [2]float32 0.5", Reason::kUnsupportedArgs},
      {"torch._foreach_add_", "[2]float32 [2]float32", Reason::kUnsupportedArgs},
      {"torch._foreach_add_", "?TensorList ?TensorList 0.5", Reason::kUnsupportedArgs},
      {"torch._foreach_add_", "1:[2]float32 ?TensorList", Reason::kUnsupportedArgs},
      {"torch._foreach_add_", "1:[2]float32", Reason::kUnsupportedArgs},
      // What the exponent is decides the cost.
      {"torch._foreach_pow", "1:[5]float32 ?Scalar", Reason::kUnsupportedArgs},
      // In a wrong order, or in pieces.
      {"torch._foreach_add_", "2:[2]float32 1:[2]float32", Reason::kUnsupportedArgs},
      {"torch._foreach_add_", "1:[2]float32 2:[2]float32 1:[2]float32", Reason::kUnsupportedArgs},
      // Of different length.
      {"torch._foreach_add_", "1:[2]float32 1:[3]float32 2:[2]float32", Reason::kShapeMismatch},
      {"torch._foreach_mul_", "1:[2]float32 (1,2)", Reason::kShapeMismatch},
      {"torch._foreach_mul_", "1:[2]float32 (0.5,2)", Reason::kShapeMismatch},
      {"torch._foreach_add_", "1:[2]float32 2:[3]float32", Reason::kShapeMismatch},
      {"torch._foreach_no_such_op_", "1:[2]float32", Reason::kUnknownOp},
      {"torch._foreach_mul_",
       "1:[9223372036854775807,9]float32 1:[9223372036854775807,9]float32 2.0",
       Reason::kCostOverflow},
  });
}

OpArg Member(int32_t list, std::vector<int64_t> shape) {
  OpArg arg;
  arg.kind = OpArg::Kind::kTensor;
  arg.type = "tensor";
  arg.shape = std::move(shape);
  arg.list = list;
  return arg;
}

// Profilers record the shapes of the members, not their types.
TEST(ForeachTest, WithoutTypesTheFlopsAreKnown) {
  const PriceResult result =
      PriceCall(MakeTorchCall("aten::_foreach_add_", {Member(1, {128, 128}), Member(1, {128}),
                                                      Member(2, {128, 128}), Member(2, {128})}));
  ASSERT_TRUE(result.price);
  EXPECT_EQ(FiguresOf(result.price->forward.at(0).work)->vec, 16512);
  EXPECT_FALSE(result.price->bytes_known);
  EXPECT_EQ(result.price->params, "L=2,N=16512,?");
}

TEST(ForeachTest, IsTheSumOfItsMembers) {
  for (const std::string op : {"add", "mul", "div", "maximum", "atan2"}) {
    int64_t vec = 0;
    int64_t bytes = 0;
    std::string first;
    std::string second;
    for (const std::string shape : {"[3,4]float32", "[7]float16", "[1]float64", "[0]float32"}) {
      const PriceResult one = PriceCall(MakeCall("torch." + op, shape + " " + shape));
      const std::optional<Figures> figures = FiguresOf(one.price.value().forward.at(0).work);
      vec += figures.value().vec;
      bytes += figures.value().bytes;
      first += " 1:" + shape;
      second += " 2:" + shape;
    }
    const PriceResult list = PriceCall(MakeCall("torch._foreach_" + op, first.substr(1) + second));
    ASSERT_TRUE(list.price) << op;
    EXPECT_EQ(FiguresOf(list.price->forward.at(0).work), (Figures{0, vec, bytes})) << op;
  }
}

}  // namespace
}  // namespace oplens::ops::test::foreach_test
