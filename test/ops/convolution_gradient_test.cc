// Gradient functions of convolutions.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ops/op_model.h"
#include "parse/model/torch_call.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::convolution_gradient_test {
namespace {

// x [2,4,9,9], w [6,4,3,3], stride 2, padding 1: dY [2,6,5,5]. 2*2*6*25*36 = 21600; the elements
// are 648, 216 and 300.
constexpr const char* kX = "[2,4,9,9]float32 ";
constexpr const char* kW = "[6,4,3,3]float32 ";
constexpr const char* kY = "[2,6,5,5]float32 ";
const Figures kGradient{21600, 0, 4656};
const Figures kBias{0, 300, 1224};
constexpr const char* kText =
    "N=2,C=4,H=9,W=9,K=6,P=5,Q=5,R=3,S=3,ph=1,pw=1,U=2,V=2,dh=1,dw=1,g=1,fp32";
constexpr const char* kTextWithoutSteps = "N=2,C=4,H=9,W=9,K=6,P=5,Q=5,R=3,S=3,g=1,fp32";

struct Row {
  std::string op;
  std::string args;
  std::vector<Gradient> parts;
  std::string params = kText;
};

OpCall Native(const std::string& op, const std::string& args) {
  std::vector<OpArg> list = MakeCall("", args).args;
  // "?" is a value that the profiler does not record.
  for (OpArg& arg : list) {
    if (arg.kind == OpArg::Kind::kOther) arg.type = "GenericList";
  }
  return MakeTorchCall(op, std::move(list));
}

void Check(const Row& row) {
  SCOPED_TRACE(row.op + ' ' + row.args);
  const PriceResult result = PriceCall(Native(row.op, row.args));
  ASSERT_TRUE(result.price.has_value()) << ReasonWord(result.reason);
  EXPECT_EQ(result.price->params, row.params);
  EXPECT_TRUE(result.price->backward.empty());
  ASSERT_EQ(result.price->forward.size(), row.parts.size());
  for (size_t i = 0; i < row.parts.size(); ++i) {
    EXPECT_EQ(result.price->forward[i].part, row.parts[i].part);
    EXPECT_EQ(FiguresOf(result.price->forward[i].work), row.parts[i].figures);
  }
  EXPECT_EQ(result.price->matmul_like, row.parts[0].part != Part::kBgrad);
}

TEST(ConvolutionGradientTest, Parts) {
  const std::string x = kX;
  const std::string w = kW;
  const std::string y = kY;
  const std::string yxw = y + x + w;
  const std::string xyw = x + y + w;
  const std::vector<Gradient> both{Dgrad(kGradient), Wgrad(kGradient)};
  const std::vector<Gradient> all{Dgrad(kGradient), Wgrad(kGradient), Bgrad(kBias)};
  const std::vector<Row> rows = {
      {"aten::convolution_backward", yxw + "[6] [2,2] [1,1] [1,1] False [0,0] 1 [1,1,1]", all},
      {"aten::convolution_backward", yxw + "None [2,2] [1,1] [1,1] False [0,0] 1 [1,1,0]", both},
      // The first layer: its input needs no gradient.
      {"aten::convolution_backward",
       yxw + "[6] [2,2] [1,1] [1,1] False [0,0] 1 [0,1,1]",
       {Wgrad(kGradient), Bgrad(kBias)}},
      {"aten::convolution_backward",
       yxw + "[0] [2] [1] [1] False [0] 1 [1,0,0]",
       {Dgrad(kGradient)}},
      {"aten::convolution_backward",
       yxw + "[6] [2,2] [1,1] [1,1] False [0,0] 1 [0,0,1]",
       {Bgrad(kBias)}},
      {"aten::convolution_backward", yxw + "[6] [2,2] [1,1] [1,1] False [0,0] 1", all},
      // Shapes alone tell the work.
      {"aten::convolution_backward", yxw + "? ? ? ? ? ? ? ?", both, kTextWithoutSteps},
      {"aten::cudnn_convolution_backward",
       xyw + "[1,1] [2,2] [1,1] 1 False False True [0,1]",
       {Wgrad(kGradient)}},
      {"aten::cudnn_convolution_backward",
       xyw + "[1,1] [2,2] [1,1] 1 False False [1,0]",
       {Dgrad(kGradient)}},
      {"aten::cudnn_convolution_backward", xyw + "? ? ? ? ? ? ? ?", both, kTextWithoutSteps},
      {"aten::cudnn_convolution_backward_input",
       "[2,4,9,9] " + y + w + "[1,1] [2,2] [1,1] 1 False False True",
       {Dgrad(kGradient)}},
      {"aten::cudnn_convolution_backward_weight",
       "[6,4,3,3] " + y + x + "[1,1] [2,2] [1,1] 1 False False True",
       {Wgrad(kGradient)}},
      {"aten::cudnn_convolution_backward_bias", y, {Bgrad(kBias)}, "T=(2,6,5,5),fp32"},
      {"aten::miopen_convolution_backward", xyw + "[1,1] [2,2] [1,1] 1 False False [1,1,1]", all},
      {"aten::mkldnn_convolution_backward_weights",
       "[6,4,3,3] " + y + x + "[1,1] [2,2] [1,1] 1 0",
       {Wgrad(kGradient)}},
      {"aten::thnn_conv2d_backward", yxw + "[3,3] [2,2] [1,1] [1,1,1]", all},
      {"aten::thnn_conv2d_backward", yxw + "[3,3] [2,2] [1,1] [9]float32 [9]float32 [1,1,0]", both},
      {"aten::_slow_conv2d_backward",
       yxw + "[3,3] [2,2] [1,1] [0,1,1]",
       {Wgrad(kGradient), Bgrad(kBias)}},
      {"aten::slow_conv_dilated2d_backward", yxw + "[3,3] [2,2] [1,1] [1,1] [1,1,0]", both},
  };
  for (const Row& row : rows) Check(row);
}

TEST(ConvolutionGradientTest, OfTransposedOnes) {
  // x [1,3,4], w [3,2,3], stride 2: dY [1,2,9]. 2*4*18 = 144; 12 + 18 + 18 elements.
  const Figures gradient{144, 0, 192};
  const std::string tensors = "[1,2,9]float32 [1,3,4]float32 [3,2,3]float32 ";
  Check({"aten::convolution_backward",
         tensors + "? [2] [0] [1] True [0] 1 [1,1,0]",
         {Dgrad(gradient), Wgrad(gradient)},
         "N=1,C=3,H=1,W=4,K=2,P=1,Q=9,R=1,S=3,ph=0,pw=0,U=1,V=2,dh=1,dw=1,g=1,fp32"});
  // Not recorded, but w [3,2,3] only leads from 3 channels to 2 when it is transposed.
  Check({"aten::convolution_backward",
         tensors + "? ? ? ? ? ? ? ?",
         {Dgrad(gradient), Wgrad(gradient)},
         "N=1,C=3,H=1,W=4,K=2,P=1,Q=9,R=1,S=3,g=1,fp32"});
  EXPECT_EQ(
      PriceCall(Native("aten::convolution_backward", tensors + "? [2] [0] [1] False [0] 1 [1,1,0]"))
          .reason,
      Reason::kShapeMismatch);
}

TEST(ConvolutionGradientTest, TheKindIsOnlyInferredWhereItIsCertain) {
  // As many channels on both sides. A smaller result is of a convolution.
  const auto reason = [](const char* tensors) {
    return PriceCall(
        Native("aten::convolution_backward", std::string(tensors) + " ? ? ? ? ? ? ? ?"));
  };
  const PriceResult smaller = reason("[1,3,4]float32 [1,3,9]float32 [3,3,3]float32");
  ASSERT_TRUE(smaller.price.has_value());
  EXPECT_EQ(smaller.price->forward[0].work.mma.Value(), 2 * 4 * 27);
  EXPECT_EQ(reason("[1,3,9]float32 [1,3,4]float32 [3,3,3]float32").reason,
            Reason::kUnsupportedArgs);
}

TEST(ConvolutionGradientTest, OfGroups) {
  // Each weight meets the channels of its group alone: not g times as many.
  const PriceResult result = PriceCall(
      Native("aten::convolution_backward",
             "[1,8,4]float32 [1,4,6]float32 [8,2,3]float32 ? [1] [0] [1] False [0] 2 [1,1,0]"));
  ASSERT_TRUE(result.price.has_value());
  EXPECT_EQ(result.price->forward[0].work.mma.Value(), 384);
  EXPECT_EQ(result.price->forward[1].work.mma.Value(), 384);
  EXPECT_EQ(result.price->product->groups, 2);
}

TEST(ConvolutionGradientTest, RefusesWhatCannotBe) {
  const std::string x = kX;
  const std::string w = kW;
  const std::string y = kY;
  struct Refused {
    std::string op;
    std::string args;
    Reason reason;
  };
  const std::vector<Refused> rows = {
      {"aten::convolution_backward", y + x, Reason::kUnsupportedArgs},
      {"aten::convolution_backward", y + x + "[6,5,3,3]float32", Reason::kShapeMismatch},
      {"aten::convolution_backward", "[2,6,5]float32 " + x + w, Reason::kShapeMismatch},
      {"aten::convolution_backward", "[3,6,5,5]float32 " + x + w, Reason::kShapeMismatch},
      // Other steps lead to another result.
      {"aten::convolution_backward", y + x + w + "? [1,1] [1,1] [1,1] False [0,0] 1 [1,1,0]",
       Reason::kShapeMismatch},
      {"aten::convolution_backward", y + x + w + "? [2,2] [1,1] [1,1] False [0,0] 1 [0,0,0]",
       Reason::kUnsupportedArgs},
      {"aten::cudnn_convolution_backward_input", "? " + y + w + "? ? ? ? ? ? ?",
       Reason::kUnsupportedArgs},
      {"aten::cudnn_convolution_backward_input", "[2,4,-9,9] " + y + w, Reason::kUnsupportedArgs},
      {"aten::cudnn_convolution_backward_input", "[2,4,9] " + y + w, Reason::kShapeMismatch},
      {"aten::cudnn_convolution_backward_weight", "[6] " + y + x, Reason::kShapeMismatch},
      {"aten::cudnn_convolution_backward_other", y + x + w, Reason::kUnknownOp},
      {"aten::cudnn_convolution_backward_bias", "[2]float32", Reason::kShapeMismatch},
      {"aten::conv2d_backward", y + x + w, Reason::kUnsupportedArgs},
  };
  for (const Refused& row : rows) {
    const PriceResult result = PriceCall(Native(row.op, row.args));
    EXPECT_FALSE(result.price.has_value()) << row.op << ' ' << row.args;
    EXPECT_EQ(ReasonWord(result.reason), ReasonWord(row.reason)) << row.op << ' ' << row.args;
  }
}

}  // namespace
}  // namespace oplens::ops::test::convolution_gradient_test
