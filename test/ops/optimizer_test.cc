#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "ops/op_model.h"
#include "parse/model/torch_call.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::optimizer_test {
namespace {

TEST(OptimizerTest, StepsOfOneParameter) {
  const std::string type = "T=(10,),fp32";
  CheckCases({
      {"sgd", "param=[10]float32 grad=[10]float32", type, {0, 20, 120}, {}},
      {"sgd", "param=[10]float32 grad=[10]float16", type, {0, 20, 100}, {}},
      {"sgd", "[10]float32 [10]float32", type, {0, 20, 120}, {}},
      {"sgd",
       "param=[10]float32 grad=[10]float32 momentum_buffer=[10]float32 momentum=0.9",
       type,
       {0, 40, 200},
       {}},
      {"sgd",
       "param=[10]float32 grad=[10]float32 momentum_buffer=[10]float32 nesterov=True "
       "weight_decay=0.1",
       type,
       {0, 80, 200},
       {}},
      // No momentum: the buffer is not touched.
      {"sgd",
       "param=[10]float32 grad=[10]float32 momentum_buffer=[10]float32 momentum=0.0",
       type,
       {0, 20, 120},
       {}},
      {"sgd",
       "param=[10]float32 grad=[10]float32 momentum_buffer=None weight_decay=0",
       type,
       {0, 20, 120},
       {}},
      {"sgd", "param=[10]float32 grad=[10]float16 half_copy=[10]float16", type, {0, 20, 120}, {}},
      {"adam",
       "param=[10]float32 grad=[10]float16 exp_avg=[10]float32 exp_avg_sq=[10]float32",
       type,
       {0, 310, 260},
       {}},
      {"adam",
       "[10]float32 [10]float32 [10]float32 [10]float32 weight_decay=0.01",
       type,
       {0, 330, 280},
       {}},
      {"adam",
       "[10]float32 [10]float32 [10]float32 [10]float32 max_exp_avg_sq=[10]float32 amsgrad=True",
       type,
       {0, 330, 360},
       {}},
      {"adam",
       "[10]float32 [10]float32 [10]float32 [10]float32 [10]float32 amsgrad=False",
       type,
       {0, 310, 280},
       {}},
      // The decay of adamw is in its 32.
      {"adamw",
       "[10]float32 [10]float32 [10]float32 [10]float32 weight_decay=0.01",
       type,
       {0, 320, 280},
       {}},
      {"adagrad", "[10]float32 [10]float32 [10]float32", type, {0, 250, 200}, {}},
      {"rmsprop", "[10]float32 [10]float32 [10]float32", type, {0, 270, 200}, {}},
      {"rmsprop",
       "[10]float32 [10]float32 [10]float32 momentum_buffer=[10]float32",
       type,
       {0, 270, 280},
       {}},
      {"rmsprop",
       "[10]float32 [10]float32 [10]float32 [10]float32 [10]float32",
       type,
       {0, 270, 360},
       {}},
      {"adadelta", "[10]float32 [10]float32 [10]float32 [10]float32", type, {0, 500, 280}, {}},
      // 3 x 24 bytes, 2 x (2 + 3) x 4 bytes.
      {"adafactor",
       "[2,3]float32 [2,3]float32 row_var=[2]float32 col_var=[3]float32",
       "T=(2,3),fp32",
       {0, 240, 112},
       {}},
      {"adafactor", "[10]float32 [10]float32 variance=[10]float32", type, {0, 400, 200}, {}},
      {"lamb", "[10]float32 [10]float32 [10]float32 [10]float32", type, {0, 410, 400}, {}},
      {"lars", "[10]float32 [10]float32 [10]float32", type, {0, 100, 280}, {}},
      {"clip_grad_norm_", "[10]float32 1.0", type, {0, 30, 120}, {}},
      {"clip_grad_norm_", "[10]float32 [5]float32 1.0", "L=2,N=15,fp32", {0, 45, 180}, {}},
      {"clip_grad_norm_",
       "parameters=[4]float32 parameters=[5]float32 max_norm=1.0",
       "L=2,N=9,fp32",
       {0, 27, 108},
       {}},
      {"_amp_update_scale_",
       "[1]float32 [1]int32 [1]float32 2.0 0.5 2000",
       "T=(1,),fp32",
       {0, 3, 20},
       {}},
      {"sgd", "param=[]float32 grad=[]float32", "T=(),fp32", {0, 2, 12}, {}},
      {"sgd", "param=[0]float32 grad=[0]float32", "T=(0,),fp32", {0, 0, 0}, {}},

      {"sgd", "param=[10]float32", Reason::kUnsupportedArgs},
      {"sgd", "grad=[10]float32", Reason::kUnsupportedArgs},
      {"sgd", "param=[10]float32 grad=3", Reason::kUnsupportedArgs},
      {"sgd", "param=[10]float32 grad=[10]float32 momentum=0.9", Reason::kUnsupportedArgs},
      {"sgd", "param=[10]float32 grad=[10]float32 weight_decay=?", Reason::kUnsupportedArgs},
      {"sgd", "param=[10]float32 grad=[9]float32", Reason::kShapeMismatch},
      // Two parameters and two gradients in one row.
      {"sgd", "[10]float32 [10]float32 [10]float32 [10]float32", Reason::kUnsupportedArgs},
      {"adam", "[10]float32 [10]float32 [10]float32", Reason::kUnsupportedArgs},
      {"adam", "[10]float32 [10]float32 [10]float32 [10]float32 amsgrad=True",
       Reason::kUnsupportedArgs},
      {"adam", "[10]float32 [10]float32 [10]float32 [5]float32", Reason::kShapeMismatch},
      {"adafactor", "[2,3]float32 [2,3]float32 row_var=[2]float32", Reason::kUnsupportedArgs},
      {"adafactor", "[2,3]float32 [2,3]float32", Reason::kUnsupportedArgs},
      {"lars", "[10]float32 [10]float32", Reason::kUnsupportedArgs},
      {"_amp_update_scale_", "[1]float32 [1]int32", Reason::kUnsupportedArgs},
      {"adam",
       "[9223372036854775807]float32 [9223372036854775807]float32 [9223372036854775807]float32 "
       "[9223372036854775807]float32",
       Reason::kCostOverflow},
  });
}

TEST(OptimizerTest, ApexStepsHaveTheGradientLast) {
  // 3 x 2 x 40 bytes, the gradient's 20, the copy's 20.
  const std::string numbers = "0.1 0.9 0.99 1e-8 1.0 7 0 1 ";
  const std::string tensors = "[10]float32 [10]float16 [10]float32 [10]float32 [10]float16 ";
  CheckCases({
      {"adam", tensors + numbers + "0.0", "T=(10,),fp32", {0, 310, 280}, {}},
      {"adam", tensors + numbers + "0.1", "T=(10,),fp32", {0, 330, 280}, {}},
      // Without a copy.
      {"adam",
       "[10]float32 [0]float16 [10]float32 [10]float32 [10]float16 " + numbers + "0.0",
       "T=(10,),fp32",
       {0, 310, 260},
       {}},
  });
  OpCall call = MakeCall("adam", tensors + "0.1");
  // Otherwise the fifth is the largest variance.
  ASSERT_TRUE(PriceCall(call).price);
  EXPECT_EQ(FiguresOf(PriceCall(call).price->forward.at(0).work), (Figures{0, 330, 300}));
  call.mod = "fused_adam_cuda";
  ASSERT_TRUE(PriceCall(call).price);
  EXPECT_EQ(FiguresOf(PriceCall(call).price->forward.at(0).work), (Figures{0, 310, 280}));
}

TEST(OptimizerTest, StepsOfLists) {
  CheckCases({
      // 15 elements, 7 x 4 bytes.
      {"_fused_adam_",
       "1:[10]float32 1:[5]float32 2:[10]float32 2:[5]float32 3:[10]float32 3:[5]float32 "
       "4:[10]float32 4:[5]float32 ?TensorList 5:[]float32 5:[]float32 lr=0.1 weight_decay=0.0 "
       "amsgrad=False",
       "L=2,N=15,fp32",
       {0, 465, 420},
       {}},
      {"_fused_adamw_",
       "1:[10]float32 2:[10]float32 3:[10]float32 4:[10]float32 5:[10]float32 6:[]float32 "
       "weight_decay=0.1 amsgrad=True",
       "T=(10,),fp32",
       {0, 340, 360},
       {}},
      {"_fused_sgd_",
       "1:[10]float32 1:[5]float32 2:[10]float32 2:[5]float32 3:[10]float32 3:[5]float32 "
       "momentum=0.9",
       "L=2,N=15,fp32",
       {0, 60, 300},
       {}},
      {"_fused_sgd_",
       "1:[10]float32 2:[10]float32 ?TensorList momentum=0.0",
       "T=(10,),fp32",
       {0, 20, 120},
       {}},
      {"_fused_adagrad_",
       "1:[10]float32 2:[10]float32 3:[10]float32 4:[]float32",
       "T=(10,),fp32",
       {0, 250, 200},
       {}},
      {"_fused_adam_",
       "self=[4]float32 self=[2]float32 grads=[4]float32 grads=[2]float32 exp_avgs=[4]float32 "
       "exp_avgs=[2]float32 exp_avg_sqs=[4]float32 exp_avg_sqs=[2]float32",
       "L=2,N=6,fp32",
       {0, 186, 168},
       {}},
      // Gradients come first.
      {"multi_tensor_adam",
       "65536 [1]int32 1:[10]float16 1:[5]float16 2:[10]float32 2:[5]float32 3:[10]float32 "
       "3:[5]float32 4:[10]float32 4:[5]float32 0.1 0.9 0.99 1e-8 3 0 1 0.5",
       "L=2,N=15,fp32",
       {0, 495, 390},
       {}},
      // Mode 1 is adamw; a fifth list is the copy.
      {"multi_tensor_adam",
       "65536 [1]int32 1:[10]float16 2:[10]float32 3:[10]float32 4:[10]float32 5:[10]float16 0.1 "
       "0.9 0.99 1e-8 3 1 1 0.5",
       "T=(10,),fp32",
       {0, 320, 280},
       {}},
      {"multi_tensor_adam_capturable_master",
       "65536 [1]int32 1:[10]float16 2:[10]float16 3:[10]float32 4:[10]float32 5:[10]float32 0.1 "
       "0.9 0.99 1e-8 3 0 1 0.0",
       "T=(10,),fp32",
       {0, 310, 280},
       {}},
      {"multi_tensor_sgd",
       "65536 [1]int32 1:[10]float32 2:[10]float32 3:[10]float32 0.0001 0.9 0.0 0.1 True False "
       "False 1.0",
       "T=(10,),fp32",
       {0, 80, 200},
       {}},
      {"multi_tensor_lamb",
       "65536 [1]int32 1:[10]float32 2:[10]float32 3:[10]float32 4:[10]float32",
       "T=(10,),fp32",
       {0, 410, 400},
       {}},
      {"multi_tensor_lamb_stage_1",
       "65536 [1]int32 1:[10]float32 2:[10]float32 3:[10]float32 4:[10]float32 5:[10]float32",
       "T=(10,),fp32",
       {0, 390, 280},
       {}},
      {"multi_tensor_lamb_stage2_cuda",
       "65536 [1]int32 1:[10]float32 2:[10]float32",
       "T=(10,),fp32",
       {0, 20, 120},
       {}},
      {"multi_tensor_scale",
       "65536 [1]int32 1:[10]float16 2:[10]float32 0.5",
       "T=(10,),fp16",
       {0, 20, 60},
       {}},
      {"multi_tensor_l2norm",
       "65536 [1]int32 1:[10]float16 1:[3]float16 False",
       "L=2,N=13,fp16",
       {0, 26, 26},
       {}},
      {"_amp_foreach_non_finite_check_and_unscale_",
       "1:[10]float32 1:[5]float32 []float32 []float32",
       "L=2,N=15,fp32",
       {0, 30, 120},
       {}},

      {"_fused_adam_", "?TensorList ?TensorList ?TensorList ?TensorList ?TensorList ?TensorList",
       Reason::kUnsupportedArgs},
      {"_fused_adam_",
       "1:[10]float32 1:[5]float32 2:[10]float32 3:[10]float32 3:[5]float32 4:[10]float32 "
       "4:[5]float32",
       Reason::kShapeMismatch},
      {"_fused_adam_", "4:[10]float32 3:[10]float32 2:[10]float32 1:[10]float32",
       Reason::kUnsupportedArgs},
      {"_fused_sgd_", "1:[10]float32 2:[10]float32 ?TensorList momentum=0.9",
       Reason::kUnsupportedArgs},
      // More lists than the function has.
      {"multi_tensor_lamb_stage_2", "65536 [1]int32 1:[4]float32 2:[4]float32 3:[4]float32",
       Reason::kUnsupportedArgs},
      {"multi_tensor_adam", "65536 [1]int32 [4]float32 [4]float32 [4]float32 [4]float32",
       Reason::kUnsupportedArgs},
  });
}

// As the dispatcher records them: lists without types, options in the order of the schema.
TEST(OptimizerTest, RecordedByTheDispatcher) {
  const auto flops_of = [](std::string_view name, const std::string& args) {
    const PriceResult result = PriceCall(MakeTorchCall(name, MakeCall("", args).args));
    EXPECT_TRUE(result.price) << name;
    if (!result.price) return int64_t{-1};
    EXPECT_FALSE(result.price->bytes_known);
    return FiguresOf(result.price->forward.at(0).work).value().vec;
  };
  const std::string three = "1:[10]? 1:[5]? 2:[10]? 2:[5]? 3:[10]? 3:[5]? ";
  const std::string adam = three + "4:[10]? 4:[5]? ?GenericList 5:[]? 5:[]? 0.1 0.9 0.99 ";
  EXPECT_EQ(flops_of("aten::_fused_adam_", adam + "0 1e-8 False False ? ?"), 15 * 31);
  EXPECT_EQ(flops_of("aten::_fused_adam_", adam + "0.1 1e-8 False False ? ?"), 15 * 33);
  EXPECT_EQ(flops_of("aten::_fused_adamw_", adam + "0.1 1e-8 False False ? ?"), 15 * 32);
  EXPECT_EQ(flops_of("aten::_fused_sgd_", three + "0.1 0.9 0.1 0.0 True False False ? ?"), 15 * 8);
  EXPECT_EQ(flops_of("aten::_fused_adagrad_", three + "4:[]? 4:[]? 0.1 0.0 0.0 1e-8"), 15 * 25);
  EXPECT_EQ(flops_of("aten::_amp_foreach_non_finite_check_and_unscale_",
                     "1:[10]? 1:[5]? []float32 []float32"),
            15 * 2);
}

TEST(OptimizerTest, IsAnOptimizersWork) {
  const PriceResult adam =
      PriceCall(MakeCall("adam", "[10]float32 [10]float32 [10]float32 [10]float32"));
  ASSERT_TRUE(adam.price);
  EXPECT_EQ(adam.price->op_class, OpClass::kOptimizer);
  EXPECT_TRUE(adam.price->vec_estimated);
  const PriceResult sgd = PriceCall(MakeCall("sgd", "[10]float32 [10]float32"));
  ASSERT_TRUE(sgd.price);
  EXPECT_FALSE(sgd.price->vec_estimated);
}

// A list costs what its members cost one by one, whatever the optimizer.
TEST(OptimizerTest, AListIsTheSumOfItsParameters) {
  struct Row {
    const char* op;
    int lists;
  };
  for (const Row& row : {Row{"sgd", 3}, Row{"adam", 4}, Row{"adamw", 4}, Row{"adagrad", 3},
                         Row{"rmsprop", 3}, Row{"adadelta", 4}, Row{"lamb", 4}, Row{"lars", 3}}) {
    Figures sum;
    std::string lists;
    for (const std::string shape : {"[3,4]float32", "[7]float32", "[1]float32"}) {
      std::string args;
      for (int i = 0; i < row.lists; ++i) args += (i > 0 ? " " : "") + shape;
      const PriceResult one = PriceCall(MakeCall(row.op, args));
      ASSERT_TRUE(one.price) << row.op;
      const Figures figures = FiguresOf(one.price->forward.at(0).work).value();
      sum.vec += figures.vec;
      sum.bytes += figures.bytes;
    }
    for (int i = 1; i <= row.lists; ++i) {
      for (const std::string shape : {"[3,4]float32", "[7]float32", "[1]float32"}) {
        lists += (lists.empty() ? "" : " ") + std::to_string(i) + ":" + shape;
      }
    }
    const PriceResult list = PriceCall(MakeCall(row.op, lists));
    ASSERT_TRUE(list.price) << row.op;
    EXPECT_EQ(FiguresOf(list.price->forward.at(0).work), sum) << row.op;
  }
}

}  // namespace
}  // namespace oplens::ops::test::optimizer_test
