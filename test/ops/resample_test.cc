#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ops/op_model.h"
#include "parse/model/torch_call.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::resample_test {
namespace {

TEST(ResampleTest, Interpolation) {
  // X 2x3x4 = 24 elements; twice as large in both directions 96: 480 bytes.
  const std::string x = "[1,2,3,4]float32 ";
  const std::string bilinear = "T=(1,2,3,4),fp32,o=(6,8),bilinear";
  const Figures figures{0, 864, 480};
  CheckCases({
      {"F.interpolate", x + "None 2.0 'bilinear' False", bilinear, figures, {Back(figures)}},
      {"F.interpolate", x + "scale_factor=2 mode='bilinear'", bilinear, figures, {Back(figures)}},
      {"F.interpolate", x + "(6,8) mode='bilinear'", bilinear, figures, {Back(figures)}},
      {"F.interpolate",
       x + "None (2,2) 'bilinear' antialias=True",
       bilinear,
       figures,
       {Back(figures)}},
      {"F.upsample_bilinear", x + "scale_factor=2", bilinear, figures, {Back(figures)}},
      {"F.interpolate",
       x + "6",
       "T=(1,2,3,4),fp32,o=(6,6),nearest",
       {0, 0, 384},
       {Back({0, 0, 384})}},
      {"F.upsample",
       x + "None 2 'bicubic'",
       "T=(1,2,3,4),fp32,o=(6,8),bicubic",
       {0, 3360, 480},
       {Back({0, 3360, 480})}},
      // floor(3*1.5) = 4, floor(4*1.5) = 6: 48 outputs.
      {"F.interpolate",
       x + "None 1.5 'bilinear'",
       "T=(1,2,3,4),fp32,o=(4,6),bilinear",
       {0, 432, 288},
       {Back({0, 432, 288})}},
      {"F.interpolate",
       x + "(1,2) mode='area'",
       "T=(1,2,3,4),fp32,o=(1,2),area",
       {0, 28, 112},
       {Back({0, 28, 112})}},
      {"F.interpolate",
       "[1,1,4]float16 8 mode='linear'",
       "T=(1,1,4),fp16,o=(8,),linear",
       {0, 24, 24},
       {Back({0, 24, 24})}},
      {"F.interpolate",
       "[1,1,1,1,1]float32 2 mode='trilinear'",
       "T=(1,1,1,1,1),fp32,o=(2,2,2),trilinear",
       {0, 168, 36},
       {Back({0, 168, 36})}},
      {"F.interpolate",
       "[1,1,2,3,4]float32 None [1.0,2.0,0.5] 'trilinear'",
       "T=(1,1,2,3,4),fp32,o=(2,6,2),trilinear",
       {0, 504, 192},
       {Back({0, 504, 192})}},
      // A smaller image: each of 2x3 outputs reads 1, 2x2 or 4x4 of 20x30 elements.
      {"F.interpolate",
       "[1,1,20,30]float32 (2,3)",
       "T=(1,1,20,30),fp32,o=(2,3),nearest",
       {0, 0, 48},
       {Back({0, 0, 2424})}},
      {"F.interpolate",
       "[1,1,20,30]float32 (2,3) None 'bilinear'",
       "T=(1,1,20,30),fp32,o=(2,3),bilinear",
       {0, 54, 120},
       {Back({0, 54, 2424})}},
      {"F.interpolate",
       "[1,1,20,30]float32 (2,3) None 'bicubic'",
       "T=(1,1,20,30),fp32,o=(2,3),bicubic",
       {0, 210, 408},
       {Back({0, 210, 2424})}},
      {"F.interpolate",
       "[1,1,20]float32 2 None 'nearest-exact'",
       "T=(1,1,20),fp32,o=(2,),nearest-exact",
       {0, 0, 16},
       {Back({0, 0, 88})}},
      {"F.interpolate",
       "[1,1,20,20,20]float32 2 None 'trilinear'",
       "T=(1,1,20,20,20),fp32,o=(2,2,2),trilinear",
       {0, 168, 288},
       {Back({0, 168, 32032})}},
      // Windows of 2, 3, 2 elements of 5.
      {"F.interpolate",
       "[1,1,5]float32 3 None 'area'",
       "T=(1,1,5),fp32,o=(3,),area",
       {0, 10, 32},
       {Back({0, 10, 32})}},
      {"F.interpolate", "[1,1,4]uint8 8", "T=(1,1,4),uint8,o=(8,),nearest", {0, 0, 12}, {}},
  });
}

TEST(ResampleTest, InterpolationThatCannotBe) {
  const std::string x = "[1,2,3,4]float32 ";
  CheckCases({
      {"F.interpolate", x, Reason::kUnsupportedArgs},
      {"F.interpolate", x + "6 2", Reason::kUnsupportedArgs},
      {"F.interpolate", x + "(6,6,6)", Reason::kUnsupportedArgs},
      {"F.interpolate", x + "-6", Reason::kUnsupportedArgs},
      {"F.interpolate", x + "None -1", Reason::kUnsupportedArgs},
      {"F.interpolate", x + "None 1e300", Reason::kUnsupportedArgs},
      {"F.interpolate", x + "None ?", Reason::kUnsupportedArgs},
      {"F.interpolate", x + "None (2,2,2)", Reason::kUnsupportedArgs},
      {"F.interpolate", x + "None (2.0,2.5,2.0)", Reason::kUnsupportedArgs},
      {"F.interpolate", x + "6 None 'other'", Reason::kUnsupportedArgs},
      {"F.interpolate", x + "6 None 3", Reason::kUnsupportedArgs},
      {"F.interpolate", x + "6 None 'linear'", Reason::kShapeMismatch},
      {"F.interpolate", "[1,2]float32 6", Reason::kShapeMismatch},
      {"F.interpolate", x + "2 None 'bilinear' antialias=True", Reason::kUnsupportedArgs},
      {"F.interpolate", x + "9223372036854775807", Reason::kCostOverflow},
  });
}

OpCall Native(const std::string& name, const std::string& args) {
  return MakeTorchCall(name, MakeCall("", args).args);
}

struct Pair {
  std::string native;
  std::string native_args;
  std::string python_args;  // Of interpolate.
};

TEST(ResampleTest, OperatorsBehindInterpolate) {
  const std::string x = "[1,2,3,4]float32 ";
  const std::vector<Pair> pairs = {
      {"aten::upsample_nearest2d", x + "[6,8] 2.0 2.0", x + "(6,8)"},
      {"aten::upsample_nearest2d", x + "[6,8]", x + "(6,8)"},
      {"aten::_upsample_nearest_exact2d", x + "[6,8] None None", x + "(6,8) None 'nearest-exact'"},
      {"aten::upsample_bilinear2d", x + "[6,8] False 2.0 2.0", x + "(6,8) None 'bilinear'"},
      {"aten::upsample_bilinear2d", x + "None False 2.0 3.0", x + "(6,12) None 'bilinear'"},
      {"aten::upsample_bicubic2d", x + "[6,8] True None None", x + "(6,8) None 'bicubic'"},
      {"aten::upsample_nearest1d", "[1,768,8]float32 [128] None", "[1,768,8]float32 128"},
      {"aten::upsample_linear1d", "[1,768,8]float32 [128] False None",
       "[1,768,8]float32 128 None 'linear'"},
      {"aten::upsample_trilinear3d", "[1,1,2,2,2]float32 [3,3,3] False None None None",
       "[1,1,2,2,2]float32 3 None 'trilinear'"},
  };
  for (const Pair& pair : pairs) {
    SCOPED_TRACE(pair.native + ' ' + pair.native_args);
    const PriceResult native = PriceCall(Native(pair.native, pair.native_args));
    const PriceResult python = PriceCall(MakeCall("F.interpolate", pair.python_args));
    ASSERT_TRUE(native.price && python.price) << ReasonWord(native.reason);
    EXPECT_EQ(native.price->params, python.price->params);
    EXPECT_EQ(FiguresOf(native.price->forward[0].work), FiguresOf(python.price->forward[0].work));
  }
  EXPECT_EQ(PriceCall(Native("aten::upsample_bilinear2d", x + "? False ? ?")).reason,
            Reason::kUnsupportedArgs);
  EXPECT_EQ(PriceCall(Native("aten::upsample_linear1d", x + "[6] False ?")).reason,
            Reason::kShapeMismatch);
}

TEST(ResampleTest, GradientFunctions) {
  const PriceResult result = PriceCall(Native("aten::upsample_bilinear2d_backward",
                                              "[1,2,6,8]float32 [6,8] [1,2,3,4] False 2.0 2.0"));
  ASSERT_TRUE(result.price.has_value()) << ReasonWord(result.reason);
  EXPECT_EQ(FiguresOf(result.price->forward[0].work), (Figures{0, 864, 480}));
  EXPECT_EQ(result.price->forward[0].part, Part::kBackward);
  EXPECT_EQ(result.price->params, "T=(1,2,3,4),fp32,o=(6,8),bilinear");
  for (const char* sizes : {"?", "[1,2,3]", "[2,2,3,4]", "[1,2,-3,4]"}) {
    EXPECT_FALSE(PriceCall(Native("aten::upsample_bilinear2d_backward",
                                  "[1,2,6,8]float32 [6,8] " + std::string(sizes) + " False"))
                     .price);
  }
  // dY 12, x 24 and grid 12 elements and the gradients of these.
  const PriceResult grid =
      PriceCall(Native("aten::grid_sampler_2d_backward",
                       "[1,2,2,3]float32 [1,2,3,4]float32 [1,2,3,2]float32 0 0 False [1,1]"));
  ASSERT_TRUE(grid.price.has_value()) << ReasonWord(grid.reason);
  EXPECT_EQ(FiguresOf(grid.price->forward[0].work), (Figures{0, 360, 336}));
}

TEST(ResampleTest, Grids) {
  CheckCases({
      // 2 channels at 6 points: 12 outputs of 30.
      {"F.grid_sample",
       "[1,2,3,4]float32 [1,2,3,2]float32 'bilinear'",
       "[1,2,3,4]fp32;[1,2,3,2]fp32",
       {0, 360, 192},
       {Back({0, 360, 336})}},
      // 3 points see 2x2 of 400 elements each, or one, or 4x4.
      {"F.grid_sample",
       "[1,1,20,20]float32 [1,1,3,2]float32",
       "[1,1,20,20]fp32;[1,1,3,2]fp32",
       {0, 90, 84},
       {Back({0, 90, 1708})}},
      {"F.grid_sample",
       "[1,1,20,20]float32 [1,1,3,2]float32 'nearest'",
       "[1,1,20,20]fp32;[1,1,3,2]fp32",
       {0, 90, 48},
       {Back({0, 90, 1672})}},
      {"F.grid_sample",
       "[1,1,20,20]float32 [1,1,3,2]float32 'bicubic'",
       "[1,1,20,20]fp32;[1,1,3,2]fp32",
       {0, 90, 228},
       {Back({0, 90, 1852})}},
      {"F.grid_sample", "[1,2,3,4]float32 [1,2,3,3]float32", Reason::kShapeMismatch},
      {"F.grid_sample", "[1,2,3,4]float32 [2,2,3,2]float32", Reason::kShapeMismatch},
      {"F.grid_sample", "[1,2,3,4]float32", Reason::kUnsupportedArgs},
      // A point of two coordinates for each of 12 pixels.
      {"F.affine_grid",
       "[1,2,3]float32 (1,5,3,4)",
       "T=(1,2,3),fp32,o=(1,5,3,4)",
       {0, 96, 120},
       {Back({0, 96, 120})}},
      {"F.affine_grid", "[1,2,3]float32 (1,5,3)", Reason::kShapeMismatch},
      {"F.affine_grid", "[1,3,4]float32 (1,5,3,4)", Reason::kShapeMismatch},
      {"F.affine_grid", "[1,2,3]float32 (1,5,-3,4)", Reason::kUnsupportedArgs},
  });
  const PriceResult result =
      PriceCall(Native("aten::grid_sampler", "[1,2,3,4]float32 [1,2,3,2]float32 0 0 False"));
  ASSERT_TRUE(result.price.has_value());
  EXPECT_EQ(FiguresOf(result.price->forward[0].work), (Figures{0, 360, 192}));
}

TEST(ResampleTest, Regions) {
  // 3 boxes, 2 channels, 4 outputs: 24 of 4 samples of 12.
  const Figures figures{0, 1152, 252};
  CheckCases({
      {"roi_align",
       "[1,2,3,4]float32 [3,5]float32 2 1.0 2 True",
       "[1,2,3,4]fp32;[3,5]fp32,o=(2,2),r=2",
       figures,
       {Back(figures)}},
      {"roi_align", "[1,2,3,4]float32 [3,5]float32 2 1.0 -1", Reason::kUnsupportedArgs},
      {"roi_align", "[1,2,3,4]float32 [3,5]float32 2", Reason::kUnsupportedArgs},
      {"roi_align", "[1,2,3,4]float32 ? 2 1.0 2", Reason::kUnsupportedArgs},
      {"roi_align", "[1,2,3,4]float32 [3,4]float32 2 1.0 2", Reason::kShapeMismatch},
  });
  const PriceResult result =
      PriceCall(Native("torchvision::roi_align", "[1,2,3,4]float32 [3,5]float32 0.25 2 2 2 False"));
  ASSERT_TRUE(result.price.has_value()) << ReasonWord(result.reason);
  EXPECT_EQ(FiguresOf(result.price->forward[0].work), figures);
}

TEST(ResampleTest, Patches) {
  // 2x3 patches of 2x2 of 2 channels: 8x6 columns of 24 elements.
  CheckCases({
      {"F.unfold",
       "[1,2,3,4]float32 2",
       "T=(1,2,3,4),fp32,k=(2,2),s=(1,1),p=(0,0),d=(1,1)",
       {0, 0, 288},
       {Back({0, 48, 288})}},
      // dilation, padding, stride: (3+2-2-1)/2+1 = 2, (4+2-2-1)/2+1 = 2 patches of 4.
      {"F.unfold",
       "[1,3,4]float16 2 2 1 (2,2)",
       "T=(1,3,4),fp16,k=(2,2),s=(2,2),p=(1,1),d=(2,2)",
       {0, 0, 56},
       {Back({0, 16, 56})}},
      {"F.fold",
       "[1,8,6]float32 (3,4) 2",
       "T=(1,8,6),fp32,o=(3,4),k=(2,2),s=(1,1),p=(0,0),d=(1,1)",
       {0, 48, 288},
       {Back({0, 0, 288})}},
      // Patches of one element, 3 apart: 2x2 of 16; the other way dX is written, dY read in part.
      {"F.unfold",
       "[1,1,4,4]float32 1 1 0 3",
       "T=(1,1,4,4),fp32,k=(1,1),s=(3,3),p=(0,0),d=(1,1)",
       {0, 0, 32},
       {Back({0, 4, 80})}},
      {"F.fold",
       "[1,1,4]float32 (4,4) 1 1 0 3",
       "T=(1,1,4),fp32,o=(4,4),k=(1,1),s=(3,3),p=(0,0),d=(1,1)",
       {0, 4, 80},
       {Back({0, 0, 32})}},
      {"F.unfold", "[1,2,3,4]float32", Reason::kUnsupportedArgs},
      {"F.unfold", "[1,2,3,4]float32 5", Reason::kShapeMismatch},
      {"F.unfold", "[3,4]float32 2", Reason::kShapeMismatch},
      {"F.unfold", "[1,2,3,4]float32 2 0", Reason::kUnsupportedArgs},
      {"F.fold", "[1,8,6]float32 (3,4)", Reason::kUnsupportedArgs},
      {"F.fold", "[1,8,5]float32 (3,4) 2", Reason::kShapeMismatch},
      {"F.fold", "[1,7,6]float32 (3,4) 2", Reason::kShapeMismatch},
      {"F.fold", "[1,8,6]float32 (3,-4) 2", Reason::kUnsupportedArgs},
  });
  const PriceResult columns =
      PriceCall(Native("aten::im2col", "[1,2,3,4]float32 [2,2] [1,1] [0,0] [1,1]"));
  ASSERT_TRUE(columns.price.has_value());
  EXPECT_EQ(FiguresOf(columns.price->forward[0].work), (Figures{0, 0, 288}));
  const PriceResult image =
      PriceCall(Native("aten::col2im", "[1,8,6]float32 [3,4] [2,2] [1,1] [0,0] [1,1]"));
  ASSERT_TRUE(image.price.has_value());
  EXPECT_EQ(FiguresOf(image.price->forward[0].work), (Figures{0, 48, 288}));
  const PriceResult view = PriceCall(Native("aten::unfold", "[6]float32 0 2 1"));
  ASSERT_TRUE(view.price.has_value());
  EXPECT_EQ(view.price->op_class, OpClass::kView);
}

}  // namespace
}  // namespace oplens::ops::test::resample_test
