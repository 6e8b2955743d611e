// The texts that a tool sees of each kind of range, whichever way they reach it.

#include <gmock/gmock.h>

#include <cmath>
#include <complex>
#include <limits>

#include "nvtx_annotate/annotate.h"
#include "nvtx_annotate/marker_text.h"
#include "test/annotate/annotate_fixture.h"

namespace oplens::test::text_test {
namespace {

using annotate::Arg;
using annotate::DType;
using annotate::ForwardLink;
using annotate::OpName;
using annotate::Phase;
using annotate::ScopedBackward;
using annotate::ScopedForward;
using annotate::ScopedIteration;
using annotate::ScopedLayer;
using annotate::ScopedOp;
using annotate::ScopedPhase;
using annotate::ScopedRange;
using annotate::ScopedTrace;
using annotate::Tensor;
using ::testing::ElementsAre;

/// No call site.
OpName Name(const char* mod, const char* op) { return {mod, op, nullptr, 0}; }

class TextTest : public AnnotateTest {
 protected:
  /// The text of one argument of an op.
  static std::string EmitArg(const Arg& arg) {
    const std::vector<std::string> lines =
        EmitOutline([&] { const ScopedOp op(Name("torch", "op"), arg); });
    EXPECT_EQ(lines.size(), 1U);
    if (lines.size() != 1) return "";
    const size_t begin = lines[0].find('[') + 1;
    const size_t end = lines[0].rfind("], 'oplens'");
    return lines[0].substr(begin, end - begin);
  }
};

TEST_F(TextTest, OpWithTensors) {
  EXPECT_THAT(
      EmitOutline([] {
        const ScopedOp op({"torch", "addmm", "net.py", 20}, Tensor({32}, DType::kFloat32),
                          Tensor({64, 128}, DType::kFloat16), Tensor({128, 32}, DType::kBFloat16));
      }),
      ElementsAre("{'traceMarker': ['net.py:20']}",
                  "  " + OpDict("torch", "addmm",
                                "{'name': '', 'type': 'tensor', 'shape': (32,), 'dtype': "
                                "'float32'}, {'name': '', 'type': 'tensor', 'shape': (64, 128), "
                                "'dtype': 'float16'}, {'name': '', 'type': 'tensor', 'shape': "
                                "(128, 32), 'dtype': 'bfloat16'}")));
}

TEST_F(TextTest, CallSite) {
  const std::vector<std::string> lines = EmitOutline([] { const ScopedOp op({"torch", "relu"}); });
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], ::testing::MatchesRegex(
                            "\\{'traceMarker': \\['.*test/annotate/text_test.cc:[0-9]+'\\]\\}"));
}

TEST_F(TextTest, OpWithoutArguments) {
  EXPECT_THAT(EmitOutline([] { const ScopedOp op(Name("torch", "sync")); }),
              ElementsAre(OpDict("torch", "sync", "")));
  EXPECT_THAT(EmitOutline([] { const ScopedOp op(Name(nullptr, nullptr)); }),
              ElementsAre(OpDict("", "", "")));
}

TEST_F(TextTest, ForwardAndBackward) {
  EXPECT_THAT(EmitOutline([] {
                ForwardLink first;
                ForwardLink second;
                {
                  const ScopedForward op(Name("torch", "relu"));
                  first = op.link();
                }
                {
                  const ScopedForward op(Name("torch", "mm"));
                  second = op.link();
                }
                { const ScopedBackward node("MmBackward0", second); }
                { const ScopedBackward node("ReluBackward12", first); }
                { const ScopedBackward node("Alone"); }
              }),
              ElementsAre("{'mod': 'torch', 'op': 'relu', 'args': [], 'oplens': {'v': 1, 'type': "
                          "'op', 'seq': 0, 'tid': T1, 'ftid': 0, 'dir': 'f'}}",
                          "  relu, seq = 0",
                          "{'mod': 'torch', 'op': 'mm', 'args': [], 'oplens': {'v': 1, 'type': "
                          "'op', 'seq': 1, 'tid': T1, 'ftid': 0, 'dir': 'f'}}",
                          "  mm, seq = 1",
                          "{'oplens': {'v': 1, 'seq': 1, 'tid': T1, 'ftid': T1, 'dir': 'b', "
                          "'node': 'MmBackward0'}}",
                          "  MmBackward, seq = 1",
                          "{'oplens': {'v': 1, 'seq': 0, 'tid': T1, 'ftid': T1, 'dir': 'b', "
                          "'node': 'ReluBackward12'}}",
                          "  ReluBackward, seq = 0",
                          "{'oplens': {'v': 1, 'seq': -1, 'tid': T1, 'ftid': 0, 'dir': 'b', "
                          "'node': 'Alone'}}"));
}

