#include "ops/op_name.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op_model.h"
#include "ops/pricing.h"

namespace oplens::ops::op_name_test {
namespace {

TEST(OpNameTest, Normalises) {
  struct Row {
    const char* op;
    const char* name;
    std::string flags = "";  // i in place, r reversed, b backward, l list
  };
  const Row rows[] = {
      {"add", "add"},
      {"aten::add", "add"},
      {"aten::add.Tensor", "add"},
      {"aten::add_.Scalar", "add", "i"},
      {"torch.ops.aten.add_.Tensor", "add", "i"},
      {"torch.nn.functional.linear", "linear"},
      {"Tensor.mul_", "mul", "i"},
      {"prims::mul", "mul"},
      {"at::native_layer_norm", "layer_norm"},
      {"mm.out", "mm"},
      {"add_out", "add"},
      {"__iadd__", "add", "i"},
      {"__radd__", "add", "r"},
      {"__rsub__", "rsub", "r"},
      {"__sub__", "sub"},
      {"__isub__", "sub", "i"},
      {"__truediv__", "div"},
      {"__rtruediv__", "div", "r"},
      {"__rdiv__", "div", "r"},
      {"__floordiv__", "floor_divide"},
      {"__mod__", "remainder"},
      {"__pow__", "pow"},
      {"__rpow__", "pow", "r"},
      {"__invert__", "bitwise_not"},
      {"__and__", "bitwise_and"},
      {"__iand__", "bitwise_and", "i"},
      {"__ror__", "bitwise_or", "r"},
      {"__lshift__", "bitwise_left_shift"},
      {"__irshift__", "bitwise_right_shift", "i"},
      {"__rrshift__", "bitwise_right_shift", "r"},
      {"__lt__", "lt"},
      {"__matmul__", "matmul"},
      {"__rmatmul__", "matmul", "r"},
      {"true_divide", "div"},
      {"divide_", "div", "i"},
      {"multiply", "mul"},
      {"subtract", "sub"},
      {"absolute", "abs"},
      {"clip", "clamp"},
      {"negative", "neg"},
      {"concat", "cat"},
      {"concatenate", "cat"},
      {"greater", "gt"},
      {"less_equal", "le"},
      {"not_equal_", "ne", "i"},
      {"special_expm1", "expm1"},
      {"special_expit", "sigmoid"},
      {"_foreach_add_.List", "add", "il"},
      {"_foreach_mul", "mul", "l"},
      {"_fused_adam_", "adam", "i"},
      {"_fused_adamw_", "adamw", "i"},
      {"_fused_sgd_", "sgd", "i"},
      {"torch.distributed.all_reduce", "all_reduce", ""},
      {"c10d::_allgather_base_", "_allgather_base", "i"},
      {"_c10d_functional::all_reduce", "all_reduce", ""},
      {"nccl:_all_gather_base", "_all_gather_base", ""},
      {"_unsafe_view", "view"},
      {"_reshape_alias", "view"},
      {"_to_copy", "to"},
      {"_softmax", "softmax"},
      {"_log_softmax", "log_softmax"},
      {"native_group_norm", "group_norm"},
      {"native_batch_norm", "batch_norm"},
      {"native_dropout", "dropout"},
      {"_fused_dropout", "dropout"},
      {"convolution_backward", "convolution", "b"},
      {"native_layer_norm_backward", "layer_norm", "b"},
      {"_softmax_backward_data", "softmax", "b"},
      {"_log_softmax_backward_data", "log_softmax", "b"},
      {"threshold_backward", "relu", "b"},
      {"gelu_backward", "gelu", "b"},
      {"silu_backward", "silu", "b"},
      {"embedding_dense_backward", "embedding", "b"},
      {"max_pool2d_with_indices_backward", "max_pool2d", "b"},
      {"nll_loss_backward", "nll_loss", "b"},
      {"_scaled_dot_product_flash_attention_backward", "_scaled_dot_product_flash_attention", "b"},
      {"cudnn_convolution_backward_input", "cudnn_convolution", "b"},
      {"cudnn_convolution_backward_weight", "cudnn_convolution", "b"},
      {"native_dropout_backward", "dropout", "b"},
      {"masked_scale", "dropout", "b"},
      // Left alone
      {"backward", "backward"},
      {"forward", "forward"},
      {"__getattr__", "__getattr__"},
      {"__i__", "__i__"},
      {"____", "____"},
      {"__", "__"},
      {"_", "_"},
      {"", ""},
      {".", "."},
      {"aten::", "aten::"},
      {"_foreach_", "_foreach", "i"},
      {"fused_dropout", "dropout"},
      {"\xff\xfe", "\xff\xfe"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.op);
    const OpName name = ParseOpName(row.op);
    EXPECT_EQ(name.name, row.name);
    EXPECT_EQ(NormalizeOpName(row.op), row.name);
    std::string flags;
    if (name.in_place) flags += 'i';
    if (name.reversed) flags += 'r';
    if (name.backward) flags += 'b';
    if (name.list) flags += 'l';
    EXPECT_EQ(flags, row.flags);
  }
}

TEST(OpRegistryTest, EveryNameIsItsOwnNormalFormAndListedOnce) {
  const std::vector<std::string_view> names = OpNames();
  EXPECT_GT(names.size(), 200u);
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (const std::string_view name : names) {
    EXPECT_EQ(NormalizeOpName(name), name);
    const OpModel* model = FindOpModel(name);
    ASSERT_NE(model, nullptr) << name;
    EXPECT_NE(std::find(model->names.begin(), model->names.end(), name), model->names.end());
  }
  EXPECT_EQ(FindOpModel("no_such_op"), nullptr);
  EXPECT_EQ(FindOpModel(""), nullptr);
  EXPECT_EQ(FindOpModel("zzzz"), nullptr);
}

TEST(OpRegistryTest, OpsWithoutAModel) {
  OpCall call;
  call.op = "no_such_op";
  EXPECT_EQ(PriceCall(call).reason, Reason::kUnknownOp);
  call.op = "no_such_op_backward";
  EXPECT_EQ(PriceCall(call).reason, Reason::kUnknownOp);
  call.op = "gelu_backward";
  EXPECT_EQ(PriceCall(call).reason, Reason::kNoArguments);
  // A model, but for other arguments.
  call.args.resize(1);
  EXPECT_EQ(PriceCall(call).reason, Reason::kUnsupportedArgs);
  call.op = "_foreach_add_";
  EXPECT_EQ(PriceCall(call).reason, Reason::kUnsupportedArgs);
}

}  // namespace
}  // namespace oplens::ops::op_name_test
