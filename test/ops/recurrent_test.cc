#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "ops/op_model.h"
#include "parse/model/torch_call.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::recurrent_test {
namespace {

// B = 2, I = 3, H = 4: gate rows 16, W = 16 * 7 = 112 elements.
TEST(Recurrent, PricesOfCells) {
  // mma 2*2*112, vec 116*8; x 6, W 112, b 32, states 2*16 elements of 4 bytes. dgrad: without b;
  // wgrad: x, the new states and W.
  const Figures forward{448, 928, 728};
  const std::vector<Gradient> backward = {Dgrad({448, 0, 600}), Wgrad({448, 0, 536}),
                                          Bgrad({0, 64, 128})};
  const std::string params = "LSTM,B=2,I=3,H=4,fp32";
  CheckCases({
      {"lstm_cell",
       "[2,3]float32 [2,4]float32 [2,4]float32 [16,3]float32 [16,4]float32 [16]float32 [16]float32",
       params, forward, backward},
      {"forward", "mod='LSTMCell' [2,3]float32 [2,4]float32 [2,4]float32", params, forward,
       backward},
      {"forward", "? [2,3]float32 [2,4]float32 [2,4]float32 mod='torch.nn.LSTMCell'", params,
       forward, backward},
      {"forward", "[2,3]float32 hx=[2,4]float32 hx=[2,4]float32 mod='LSTMCell'", params, forward,
       backward},
      {"forward",
       "mod='LSTMCell' [2,3]float32 [2,4]float32 [2,4]float32 bias_hh=[16]float32 "
       "weight_hh=[16,4]float32 bias_ih=[16]float32 weight_ih=[16,3]float32",
       params, forward, backward},
      // Without biases.
      {"lstm_cell",
       "[2,3]float32 [2,4]float32 [2,4]float32 [16,3]float32 [16,4]float32",
       params,
       {448, 928, 600},
       {Dgrad({448, 0, 600}), Wgrad({448, 0, 536})}},
      // W = 12 * 7 = 84, b 24, states 2 * 8.
      {"gru_cell",
       "[2,3]float32 [2,4]float32 [12,3]float32 [12,4]float32 [12]float32 [12]float32",
       "GRU,B=2,I=3,H=4,fp32",
       {336, 592, 520},
       {Dgrad({336, 0, 424}), Wgrad({336, 0, 392}), Bgrad({0, 48, 96})}},
      // W = 28, b 8.
      {"rnn_tanh_cell",
       "[2,3]float32 [2,4]float32 [4,3]float32 [4,4]float32 [4]float32 [4]float32",
       "RNN,B=2,I=3,H=4,fp32",
       {112, 184, 232},
       {Dgrad({112, 0, 200}), Wgrad({112, 0, 168}), Bgrad({0, 16, 32})}},
      // One sequence, without a batch.
      {"forward",
       "mod='RNNCell' [3]float32 [4]float32",
       "RNN,B=1,I=3,H=4,fp32",
       {56, 92, 188},
       {Dgrad({56, 0, 156}), Wgrad({56, 0, 140}), Bgrad({0, 8, 32})}},
      {"forward", "mod='LSTMCell' [2,3]float32", Reason::kUnsupportedArgs},
      {"forward", "mod='LSTMCell' [2,3]float32 [3,4]float32 [3,4]float32", Reason::kShapeMismatch},
      {"forward", "mod='LSTMCell' [2,3]float32 [2,4]float32 [2,5]float32", Reason::kShapeMismatch},
      {"forward", "mod='LSTMCell' [2,3,1]float32 [2,4]float32", Reason::kShapeMismatch},
      {"forward", "mod='LSTMCell' [2,3]int64 [2,4]int64 [2,4]int64", Reason::kUnsupportedArgs},
      {"gru_cell", "[2,3]float32 [2,4]float32 [16,3]float32 [16,4]float32", Reason::kShapeMismatch},
      {"gru_cell", "[2,3]float32 [2,4]float32 [12,5]float32 [12,4]float32", Reason::kShapeMismatch},
      {"gru_cell", "[2,3]float32 [2,4]float32 [12,3]float32 [12,4]float32 [12]float32",
       Reason::kShapeMismatch},
      {"forward", "mod='MyModel' [2,3]float32 [2,4]float32", Reason::kUnknownOp},
      {"forward", "[2,3]float32 [2,4]float32", Reason::kUnknownOp},
  });
}

TEST(Recurrent, TheClassIsTheModule) {
  OpCall call = MakeCall("forward", "[2,3]float32 [2,4]float32 [2,4]float32");
  call.mod = "LSTMCell";
  ASSERT_TRUE(PriceCall(call).price.has_value());
  EXPECT_EQ(PriceCall(call).price->params, "LSTM,B=2,I=3,H=4,fp32");
  call.mod = "Linear";
  EXPECT_EQ(PriceCall(call).reason, Reason::kUnknownOp);
}

// T = 5, B = 2, I = 3, H = 4.
TEST(Recurrent, PricesOfLayers) {
  CheckCases({
      // mma 2*10*112, vec 116*40; x 30, y 40, W 112, b 32, states 2*16 elements of 2 bytes.
      {"lstm",
       "[5,2,3]float16 hidden_size=4",
       "LSTM,T=5,B=2,I=3,H=4,L=1,fp16",
       {2240, 4640, 492},
       {Dgrad({2240, 0, 428}), Wgrad({2240, 0, 364}), Bgrad({0, 320, 64})}},
      // The sizes from the states.
      {"lstm",
       "[5,2,3]float16 [1,2,4]float16 [1,2,4]float16",
       "LSTM,T=5,B=2,I=3,H=4,L=1,fp16",
       {2240, 4640, 492},
       {Dgrad({2240, 0, 428}), Wgrad({2240, 0, 364}), Bgrad({0, 320, 64})}},
      // Another order of the same input: the states tell, or a flag.
      {"lstm",
       "[2,5,3]float16 [1,2,4]float16 [1,2,4]float16 bias=False",
       "LSTM,T=5,B=2,I=3,H=4,L=1,fp16",
       {2240, 4640, 428},
       {Dgrad({2240, 0, 428}), Wgrad({2240, 0, 364})}},
      {"lstm",
       "[2,5,3]float16 hidden_size=4 batch_first=True bias=False",
       "LSTM,T=5,B=2,I=3,H=4,L=1,fp16",
       {2240, 4640, 428},
       {Dgrad({2240, 0, 428}), Wgrad({2240, 0, 364})}},
      // Packed: the rows of all sequences.
      {"lstm",
       "[10,3]float16 [5]int64 [1,2,4]float16 [1,2,4]float16 bias=False",
       "LSTM,rows=10,B=2,I=3,H=4,L=1,fp16",
       {2240, 4640, 428},
       {Dgrad({2240, 0, 428}), Wgrad({2240, 0, 364})}},
      // One sequence of 5.
      {"lstm",
       "[5,3]float16 [1,4]float16 [1,4]float16 bias=False",
       "LSTM,T=5,B=1,I=3,H=4,L=1,fp16",
       {1120, 2320, 326},
       {Dgrad({1120, 0, 326}), Wgrad({1120, 0, 294})}},
      // Layers: W = 12 * 7 + 12 * 8 = 180; 2 * 24 biases.
      {"gru",
       "[5,2,3]float16 hidden_size=4 num_layers=2",
       "GRU,T=5,B=2,I=3,H=4,L=2,fp16",
       {3600, 5920, 660},
       {Dgrad({3600, 0, 564}), Wgrad({3600, 0, 500}), Bgrad({0, 480, 96})}},
      // Two directions: W = 2 * (12 * 7 + 12 * 12) = 456, y 80; 4 groups.
      {"gru",
       "[5,2,3]float16 hidden_size=4 num_layers=2 bidirectional=True bias=False",
       "GRU,T=5,B=2,I=3,H=4,L=2,bidirectional,fp16",
       {9120, 11840, 1260},
       {Dgrad({9120, 0, 1260}), Wgrad({9120, 0, 1132})}},
      // W = 16 * (3 + 2) + 2 * 4 = 88, y 20, h 4, c 8.
      {"lstm",
       "[5,2,3]float16 hidden_size=4 proj_size=2 bias=False",
       "LSTM,T=5,B=2,I=3,H=4,P=2,L=1,fp16",
       {1760, 4640, 324},
       {Dgrad({1760, 0, 324}), Wgrad({1760, 0, 276})}},
      {"lstm",
       "[5,2,3]float16 [1,2,2]float16 [1,2,4]float16 bias=False",
       "LSTM,T=5,B=2,I=3,H=4,P=2,L=1,fp16",
       {1760, 4640, 324},
       {Dgrad({1760, 0, 324}), Wgrad({1760, 0, 276})}},
      {"rnn_relu",
       "[5,2,3]float16 [1,2,4]float16 bias=False",
       "RNN,T=5,B=2,I=3,H=4,L=1,fp16",
       {560, 920, 228},
       {Dgrad({560, 0, 228}), Wgrad({560, 0, 196})}},
      {"lstm", "[5,2,3]float16", Reason::kUnsupportedArgs},
      // Two layers, or two directions.
      {"gru", "[5,2,3]float16 [2,2,4]float16", Reason::kUnsupportedArgs},
      {"gru", "[5,2,3]float16 [3,2,4]float16 num_layers=2", Reason::kShapeMismatch},
      {"gru", "[5,2,3]float16 [2,7,4]float16 num_layers=2", Reason::kShapeMismatch},
      {"gru", "[5,2,3]float16 hidden_size=4 proj_size=2", Reason::kShapeMismatch},
      {"gru", "[5,2,3]float16 hidden_size=4 num_layers=0", Reason::kUnsupportedArgs},
      {"gru", "[5,2,3]float16 hidden_size=-4", Reason::kUnsupportedArgs},
      {"gru", "[5,2,3]float16 hidden_size='4'", Reason::kUnsupportedArgs},
      {"gru", "[5,2,3]float16 [1,2,4]float16 hidden_size=5", Reason::kShapeMismatch},
      {"gru", "[5,2,3,1]float16 hidden_size=4", Reason::kShapeMismatch},
      {"gru", "[10,3]float16 [5]int64 hidden_size=4", Reason::kUnsupportedArgs},
      {"gru", "[5,2,3]float16 hidden_size=9223372036854775807", Reason::kCostOverflow},
      {"gru", "[5,2,3]float16 hidden_size=4 num_layers=9223372036854775807", Reason::kCostOverflow},
  });
}

PricedOp PriceOf(const OpCall& call) {
  const PriceResult result = PriceCall(call);
  EXPECT_TRUE(result.price.has_value()) << ReasonWord(result.reason);
  return result.price.value_or(PricedOp());
}

OpCall Native(std::string_view name, const std::string& args) {
  return MakeTorchCall(name, MakeCall(name, args).args);
}

constexpr const char* kOneGroup = "[16,3]half [16,4]half [16]half [16]half ";
constexpr const char* kTwoDirections =
    "[12,3]half [12,4]half [12]half [12]half [12,3]half [12,4]half [12]half [12]half ";
constexpr const char* kTwoLayers =
    "[12,3]half [12,4]half [12]half [12]half [12,4]half [12,4]half [12]half [12]half ";

struct NativeCase {
  std::string name;
  std::string args;
  std::string params;
  std::string python;  // The same in keywords.
  std::string python_args;
};

// As the dispatcher records them, with and without the values.
const std::vector<NativeCase> kNative = {
    {"aten::lstm",
     std::string("[5,2,3]half [1,2,4]half [1,2,4]half ") + kOneGroup +
         "True 1 0.0 True False False",
     "LSTM,T=5,B=2,I=3,H=4,L=1,fp16", "lstm", "[5,2,3]half hidden_size=4"},
    {"aten::lstm", std::string("[5,2,3]half [1,2,4]half [1,2,4]half ") + kOneGroup + "? ? ? ? ? ?",
     "LSTM,T=5,B=2,I=3,H=4,L=1,fp16", "lstm", "[5,2,3]half hidden_size=4"},
    {"aten::gru", std::string("[5,2,3]half [2,2,4]half ") + kTwoDirections + "True 1 0.0 True True",
     "GRU,T=5,B=2,I=3,H=4,L=1,bidirectional,fp16", "gru",
     "[5,2,3]half hidden_size=4 bidirectional=True"},
    {"aten::gru", std::string("[5,2,3]half [2,2,4]half ") + kTwoDirections,
     "GRU,T=5,B=2,I=3,H=4,L=1,bidirectional,fp16", "gru",
     "[5,2,3]half hidden_size=4 bidirectional=True"},
    {"aten::gru", std::string("[5,2,3]half [2,2,4]half ") + kTwoLayers,
     "GRU,T=5,B=2,I=3,H=4,L=2,fp16", "gru", "[5,2,3]half hidden_size=4 num_layers=2"},
    {"aten::gru",
     std::string("[10,3]half [5]int64 [2,2,4]half ") + kTwoLayers + "True 2 0.0 True False",
     "GRU,rows=10,B=2,I=3,H=4,L=2,fp16", "gru", "[5,2,3]half hidden_size=4 num_layers=2"},
    {"aten::_cudnn_rnn",
     std::string("[5,2,3]half ") + kOneGroup +
         "4 [144]half [1,2,4]half [1,2,4]half 2 4 0 1 False 0.0 True False [] ?",
     "LSTM,T=5,B=2,I=3,H=4,L=1,fp16", "lstm", "[5,2,3]half hidden_size=4"},
    {"aten::_cudnn_rnn",
     std::string("[5,2,3]half ") + kTwoLayers +
         "4 ? [2,2,4]half ? 3 4 0 2 False 0.0 True False [] ?",
     "GRU,T=5,B=2,I=3,H=4,L=2,fp16", "gru", "[5,2,3]half hidden_size=4 num_layers=2"},
    {"aten::_cudnn_rnn",
     std::string("[5,2,3]half ") + kTwoLayers + "? ? [2,2,4]half ? ? ? ? ? ? ? ? ? ? ?",
     "GRU,T=5,B=2,I=3,H=4,L=2,fp16", "gru", "[5,2,3]half hidden_size=4 num_layers=2"},
    {"aten::_cudnn_rnn", "[5,2,3]half ? ? ? [2,2,4]half ? 3 4 0 2 False 0.0 True False [] ?",
     "GRU,T=5,B=2,I=3,H=4,L=2,fp16", "gru", "[5,2,3]half hidden_size=4 num_layers=2"},
};

TEST(Recurrent, PricesOfTheDispatchersCalls) {
  for (const NativeCase& expected : kNative) {
    SCOPED_TRACE(expected.name + ' ' + expected.args);
    const PricedOp native = PriceOf(Native(expected.name, expected.args));
    const PricedOp python = PriceOf(MakeCall(expected.python, expected.python_args));
    EXPECT_EQ(native.params, expected.params);
    ASSERT_EQ(native.forward.size(), 1u);
    ASSERT_EQ(native.backward.size(), 3u);
    EXPECT_EQ(FiguresOf(native.forward[0].work), FiguresOf(python.forward[0].work));
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(FiguresOf(native.backward[i].work), FiguresOf(python.backward[i].work));
    }
  }
}

