#include <gtest/gtest.h>

#include "ops/op_model.h"
#include "parse/model/torch_call.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::deformable_convolution_test {
namespace {

// x [1,2,4,5] (40), w [3,2,2,2] (24), y [1,3,3,4] (36), offset [1,8,3,4] (96), mask [1,4,3,4] (48):
// products 2*3*12*2*4 = 576; samples 2*12*4 = 96 of 8.
TEST(DeformableConvolutionTest, Prices) {
  const char* text = "N=1,C=2,H=4,W=5,K=3,P=3,Q=4,R=2,S=2,ph=0,pw=0,U=1,V=1,dh=1,dw=1,g=1,fp32";
  CheckCases({
      {"deform_conv2d",
       "[1,2,4,5]float32 [1,8,3,4]float32 [3,2,2,2]float32",
       text,
       {576, 768, 784},
       {Dgrad({576, 768, 1168}), Wgrad({576, 768, 784})}},
      {"deform_conv2d",
       "[1,2,4,5]float32 [1,8,3,4]float32 [3,2,2,2]float32 [3]float32 1 0 1 [1,4,3,4]float32",
       text,
       {576, 804, 988},
       {Dgrad({576, 768, 1552}), Wgrad({576, 768, 976}), Bgrad({0, 36, 156})}},
      {"deform_conv2d", "[1,2,4,5]float32 [1,7,3,4]float32 [3,2,2,2]float32",
       Reason::kShapeMismatch},
      {"deform_conv2d", "[1,2,4,5]float32 [1,8,3,3]float32 [3,2,2,2]float32",
       Reason::kShapeMismatch},
      {"deform_conv2d", "[2,4,5]float32 [1,8,3,4]float32 [3,2,2,2]float32", Reason::kShapeMismatch},
      {"deform_conv2d", "[1,2,4,5]float32 [1,8,3,4]float32 [3,2,2,2]float32 None 0",
       Reason::kUnsupportedArgs},
      {"deform_conv2d", "[1,2,4,5]float32 [1,8,3,4]float32", Reason::kUnsupportedArgs},
  });
}

TEST(DeformableConvolutionTest, TheOperatorIsTheSame) {
  const OpCall call = MakeTorchCall(
      "torchvision::deform_conv2d",
      MakeCall("",
               "[1,2,4,5]float32 [3,2,2,2]float32 [1,8,3,4]float32 [1,4,3,4]float32 [3]float32 "
               "1 1 0 0 1 1 1 1 True")
          .args);
  const PriceResult result = PriceCall(call);
  ASSERT_TRUE(result.price.has_value()) << ReasonWord(result.reason);
  EXPECT_EQ(FiguresOf(result.price->forward[0].work), (Figures{576, 804, 988}));
}

}  // namespace
}  // namespace oplens::ops::test::deformable_convolution_test