TEST_F(TextTest, Layers) {
  EXPECT_THAT(
      EmitOutline([] {
        const ScopedLayer encoder("encoder");
        { const ScopedLayer attention("attn"); }
        { const ScopedLayer odd("a:b%c\n\xc3\xa9"); }
        const ScopedLayer last("mlp.0");
        const ScopedLayer none(nullptr);
      }),
      ElementsAre("layer:encoder", "  layer:encoder.attn", "  layer:encoder.a%3Ab%25c%0A%C3%A9",
                  "  layer:encoder.mlp.0", "    layer:encoder.mlp.0."));
}

TEST_F(TextTest, LayersAfterAnotherAreNotInIt) {
  EXPECT_THAT(EmitOutline([] {
                { const ScopedLayer layer("a"); }
                const ScopedLayer layer("b");
              }),
              ElementsAre("layer:a", "layer:b"));
}

TEST_F(TextTest, IterationsAndPhases) {
  EXPECT_THAT(EmitOutline([] {
                const ScopedIteration step(7);
                { const ScopedPhase phase(Phase::kForward); }
                { const ScopedPhase phase(Phase::kBackward); }
                { const ScopedPhase phase(Phase::kOptimizer); }
                { const ScopedPhase phase(Phase::kData); }
                { const ScopedPhase phase(Phase::kCommunication); }
              }),
              ElementsAre("ProfilerStep#7", "  phase:forward", "  phase:backward",
                          "  phase:optimizer", "  phase:data", "  phase:communication"));
}

TEST_F(TextTest, IterationNumbers) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(EmitOutline([] {
                { const ScopedIteration step(0); }
                { const ScopedIteration step(kMax); }
                { const ScopedIteration step(kMin); }
              }),
              ElementsAre("ProfilerStep#0", "ProfilerStep#9223372036854775807",
                          "ProfilerStep#-9223372036854775808"));
}

TEST_F(TextTest, Traces) {
  const char* const frames[] = {"train.py:10", "it's.py:2", nullptr};
  EXPECT_THAT(EmitOutline([&] {
                { const ScopedTrace trace(frames, 3); }
                { const ScopedTrace trace(nullptr, 3); }
                const ScopedTrace trace(frames, 0);
              }),
              ElementsAre("{'traceMarker': ['train.py:10', 'it\\'s.py:2', '']}",
                          "{'traceMarker': []}", "{'traceMarker': []}"));
}

TEST_F(TextTest, TracesThatOldReadersWouldTakeForOps) {
  const char* const frames[] = {"/x/modules/optim/args_types.py:1", "args.py:2"};
  EXPECT_THAT(EmitOutline([&] { const ScopedTrace trace(frames, 2); }),
              ElementsAre("{'traceMarker': ['/x/modules/optim/\\x61rgs_types.py:1', "
                          "'\\x61rgs.py:2']}"));
  EXPECT_THAT(EmitOutline([] { const ScopedLayer layer("model.op.args.type"); }),
              ElementsAre("layer:model.op.%61rgs.type"));
  EXPECT_THAT(EmitOutline([] { const ScopedBackward node("mod_op_args_type"); }),
              ElementsAre("{'oplens': {'v': 1, 'seq': -1, 'tid': T1, 'ftid': 0, 'dir': 'b', "
                          "'node': 'mod_op_\\x61rgs_type'}}"));
}

TEST_F(TextTest, NamesThatOldReadersWouldTakeForOtherTexts) {
  EXPECT_THAT(
      EmitOutline([] {
        { const ScopedForward op(Name("", "mod_op_args_type")); }
        { const ScopedForward op(Name("", "layer:x")); }
        { const ScopedForward op(Name("", "{a=b, c}")); }
        { const ScopedForward op(Name("", "ns::op")); }
      }),
      ElementsAre(::testing::HasSubstr("'op': 'mod_op_args_type'"), "  mod_op__rgs_type, seq = 0",
                  ::testing::HasSubstr("'op': 'layer:x'"), "  layer_x, seq = 1",
                  ::testing::HasSubstr("'op': '{a=b, c}'"), "  _a_b_ c}, seq = 2",
                  ::testing::HasSubstr("'op': 'ns::op'"), "  op, seq = 3"));
}

TEST_F(TextTest, AnyText) {
  EXPECT_THAT(EmitOutline([] {
                { const ScopedRange range("load batch"); }
                { const ScopedRange range("\xc3\xa9 ' \\"); }
                const ScopedRange range("");
              }),
              ElementsAre("load batch", "\xc3\xa9 ' \\", ""));
}