TEST(Recurrent, TheBackwardOfCudnn) {
  // Between the states and the mode: y, dY, dhy, dcy.
  const PricedOp price =
      PriceOf(Native("aten::_cudnn_rnn_backward",
                     std::string("[5,2,3]half ") + kOneGroup +
                         "4 [144]half [1,2,4]half [1,2,4]half [5,2,4]half [5,2,4]half ? ? "
                         "2 4 0 1 False 0.0 True False [] ? [9]uint8 ?"));
  const PricedOp lstm = PriceOf(MakeCall("lstm", "[5,2,3]half hidden_size=4"));
  EXPECT_TRUE(price.backward.empty());
  ASSERT_EQ(price.forward.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(price.forward[i].part, lstm.backward[i].part);
    EXPECT_EQ(FiguresOf(price.forward[i].work), FiguresOf(lstm.backward[i].work));
  }
  EXPECT_EQ(PriceCall(Native("aten::_cudnn_rnn_backward", "[5,2,3]half [16,3]half")).reason,
            Reason::kUnsupportedArgs);
}

TEST(Recurrent, WeightsOfOtherSizesDoNotFit) {
  for (const char* weights :
       {"[16,3]half [16,4]half [16]half", "[16,3]half", "[16]half [16]half",
        "[16,3]half [16,4]half [16]half [15]half", "[12,3]half [12,4]half [12]half [12]half",
        "[16,9]half [16,4]half [16]half [16]half"}) {
    const PriceResult result =
        PriceCall(Native("aten::lstm", std::string("[5,2,3]half [1,2,4]half [1,2,4]half ") +
                                           weights + " True 1 0.0 True False False"));
    EXPECT_FALSE(result.price.has_value()) << weights;
    EXPECT_EQ(result.reason, Reason::kShapeMismatch) << weights;
  }
}

