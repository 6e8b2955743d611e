// What the gradient function of an op tells of the op's own call.
#include "parse/join/gradient_hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "parse/model/op_call.h"
#include "test/parse/hand_trace.h"

namespace oplens::parse::gradient_hints_test {
namespace {

using testing::HasSubstr;

OpArg TensorArg(std::vector<int64_t> shape) {
  OpArg arg;
  arg.kind = OpArg::Kind::kTensor;
  arg.type = "tensor";
  arg.shape = std::move(shape);
  arg.dtype = "float32";
  return arg;
}

std::string Text(std::string op, std::vector<OpArg> args) {
  std::string text;
  AppendOpCall({"aten", std::move(op), std::move(args)}, &text);
  return text;
}

const OpArg kX = TensorArg({2, 3, 8, 8});
const OpArg kW = TensorArg({4, 3, 3, 3});
const OpArg kDy = TensorArg({2, 4, 6, 6});

TEST(GradientHintsTest, ResultsOfConvolutions) {
  const std::string forward = Text("cudnn_convolution", {kX, kW});
  std::string error;
  const std::optional<OpCall> told = ParseOpCall(
      WithGradientFacts(forward, Text("cudnn_convolution_backward", {kX, kDy, kW})), &error);
  ASSERT_TRUE(told.has_value());
  ASSERT_EQ(told->args.size(), 3u);
  EXPECT_EQ(told->args[2].name, "output");
  EXPECT_EQ(told->args[2].shape, kDy.shape);
  // The arguments of newer versions stand otherwise.
  EXPECT_THAT(
      WithGradientFacts(Text("convolution", {kX, kW}), Text("convolution_backward", {kDy, kX, kW})),
      HasSubstr("'output'"));
}

TEST(GradientHintsTest, TrainingOfBatchNorm) {
  const std::string gradient = Text("cudnn_batch_norm_backward", {kX, kX, TensorArg({3})});
  EXPECT_THAT(WithGradientFacts(Text("batch_norm", {kX, TensorArg({3})}), gradient),
              HasSubstr("{'name': 'training', 'type': 'bool', 'value': True}"));
  OpArg flag;
  flag.kind = OpArg::Kind::kBool;
  flag.type = "bool";
  EXPECT_EQ(WithGradientFacts(Text("batch_norm", {kX, flag}), gradient), "") << "recorded";
}

TEST(GradientHintsTest, OtherCallsTellNothing) {
  const std::string forward = Text("cudnn_convolution", {kX, kW});
  EXPECT_EQ(WithGradientFacts(forward, Text("mm", {kX, kDy, kW})), "");
  EXPECT_EQ(WithGradientFacts(forward, Text("cudnn_convolution_backward", {kDy, kDy, kW})), "")
      << "another input";
  EXPECT_EQ(WithGradientFacts(forward, Text("cudnn_convolution_backward", {kX})), "");
  EXPECT_EQ(
      WithGradientFacts(Text("mm", {kX, kW}), Text("cudnn_convolution_backward", {kX, kDy, kW})),
      "");
  EXPECT_EQ(WithGradientFacts("", "nonsense"), "");
  EXPECT_FALSE(HasGradientFacts("aten::mm"));
  EXPECT_TRUE(HasGradientFacts("aten::cudnn_convolution_backward"));
}

OpArg Unrecorded() {
  OpArg arg;
  arg.type = "unknown";
  return arg;
}

TEST(ResultsBySizeTest, CallsOfTheSameOperands) {
  const std::string forward = Text("cudnn_convolution", {kX, kW, Unrecorded()});
  ResultsBySize results;
  EXPECT_TRUE(results.empty());
  EXPECT_EQ(results.WithResult(forward), "");
  results.Add(Text("cudnn_convolution_backward", {kX, kDy, kW}));
  results.Add(Text("cudnn_convolution_backward", {kX, kDy, kW}));
  results.Add(Text("mm", {kX, kDy, kW}));
  results.Add("nonsense");
  std::string error;
  const std::optional<OpCall> told = ParseOpCall(results.WithResult(forward), &error);
  ASSERT_TRUE(told.has_value());
  ASSERT_EQ(told->args.size(), 4u);
  EXPECT_EQ(told->args[3].name, "output");
  EXPECT_EQ(told->args[3].shape, kDy.shape);
  // What was recorded stands; other operands and ops are other calls.
  EXPECT_EQ(results.WithResult(Text("cudnn_convolution", {kX, kW})), "");
  EXPECT_EQ(results.WithResult(Text("cudnn_convolution", {kDy, kW, Unrecorded()})), "");
  EXPECT_EQ(results.WithResult(Text("cudnn_convolution", {kX, kX, Unrecorded()})), "");
  EXPECT_EQ(results.WithResult(Text("cudnn_convolution_transpose", {kX, kW, Unrecorded()})), "");
  // Another stride: two results.
  results.Add(Text("cudnn_convolution_backward", {kX, TensorArg({2, 4, 3, 3}), kW}));
  EXPECT_EQ(results.WithResult(forward), "");
  results.Add(Text("cudnn_convolution_backward", {kX, kDy, kW}));
  EXPECT_EQ(results.WithResult(forward), "");
}

class GradientHintsOfTraceTest : public HandTrace {};

TEST_F(GradientHintsOfTraceTest, WithoutNumbersTheOperandsTell) {
  const std::string forward = Text("cudnn_convolution", {kX, kW, Unrecorded()});
  Op(0, 9, "aten::cudnn_convolution", forward);
  Kernel(4);
  Op(31, 48, "aten::cudnn_convolution_backward", Text("cudnn_convolution_backward", {kX, kDy, kW}),
     -1, 1);
  Kernel(40, 1);
  Join();
  EXPECT_THAT(std::string(Record(0).markers.at(0)), HasSubstr("'output'"));
}

TEST_F(GradientHintsOfTraceTest, NumbersGoBeforeOperands) {
  const std::string forward = Text("cudnn_convolution", {kX, kW, Unrecorded()});
  Op(0, 9, "aten::cudnn_convolution", forward, 5);
  Kernel(4);
  Op(10, 19, "aten::cudnn_convolution", forward, 6);
  Kernel(14);
  Op(30, 49, "CudnnConvolutionBackward0", "", 5, 1);
  Op(31, 48, "aten::cudnn_convolution_backward", Text("cudnn_convolution_backward", {kX, kDy, kW}),
     -1, 1);
  Kernel(40, 1);
  Join();
  EXPECT_THAT(std::string(Record(1).markers.at(0)), testing::Not(HasSubstr("'output'")));
}

TEST_F(GradientHintsOfTraceTest, GoIntoTheForwardCall) {
  Op(0, 9, "aten::cudnn_convolution", Text("cudnn_convolution", {kX, kW}), 5);
  Kernel(4);
  Op(10, 19, "aten::cudnn_convolution", Text("cudnn_convolution", {kX, kW}), 6);
  Kernel(14);
  Op(30, 49, "CudnnConvolutionBackward0", "", 5, 1);
  Op(31, 48, "aten::cudnn_convolution_backward", Text("cudnn_convolution_backward", {kX, kDy, kW}),
     -1, 1);
  Kernel(40, 1);
  Join();
  EXPECT_THAT(std::string(Record(0).markers.at(0)), HasSubstr("'output'"));
  // No node tells of the other call.
  EXPECT_THAT(std::string(Record(1).markers.at(0)), testing::Not(HasSubstr("'output'")));
}

}  // namespace
}  // namespace oplens::parse::gradient_hints_test