TEST_F(TextTest, Scalars) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(EmitArg(kMin), "{'name': '', 'type': 'int', 'value': -9223372036854775808}");
  EXPECT_EQ(EmitArg(uint8_t{200}), "{'name': '', 'type': 'int', 'value': 200}");
  EXPECT_EQ(EmitArg(1.0), "{'name': '', 'type': 'float', 'value': 1.0}");
  EXPECT_EQ(EmitArg(0.5f), "{'name': '', 'type': 'float', 'value': 0.5}");
  EXPECT_EQ(EmitArg(1e300), "{'name': '', 'type': 'float', 'value': 1e+300}");
  EXPECT_EQ(EmitArg(-0.0), "{'name': '', 'type': 'float', 'value': -0.0}");
  EXPECT_EQ(EmitArg(std::numeric_limits<double>::infinity()),
            "{'name': '', 'type': 'float', 'value': 'inf'}");
  EXPECT_EQ(EmitArg(-std::numeric_limits<double>::infinity()),
            "{'name': '', 'type': 'float', 'value': '-inf'}");
  EXPECT_EQ(EmitArg(std::nan("")), "{'name': '', 'type': 'float', 'value': 'nan'}");
  EXPECT_EQ(EmitArg(true), "{'name': '', 'type': 'bool', 'value': True}");
  EXPECT_EQ(EmitArg(false), "{'name': '', 'type': 'bool', 'value': False}");
  EXPECT_EQ(EmitArg(nullptr), "{'name': '', 'type': 'NoneType', 'value': None}");
  EXPECT_EQ(EmitArg("mean"), "{'name': '', 'type': 'str', 'value': 'mean'}");
  EXPECT_EQ(EmitArg(std::string_view("a\0b", 3)),
            "{'name': '', 'type': 'str', 'value': 'a\\x00b'}");
  EXPECT_EQ(EmitArg(static_cast<const char*>(nullptr)), "{'name': '', 'type': 'str', 'value': ''}");
}

TEST_F(TextTest, ComplexNumbers) {
  EXPECT_EQ(EmitArg(std::complex<double>(1.5, 2)),
            "{'name': '', 'type': 'complex', 'value': '(1.5+2.0j)'}");
  EXPECT_EQ(EmitArg(std::complex<double>(-0.0, -1)),
            "{'name': '', 'type': 'complex', 'value': '(-0.0-1.0j)'}");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(EmitArg(std::complex<double>(-infinity, infinity)),
            "{'name': '', 'type': 'complex', 'value': '(-inf+infj)'}");
  EXPECT_EQ(EmitArg(std::complex<double>(std::nan(""), -std::nan(""))),
            "{'name': '', 'type': 'complex', 'value': '(nan+nanj)'}");
}

TEST_F(TextTest, Lists) {
  using annotate::FloatList;
  using annotate::IntList;
  using annotate::IntTuple;
  EXPECT_EQ(EmitArg(IntList({1, -2})), "{'name': '', 'type': 'list', 'value': [1, -2]}");
  EXPECT_EQ(EmitArg(IntList({})), "{'name': '', 'type': 'list', 'value': []}");
  EXPECT_EQ(EmitArg(IntList(nullptr, 3)), "{'name': '', 'type': 'list', 'value': []}");
  EXPECT_EQ(EmitArg(IntTuple({1, 1})), "{'name': '', 'type': 'tuple', 'value': (1, 1)}");
  EXPECT_EQ(EmitArg(IntTuple({1})), "{'name': '', 'type': 'tuple', 'value': (1,)}");
  EXPECT_EQ(EmitArg(IntTuple({})), "{'name': '', 'type': 'tuple', 'value': ()}");
  EXPECT_EQ(EmitArg(FloatList({0.5, 2, std::nan("")})),
            "{'name': '', 'type': 'list', 'value': [0.5, 2.0, 'nan']}");
  const uint8_t flags[] = {1, 0};
  oplens_arg bools = {};
  bools.kind = OPLENS_BOOL_LIST;
  bools.count = 2;
  bools.value.bytes = flags;
  EXPECT_EQ(EmitArg(Arg(bools)), "{'name': '', 'type': 'list', 'value': [True, False]}");
}

TEST_F(TextTest, TensorsOfAllSorts) {
  const std::string head = "{'name': '', 'type': 'tensor', 'shape': ";
  EXPECT_EQ(EmitArg(Tensor({}, DType::kFloat32)), head + "(), 'dtype': 'float32'}");
  EXPECT_EQ(EmitArg(Tensor(nullptr, 0, DType::kInt64)), head + "(), 'dtype': 'int64'}");
  EXPECT_EQ(EmitArg(Tensor({0, 4}, DType::kBool)), head + "(0, 4), 'dtype': 'bool'}");
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(EmitArg(Tensor({kMax, 1}, DType::kUnknown)),
            head + "(9223372036854775807, 1), 'dtype': ''}");
  EXPECT_EQ(EmitArg(Tensor(nullptr, 2, DType::kFloat32)),
            "{'name': '', 'type': 'NoneType', 'value': None}");
}