// A step of a layer is a cell; the products of a stack are the sum over its layers.
TEST(Recurrent, LayersAreStepsOfCells) {
  const Checked step =
      PriceOf(MakeCall("forward", "mod='GRUCell' [7,16]half [7,32]half")).forward[0].work.mma;
  const Checked upper =
      PriceOf(MakeCall("forward", "mod='GRUCell' [7,32]half [7,32]half")).forward[0].work.mma;
  const PricedOp stack = PriceOf(MakeCall("gru", "[9,7,16]half hidden_size=32 num_layers=3"));
  EXPECT_EQ(stack.forward[0].work.mma, (step + upper * 2) * 9);
  EXPECT_EQ(stack.backward[0].work.mma, stack.forward[0].work.mma);
  EXPECT_EQ(stack.backward[1].work.mma, stack.forward[0].work.mma);
}

TEST(Recurrent, TheProductIsThatOfTheInput) {
  const PricedOp price = PriceOf(MakeCall("gru", "[5,2,3]half hidden_size=4"));
  EXPECT_TRUE(price.matmul_like);
  ASSERT_TRUE(price.product.has_value());
  EXPECT_EQ(price.product->kind, MatrixProduct::Kind::kRecurrent);
  EXPECT_EQ(price.product->m, 10);
  EXPECT_EQ(price.product->n, 12);
  EXPECT_EQ(price.product->k, 3);
  ASSERT_EQ(price.product->extents.size(), 3u);
  EXPECT_EQ(price.product->extents[0].extent, 2);
  EXPECT_EQ(price.product->extents[1].extent, 3);
  EXPECT_EQ(price.product->extents[2].extent, 4);
}

