#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "ops/op_model.h"
#include "parse/model/torch_call.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::convolution_test {
namespace {

TEST(ConvolutionTest, Prices) {
  // [2,4,5,6] by [6,4,3,3]: 3x4 positions; 2*2*6*12*4*9 = 10368. X 240, W 216, Y 144 elements.
  const Figures plain{10368, 0, 2400};
  const std::vector<Gradient> gradients{Dgrad(plain), Wgrad(plain)};
  const std::string text = "N=2,C=4,H=5,W=6,K=6,P=3,Q=4,R=3,S=3,ph=0,pw=0,U=1,V=1,dh=1,dw=1,g=1,";
  CheckCases({
      {"F.conv2d", "[2,4,5,6]float32 [6,4,3,3]float32", text + "fp32", plain, gradients},
      {"F.conv2d", "[2,4,5,6]float32 [6,4,3,3]float32 None 1 'valid'", text + "fp32", plain,
       gradients},
      {"torch.conv2d", "input=[2,4,5,6]float32 weight=[6,4,3,3]float32 stride=(1,1) padding=[0,0]",
       text + "fp32", plain, gradients},
      // A bias: an addition an output, 144; 6 elements more.
      {"F.conv2d",
       "[2,4,5,6]float16 [6,4,3,3]float16 [6]float16 1 0 1 1",
       text + "fp16",
       {10368, 144, 1212},
       {Dgrad({10368, 0, 1200}), Wgrad({10368, 0, 1200}), Bgrad({0, 144, 300})}},
      // 'same': 5x6 positions, 2*2*6*30*36; Y 360.
      {"F.conv2d",
       "[2,4,5,6]float32 [6,4,3,3]float32 padding='same'",
       "N=2,C=4,H=5,W=6,K=6,P=5,Q=6,R=3,S=3,ph=1,pw=1,U=1,V=1,dh=1,dw=1,g=1,fp32",
       {25920, 0, 3264},
       {Dgrad({25920, 0, 3264}), Wgrad({25920, 0, 3264})}},
      // An even filter that is dilated: 2(4-1) = 6 on 9 elements, none lost.
      {"F.conv1d",
       "[1,1,9]float32 [1,1,4]float32 padding='same' dilation=2",
       "N=1,C=1,H=1,W=9,K=1,P=1,Q=9,R=1,S=4,ph=0,pw=3,U=1,V=1,dh=1,dw=2,g=1,fp32",
       {72, 0, 88},
       {Dgrad({72, 0, 88}), Wgrad({72, 0, 88})}},
      // Steps of their own in each dimension: (7+2-1*2-1)/2+1 = 4, (8+0-2*1-1)/3+1 = 2. Of 8
      // columns 2 positions of 2 taps see 4.
      {"F.conv2d",
       "[1,2,7,8]float32 [3,2,3,2]float32 None (2,3) (1,0) (1,2)",
       "N=1,C=2,H=7,W=8,K=3,P=4,Q=2,R=3,S=2,ph=1,pw=0,U=2,V=3,dh=1,dw=2,g=1,fp32",
       {576, 0, 464},
       {Dgrad({576, 0, 688}), Wgrad({576, 0, 464})}},
      // Two groups: each output sees half of the channels.
      {"F.conv1d",
       "[1,4,6]float32 [8,2,3]float32 groups=2",
       "N=1,C=4,H=1,W=6,K=8,P=1,Q=4,R=1,S=3,ph=0,pw=0,U=1,V=1,dh=1,dw=1,g=2,fp32",
       {384, 0, 416},
       {Dgrad({384, 0, 416}), Wgrad({384, 0, 416})}},
      // The shapes decide: half of the channels make two groups, whatever was recorded.
      {"F.conv1d",
       "[1,4,6]float32 [8,2,3]float32",
       "N=1,C=4,H=1,W=6,K=8,P=1,Q=4,R=1,S=3,ph=0,pw=0,U=1,V=1,dh=1,dw=1,g=2,fp32",
       {384, 0, 416},
       {Dgrad({384, 0, 416}), Wgrad({384, 0, 416})}},
      {"aten::convolution",
       "[1,4,6]float32 [8,2,3]float32 None [1] [0] [1] False [0] 1",
       "N=1,C=4,H=1,W=6,K=8,P=1,Q=4,R=1,S=3,ph=0,pw=0,U=1,V=1,dh=1,dw=1,g=2,fp32",
       {384, 0, 416},
       {Dgrad({384, 0, 416}), Wgrad({384, 0, 416})}},
      // Without a batch.
      {"F.conv1d",
       "[4,6]float32 [8,4,3]float32",
       "N=1,C=4,H=1,W=6,K=8,P=1,Q=4,R=1,S=3,ph=0,pw=0,U=1,V=1,dh=1,dw=1,g=1,fp32",
       {768, 0, 608},
       {Dgrad({768, 0, 608}), Wgrad({768, 0, 608})}},
      {"F.conv3d",
       "[1,1,3,4,5]float32 [2,1,2,2,2]float32 stride=(1,2,1)",
       "N=1,C=1,D=3,H=4,W=5,K=2,Z=2,P=2,Q=4,T=2,R=2,S=2,ph=0,pw=0,U=2,V=1,dh=1,dw=1,g=1,fp32",
       {512, 0, 432},
       {Dgrad({512, 0, 432}), Wgrad({512, 0, 432})}},
      // A stride above the filter skips rows: of 9x8 elements 5x4 positions of 1x1 see 5x4. The
      // gradient of x is written whole.
      {"F.conv2d",
       "[1,2,9,8]float32 [3,2,1,1]float32 None 2",
       "N=1,C=2,H=9,W=8,K=3,P=5,Q=4,R=1,S=1,ph=0,pw=0,U=2,V=2,dh=1,dw=1,g=1,fp32",
       {240, 0, 424},
       {Dgrad({240, 0, 840}), Wgrad({240, 0, 424})}},
      // Of 9 elements 2 positions of 2 see 4; 3 of 3 of 3-D see all.
      {"F.conv1d",
       "[1,1,9]float32 [1,1,2]float32 None 5",
       "N=1,C=1,H=1,W=9,K=1,P=1,Q=2,R=1,S=2,ph=0,pw=0,U=1,V=5,dh=1,dw=1,g=1,fp32",
       {8, 0, 32},
       {Dgrad({8, 0, 52}), Wgrad({8, 0, 32})}},
      {"F.conv3d",
       "[1,1,4,4,4]float32 [1,1,1,1,1]float32 None (2,1,4)",
       "N=1,C=1,D=4,H=4,W=4,K=1,Z=2,P=4,Q=1,T=1,R=1,S=1,ph=0,pw=0,U=1,V=4,dh=1,dw=1,g=1,fp32",
       {16, 0, 68},
       {Dgrad({16, 0, 292}), Wgrad({16, 0, 68})}},
      // Complex products are 8 FLOPs.
      {"F.conv1d",
       "[1,1,3]complex64 [1,1,3]complex64",
       "N=1,C=1,H=1,W=3,K=1,P=1,Q=1,R=1,S=3,ph=0,pw=0,U=1,V=1,dh=1,dw=1,g=1,c64",
       {24, 0, 56},
       {Dgrad({24, 0, 56}), Wgrad({24, 0, 56})}},
      // Nothing in the batch.
      {"F.conv1d",
       "[0,1,3]float32 [1,1,3]float32",
       "N=0,C=1,H=1,W=3,K=1,P=1,Q=1,R=1,S=3,ph=0,pw=0,U=1,V=1,dh=1,dw=1,g=1,fp32",
       {0, 0, 12},
       {Dgrad({0, 0, 12}), Wgrad({0, 0, 12})}},
  });
}

TEST(ConvolutionTest, TransposedPrices) {
  // [1,3,4] by [3,2,3], stride 2: (4-1)2+3 = 9 positions of 2 channels; 2*4*3*2*3 = 144.
  const Figures plain{144, 0, 192};
  CheckCases({
      {"F.conv_transpose1d",
       "[1,3,4]float32 [3,2,3]float32 None 2",
       "N=1,C=3,H=1,W=4,K=2,P=1,Q=9,R=1,S=3,ph=0,pw=0,U=1,V=2,dh=1,dw=1,g=1,fp32",
       plain,
       {Dgrad(plain), Wgrad(plain)}},
      // (4-1)2-2+2*2+1+1+1: 10 positions with bias 2.
      {"F.conv_transpose1d",
       "[1,3,4]float32 [3,2,3]float32 [2]float32 stride=2 padding=1 output_padding=1 dilation=2",
       "N=1,C=3,H=1,W=4,K=2,P=1,Q=10,R=1,S=3,ph=0,pw=1,U=1,V=2,dh=1,dw=2,g=1,fp32",
       {144, 20, 208},
       {Dgrad({144, 0, 200}), Wgrad({144, 0, 200}), Bgrad({0, 20, 88})}},
      // Steps above the filter leave gaps in y: 4 of its 10 elements come from x, and dY is read
      // there only.
      {"F.conv_transpose1d",
       "[1,1,4]float32 [1,1,1]float32 None 3",
       "N=1,C=1,H=1,W=4,K=1,P=1,Q=10,R=1,S=1,ph=0,pw=0,U=1,V=3,dh=1,dw=1,g=1,fp32",
       {8, 0, 60},
       {Dgrad({8, 0, 36}), Wgrad({8, 0, 36})}},
      // Groups stand before the dilation. 3 groups of one input channel and two outputs.
      {"F.conv_transpose2d",
       "[3,4,4]float32 [3,2,1,1]float32 None 1 0 0 3 1",
       "N=1,C=3,H=4,W=4,K=6,P=4,Q=4,R=1,S=1,ph=0,pw=0,U=1,V=1,dh=1,dw=1,g=3,fp32",
       {192, 0, 600},
       {Dgrad({192, 0, 600}), Wgrad({192, 0, 600})}},
      {"aten::convolution",
       "[1,3,4]float32 [3,2,3]float32 None [2] [0] [1] True [0] 1",
       "N=1,C=3,H=1,W=4,K=2,P=1,Q=9,R=1,S=3,ph=0,pw=0,U=1,V=2,dh=1,dw=1,g=1,fp32",
       plain,
       {Dgrad(plain), Wgrad(plain)}},
      {"F.conv_transpose1d", "[1,3,4]float32 [2,3,3]float32", Reason::kShapeMismatch},
      {"F.conv_transpose1d", "[1,3,4]float32 [3,2,3]float32 padding='same'",
       Reason::kUnsupportedArgs},
      {"F.conv_transpose1d", "[1,3,4]float32 [3,2,3]float32 None 2 0 2", Reason::kUnsupportedArgs},
      {"F.conv_transpose1d", "[1,3,4]float32 [3,2,3]float32 None 1 9", Reason::kShapeMismatch},
      {"F.conv_transpose1d", "[1,3,0]float32 [3,2,3]float32", Reason::kShapeMismatch},
  });
}

TEST(ConvolutionTest, RefusesWhatCannotBe) {
  const std::string x = "[2,4,5,6]float32 ";
  const std::string both = x + "[6,4,3,3]float32 ";
  CheckCases({
      {"F.conv2d", "", Reason::kNoArguments},
      {"F.conv2d", x, Reason::kUnsupportedArgs},
      {"F.conv2d", x + "[6,4,3]float32", Reason::kShapeMismatch},
      {"F.conv2d", "[5,6]float32 [6,4,3,3]float32", Reason::kShapeMismatch},
      {"F.conv2d", x + "[6,5,3,3]float32", Reason::kShapeMismatch},
      {"F.conv2d", x + "[6,4,7,7]float32", Reason::kShapeMismatch},
      {"F.conv2d", x + "[6,4,0,3]float32", Reason::kUnsupportedArgs},
      {"F.conv2d", both + "[5]float32", Reason::kShapeMismatch},
      {"F.conv2d", both + "None 0", Reason::kUnsupportedArgs},
      {"F.conv2d", both + "None (1,1,1)", Reason::kUnsupportedArgs},
      {"F.conv2d", both + "None 1 -1", Reason::kUnsupportedArgs},
      {"F.conv2d", both + "None 1 0 0", Reason::kUnsupportedArgs},
      {"F.conv2d", both + "None 1 0 1 0", Reason::kUnsupportedArgs},
      {"F.conv2d", both + "None 1 0 1 1 1", Reason::kUnsupportedArgs},
      {"F.conv2d", both + "None 2 'same'", Reason::kUnsupportedArgs},
      {"F.conv2d", both + "None 1 'other'", Reason::kUnsupportedArgs},
      {"F.conv2d", both + "None ?", Reason::kUnsupportedArgs},
      {"F.conv2d", both + "'x'", Reason::kUnsupportedArgs},
      // Without defaults, missing steps are not known.
      {"aten::convolution", both, Reason::kUnsupportedArgs},
      {"aten::cudnn_convolution", both, Reason::kUnsupportedArgs},
      // Six outputs are not in four groups.
      {"F.conv2d", x + "[6,1,3,3]float32 groups=4", Reason::kShapeMismatch},
      {"F.conv2d", both + "None 1 0 9223372036854775807", Reason::kShapeMismatch},
      {"F.conv2d", both + "None 9223372036854775807 9223372036854775807", Reason::kShapeMismatch},
      {"F.conv1d", "[9223372036854775807,1,9223372036854775807]float32 [1,1,1]float32",
       Reason::kCostOverflow},
      {"F.conv1d", "[1,9223372036854775807,3]float32 [1,9223372036854775807,3]float32",
       Reason::kCostOverflow},
  });
}

struct Shape {
  int64_t n, c, k, g, h, r, stride, padding, dilation;
};

// Multiply-adds of a one-dimensional convolution, counted one by one.
int64_t CountedFlops(const Shape& s) {
  int64_t fmas = 0;
  for (int64_t n = 0; n < s.n; ++n) {
    for (int64_t k = 0; k < s.k; ++k) {
      for (int64_t at = -s.padding; at + s.dilation * (s.r - 1) < s.h + s.padding; at += s.stride) {
        for (int64_t c = 0; c < s.c / s.g; ++c) {
          for (int64_t tap = 0; tap < s.r; ++tap) ++fmas;
        }
      }
    }
  }
  return 2 * fmas;
}

// Each input element of a transposed one is multiplied with all of the filter of its group.
int64_t CountedTransposedFlops(const Shape& s) {
  int64_t fmas = 0;
  for (int64_t x = 0; x < s.n * s.c * s.h; ++x) {
    for (int64_t k = 0; k < s.k / s.g; ++k) {
      for (int64_t tap = 0; tap < s.r; ++tap) ++fmas;
    }
  }
  return 2 * fmas;
}

Shape RandomShape(std::mt19937* random) {
  const auto any = [random](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(*random);
  };
  Shape s{};
  s.g = any(1, 3);
  s.n = any(0, 3);
  s.c = s.g * any(1, 3);
  s.k = s.g * any(1, 3);
  s.h = any(1, 12);
  s.r = any(1, 4);
  s.stride = any(1, 3);
  s.padding = any(0, 3);
  s.dilation = any(1, 3);
  return s;
}

std::string Steps(const Shape& s) {
  return fmt::format("stride={} padding={} dilation={} groups={}", s.stride, s.padding, s.dilation,
                     s.g);
}

TEST(ConvolutionTest, CountsAsALoopDoes) {
  std::mt19937 random(1);
  int priced = 0;
  for (int i = 0; i < 500; ++i) {
    const Shape s = RandomShape(&random);
    const std::string args = fmt::format("[{},{},{}]float32 [{},{},{}]float32 {}", s.n, s.c, s.h,
                                         s.k, s.c / s.g, s.r, Steps(s));
    SCOPED_TRACE(args);
    const PriceResult result = PriceCall(MakeCall("F.conv1d", args));
    const bool fits = s.h + 2 * s.padding > s.dilation * (s.r - 1);
    ASSERT_EQ(result.price.has_value(), fits);
    if (!fits) continue;
    ++priced;
    EXPECT_EQ(result.price->forward[0].work.mma.Value(), CountedFlops(s));
    for (const PartWork& part : result.price->backward) {
      EXPECT_EQ(part.work.mma.Value(), CountedFlops(s));
    }
  }
  EXPECT_GT(priced, 300);
}

TEST(ConvolutionTest, TransposedCountsAsALoopDoes) {
  std::mt19937 random(2);
  int priced = 0;
  for (int i = 0; i < 500; ++i) {
    const Shape s = RandomShape(&random);
    const std::string args = fmt::format("[{},{},{}]float32 [{},{},{}]float32 {}", s.n, s.c, s.h,
                                         s.c, s.k / s.g, s.r, Steps(s));
    SCOPED_TRACE(args);
    const PriceResult result = PriceCall(MakeCall("F.conv_transpose1d", args));
    const int64_t extent = (s.h - 1) * s.stride - 2 * s.padding + s.dilation * (s.r - 1) + 1;
    ASSERT_EQ(result.price.has_value(), extent > 0);
    if (extent <= 0) continue;
    ++priced;
    EXPECT_EQ(result.price->forward[0].work.mma.Value(), CountedTransposedFlops(s));
    // A transposed convolution is the input gradient of the one that leads back.
    const std::string back = fmt::format("[{},{},{}]float32 [{},{},{}]float32 {}", s.n, s.k, extent,
                                         s.c, s.k / s.g, s.r, Steps(s));
    const PriceResult other = PriceCall(MakeCall("F.conv1d", back));
    ASSERT_TRUE(other.price.has_value());
    if ((extent + 2 * s.padding - s.dilation * (s.r - 1) - 1) % s.stride == 0) {
      EXPECT_EQ(FiguresOf(other.price->backward[0].work), FiguresOf(result.price->forward[0].work));
    }
  }
  EXPECT_GT(priced, 300);
}

TEST(ConvolutionTest, NamesItsProduct) {
  const PriceResult result =
      PriceCall(MakeCall("F.conv2d", "[2,8,5,6]float16 [6,4,3,3]float16 groups=2"));
  ASSERT_TRUE(result.price.has_value() && result.price->product.has_value());
  const MatrixProduct& p = *result.price->product;
  EXPECT_EQ(p.kind, MatrixProduct::Kind::kConvolution);
  EXPECT_TRUE(result.price->matmul_like);
  EXPECT_FALSE(result.price->vec_estimated);
  EXPECT_EQ(p.groups, 2);
  EXPECT_EQ(p.m, 2 * 3 * 4);
  EXPECT_EQ(p.n, 3);
  EXPECT_EQ(p.k, 4 * 9);
  EXPECT_EQ(p.left, DType::kFloat16);
  EXPECT_EQ(2 * p.m * p.n * p.k * p.groups, result.price->forward[0].work.mma.Value());
  ASSERT_EQ(p.extents.size(), 2u);
  EXPECT_EQ(p.extents[0].name, "C");
  EXPECT_EQ(p.extents[0].extent, 4);
  EXPECT_EQ(p.extents[1].name, "K");
  EXPECT_EQ(p.extents[1].extent, 3);

  const PriceResult transposed =
      PriceCall(MakeCall("F.conv_transpose2d", "[2,6,5,6]float16 [6,4,3,3]float16 groups=2"));
  ASSERT_TRUE(transposed.price.has_value());
  const MatrixProduct& t = *transposed.price->product;
  EXPECT_EQ(2 * t.m * t.n * t.k * t.groups, transposed.price->forward[0].work.mma.Value());
}

// Whatever the library that computes it, it is the same convolution.
TEST(ConvolutionTest, SameByEveryName) {
  struct Spelling {
    const char* op;
    const char* args;
  };
  const auto forward = [](const OpCall& call) {
    const PriceResult result = PriceCall(call);
    EXPECT_TRUE(result.price.has_value()) << call.op << ' ' << ReasonWord(result.reason);
    return result.price ? result.price->params +
                              fmt::format(" {}", *result.price->forward[0].work.mma.Value())
                        : call.op;
  };
  const std::string x = "[2,4,9,9]float32 ";
  const std::string plain = x + "[6,4,3,3]float32 ";
  const std::string expected = forward(MakeCall("F.conv2d", plain + "None 2 1 1 1"));
  const Spelling plain_names[] = {
      {"aten::conv2d", "None [2,2] [1,1] [1,1] 1"},
      {"aten::convolution", "? [2,2] [1,1] [1,1] False [0,0] 1"},
      {"aten::_convolution", "? [2,2] [1,1] [1,1] False [0,0] 1 False False True True"},
      {"aten::cudnn_convolution", "[1,1] [2,2] [1,1] 1 False False True"},
      {"aten::cudnn_convolution", "[1,1] [2,2] [1,1] 1"},
      {"aten::miopen_convolution", "? [1,1] [2,2] [1,1] 1 False False"},
      {"aten::mkldnn_convolution", "? [1,1] [2,2] [1,1] 1"},
      {"aten::thnn_conv2d", "[3,3] ? [2,2] [1,1]"},
      {"aten::_slow_conv2d_forward", "[3,3] ? [2,2] [1,1]"},
      {"aten::slow_conv_dilated2d", "[3,3] ? [2,2] [1,1] [1,1]"},
      {"aten::cudnn_convolution_relu", "? [2,2] [1,1] [1,1] 1"},
  };
  for (const Spelling& spelling : plain_names) {
    EXPECT_EQ(forward(MakeTorchCall(spelling.op, MakeCall("", plain + spelling.args).args)),
              expected)
        << spelling.op;
  }
  // Before there was a type of its own for it, the bias stood third.
  EXPECT_EQ(
      forward(MakeCall("torch.cudnn_convolution", plain + "None [1,1] [2,2] [1,1] 1 False False")),
      expected);

  const std::string depthwise = x + "[4,1,3,3]float32 ";
  const std::string narrow = forward(MakeCall("F.conv2d", depthwise + "None 2 1 1 4"));
  for (const char* name : {"aten::_conv_depthwise2d", "aten::thnn_conv_depthwise2d_forward"}) {
    EXPECT_EQ(
        forward(MakeTorchCall(name, MakeCall("", depthwise + "[3,3] ? [2,2] [1,1] [1,1]").args)),
        narrow);
  }
  const std::string wide = "[2,6,5,5]float32 [6,4,3,3]float32 ";
  EXPECT_EQ(forward(MakeTorchCall("aten::cudnn_convolution_transpose",
                                  MakeCall("", wide + "[1,1] [1,1] [2,2] [1,1] 1 False").args)),
            forward(MakeCall("F.conv_transpose2d", wide + "None 2 1 1")));
}

TEST(ConvolutionTest, StepsThatWereNotRecordedAreNotGuessed) {
  const std::string tensors = "[2,4,9,9]float32 [6,4,3,3]float32 ";
  // Absent steps have their defaults, but for the padding, which may be a text.
  std::vector<OpArg> args = MakeCall("", tensors + "None 1 ? 1 1").args;
  args[4].type = "object";
  EXPECT_EQ(PriceCall(MakeTorchCall("aten::conv2d", args)).reason, Reason::kUnsupportedArgs);
  EXPECT_EQ(PriceCall(MakeTorchCall("aten::_convolution_mode", args)).reason,
            Reason::kUnsupportedArgs);
  args = MakeCall("", tensors + "? ? ? ? ?").args;
  for (size_t i = 3; i < args.size(); ++i) args[i].type = "GenericList";
  for (const char* name : {"aten::conv2d", "aten::convolution", "aten::_convolution",
                           "aten::cudnn_convolution", "aten::mkldnn_convolution"}) {
    EXPECT_EQ(PriceCall(MakeTorchCall(name, args)).reason, Reason::kUnsupportedArgs) << name;
  }
  EXPECT_TRUE(
      PriceCall(MakeTorchCall("aten::conv2d", MakeCall("", tensors + "None 1 0 1 1").args)).price);
}

TEST(ConvolutionTest, UnknownTypesLeaveTheFlops) {
  const PriceResult result = PriceCall(MakeCall("F.conv2d", "[2,4,5,6]what [6,4,3,3]what"));
  ASSERT_TRUE(result.price.has_value());
  EXPECT_EQ(result.price->forward[0].work.mma.Value(), 10368);
  EXPECT_EQ(result.price->backward.size(), 2u);
  EXPECT_FALSE(result.price->bytes_known);
}

TEST(ConvolutionTest, FusedActivation) {
  const std::string tensors = "[1,1,3]float32 [1,1,3]float32 ";
  const PriceResult result =
      PriceCall(MakeCall("torch.cudnn_convolution_relu", tensors + "[1]float32 1 1 1 1"));
  ASSERT_TRUE(result.price.has_value());
  EXPECT_EQ(FiguresOf(result.price->forward[0].work), (Figures{18, 6, 40}));
}

}  // namespace
}  // namespace oplens::ops::test::convolution_test
