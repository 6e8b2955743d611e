#include <gtest/gtest.h>

#include "ops/op_model.h"
#include "parse/model/torch_call.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::batch_norm_test {
namespace {

TEST(BatchNormTest, Training) {
  CheckCases({
      // x[4,2,3]: n = 24. 8*24, 11*24. X, Y 192; weight, bias 16, running statistics read and
      // written 32, those of the batch 16 = 256. Backward: X, dY, dX 288; statistics 16, weight and
      // both gradients 24 = 328.
      {"F.batch_norm",
       "[4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32 True 0.1 1e-05",
       "T=(4,2,3),fp32",
       {0, 192, 256},
       {Back({0, 264, 328})}},
      {"torch.batch_norm",
       "[4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32 True 0.1 1e-05 True",
       "T=(4,2,3),fp32",
       {0, 192, 256},
       {Back({0, 264, 328})}},
      // Without running statistics and weights: 192 + 16; 288 + 16.
      {"F.batch_norm",
       "[4,2,3]float32 None None training=True",
       "T=(4,2,3),fp32",
       {0, 192, 208},
       {Back({0, 264, 304})}},
      // fp16 with fp32 weights: 96 + 64; 144 + 40. Two dimensions are enough.
      {"F.batch_norm",
       "[12,2]float16 [2]float32 [2]float32 [2]float32 [2]float32 True",
       "T=(12,2),fp16",
       {0, 192, 160},
       {Back({0, 264, 184})}},
      // The statistics of fp64 are fp64: 384 + 16 (two vectors of fp64 each) ...
      {"F.batch_norm",
       "[4,2,3]float64 None None training=True",
       "T=(4,2,3),fp64",
       {0, 192, 416},
       {Back({0, 264, 608})}},
      // An empty batch.
      {"F.batch_norm",
       "[0,2,3]float32 None None training=True",
       "T=(0,2,3),fp32",
       {0, 0, 16},
       {Back({0, 0, 16})}},
      {"aten::_batch_norm_with_update",
       "[4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32 0.1 1e-05",
       "T=(4,2,3),fp32",
       {0, 192, 256},
       {Back({0, 264, 328})}},
      {"aten::_native_batch_norm_legit",
       "[4,2,3]float32 [2]float32 [2]float32 True 0.1 1e-05",
       "T=(4,2,3),fp32",
       {0, 192, 224},
       {Back({0, 264, 328})}},
  });
}

TEST(BatchNormTest, Evaluation) {
  CheckCases({
      // 2*24, 3*24; X, Y 192 and four vectors 32. Backward 288, weight and gradients 24, running
      // statistics 16.
      {"F.batch_norm",
       "[4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32",
       "T=(4,2,3),fp32",
       {0, 48, 224},
       {Back({0, 72, 328})}},
      {"torch.batch_norm",
       "[4,2,3]float32 None None [2]float32 [2]float32 False",
       "T=(4,2,3),fp32",
       {0, 48, 208},
       {Back({0, 72, 304})}},
      {"aten::_native_batch_norm_legit_no_training",
       "[4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32 0.1 1e-05",
       "T=(4,2,3),fp32",
       {0, 48, 224},
       {Back({0, 72, 328})}},
  });
}

TEST(BatchNormTest, BadArguments) {
  CheckCases({
      {"F.batch_norm", "[4,2,3]float32 [3]float32 [3]float32 training=True",
       Reason::kShapeMismatch},
      {"F.batch_norm", "[4,2,3]float32 None None [2,1]float32 training=True",
       Reason::kShapeMismatch},
      {"F.batch_norm", "[4]float32 None None training=True", Reason::kShapeMismatch},
      // Nothing to evaluate with.
      {"F.batch_norm", "[4,2,3]float32 None None", Reason::kUnsupportedArgs},
      // Whether it trains must be known.
      {"torch.batch_norm", "[4,2]float32 None None [2]float32 [2]float32",
       Reason::kUnsupportedArgs},
      {"torch.batch_norm", "[4,2]float32 None None [2]float32 [2]float32 ?",
       Reason::kUnsupportedArgs},
      {"F.batch_norm", "3 None None training=True", Reason::kShapeMismatch},
  });
}

TEST(BatchNormTest, GradientFunctions) {
  CheckCases({
      {"aten::native_batch_norm_backward",
       "[4,2,3]float32 [4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32 [2]float32 True "
       "1e-05 [1,1,1]",
       "T=(4,2,3),fp32",
       {0, 264, 328},
       {}},
      // Only the weights: both sums, 4 an element; X, dY 192, statistics 16, two gradients 16.
      {"aten::native_batch_norm_backward",
       "[4,2,3]float32 [4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32 [2]float32 True "
       "1e-05 [0,1,1]",
       "T=(4,2,3),fp32",
       {0, 96, 224},
       {}},
      // Only the input: the gradients of the weights are not written.
      {"aten::native_batch_norm_backward",
       "[4,2,3]float32 [4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32 [2]float32 True "
       "1e-05 [1,0,0]",
       "T=(4,2,3),fp32",
       {0, 264, 312},
       {}},
      {"aten::native_batch_norm_backward",
       "[4,2,3]float32 [4,2,3]float32 [2]float32 [2]float32 [2]float32 None None False 1e-05",
       "T=(4,2,3),fp32",
       {0, 72, 328},
       {}},
      {"aten::cudnn_batch_norm_backward",
       "[4,2,3]float32 [4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32 [2]float32 1e-05 "
       "[0]uint8",
       "T=(4,2,3),fp32",
       {0, 264, 328},
       {}},
      {"aten::_batch_norm_impl_index_backward",
       "1 [4,2,3]float32 [4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32 [2]float32 "
       "True "
       "1e-05 [1,1,1] [0]uint8",
       "T=(4,2,3),fp32",
       {0, 264, 328},
       {}},
      {"aten::native_batch_norm_backward",
       "[4,2,3]float32 [4,2]float32 None None None None None True", Reason::kShapeMismatch},
      {"aten::native_batch_norm_backward", "[4,2,3]float32 [4,2,3]float32 [2]float32",
       Reason::kUnsupportedArgs},
      {"aten::native_batch_norm_backward",
       "[4,2]float32 [4,2]float32 None None None None None True 1e-5 [1,1]",
       Reason::kUnsupportedArgs},
  });
}

TEST(BatchNormTest, SpreadOverGpus) {
  CheckCases({
      // 3*24; X 96 and two vectors 16.
      {"aten::batch_norm_stats", "[4,2,3]float32 1e-05", "T=(4,2,3),fp32", {0, 72, 112}, {}},
      // 5*24; X, Y 192 and four vectors 32.
      {"aten::batch_norm_elemt",
       "[4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32 1e-05",
       "T=(4,2,3),fp32",
       {0, 120, 224},
       {}},
      // 4*24; dY, X 192, three vectors read 24 and four written 32.
      {"aten::batch_norm_backward_reduce",
       "[4,2,3]float32 [4,2,3]float32 [2]float32 [2]float32 [2]float32 True True True",
       "T=(4,2,3),fp32",
       {0, 96, 248},
       {}},
      // 7*24; dY, X, dX 288 and five vectors 40.
      {"aten::batch_norm_backward_elemt",
       "[4,2,3]float32 [4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32 [2]float32 "
       "[8]int32",
       "T=(4,2,3),fp32",
       {0, 168, 328},
       {}},
      // 8 GPUs, 2 channels: 11*16 + 26*2; both 128, running 32, counts 32, written 16.
      {"aten::batch_norm_gather_stats_with_counts",
       "[4,2,3]float16 [8,2]float32 [8,2]float32 [2]float32 [2]float32 0.1 1e-05 [8]float32",
       "T=(8,2),fp32",
       {0, 228, 208},
       {}},
      {"aten::batch_norm_stats", "[4]float32 1e-05", Reason::kShapeMismatch},
      {"aten::batch_norm_elemt", "[4,2]float32 [3]float32", Reason::kShapeMismatch},
  });
}

TEST(BatchNormTest, StepsOverGpusAddUpToTheWhole) {
  const auto flops = [](const char* op, const char* args) {
    return *PriceCall(MakeCall(op, args)).price->forward[0].work.vec.Value();
  };
  const char* x = "[16,32,7,7]float32";
  const std::string two = std::string(x) + ' ' + x;
  EXPECT_EQ(flops("batch_norm_stats", x) + flops("batch_norm_elemt", x),
            flops("F.batch_norm", "[16,32,7,7]float32 None None training=True"));
  const PriceResult whole =
      PriceCall(MakeCall("F.batch_norm", "[16,32,7,7]float32 None None training=True"));
  EXPECT_EQ(flops("batch_norm_backward_reduce", two.c_str()) +
                flops("batch_norm_backward_elemt", two.c_str()),
            *whole.price->backward[0].work.vec.Value());
}

TEST(GroupNormTest, Prices) {
  CheckCases({
      // x[2,4,3] in 2 groups: n = 24, 4 means and variances 32. 192 + 32 + 32; 288 + 48 + 32.
      {"F.group_norm",
       "[2,4,3]float32 2 [4]float32 [4]float32",
       "T=(2,4,3),fp32",
       {0, 192, 256},
       {Back({0, 384, 368})}},
      {"F.group_norm",
       "[2,4,3]float32 num_groups=2",
       "T=(2,4,3),fp32",
       {0, 144, 224},
       {Back({0, 264, 320})}},
      {"aten::native_group_norm",
       "[2,4,3]float32 weight=[4]float32 bias=[4]float32 num_groups=2",
       "T=(2,4,3),fp32",
       {0, 192, 256},
       {Back({0, 384, 368})}},
      {"aten::native_group_norm_backward",
       "[2,4,3]float32 [2,4,3]float32 [2,2]float32 [2,2]float32 [4]float32 2 4 3 2 [1,1,1]",
       "T=(2,4,3),fp32",
       {0, 384, 368},
       {}},
      {"aten::native_group_norm_backward",
       "[2,4,3]float32 [2,4,3]float32 [2,2]float32 [2,2]float32 [4]float32 2 4 3 2 [0,1,1]",
       "T=(2,4,3),fp32",
       {0, 144, 256},
       {}},
      {"F.group_norm", "[2,4,3]float32 3", Reason::kShapeMismatch},
      {"F.group_norm", "[2,4,3]float32 0", Reason::kUnsupportedArgs},
      {"F.group_norm", "[2,4,3]float32", Reason::kUnsupportedArgs},
      {"F.group_norm", "[2]float32 1", Reason::kShapeMismatch},
      {"F.group_norm", "[2,4,3]float32 2 [3]float32", Reason::kShapeMismatch},
  });
}

TEST(InstanceNormTest, Prices) {
  CheckCases({
      // Every channel is a group: 8 means and variances, 64.
      {"F.instance_norm", "[2,4,3]float32", "T=(2,4,3),fp32", {0, 144, 256}, {Back({0, 264, 352})}},
      {"F.instance_norm",
       "[2,4,3]float32 None None [4]float32 [4]float32",
       "T=(2,4,3),fp32",
       {0, 192, 288},
       {Back({0, 384, 400})}},
      {"aten::instance_norm",
       "[2,4,3]float32 [4]float32 [4]float32 None None True 0.1 1e-05 True",
       "T=(2,4,3),fp32",
       {0, 192, 288},
       {Back({0, 384, 400})}},
      // Running statistics: read and written where the input's are used, else only read.
      {"F.instance_norm",
       "[2,4,3]float32 [4]float32 [4]float32",
       "T=(2,4,3),fp32",
       {0, 144, 320},
       {Back({0, 264, 352})}},
      {"F.instance_norm",
       "[2,4,3]float32 [4]float32 [4]float32 use_input_stats=False",
       "T=(2,4,3),fp32",
       {0, 48, 224},
       {Back({0, 72, 320})}},
      {"F.instance_norm", "[2,4,3]float32 use_input_stats=False", Reason::kUnsupportedArgs},
      {"F.instance_norm", "[2,4,3]float32 [3]float32 [3]float32", Reason::kShapeMismatch},
  });
}

}  // namespace
}  // namespace oplens::ops::test::batch_norm_test