TEST(Recurrent, PricesOfFusedCells) {
  CheckCases({
      // Gates 2*32, c 8, biases 32, h and c 16, kept 32 elements.
      {"_thnn_fused_lstm_cell",
       "[2,16]float32 [2,16]float32 [2,4]float32 [16]float32 [16]float32",
       "B=2,H=4,fp32",
       {0, 928, 608},
       {}},
      {"_thnn_fused_lstm_cell",
       "[2,16]float32 [2,16]float32 [2,4]float32 None None",
       "B=2,H=4,fp32",
       {0, 928, 480},
       {}},
      // Gates 2*24, h 8, new 8, kept 40.
      {"_thnn_fused_gru_cell",
       "[2,12]float32 [2,12]float32 [2,4]float32",
       "B=2,H=4,fp32",
       {0, 592, 416},
       {}},
      {"_thnn_fused_gru_cell", "[2,16]float32 [2,16]float32 [2,4]float32", Reason::kShapeMismatch},
      {"_thnn_fused_gru_cell", "[2,12]float32 [2,12]float32 [4]float32", Reason::kShapeMismatch},
      {"_thnn_fused_gru_cell", "[2,12]float32 [2,12]float32", Reason::kUnsupportedArgs},
      {"_thnn_fused_lstm_cell", "[2,16]float32 [2,16]float32 [2,4]float32 [4]float32 None",
       Reason::kShapeMismatch},
  });
}

}  // namespace
}  // namespace oplens::ops::test::recurrent_test
