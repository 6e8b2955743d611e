// Calls as the dispatcher of PyTorch records them have the price of the Python call that they are.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op_model.h"
#include "ops/pricing.h"
#include "parse/model/op_call.h"
#include "parse/model/torch_call.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::torch_call_price_test {
namespace {

struct Pair {
  std::string_view native;
  std::string_view native_args;
  std::string_view python;
  std::string_view python_args;
};

// "?" is an argument without a value; "[2,3]float32" a tensor.
constexpr Pair kSameForward[] = {
    {"aten::mm", "[2,3]float32 [3,4]float32", "torch.mm", "[2,3]float32 [3,4]float32"},
    {"aten::addmm", "[4]float32 [2,3]float32 [3,4]float32 1 1", "torch.addmm",
     "[4]float32 [2,3]float32 [3,4]float32"},
    {"aten::addmm", "[4]float32 [2,3]float32 [3,4]float32 2 3", "torch.addmm",
     "[4]float32 [2,3]float32 [3,4]float32 beta=2 alpha=3"},
    {"aten::baddbmm", "[5,2,4]float16 [5,2,3]float16 [5,3,4]float16 0 1", "torch.baddbmm",
     "[5,2,4]float16 [5,2,3]float16 [5,3,4]float16 beta=0"},
    {"aten::_scaled_mm",
     "[2,3]float8_e4m3fn [3,4]float8_e4m3fn []float32 []float32 [4]bfloat16 ? 15 False",
     "torch._scaled_mm",
     "[2,3]float8_e4m3fn [3,4]float8_e4m3fn []float32 []float32 [4]bfloat16 None 'bfloat16'"},
    {"aten::_scaled_mm_v2",
     "[2,3]float8_e4m3fn [3,4]float8_e4m3fn [2,1]float32 [0] [0] [1,4]float32 [0] [0] "
     "[4]bfloat16 15 ? False",
     "torch._scaled_mm",
     "[2,3]float8_e4m3fn [3,4]float8_e4m3fn [2,1]float32 [1,4]float32 [4]bfloat16 None "
     "'bfloat16'"},
    {"aten::_weight_int4pack_mm", "[2,64]bfloat16 [1,1,32,4]int32 32 [2,8,2]bfloat16",
     "torch._weight_int4pack_mm", "[2,64]bfloat16 [1,1,32,4]int32 32 [2,8,2]bfloat16"},
    {"aten::_grouped_mm", "[8,3]bfloat16 [4,3,5]bfloat16 [4]int32 ? ?", "torch._grouped_mm",
     "[8,3]bfloat16 [4,3,5]bfloat16 offs=[4]int32"},
    {"aten::_cslt_sparse_mm", "[1152]float16 [64,8]float16 ? ? ? False 0 1 1",
     "torch._cslt_sparse_mm", "[1152]float16 [64,8]float16"},
    {"aten::_sparse_semi_structured_linear", "[3,16]float16 [4,8]float16 [4,2]int16 [4]float16",
     "torch._sparse_semi_structured_linear",
     "[3,16]float16 [4,8]float16 [4,2]int16 bias=[4]float16"},
    {"aten::_sparse_semi_structured_addmm",
     "[4]float16 [4,8]float16 [4,2]int16 [16,6]float16 3 2 ?",
     "torch._sparse_semi_structured_addmm",
     "[4]float16 [4,8]float16 [4,2]int16 [16,6]float16 alpha=3 beta=2"},
    {"aten::linalg_cholesky_ex", "[2,3,3]float32 False False", "torch.cholesky", "[2,3,3]float32"},
    {"aten::_linalg_solve_ex", "[3,3]float32 [3,2]float32 True False", "torch.linalg_solve",
     "[3,3]float32 [3,2]float32"},
    {"aten::triangular_solve", "[3,2]float32 [3,3]float32 True False False",
     "torch.triangular_solve", "[3,2]float32 [3,3]float32"},
    {"aten::glu", "[2,6]float32 -1", "F.glu", "[2,6]float32"},
    {"aten::resolve_conj", "[2,6]float32", "torch.detach", "[2,6]float32"},
    {"aten::tensordot", "[2,3,4]float32 [3,4,5]float32 [1,2] [0,1]", "torch.tensordot",
     "[2,3,4]float32 [3,4,5]float32 2"},
    {"aten::inner", "[2,3]float32 [4,3]float32", "torch.inner", "[2,3]float32 [4,3]float32"},
    {"aten::kron", "[2,3]float32 [4,3]float32", "torch.kron", "[2,3]float32 [4,3]float32"},
    {"aten::linalg_multi_dot", "[2,3]float32 [3,4]float32 [4,5]float32", "torch.chain_matmul",
     "[2,3]float32 [3,4]float32 [4,5]float32"},
    {"aten::bilinear", "[2,3]float32 [2,4]float32 [5,3,4]float32 ?", "F.bilinear",
     "[2,3]float32 [2,4]float32 [5,3,4]float32"},
    {"aten::_addmm_activation", "[4]float32 [2,3]float32 [3,4]float32 1 1 True",
     "torch._addmm_activation", "[4]float32 [2,3]float32 [3,4]float32 use_gelu=True"},
    {"aten::linear", "[6,3]float32 [4,3]float32 ?", "F.linear", "[6,3]float32 [4,3]float32"},
    // The first two would make a product of their own.
    {"aten::matmul", "[8,5]float32 [5,7]float32 [7]float32 [2,3]float32 [3,4]float32",
     "torch.matmul", "[2,3]float32 [3,4]float32"},
    {"aten::add", "[2,3]float32 [2,3]float32 1", "torch.add", "[2,3]float32 [2,3]float32"},
    {"aten::add_", "[2,3]float32 [2,3]float32 2", "Tensor.add_",
     "[2,3]float32 [2,3]float32 alpha=2"},
    {"aten::mul", "[2,3]float32 [2,3]float32 [2,3]float32", "torch.mul",
     "[2,3]float32 [2,3]float32"},
    {"aten::clamp_min", "[2,3]float32 0", "torch.clamp_min", "[2,3]float32 0"},
    {"aten::clamp_min_", "[2,3]float32 0", "Tensor.clamp_min_", "[2,3]float32 0"},
    {"aten::relu", "[2,3]float32", "torch.relu", "[2,3]float32"},
    {"aten::where", "[2,3]bool [2,3]float32 [2,3]float32", "torch.where",
     "[2,3]bool [2,3]float32 [2,3]float32"},
    {"aten::masked_fill_", "[2,3]float16 [2,3]bool 0", "Tensor.masked_fill_",
     "[2,3]float16 [2,3]bool 0"},
    {"aten::gelu", "[2,3]float32 ?", "F.gelu", "[2,3]float32"},
    {"aten::_softmax", "[2,3]float32 -1 False", "F.softmax", "[2,3]float32 -1"},
    {"aten::_softmax", "[2,3]float16 -1 True", "F.softmax", "[2,3]float16 -1 dtype='float32'"},
    {"aten::_log_softmax", "[2,3]float32 1 False", "F.log_softmax", "[2,3]float32 1"},
    {"aten::native_layer_norm", "[9,5]float32 [5] [5]float32 [5]float32 1e-05", "F.layer_norm",
     "[9,5]float32 [5] [5]float32 [5]float32"},
    {"aten::layer_norm", "[9,5]float32 ? [5]float32 [5]float32 ? ?", "F.layer_norm",
     "[9,5]float32 [5] [5]float32 [5]float32"},
    {"aten::native_dropout", "[2,3]float32 0.5 True", "F.dropout", "[2,3]float32 0.5 True"},
    {"aten::dropout", "[2,3]float32 0.5 False", "F.dropout", "[2,3]float32 0.5 False"},
    {"aten::embedding", "[10,4]float16 [2,3]int64 -1 False False", "F.embedding",
     "[2,3]int64 [10,4]float16"},
    {"aten::sum", "[2,3]float32 [1] False ?", "torch.sum", "[2,3]float32 dim=1"},
    {"aten::sum", "[2,3]float32 ?", "torch.sum", "[2,3]float32"},
    {"aten::mean", "[2,3]float16 [1] True 6", "torch.mean",
     "[2,3]float16 dim=1 keepdim=True dtype='float32'"},
    {"aten::cat", "[2,1]float32 [2,2]float32 1", "torch.cat", "[2,1]float32 [2,2]float32 1"},
    {"aten::copy_", "[2,3]float32 [2,3]float16 False", "Tensor.copy_", "[2,3]float32 [2,3]float16"},
    {"aten::_to_copy", "[2,3]float32 5 ? ? ? False ?", "Tensor.half", "[2,3]float32"},
    {"aten::clone", "[2,3]float32 ?", "Tensor.clone", "[2,3]float32"},
    {"aten::fill_", "[2,3]float32 0", "Tensor.fill_", "[2,3]float32 0"},
    {"aten::zero_", "[2,3]float32", "Tensor.zero_", "[2,3]float32"},
    {"aten::zeros", "[2,3] 6 ? ? False", "torch.zeros", "[2,3] dtype='float32'"},
    {"aten::arange", "9 ? ? ? ?", "torch.arange", "9"},
    {"aten::index_select", "[9,5]float32 0 [4]int64", "torch.index_select",
     "[9,5]float32 0 [4]int64"},
    {"aten::gather", "[9,5]float32 0 [2,5]int64 False", "torch.gather",
     "[9,5]float32 0 [2,5]int64"},
    {"aten::batch_norm",
     "[4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32 True 0.1 1e-05 True",
     "F.batch_norm", "[4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32 True"},
    {"aten::cudnn_batch_norm",
     "[4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32 True 0.1 1e-05", "F.batch_norm",
     "[4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32 True"},
    {"aten::native_batch_norm", "[4,2,3]float32 ? ? [2]float32 [2]float32 False 0.1 1e-05",
     "F.batch_norm", "[4,2,3]float32 [2]float32 [2]float32"},
    {"aten::native_group_norm", "[2,4,3]float32 [4]float32 [4]float32 2 4 3 2 1e-05",
     "F.group_norm", "[2,4,3]float32 2 [4]float32 [4]float32"},
    {"aten::group_norm", "[2,4,3]float32 2 ? ? 1e-05 True", "F.group_norm", "[2,4,3]float32 2"},
    {"aten::instance_norm", "[2,4,3]float32 ? ? ? ? True 0.1 1e-05 True", "F.instance_norm",
     "[2,4,3]float32"},
    {"aten::mse_loss", "[2,3]float32 [2,3]float32 2", "F.mse_loss",
     "[2,3]float32 [2,3]float32 reduction='sum'"},
    {"aten::smooth_l1_loss", "[2,3]float32 [2,3]float32 0 1.0", "F.smooth_l1_loss",
     "[2,3]float32 [2,3]float32 reduction='none'"},
    {"aten::binary_cross_entropy_with_logits", "[2,3]float32 [2,3]float32 ? [3]float32 1",
     "F.binary_cross_entropy_with_logits", "[2,3]float32 [2,3]float32 pos_weight=[3]float32"},
    {"aten::nll_loss_forward", "[2,3]float32 [2]int64 ? 1 -100", "F.nll_loss",
     "[2,3]float32 [2]int64"},
    {"aten::cross_entropy_loss", "[2,3]float32 [2]int64 ? 1 -100 0.1", "F.cross_entropy",
     "[2,3]float32 [2]int64 label_smoothing=0.1"},
    {"aten::topk", "[4,6]float32 2 -1 True True", "torch.topk", "[4,6]float32 2"},
    {"aten::sort", "[4,6]float32 ? 0 False", "torch.sort", "[4,6]float32 0"},
    {"aten::median", "[4,6]float32", "torch.median", "[4,6]float32"},
    {"aten::searchsorted", "[5]float32 [2,5]float32 True False ? ?", "torch.searchsorted",
     "[5]float32 [2,5]float32 out_int32=True"},
    {"aten::randn", "[2,3] ? ? ? False", "torch.randn", "(2,3)"},
    {"aten::randint", "9 [2,3] 3 ? ? ?", "torch.randint", "9 (2,3) dtype='int32'"},
    {"aten::randint", "1 9 [2,3] 4 ? ? ?", "torch.randint", "1 9 (2,3)"},
    {"aten::randperm", "9 4 ? ? False", "torch.randperm", "9"},
    {"aten::normal_", "[2,3]float32 0 1 ?", "Tensor.normal_", "[2,3]float32 0 1"},
    {"aten::bernoulli_", "[2,3]float32 0.5 ?", "Tensor.bernoulli_", "[2,3]float32 0.5"},
    {"aten::scatter_add_", "[9,5]float32 0 [2,5]int64 [2,5]float32", "Tensor.scatter_add_",
     "[9,5]float32 0 [2,5]int64 [2,5]float32"},
    {"aten::index_add_", "[9,5]float32 0 [4]int64 [4,5]float32 1", "Tensor.index_add_",
     "[9,5]float32 0 [4]int64 [4,5]float32"},
    {"aten::index_fill_", "[9,5]float32 0 [4]int64 0", "Tensor.index_fill_",
     "[9,5]float32 0 [4]int64 0"},
    {"aten::take_along_dim", "[9,5]float32 [2,5]int64 0", "torch.take_along_dim",
     "[9,5]float32 [2,5]int64 0"},
    {"aten::constant_pad_nd", "[2,3]float32 [1,2] 0", "F.pad", "[2,3]float32 (1,2)"},
    {"aten::pad", "[2,3]float32 [1,2] ? 0", "F.pad", "[2,3]float32 (1,2)"},
    {"aten::one_hot", "[3]int64 5", "F.one_hot", "[3]int64 5"},
    {"aten::repeat_interleave", "[2,3]float32 2 0 ?", "torch.repeat_interleave",
     "[2,3]float32 2 0"},
    {"aten::_embedding_bag", "[10,4]float32 [6]int64 [2]int64 False 0 False ? False -1",
     "F.embedding_bag", "[6]int64 [10,4]float32 [2]int64"},
    {"aten::linalg_norm", "[2,3]float32 3 [1] False ?", "torch.norm", "[2,3]float32 3 1"},
    {"aten::feature_dropout", "[2,3,4]float32 0.5 True", "F.dropout1d", "[2,3,4]float32 0.5 True"},
};

OpCall Native(std::string_view name, std::string_view args) {
  return MakeTorchCall(name, MakeCall(name, args).args);
}

TEST(TorchCallPrice, IsThatOfThePythonCall) {
  for (const Pair& pair : kSameForward) {
    SCOPED_TRACE(std::string(pair.native) + ' ' + std::string(pair.native_args));
    const PriceResult native = PriceCall(Native(pair.native, pair.native_args));
    const PriceResult python = PriceCall(MakeCall(pair.python, pair.python_args));
    ASSERT_TRUE(python.price.has_value()) << ReasonWord(python.reason);
    ASSERT_TRUE(native.price.has_value()) << ReasonWord(native.reason);
    EXPECT_EQ(FiguresOf(native.price->forward.front().work),
              FiguresOf(python.price->forward.front().work));
    EXPECT_EQ(native.price->params, python.price->params);
    EXPECT_EQ(native.price->matmul_like, python.price->matmul_like);
  }
}

// A gradient function, and the op whose backward it is.
constexpr Pair kGradients[] = {
    {"aten::threshold_backward", "[2,3]float32 [2,3]float32 0", "torch.relu", "[2,3]float32"},
    {"aten::tanh_backward", "[2,3]float32 [2,3]float32", "torch.tanh", "[2,3]float32"},
    {"aten::sigmoid_backward", "[2,3]float32 [2,3]float32", "torch.sigmoid", "[2,3]float32"},
    {"aten::gelu_backward", "[2,3]float16 [2,3]float16 'tanh'", "F.gelu",
     "[2,3]float16 approximate='tanh'"},
    {"aten::silu_backward", "[2,3]float16 [2,3]float16", "F.silu", "[2,3]float16"},
    {"aten::elu_backward", "[2,3]float32 1 1 1 False [2,3]float32", "F.elu", "[2,3]float32"},
    {"aten::glu_backward", "[2,2]float32 [2,4]float32 -1", "F.glu", "[2,4]float32 -1"},
    {"aten::_softmax_backward_data", "[2,3]float32 [2,3]float32 1 6", "F.softmax",
     "[2,3]float32 1"},
    {"aten::_log_softmax_backward_data", "[2,3]float32 [2,3]float32 1 6", "F.log_softmax",
     "[2,3]float32 1"},
    {"aten::native_layer_norm_backward",
     "[9,5]float32 [9,5]float32 [5] [9,1]float32 [9,1]float32 [5]float32 [5]float32 ?",
     "F.layer_norm", "[9,5]float32 [5] [5]float32 [5]float32"},
    {"aten::native_dropout_backward", "[2,3]float32 [2,3]bool 2.0", "F.dropout", "[2,3]float32"},
    {"aten::embedding_dense_backward", "[2,3,5]float32 [2,3]int64 10 -1 False", "F.embedding",
     "[2,3]int64 [10,5]float32"},
    {"aten::gather_backward", "[2,5]float32 [9,5]float32 0 [2,5]int64 False", "torch.gather",
     "[9,5]float32 0 [2,5]int64"},
    {"aten::native_batch_norm_backward",
     "[4,2,3]float32 [4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32 [2]float32 True "
     "1e-05 [1,1,1]",
     "F.batch_norm", "[4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32 True"},
    {"aten::cudnn_batch_norm_backward",
     "[4,2,3]float32 [4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32 [2]float32 1e-05 "
     "[0]uint8",
     "F.batch_norm", "[4,2,3]float32 [2]float32 [2]float32 [2]float32 [2]float32 True"},
    {"aten::native_group_norm_backward",
     "[2,4,3]float32 [2,4,3]float32 [2,2]float32 [2,2]float32 [4]float32 2 4 3 2 [1,1,1]",
     "F.group_norm", "[2,4,3]float32 2 [4]float32 [4]float32"},
    {"aten::mse_loss_backward", "[]float32 [2,3]float32 [2,3]float32 1", "F.mse_loss",
     "[2,3]float32 [2,3]float32"},
    {"aten::nll_loss_backward", "[]float32 [2,3]float32 [2]int64 ? 1 -100 []float32", "F.nll_loss",
     "[2,3]float32 [2]int64"},
    {"aten::_embedding_bag_backward",
     "[2,4]float32 [6]int64 [2]int64 [6]int64 [2]int64 [2]int64 10 False 0 False ? -1",
     "F.embedding_bag", "[6]int64 [10,4]float32 [2]int64"},
    {"aten::slice_backward", "[4,2]float32 [4,6] 1 0 2 1", "torch.narrow", "[4,6]float32 1 0 2"},
    {"aten::value_selecting_reduction_backward", "[4]float32 1 [4]int64 [4,6] False",
     "torch.kthvalue", "[4,6]float32 2"},
};

TEST(TorchCallPrice, OfAGradientFunctionIsTheBackwardOfItsOp) {
  for (const Pair& pair : kGradients) {
    SCOPED_TRACE(std::string(pair.native) + ' ' + std::string(pair.native_args));
    const PriceResult native = PriceCall(Native(pair.native, pair.native_args));
    const PriceResult python = PriceCall(MakeCall(pair.python, pair.python_args));
    ASSERT_TRUE(python.price.has_value()) << ReasonWord(python.reason);
    ASSERT_TRUE(native.price.has_value()) << ReasonWord(native.reason);
    ASSERT_EQ(python.price->backward.size(), 1u);
    EXPECT_EQ(FiguresOf(native.price->forward.front().work),
              FiguresOf(python.price->backward.front().work));
    EXPECT_TRUE(native.price->backward.empty());
  }
}

TEST(TorchCallPrice, OfAGradientFunctionInNumbers) {
  // One FLOP an element; dY and x are read, dX is written.
  CheckCases({{"threshold_backward", "[2,3]float32 [2,3]float32 0", "[2,3]fp32", {0, 6, 72}, {}}});
}

TEST(TorchCallPrice, NothingRecordedIsNoArguments) {
  for (const std::string_view name : {"aten::mm", "aten::sum", "aten::_softmax", "aten::cat",
                                      "aten::threshold_backward", "aten::zeros"}) {
    const PriceResult result = PriceCall(Native(name, ""));
    EXPECT_FALSE(result.price.has_value()) << name;
    EXPECT_EQ(result.reason, Reason::kNoArguments) << name;
  }
  EXPECT_EQ(PriceCall(Native("aten::no_such_op", "")).reason, Reason::kUnknownOp);
}

TEST(TorchCallPrice, AnUnknownTypeIsNamed) {
  const PriceResult product = PriceCall(Native("aten::mm", "[2,3]what [3,4]what"));
  ASSERT_TRUE(product.price.has_value());
  EXPECT_EQ(product.price->forward[0].work.mma.Value(), 48);
  EXPECT_FALSE(product.price->bytes_known);
  EXPECT_EQ(PriceCall(Native("aten::_to_copy", "[2,3]float32 16 ?")).reason, Reason::kUnknownDType);
}

TEST(TorchCallPrice, AnyArgumentsOfAGradientFunctionAreTaken) {
  constexpr std::string_view kArguments[] = {
      "9223372036854775807",
      "-9223372036854775808",
      "[0,9223372036854775807]float32",
      "[]int64",
      "None",
      "?",
      "[-1,2]",
      "'x'",
      "approximate=1",
  };
  for (const std::string_view op : OpNames()) {
    for (const std::string_view first : kArguments) {
      for (const std::string_view other : kArguments) {
        OpCall call = MakeCall(std::string(op) + "_backward", first);
        const OpArg argument = MakeCall("", other).args.front();
        for (int count = 0; count < 8; ++count) {
          const PriceResult result = PriceCall(call);
          EXPECT_TRUE(!result.price || FiguresOf(result.price->forward.front().work)) << op;
          call.args.push_back(argument);
        }
      }
    }
  }
}

TEST(TorchCallPrice, GradientFunctionsWithTooFewArgumentsHaveNone) {
  for (const std::string_view name :
       {"aten::threshold_backward", "aten::native_layer_norm_backward",
        "aten::embedding_dense_backward", "aten::gather_backward"}) {
    const PriceResult result = PriceCall(Native(name, "[2,3]float32"));
    EXPECT_FALSE(result.price.has_value()) << name;
    EXPECT_EQ(result.reason, Reason::kUnsupportedArgs) << name;
  }
}

}  // namespace
}  // namespace oplens::ops::test::torch_call_price_test
