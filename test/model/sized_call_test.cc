#include "parse/model/sized_call.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace oplens::sized_call_test {
namespace {

/// "mod.op [2,3] ? dim=?": "?" is a value that is not known. "-" when there is no call.
std::string Text(std::string_view name, std::string_view sizes) {
  const std::optional<OpCall> call = MakeRangeCall(name, sizes);
  if (!call) return "-";
  std::string text = call->mod + '.' + call->op;
  for (const OpArg& arg : call->args) {
    text += ' ';
    if (!arg.name.empty()) text += arg.name + '=';
    if (arg.kind != OpArg::Kind::kTensor) {
      text += arg.kind == OpArg::Kind::kNone ? "None" : "?";
      continue;
    }
    EXPECT_EQ(arg.type, "tensor");
    EXPECT_EQ(arg.dtype, "");
    text += '[';
    for (size_t i = 0; i < arg.shape.size(); ++i) {
      text += (i == 0 ? "" : ",") + std::to_string(arg.shape[i]);
    }
    text += ']';
  }
  return text;
}

TEST(SizedCall, IsTheCallOfThePythonFunction) {
  EXPECT_EQ(Text("aten::mm", "[[2, 3], [3, 4]]"), "torch.mm [2,3] [3,4]");
  EXPECT_EQ(Text("aten::mm", " [[2,3],[3,4]] "), "torch.mm [2,3] [3,4]");
  EXPECT_EQ(Text("aten::linear", "[[6, 3], [4, 3], [4]]"),
            "torch.nn.functional.linear [6,3] [4,3] [4]");
  EXPECT_EQ(Text("aten::relu_", "[[6, 3]]"), "Tensor.relu_ [6,3]");
  EXPECT_EQ(Text("zoo::rotate", "[[6, 3], []]"), "zoo.rotate [6,3]");
}

TEST(SizedCall, NamesWithoutANamespaceAreOfAten) {
  EXPECT_EQ(Text("mm", "[[2, 3], [3, 4]]"), "torch.mm [2,3] [3,4]");
  EXPECT_EQ(Text("add_", "[[2, 3], [2, 3], []]"), "Tensor.add_ [2,3] [2,3]");
}

TEST(SizedCall, AnAbsentArgumentIsNone) {
  EXPECT_EQ(Text("aten::linear", "[[6, 3], [4, 3], []]"), "torch.nn.functional.linear [6,3] [4,3]");
  EXPECT_EQ(Text("aten::addmm", "[[4], [2, 3], [3, 4], [], []]"), "torch.addmm [4] [2,3] [3,4]");
}

TEST(SizedCall, AValueThatTheCostHangsOnIsNotKnown) {
  EXPECT_EQ(Text("aten::sum", "[[2, 3], [], [], []]"), "torch.sum [2,3] dim=?");
  EXPECT_EQ(Text("aten::pow", "[[2, 3], []]"), "torch.pow [2,3]");
}

TEST(SizedCall, WhatMustBeATensorOrCostsLikeOneIsOneWithoutDimensions) {
  EXPECT_EQ(Text("aten::mul", "[[64, 512], []]"), "torch.mul [64,512] []");
  EXPECT_EQ(Text("aten::mul", "[[], [64, 512]]"), "torch.mul [] [64,512]");
  EXPECT_EQ(Text("aten::mul_", "[[64, 512], []]"), "Tensor.mul_ [64,512] []");
  EXPECT_EQ(Text("aten::mul.Tensor", "[[64, 512], []]"), "torch.mul [64,512] []");
  EXPECT_EQ(Text("aten::masked_fill", "[[6, 3], [6, 3], []]"), "torch.masked_fill [6,3] [6,3] []");
  EXPECT_EQ(Text("aten::sqrt", "[[]]"), "torch.sqrt []");
  // There may be no such argument at all.
  EXPECT_EQ(Text("aten::empty", "[[], [], [], [], [], []]"), "torch.empty ?");
}

TEST(SizedCall, ListsOfTensorsStandInPlace) {
  constexpr std::string_view kCall = "torch.cat [2,3] [2,4] ?";
  EXPECT_EQ(Text("aten::cat", "[[2, 3], [2, 4], []]"), kCall);
  EXPECT_EQ(Text("aten::cat", "[[[2, 3], [2, 4]], []]"), kCall);
}

TEST(SizedCall, WithoutSizesItIsACallWithoutArguments) {
  EXPECT_EQ(Text("aten::mm", ""), "torch.mm");
  EXPECT_EQ(Text("aten::mm", "[]"), "torch.mm");
  EXPECT_EQ(Text("mm", ""), "torch.mm");
  EXPECT_EQ(Text("AddmmBackward0", ""), "-");
}

TEST(SizedCall, NodesLabelsAndOtherListsAreNone) {
  EXPECT_EQ(Text("AddmmBackward0", "[[2, 3]]"), "-");
  EXPECT_EQ(Text("autograd::engine::evaluate_function: AddmmBackward0", "[[2, 3]]"), "-");
  EXPECT_EQ(Text("torch::autograd::AccumulateGrad", "[[2, 3]]"), "-");
  EXPECT_EQ(Text("forward", "[[2, 3]]"), "-");
  EXPECT_EQ(Text("", "[[2, 3]]"), "-");
  EXPECT_EQ(Text("Optimizer.step#SGD.step", "[[2, 3]]"), "-");
  for (const std::string_view sizes :
       {"[", "[[2, 3]", "[[2, 3]] x", "[2, 3]", "[['a']]", "[[1.5]]", "[[1, [2]]]", "[[[2], 3]]",
        "[[[[2]]]]", "[[9223372036854775808]]", "{}", "[None]"}) {
    EXPECT_EQ(Text("aten::mm", sizes), "-") << sizes;
  }
}

TEST(SizedCall, StaysInBoundsOnLongAndDeepLists) {
  EXPECT_EQ(Text("aten::mm", std::string(1 << 20, '[')), "-");
  std::string many = "[[1]";
  for (int i = 0; i < 100000; ++i) many += ", [1]";
  const std::optional<OpCall> call = MakeRangeCall("zoo::op", many + "]");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->args.size(), 100001u);
}

}  // namespace
}  // namespace oplens::sized_call_test