TEST_F(TextTest, DataTypes) {
  const char* const names[] = {"",
                               "bool",
                               "uint8",
                               "int8",
                               "uint16",
                               "int16",
                               "uint32",
                               "int32",
                               "uint64",
                               "int64",
                               "float16",
                               "bfloat16",
                               "float32",
                               "float64",
                               "complex32",
                               "complex64",
                               "complex128",
                               "float8_e4m3fn",
                               "float8_e5m2",
                               "float8_e4m3fnuz",
                               "float8_e5m2fnuz",
                               "float8_e8m0fnu",
                               "float4_e2m1fn_x2",
                               "qint8",
                               "quint8",
                               "qint32",
                               "quint4x2",
                               "quint2x4",
                               "int4",
                               "uint4"};
  ASSERT_EQ(std::size(names), size_t{OPLENS_UINT4} + 1);
  for (size_t i = 0; i < std::size(names); ++i) {
    EXPECT_STREQ(markers::DTypeName(static_cast<unsigned>(i)), names[i]);
    EXPECT_EQ(
        EmitArg(Tensor({1}, static_cast<DType>(i))),
        "{'name': '', 'type': 'tensor', 'shape': (1,), 'dtype': '" + std::string(names[i]) + "'}");
  }
  EXPECT_EQ(EmitArg(Tensor({1}, static_cast<DType>(30))),
            "{'name': '', 'type': 'tensor', 'shape': (1,), 'dtype': ''}");
}

TEST_F(TextTest, KeywordsAndListsOfTensors) {
  EXPECT_THAT(EmitOutline([] {
                const ScopedOp op(Name("torch", "cat"), Tensor({2}, DType::kFloat32).InList(1),
                                  Tensor({3}, DType::kFloat32).InList(1), Arg(0).Named("dim"));
              }),
              ElementsAre(OpDict(
                  "torch", "cat",
                  "{'name': '', 'type': 'tensor', 'shape': (2,), 'dtype': 'float32', 'list': 1}, "
                  "{'name': '', 'type': 'tensor', 'shape': (3,), 'dtype': 'float32', 'list': 1}, "
                  "{'name': 'dim', 'type': 'int', 'value': 0}")));
}

TEST_F(TextTest, OtherThings) {
  oplens_arg other = {};
  other.kind = OPLENS_OTHER;
  other.value.text = "Generator";
  other.count = 9;
  EXPECT_EQ(EmitArg(Arg(other)), "{'name': '', 'type': 'Generator', 'value': None}");
  other.value.text = nullptr;
  EXPECT_EQ(EmitArg(Arg(other)), "{'name': '', 'type': 'object', 'value': None}");
  other.kind = 99;  // Of a later version.
  EXPECT_EQ(EmitArg(Arg(other)), "{'name': '', 'type': 'NoneType', 'value': None}");
}

TEST_F(TextTest, WhichWayTheyWent) {
  const NvtxRanges ranges = Emit([] {
    const ScopedLayer layer("net");
    const ScopedForward op({"torch", "mm", "net.py", 3});
  });
  ASSERT_EQ(ranges.ranges.size(), 4U);
  const std::string domain = TakesPayloads() ? "oplens" : "";
  EXPECT_EQ(ranges.ranges[0].domain, "");
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(ranges.ranges[i].domain, domain);
    EXPECT_EQ(ranges.ranges[i].rendered, TakesPayloads());
  }
}

TEST_F(TextTest, NameIsRegisteredOnce) {
  if (!TakesPayloads()) GTEST_SKIP() << "of payloads";
  const auto registered = [](const std::string& wanted) {
    int count = 0;
    for (const NvtxEvent& event : Capture().events) {
      if (event.kind != NvtxEvent::Kind::kPush) continue;
      EXPECT_TRUE(event.registered);
      if (event.text == wanted) ++count;
    }
    return count;
  };
  // The same text in two places is one name.
  const std::string copy = "mm";
  Emit([&] {
    { const ScopedOp op(Name("torch", "mm")); }
    { const ScopedOp op(Name("torch", copy.c_str())); }
    { const ScopedOp op(Name("a.b", "c.d")); }
  });
  EXPECT_EQ(registered("torch.mm"), 2);
  EXPECT_EQ(registered("a.b.c%2Ed"), 1);
}

TEST_F(TextTest, NumberForToolsThatShowOne) {
  if (TakesPayloads()) GTEST_SKIP() << "of texts";
  Emit([] {
    { const ScopedForward op(Name("torch", "mm")); }
    { const ScopedForward op(Name("torch", "mm")); }
  });
  std::vector<int64_t> numbers;
  for (const NvtxEvent& event : Capture().events) {
    if (const auto* number = std::get_if<int64_t>(&event.number)) numbers.push_back(*number);
  }
  EXPECT_THAT(numbers, ElementsAre(0, 1));
}

}  // namespace
}  // namespace oplens::test::text_test
