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

namespace oplens::ops::test {
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
}  // namespace oplens::ops::test
