#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "ops/op_model.h"
#include "parse/model/torch_call.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::pooling_test {
namespace {

TEST(PoolingTest, Prices) {
  CheckCases({
      // 2x3 of 6 outputs a window of 4; X 24 elements, int64 indices.
      {"F.max_pool2d",
       "[1,1,4,6]float32 2",
       "T=(1,1,4,6),fp32,k=(2,2),s=(2,2),p=(0,0)",
       {0, 24, 168},
       {Back({0, 6, 168})}},
      {"torch.max_pool2d", "input=[4,6]float32 kernel_size=2", Reason::kShapeMismatch},
      // Without a batch, another step, padding and dilation: (4+2-2-1)/1+1 = 4, (6+2-2-1)/1+1 = 6.
      {"F.max_pool2d",
       "[1,4,6]float16 (2,2) stride=1 padding=1 dilation=2",
       "T=(1,4,6),fp16,k=(2,2),s=(1,1),p=(1,1)",
       {0, 96, 288},
       {Back({0, 24, 288})}},
      // Five by windows of two: a last one is cut off only with ceil_mode.
      {"F.max_pool1d",
       "[1,1,5]float32 2",
       "T=(1,1,5),fp32,k=(2,),s=(2,),p=(0,)",
       {0, 4, 40},
       {Back({0, 2, 44})}},
      {"F.max_pool1d",
       "[1,1,5]float32 2 None 0 1 True False",
       "T=(1,1,5),fp32,k=(2,),s=(2,),p=(0,)",
       {0, 6, 56},
       {Back({0, 3, 56})}},
      // Four by one, two apart: the third would begin behind the image.
      {"F.max_pool1d",
       "[1,1,4]float32 1 2 ceil_mode=True",
       "T=(1,1,4),fp32,k=(1,),s=(2,),p=(0,)",
       {0, 2, 32},
       {Back({0, 2, 40})}},
      {"F.max_pool3d",
       "[2,2,2,2]float32 2",
       "T=(2,2,2,2),fp32,k=(2,2,2),s=(2,2,2),p=(0,0,0)",
       {0, 16, 88},
       {Back({0, 2, 88})}},
      {"F.avg_pool2d",
       "[1,1,4,6]float32 (2,3) None 0 False True",
       "T=(1,1,4,6),fp32,k=(2,3),s=(2,3),p=(0,0)",
       {0, 24, 112},
       {Back({0, 24, 112})}},
      {"F.avg_pool1d",
       "[1,5]float32 3 stride=1 padding=1 count_include_pad=False",
       "T=(1,5),fp32,k=(3,),s=(1,),p=(1,)",
       {0, 15, 40},
       {Back({0, 15, 40})}},
      {"F.avg_pool3d",
       "[1,1,2,2,2]float64 [2,1,1]",
       "T=(1,1,2,2,2),fp64,k=(2,1,1),s=(2,1,1),p=(0,0,0)",
       {0, 8, 96},
       {Back({0, 8, 96})}},
      // X 24 and Y 6 elements.
      {"F.adaptive_avg_pool2d",
       "[1,1,4,6]float32 (2,3)",
       "T=(1,1,4,6),fp32,o=(2,3)",
       {0, 30, 120},
       {Back({0, 30, 120})}},
      {"F.adaptive_avg_pool1d",
       "[2,5]float16 1",
       "T=(2,5),fp16,o=(1,)",
       {0, 12, 24},
       {Back({0, 12, 24})}},
      // Windows of 2, 3, 2 rows of 5 and of 3, 3, 4, 3, 3 columns of 12, which overlap: 7x16
      // and 15.
      {"F.adaptive_avg_pool2d",
       "[1,5,12]float32 (3,5)",
       "T=(1,5,12),fp32,o=(3,5)",
       {0, 127, 300},
       {Back({0, 127, 300})}},
      // More outputs than inputs: 1, 2, 1, 1, 2, 1 elements of 4.
      {"F.adaptive_avg_pool1d",
       "[1,4]float32 6",
       "T=(1,4),fp32,o=(6,)",
       {0, 14, 40},
       {Back({0, 14, 40})}},
      {"F.adaptive_avg_pool2d",
       "[64,2048,97,97]float32 6",
       "T=(64,2048,97,97),fp32,o=(6,6)",
       {0, 1368391680, 4951900160},
       {Back({0, 1368391680, 4951900160})}},
      {"F.adaptive_max_pool2d",
       "[1,5,12]float32 (3,5)",
       "T=(1,5,12),fp32,o=(3,5)",
       {0, 112, 420},
       {Back({0, 15, 420})}},
      {"F.adaptive_max_pool2d",
       "[1,1,4,6]float32 output_size=2",
       "T=(1,1,4,6),fp32,o=(2,2)",
       {0, 24, 144},
       {Back({0, 4, 144})}},
      // Four squares; two windows of two: 4 + 4 + 25*2.
      {"F.lp_pool1d", "[1,1,4]float32 2 2", "T=(1,1,4),fp32,k=(2,),s=(2,),p=(0,)", {0, 58, 24}, {}},
      {"F.lp_pool1d",
       "[1,1,4]float32 2.5 2",
       "T=(1,1,4),fp32,k=(2,),s=(2,),p=(0,)",
       {0, 134, 24},
       {}},
      {"F.max_pool1d",
       "[0,1,4]float32 2",
       "T=(0,1,4),fp32,k=(2,),s=(2,),p=(0,)",
       {0, 0, 0},
       {Back({0, 0, 0})}},
  });
}

TEST(PoolingTest, RefusesWhatCannotBe) {
  CheckCases({
      {"F.max_pool2d", "[1,1,4,6]float32", Reason::kUnsupportedArgs},
      {"F.max_pool2d", "[1,1,4,6]float32 0", Reason::kUnsupportedArgs},
      {"F.max_pool2d", "[1,1,4,6]float32 -1", Reason::kUnsupportedArgs},
      {"F.max_pool2d", "[1,1,4,6]float32 (2,2,2)", Reason::kUnsupportedArgs},
      {"F.max_pool2d", "[1,1,4,6]float32 2 0", Reason::kUnsupportedArgs},
      {"F.max_pool2d", "[1,1,4,6]float32 2 2 2", Reason::kUnsupportedArgs},
      {"F.max_pool2d", "[1,1,4,6]float32 5", Reason::kShapeMismatch},
      {"F.max_pool2d", "[1,1,4,6]float32 ?", Reason::kUnsupportedArgs},
      {"F.max_pool2d", "[1,1,4,6]float32 2 'x'", Reason::kUnsupportedArgs},
      {"F.max_pool2d", "[1,1,1,4,6]float32 2", Reason::kShapeMismatch},
      {"F.max_pool2d", "[1,1,4,6]float32 2 2 0 1 False False 1", Reason::kUnsupportedArgs},
      {"F.max_pool2d", "[1,1,4,6]float32 9223372036854775807 1", Reason::kShapeMismatch},
      {"F.adaptive_avg_pool2d", "[1,1,4,6]float32", Reason::kUnsupportedArgs},
      {"F.adaptive_avg_pool2d", "[1,1,4,6]float32 -1", Reason::kUnsupportedArgs},
      {"F.adaptive_avg_pool2d", "[1,1,4,6]float32 (1,1,1)", Reason::kUnsupportedArgs},
      {"F.adaptive_avg_pool2d", "[6]float32 1", Reason::kShapeMismatch},
      {"F.adaptive_avg_pool2d", "[1,1,4,6]float32 9223372036854775807", Reason::kCostOverflow},
      {"F.lp_pool1d", "[1,1,4]float32", Reason::kUnsupportedArgs},
      {"F.lp_pool1d", "[1,1,4]float32 'x' 2", Reason::kUnsupportedArgs},
  });
}

// Windows counted one by one: the last one has to begin on the image or the padding in front.
int64_t CountedWindows(int64_t extent, int64_t kernel, int64_t stride, int64_t padding, bool ceil) {
  int64_t count = 0;
  for (int64_t at = -padding;; at += stride) {
    const bool whole = at + kernel <= extent + padding;
    const bool cut = ceil && at < extent && at - stride + kernel < extent + padding;
    if (!whole && !cut) return count;
    ++count;
  }
}

TEST(PoolingTest, CountsWindowsAsALoopDoes) {
  for (int extent = 1; extent < 12; ++extent) {
    for (int kernel = 1; kernel < 5; ++kernel) {
      for (int stride = 1; stride < 5; ++stride) {
        for (int padding = 0; padding <= kernel / 2; ++padding) {
          for (const bool ceil : {false, true}) {
            const std::string args = fmt::format("[1,{}]float32 {} {} {} 1 {}", extent, kernel,
                                                 stride, padding, ceil ? "True" : "False");
            SCOPED_TRACE(args);
            const PriceResult result = PriceCall(MakeCall("F.max_pool1d", args));
            const int64_t count = CountedWindows(extent, kernel, stride, padding, ceil);
            if (kernel > extent + 2 * padding) continue;
            ASSERT_TRUE(result.price.has_value());
            EXPECT_EQ(result.price->forward[0].work.vec.Value(), count * kernel);
            EXPECT_EQ(result.price->backward[0].work.vec.Value(), count);
          }
        }
      }
    }
  }
}

struct Pair {
  const char* native;
  const char* native_args;
  const char* python;
  const char* python_args;
};

OpCall Native(const char* name, const char* args) {
  return MakeTorchCall(name, MakeCall("", args).args);
}

TEST(PoolingTest, SameByTheDispatchersNames) {
  const Pair pairs[] = {
      {"aten::max_pool2d", "[1,1,4,6]float32 [2,2] [] [0,0] [1,1] False", "F.max_pool2d",
       "[1,1,4,6]float32 2"},
      {"aten::max_pool2d_with_indices", "[1,1,5,6]float32 [2,2] [2,2] [1,1] [1,1] True",
       "F.max_pool2d", "[1,1,5,6]float32 2 2 1 1 True"},
      {"aten::max_pool1d", "[1,1,6]float32 [2] [2] [0] [1] False", "F.max_pool1d",
       "[1,1,6]float32 2"},
      {"aten::avg_pool2d", "[1,1,4,6]float32 [2,2] [1,1] [0,0] False True None", "F.avg_pool2d",
       "[1,1,4,6]float32 2 1"},
      {"aten::_adaptive_avg_pool2d", "[1,1,4,6]float32 [1,1]", "F.adaptive_avg_pool2d",
       "[1,1,4,6]float32 1"},
      {"aten::adaptive_max_pool2d", "[1,1,4,6]float32 [1,1]", "F.adaptive_max_pool2d",
       "[1,1,4,6]float32 1"},
  };
  for (const Pair& pair : pairs) {
    SCOPED_TRACE(pair.native);
    const PriceResult native = PriceCall(Native(pair.native, pair.native_args));
    const PriceResult python = PriceCall(MakeCall(pair.python, pair.python_args));
    ASSERT_TRUE(native.price && python.price);
    EXPECT_EQ(native.price->params, python.price->params);
    EXPECT_EQ(FiguresOf(native.price->forward[0].work), FiguresOf(python.price->forward[0].work));
  }
}

TEST(PoolingTest, GradientFunctions) {
  const Pair pairs[] = {
      {"aten::max_pool2d_with_indices_backward",
       "[1,1,2,3]float32 [1,1,4,6]float32 [2,2] [2,2] [0,0] [1,1] False [1,1,2,3]int64",
       "F.max_pool2d", "[1,1,4,6]float32 2"},
      {"aten::avg_pool2d_backward",
       "[1,1,2,3]float32 [1,1,4,6]float32 [2,2] [2,2] [0,0] False True None", "F.avg_pool2d",
       "[1,1,4,6]float32 2"},
      {"aten::_adaptive_avg_pool2d_backward", "[1,1,2,3]float32 [1,1,4,6]float32",
       "F.adaptive_avg_pool2d", "[1,1,4,6]float32 (2,3)"},
      {"aten::adaptive_max_pool2d_backward", "[1,1,2,3]float32 [1,1,4,6]float32 [1,1,2,3]int64",
       "F.adaptive_max_pool2d", "[1,1,4,6]float32 (2,3)"},
  };
  for (const Pair& pair : pairs) {
    SCOPED_TRACE(pair.native);
    const PriceResult native = PriceCall(Native(pair.native, pair.native_args));
    const PriceResult python = PriceCall(MakeCall(pair.python, pair.python_args));
    ASSERT_TRUE(native.price && python.price) << ReasonWord(native.reason);
    EXPECT_TRUE(native.price->backward.empty());
    EXPECT_EQ(FiguresOf(native.price->forward[0].work), FiguresOf(python.price->backward[0].work));
  }
  // The shapes tell it all where no value was recorded; of an average they lack the window.
  std::vector<OpArg> args = MakeCall("", "[1,1,2,3]float32 [1,1,4,6]float32 ? ? ? ? ?").args;
  for (size_t i = 2; i < args.size(); ++i) args[i].type = "GenericList";
  EXPECT_TRUE(PriceCall(MakeTorchCall("aten::max_pool2d_with_indices_backward", args)).price);
  EXPECT_EQ(PriceCall(MakeTorchCall("aten::avg_pool2d_backward", args)).reason,
            Reason::kUnsupportedArgs);
  EXPECT_EQ(PriceCall(Native("aten::avg_pool2d_backward",
                             "[1,1,9,3]float32 [1,1,4,6]float32 [2,2] [2,2] [0,0] False True None"))
                .reason,
            Reason::kShapeMismatch);
  EXPECT_EQ(
      PriceCall(Native("aten::_adaptive_avg_pool2d_backward", "[1,2,2,3]float32 [1,1,4,6]float32"))
          .reason,
      Reason::kShapeMismatch);
}

}  // namespace
}  // namespace oplens::ops::test::pooling_test
