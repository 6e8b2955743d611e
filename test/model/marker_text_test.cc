#include "parse/model/marker_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oplens::marker_text_test {
namespace {

using namespace std::string_view_literals;
using testing::ElementsAre;
using testing::IsEmpty;

struct SeqCase {
  std::string_view text;
  std::string_view name;
  int64_t seq;
  bool backward;
};

TEST(ClassifyMarker, ReadsEveryGrammarOfSequenceNumbers) {
  const SeqCase cases[] = {
      // As the versions of PyTorch have written it.
      {"add_, seq=74", "add_", 74, false},
      {"MulBackward, stashed seq=128", "MulBackward", 128, true},
      {"MulBackward, stashed seq = 128", "MulBackward", 128, true},
      {"add_, seq = 74", "add_", 74, false},
      {"NllLossBackward, seq = 128", "NllLossBackward", 128, true},
      {"nll_loss_backward, seq = 0", "nll_loss_backward", 0, true},
      {"aten::addmm, seq = 13", "aten::addmm", 13, false},
      {"AddmmBackward0, seq = 13", "AddmmBackward0", 13, true},
      {"aten::addmm, seq = 13, op_id = 42", "aten::addmm", 13, false},
      {"AddmmBackward0, seq = 13, op_id = 97", "AddmmBackward0", 13, true},
      {"aten::mm, seq = 1, op_id = 2, sizes = [[3, 4], [], [4]]", "aten::mm", 1, false},
      {"aten::mm, seq = 1, op_id = 2, sizes = []", "aten::mm", 1, false},
      {"aten::mm, seq = 1, sizes = [[3]]", "aten::mm", 1, false},
      {"aten::mm, seq = 1, op_id = 2, input_op_ids = [(1,0), (0,-1)]", "aten::mm", 1, false},
      {"aten::mm, seq = 1, op_id = 2, sizes = [[1], []], input_op_ids = [(1,0)]", "aten::mm", 1,
       false},
      // Names may hold anything, marks included.
      {"Optimizer.step#SGD.step, seq = 5", "Optimizer.step#SGD.step", 5, false},
      {"a, b, seq = 7, seq = 8", "a, b, seq = 7", 8, false},
      {"x, sizes = [[9]], seq = 1, sizes = [[2]]", "x, sizes = [[9]]", 1, false},
      {"x, op_id = 3, seq = 1", "x, op_id = 3", 1, false},
      {"torch::autograd::SumBackward12, seq = 4", "torch::autograd::SumBackward12", 4, true},
      {"(anonymous namespace)::F\xff\n\"', seq = 4", "(anonymous namespace)::F\xff\n\"'", 4, false},
      {"stashed, seq = 3", "stashed", 3, false},
      {", seq = 3", "", 3, false},
      {"x, seq = 9223372036854775807", "x", INT64_MAX, false},
      {"x, seq = 007", "x", 7, false},
      // What says backward is how the name ends.
      {"MulBackward1, seq = 13", "MulBackward1", 13, true},
      {"_log_softmax_backward_data, seq = 3", "_log_softmax_backward_data", 3, false},
      {"MyBackwardHelper, seq = 3", "MyBackwardHelper", 3, false},
      {"backward2, seq = 3", "backward2", 3, false},
      {"backward, seq = 3", "backward", 3, true},
      {"Backward, seq = 3", "Backward", 3, true},
  };
  for (const SeqCase& c : cases) {
    const MarkerText marker = ClassifyMarker(c.text);
    EXPECT_EQ(marker.kind, MarkerKind::kSeq) << c.text;
    EXPECT_EQ(marker.name, c.name) << c.text;
    EXPECT_EQ(marker.seq, c.seq) << c.text;
    EXPECT_EQ(marker.backward, c.backward) << c.text;
    EXPECT_FALSE(marker.damaged);
  }
}

struct SizedCase {
  std::string_view text;
  std::string_view name;
  std::string_view sizes;
};

TEST(ClassifyMarker, FindsTheSizesOfOperators) {
  // Without a sequence number: outside of autograd, and operators inside of others.
  const SizedCase sized[] = {
      {"aten::mm, sizes = [[2, 3], [3, 4]]", "aten::mm", " [[2, 3], [3, 4]]"},
      {"aten::mm, op_id = 12, sizes = [[2, 3], [3, 4]]", "aten::mm", " [[2, 3], [3, 4]]"},
      {"mm, sizes = [[2, 3], [3, 4]]", "mm", " [[2, 3], [3, 4]]"},
      {"zoo::op, op_id = 1, sizes = [[]], input_op_ids = [(0,-1)]", "zoo::op", " [[]]"},
      {"aten::cat, op_id = 1, sizes = [[[2, 3], [2, 4]], []]", "aten::cat",
       " [[[2, 3], [2, 4]], []]"},
      {"aten::mm, op_id = 3", "aten::mm", ""},
      {"zoo::op, op_id = 3", "zoo::op", ""},
      {"aten::mm", "aten::mm", ""},
  };
  for (const SizedCase& c : sized) {
    const MarkerText marker = ClassifyMarker(c.text);
    EXPECT_EQ(marker.kind, MarkerKind::kOperator) << c.text;
    EXPECT_EQ(marker.name, c.name) << c.text;
    EXPECT_EQ(marker.sizes, c.sizes) << c.text;
    EXPECT_EQ(marker.seq, -1) << c.text;
    EXPECT_FALSE(marker.backward) << c.text;
  }
  EXPECT_TRUE(ClassifyMarker("aten::threshold_backward, op_id = 3").backward);
  const SizedCase numbered[] = {
      {"aten::mm, seq = 1, op_id = 2, sizes = [[3], []], input_op_ids = [(1,0)]", "aten::mm",
       " [[3], []]"},
      {"AddmmBackward0, seq = 3, sizes = [[2, 4]]", "AddmmBackward0", " [[2, 4]]"},
      {"aten::mm, seq = 1, op_id = 2", "aten::mm", ""},
  };
  for (const SizedCase& c : numbered) {
    const MarkerText marker = ClassifyMarker(c.text);
    EXPECT_EQ(marker.kind, MarkerKind::kSeq) << c.text;
    EXPECT_EQ(marker.sizes, c.sizes) << c.text;
  }
}

TEST(ClassifyMarker, TakesOtherTextsAsFree) {
  const std::string_view cases[] = {
      "",
      "forward",
      "x, seq = -1",
      "x, seq = 9223372036854775808",
      "AccumulateGrad, seq = 18446744073709551615",
      "x, seq = ",
      "x, seq = 1.5",
      "x, seq = 1 ",
      "x, seq = 1, ",
      "x, seq  = 1",
      "x, seq =  1",
      "x,seq = 1",
      "x, stashed  seq = 1",
      "x seq = 1",
      "seq = 1",
      "x, subseq = 1",
      "x, op_id = 3",
      "x, sizes = [[1, 2]]",
      "my block, op_id = 3, sizes = [[1, 2]]",
      "AddmmBackward0, op_id = 3, sizes = [[1, 2]]",
      "autograd::engine::evaluate_function: AddmmBackward0, op_id = 3, sizes = [[1, 2]]",
      "nccl:all_reduce, sizes = [[1, 2]]",
      "aten::mm, op_id = , sizes = [[1]]",
      "aten::cat, sizes = [[[[1]]]]",
      "mm",
      "Engine::run",
      "zoo::op",
      "x, seq = 1, op_id = ",
      "x, seq = 1, op_id = -3",
      "x, seq = 1, sizes = [1]",
      "x, seq = 1, sizes = [['a']]",
      "x, seq = 1, sizes = [[1.5]]",
      "x, seq = 1, sizes = [[1]",
      "x, seq = 1, sizes = [[1]] ]",
      "x, seq = 1, op_id=2, sizes = [[1]]",
      "x, seq = 1, input_op_ids = [(1,0)], sizes = [[1]]",
      "x, seq = 1, sizes = [[1]], op_id = 2",
      "42",
      "=",
      "]",
      "my layer:conv1",
      "Layer:conv1",
      " {'mod': 'm', 'op': 'o', 'args': []}",
      "\0, seq = x"sv,
  };
  for (const std::string_view text : cases) {
    const MarkerText marker = ClassifyMarker(text);
    EXPECT_EQ(marker.kind, MarkerKind::kFree) << text;
    EXPECT_EQ(marker.name.empty(), marker.op_id == 0) << text;
    EXPECT_EQ(marker.seq, -1) << text;
    EXPECT_FALSE(marker.backward) << text;
    EXPECT_FALSE(marker.damaged) << text;
  }
}

TEST(ClassifyMarker, ReadsTheNumbersOfCalls) {
  struct Case {
    std::string_view text;
    int64_t op_id;
    std::string_view name;
  };
  const Case cases[] = {
      {"aten::mm, seq = 1, op_id = 2, sizes = [[3], []], input_op_ids = [(1,0)]", 2, "aten::mm"},
      {"AddmmBackward0, seq = 13, op_id = 97", 97, "AddmmBackward0"},
      {"aten::mm, op_id = 12, sizes = [[2, 3], [3, 4]]", 12, "aten::mm"},
      {"my block, op_id = 3, sizes = [[1, 2]]", 3, "my block"},
      {"a, op_id = 3, op_id = 4", 4, "a, op_id = 3"},
      {"a, op_id = 0", 0, ""},
      {"a, op_id = 99999999999999999999", 0, ""},
      {"aten::mm, seq = 1", 0, "aten::mm"},
      {"CheckpointFunctionBackward, seq = 1, op_id = 4", 0, ""},
      {"layer:a, op_id = 4", 0, "a, op_id = 4"},
  };
  for (const Case& c : cases) {
    const MarkerText marker = ClassifyMarker(c.text);
    EXPECT_EQ(marker.op_id, c.op_id) << c.text;
    EXPECT_EQ(marker.name, c.name) << c.text;
  }
}

TEST(ClassifyMarker, TakesLayers) {
  for (const auto& [text, name] : {std::pair{"layer:Bottleneck_3"sv, "Bottleneck_3"sv},
                                   {"layer:"sv, ""sv},
                                   {"layer:a:b"sv, "a:b"sv},
                                   {"layer: x, seq = 3"sv, " x, seq = 3"sv}}) {
    const MarkerText marker = ClassifyMarker(text);
    EXPECT_EQ(marker.kind, MarkerKind::kLayer);
    EXPECT_EQ(marker.name, name);
  }
}

TEST(ClassifyMarker, IgnoresCheckpointNodes) {
  for (const std::string_view text :
       {"CheckpointFunctionBackward, seq = 3", "torch::autograd::CheckpointFunctionBackward",
        "layer:CheckpointFunctionBackward",
        "{'mod': 'm', 'op': 'CheckpointFunctionBackward', 'args': []}",
        "{CheckpointFunctionBackward"}) {
    EXPECT_EQ(ClassifyMarker(text).kind, MarkerKind::kIgnored) << text;
    EXPECT_FALSE(ClassifyMarker(text).damaged);
  }
  EXPECT_EQ(ClassifyMarker("CheckpointFunction, seq = 3").kind, MarkerKind::kSeq);
}

TEST(ClassifyMarker, TakesOps) {
  for (const std::string_view text :
       {"{'mod': 'torch', 'op': 'mm', 'args': [{'name': '', 'type': 'int', 'value': 1}]}"sv,
        "{'args': (), 'oplens': {'seq': 3}, 'op': \"mm\", 'mod': \"torch\", }"sv,
        R"({'op': 'm\x6d', 'mod': '\164orch', 'args': []})"sv,
        // More keys do not make it something else.
        "{'mod': 'torch', 'op': 'mm', 'args': [], 'traceMarker': ['a:1'], 'strRepr': ''}"sv}) {
    const MarkerText marker = ClassifyMarker(text);
    EXPECT_EQ(marker.kind, MarkerKind::kOp) << text;
    EXPECT_EQ(marker.mod, "torch") << text;
    EXPECT_EQ(marker.op, "mm") << text;
    EXPECT_THAT(marker.frames, IsEmpty());
  }
}

TEST(ClassifyMarker, TakesCallStacksWithoutTheFramework) {
  const std::string_view text =
      "{'traceMarker': ['train.py:10', '/lib/torch/nn/modules/module.py:722', '/x/net.py:20', "
      "'/lib/torch/nn/functional.py:1', '/lib/torch/tensor.py:1', '/lib/torch/_tensor.py:1', "
      "'/lib/torch/autograd/__init__.py:1', '/lib/torch/_jit_internal.py:1', "
      "'/lib/pyprof/nvtx/nvmarker.py:1', '/lib/apex/optimizers/fused_adam.py:1', "
      "'/lib/torch/_utils.py:1', '/lib/torch/optim/adam.py:1', '/lib/torch/utils/data.py:3', "
      "'torch/nn/modules/relative.py:4', '/lib//torch/optim/x.py:5', '/'], 'funcStack': '/a'}";
  const MarkerText marker = ClassifyMarker(text);
  EXPECT_EQ(marker.kind, MarkerKind::kTrace);
  EXPECT_THAT(marker.frames,
              ElementsAre("train.py:10", "/x/net.py:20", "/lib/torch/utils/data.py:3",
                          "torch/nn/modules/relative.py:4", "/"));
  EXPECT_THAT(marker.storage, IsEmpty());
  EXPECT_EQ(ClassifyMarker("{'traceMarker': []}").kind, MarkerKind::kTrace);
}

TEST(ClassifyMarker, TakesModuleParameters) {
  EXPECT_EQ(ClassifyMarker("{'mod': 'LSTM', 'strRepr': '512, 512, num_layers=2'}").kind,
            MarkerKind::kRepr);
  EXPECT_EQ(ClassifyMarker("{'strRepr': ''}").kind, MarkerKind::kRepr);
  EXPECT_EQ(ClassifyMarker("{'mod': 'LSTM', 'strRepr': ''}").mod, "");
}

// Decoded texts live in the result and must survive its being moved.
TEST(ClassifyMarker, KeepsDecodedTexts) {
  std::vector<MarkerText> markers;
  for (int i = 0; i < 100; ++i) {
    markers.push_back(
        ClassifyMarker(R"({'traceMarker': ['\x61', 'plain', '\u20ac\udcff', 'b\n']})"));
    markers.push_back(ClassifyMarker(R"({'mod': '\x61', 'op': 'it\'s', 'args': []})"));
  }
  for (size_t i = 0; i < markers.size(); i += 2) {
    EXPECT_THAT(markers[i].frames, ElementsAre("a", "plain", "\xe2\x82\xac\xff", "b\n"));
    EXPECT_EQ(markers[i + 1].mod, "a");
    EXPECT_EQ(markers[i + 1].op, "it's");
  }
}

TEST(ClassifyMarker, TellsDamageFromOtherDicts) {
  for (const std::string_view text :
       {"{"sv, "{}x"sv, "{'mod': 'm', 'op': 'o', 'args': ["sv,
        "{'mod': 'm', 'op': 'o', 'args': [}]"sv, "{set}"sv, "{'a'}"sv, "{'mod': os.system('x')}"sv,
        "{'a': 'b\0'}"sv, "{'a': 'b\n'}"sv, "{'traceMarker': ['a', 'b}"sv,
        R"({'mod': '\x6', 'op': 'o', 'args': []})"sv}) {
    const MarkerText marker = ClassifyMarker(text);
    EXPECT_EQ(marker.kind, MarkerKind::kFree) << text;
    EXPECT_TRUE(marker.damaged) << text;
    EXPECT_THAT(marker.frames, IsEmpty());
    EXPECT_THAT(marker.storage, IsEmpty());
    EXPECT_EQ(marker.mod, "");
  }
  for (const std::string_view text :
       {"{}", "{1: 2}", "{1: 2, 'mod': 'm', 'op': 'o', 'args': []}", "{'a': 1}", "{'mod': 'm'}",
        "{'mod': 'm', 'op': 'o'}", "{'mod': 'm', 'args': []}", "{'op': 'o', 'args': []}",
        "{'mod': 1, 'op': 'o', 'args': []}", "{'mod': 'm', 'op': None, 'args': []}",
        "{'mod': 'm', 'op': 'o', 'args': {}}", "{'mod': 'm', 'op': 'o', 'args': 'x'}",
        "{'traceMarker': 'x'}", "{'traceMarker': [1]}", "{'traceMarker': ['a', None]}",
        "{'strRepr': 3}", "{'Module': 'top.layers.0', 'Inputs': [[2, 8]]}"}) {
    const MarkerText marker = ClassifyMarker(text);
    EXPECT_EQ(marker.kind, MarkerKind::kFree) << text;
    EXPECT_FALSE(marker.damaged) << text;
    EXPECT_THAT(marker.frames, IsEmpty()) << text;
    EXPECT_EQ(marker.mod, "") << text;
    EXPECT_EQ(marker.op, "") << text;
  }
}

TEST(ClassifyMarker, SurvivesHostileTexts) {
  const std::string deep(1000000, '{');
  EXPECT_TRUE(ClassifyMarker(deep).damaged);
  const std::string brackets = "x, seq = 1, sizes = " + std::string(1000000, '[') + "]";
  EXPECT_EQ(ClassifyMarker(brackets).kind, MarkerKind::kFree);
  const std::string marks = [] {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += ", sizes = [], seq = 1";
    return text;
  }();
  const MarkerText marker = ClassifyMarker(marks);
  EXPECT_EQ(marker.kind, MarkerKind::kSeq);
  EXPECT_EQ(marker.name.size(), marks.size() - 9);
  const std::string long_name(1000000, 'x');
  EXPECT_EQ(ClassifyMarker(long_name + ", seq = 7").name.size(), long_name.size());
  const std::string digits(1000000, '7');
  EXPECT_EQ(ClassifyMarker("x, seq = " + digits).kind, MarkerKind::kFree);
}

// ---- markers of nvtx_annotate ----

TEST(ClassifyMarker, ReadsWhatAnOpOfOursTells) {
  const MarkerText marker = ClassifyMarker(
      "{'mod': 'torch', 'op': 'mm', 'args': [], 'oplens': {'v': 1, 'type': 'op', 'seq': 13, 'tid': "
      "4, "
      "'ftid': 0, 'dir': 'f', 'aten': 'aten::mm', 'new': [1, {'x': 2}]}}");
  EXPECT_EQ(marker.kind, MarkerKind::kOp);
  EXPECT_EQ(marker.op, "mm");
  EXPECT_EQ(marker.seq, 13);
  EXPECT_EQ(marker.thread, 4);
  EXPECT_EQ(marker.direction, 'f');
  EXPECT_FALSE(marker.backward);
}

TEST(ClassifyMarker, ReadsNodes) {
  const MarkerText marker = ClassifyMarker(
      "{'oplens': {'v': 1, 'seq': 13, 'tid': 4, 'ftid': 1, 'dir': 'b', 'node': 'MulBackward1'}}");
  EXPECT_EQ(marker.kind, MarkerKind::kNode);
  EXPECT_EQ(marker.name, "MulBackward1");
  EXPECT_EQ(marker.seq, 13);
  EXPECT_EQ(marker.thread, 4);
  EXPECT_EQ(marker.forward_thread, 1);
  EXPECT_TRUE(marker.backward);
}

TEST(ClassifyMarker, OddFactsOfOursCostNothingElse) {
  const MarkerText op = ClassifyMarker(
      "{'mod': 'torch', 'op': 'mm', 'args': [], 'oplens': {'seq': 'x', 'tid': "
      "99999999999999999999, "
      "'dir': 'fb', 'aten': 3}}");
  EXPECT_EQ(op.kind, MarkerKind::kOp);
  EXPECT_EQ(op.seq, -1);
  EXPECT_EQ(op.thread, 0);
  EXPECT_EQ(op.direction, 0);
  EXPECT_EQ(ClassifyMarker("{'oplens': 3}").kind, MarkerKind::kFree);
  EXPECT_EQ(ClassifyMarker("{'oplens': {}}").kind, MarkerKind::kFree);
  EXPECT_EQ(ClassifyMarker("{'oplens': {'node': 3}}").kind, MarkerKind::kFree);
  EXPECT_EQ(ClassifyMarker("{'traceMarker': ['a:1'], 'oplens': {'seq': 3}}").seq, -1);
}

TEST(ClassifyMarker, DecodesLayersThatHoldNothingButEscapes) {
  EXPECT_EQ(ClassifyMarker("layer:caf%C3%A9.50%25%3A%61rgs").name, "caf\xc3\xa9.50%:args");
  EXPECT_EQ(ClassifyMarker("layer:50% of it").name, "50% of it");
  EXPECT_EQ(ClassifyMarker("layer:a%3").name, "a%3");
  EXPECT_EQ(ClassifyMarker("layer:a%3A%zz").name, "a%3A%zz");
}

}  // namespace
}  // namespace oplens::marker_text_test
