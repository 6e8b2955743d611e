#include "parse/execution/execution_traces.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "test/parse/hand_trace.h"
#include "test/support/test_files.h"

namespace oplens::parse::execution_traces_test {
namespace {

using test::TestDir;
using test::WriteFile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A node as a test writes it down.
struct Node {
  std::string name;
  int64_t number = 0;
  int64_t sequence = -1;
  std::string values = "[]";
  std::string shapes = "[]";
  std::string types = "[]";
  int64_t scope = 0;
  int64_t forward_thread = 0;
};

/// The generations of the format.
enum class Generation {
  kMembers,  ///< "1.0.1" of PyTorch 1.13 and 2.0.
  kChakra,   ///< "1.0.2-chakra.0.0.4" and "1.0.3-chakra.0.0.4".
  kStrides,  ///< "1.1.0-chakra.0.0.4" and later.
};

std::string Schema(Generation generation) {
  switch (generation) {
    case Generation::kMembers:
      return "1.0.1";
    case Generation::kChakra:
      return "1.0.2-chakra.0.0.4";
    case Generation::kStrides:
      break;
  }
  return "1.1.1-chakra.0.0.4";
}

std::string Text(const Node& node, Generation generation) {
  if (generation == Generation::kMembers) {
    return fmt::format(R"j(
    {{
      "name": "{}", "id": {}, "rf_id": {}, "parent": 2, "fw_parent": 0, "seq_id": {}, "scope": {}, "tid": 1, "fw_tid": {}, "op_schema": "",
      "inputs": {}, "input_shapes": {}, "input_types": {},
      "outputs": [], "output_shapes": [], "output_types": []
    }})j",
                       node.name, node.number + 100, node.number, node.sequence, node.scope,
                       node.forward_thread, node.values, node.shapes, node.types);
  }
  const char* const strides = generation == Generation::kStrides ? R"j(, "strides": [])j" : "";
  return fmt::format(R"j(
    {{
      "id": {}, "name": "{}", "ctrl_deps": 2,
      "inputs": {{"values": {}, "shapes": {}, "types": {}{}}},
      "outputs": {{"values": [], "shapes": [], "types": []{}}},
      "attrs": [{{"name": "rf_id", "type": "uint64", "value": {}}},{{"name": "fw_parent", "type": "uint64", "value": 0}},{{"name": "seq_id", "type": "int64", "value": {}}},{{"name": "scope", "type": "uint64", "value": {}}},{{"name": "tid", "type": "uint64", "value": 1}},{{"name": "fw_tid", "type": "uint64", "value": {}}},{{"name": "op_schema", "type": "string", "value": ""}}]
    }})j",
                     node.number + 100, node.name, node.values, node.shapes, node.types, strides,
                     strides, node.number, node.sequence, node.scope, node.forward_thread);
}

constexpr int64_t kProcess = 10;  // Of HandTrace.

std::string Document(const std::vector<Node>& nodes, Generation generation = Generation::kMembers,
                     int64_t process_id = kProcess) {
  std::string text = fmt::format(
      "{{\n  \"schema\": \"{}\", \"pid\": {}, \"time\": \"2026-01-02 03:04:05\", \"start_ts\": 1,\n"
      "  \"nodes\": [",
      Schema(generation), process_id);
  text += Text({.name = "[pytorch|profiler|execution_trace|thread]", .scope = 7}, generation);
  for (const Node& node : nodes) text += "," + Text(node, generation);
  return text + "\n  ],\n  \"finish_ts\": 2\n}";
}

const Node kAddmm = {.name = "aten::addmm",
                     .number = 17,
                     .sequence = 3,
                     .values =
                         R"j([[4,5,0,4,2,"cuda:0"],[6,7,0,24,2,"cuda:0"],[8,9,0,12,2,"cuda:0"],)j"
                         R"j(1,0.500000])j",
                     .shapes = "[[4],[8,3],[3,4],[],[]]",
                     .types = R"j(["Tensor(c10::Half)","Tensor(c10::Half)","Tensor(c10::Half)",)j"
                              R"j("Int","Double"])j"};
constexpr std::string_view kAddmmRange =
    "aten::addmm, seq = 3, op_id = 17, sizes = [[4], [8, 3], [3, 4], [], []], input_op_ids = "
    "[(0,-1), (0,-1), (2,0), (0,-1), (0,-1)]";

class ExecutionTracesTest : public HandTrace {
 protected:
  std::string Write(const std::string& text, const std::string& name = "et.json") {
    const std::filesystem::path path = TestDir() / name;
    WriteFile(path, text);
    return path.string();
  }
  /// Completes the trace with files; what is said of those that were of no use.
  std::vector<std::string> Complete(const std::vector<std::string>& paths, size_t profiles = 1) {
    ExecutionTraces traces(paths, profiles);
    traces.Complete(&trace_, &diagnostics_);
    return traces.Unused();
  }
  std::vector<std::string> Complete(const std::vector<Node>& nodes) {
    return Complete({Write(Document(nodes))});
  }
  /// The call of the i-th range; "-" where it is no operator's.
  std::string CallOf(size_t i) const {
    const oplens::Range& range = trace_.ranges[i];
    if (range.kind != RangeKind::kOperator) return "-";
    return std::string(trace_.strings.View(trace_.OperatorOf(range)->call));
  }
  /// The arguments of a call of "zoo::op" as text.
  std::string Arguments(const std::string& values, const std::string& shapes,
                        const std::string& types) {
    trace_ = Trace();
    trace_.threads = {{kProcess, 100}};
    Range(0, 9, "zoo::op, op_id = 1");
    Complete(
        {Node{.name = "zoo::op", .number = 1, .values = values, .shapes = shapes, .types = types}});
    const std::string call = CallOf(0);
    const std::string begin = "{'mod': 'zoo', 'op': 'op', 'args': [";
    return call.starts_with(begin) ? call.substr(begin.size()) : call;
  }
};

TEST_F(ExecutionTracesTest, EveryGeneration) {
  for (const Generation generation :
       {Generation::kMembers, Generation::kChakra, Generation::kStrides}) {
    trace_ = Trace();
    trace_.threads = {{kProcess, 100}};
    Range(0, 9, kAddmmRange);
    EXPECT_THAT(Complete({Write(Document({kAddmm}, generation))}), IsEmpty());
    ASSERT_EQ(trace_.ranges[0].kind, RangeKind::kOperator) << Schema(generation);
    EXPECT_EQ(trace_.strings.View(trace_.ranges[0].text), "aten::addmm");
    const Operator& op = trace_.operators.at(trace_.ItemOf(trace_.ranges[0]));
    EXPECT_EQ(trace_.strings.View(op.call),
              "{'mod': 'torch', 'op': 'addmm', 'args': ["
              "{'name': '', 'type': 'tensor', 'shape': (4,), 'dtype': 'float16'}, "
              "{'name': '', 'type': 'tensor', 'shape': (8, 3), 'dtype': 'float16'}, "
              "{'name': '', 'type': 'tensor', 'shape': (3, 4), 'dtype': 'float16'}, "
              "{'name': 'beta', 'type': 'int', 'value': 1}, "
              "{'name': 'alpha', 'type': 'float', 'value': 0.5}]}");
    EXPECT_EQ(op.sequence, 3);
    EXPECT_FALSE(op.backward);
    EXPECT_FALSE(diagnostics_.Damaged());
  }
}

TEST_F(ExecutionTracesTest, NodesHaveTheirForwardThread) {
  Range(0, 9, "AddmmBackward0, seq = 3, op_id = 30, sizes = [[8, 4]]");
  Range(1, 8, "torch::autograd::CopySlices, seq = 4, op_id = 31");
  Range(2, 7, "aten::threshold_backward, op_id = 32, sizes = [[8, 4]]");
  const Node inner = {.name = "aten::threshold_backward",
                      .number = 32,
                      .values = R"j([[4,5,0,32,4,"cpu"]])j",
                      .shapes = "[[8,4]]",
                      .types = R"j(["Tensor(float)"])j"};
  Complete({Node{.name = "AddmmBackward0",
                 .number = 30,
                 .sequence = 3,
                 .values = R"j([[4,5,0,32,4,"cpu"]])j",
                 .shapes = "[[8,4]]",
                 .types = R"j(["Tensor(float)"])j",
                 .scope = 1,
                 .forward_thread = 1},
            Node{.name = "torch::autograd::CopySlices",
                 .number = 31,
                 .sequence = 4,
                 .scope = 1,
                 .forward_thread = 2},
            inner});
  ASSERT_EQ(trace_.operators.size(), 3u);
  for (size_t i = 0; i < 2; ++i) {
    const Operator& node = *trace_.OperatorOf(trace_.ranges[i]);
    EXPECT_EQ(node.call, 0u);
    EXPECT_TRUE(node.backward);
    EXPECT_EQ(node.sequence, 3 + static_cast<int64_t>(i));
    EXPECT_EQ(node.forward_thread, 1 + static_cast<int32_t>(i));
  }
  // As its range without an execution trace.
  EXPECT_THAT(CallOf(2), HasSubstr("threshold_backward"));
  EXPECT_TRUE(trace_.OperatorOf(trace_.ranges[2])->backward);
}

// What these say stands in their texts.
TEST_F(ExecutionTracesTest, LabelsStayWhatTheyAre) {
  Range(0, 9, "my block, op_id = 1, sizes = [[]]");
  Range(1, 8, "autograd::engine::evaluate_function: AddmmBackward0, op_id = 2");
  Range(2, 7, "torch::autograd::AccumulateGrad, op_id = 3");
  Range(3, 6, "Optimizer.step#SGD.step, op_id = 4");
  Range(4, 5, "mine.Square, op_id = 5, sizes = [[2]]");
  const std::string tensor = R"j([[4,5,0,2,4,"cpu"]])j";
  Complete({Node{.name = "my block",
                 .number = 1,
                 .values = R"j(["an argument"])j",
                 .shapes = "[[]]",
                 .types = R"j(["String"])j",
                 .scope = 7},
            Node{.name = "autograd::engine::evaluate_function: AddmmBackward0", .number = 2},
            Node{.name = "torch::autograd::AccumulateGrad", .number = 3, .scope = 1},
            Node{.name = "Optimizer.step#SGD.step", .number = 4, .scope = 7},
            Node{.name = "mine.Square",
                 .number = 5,
                 .values = tensor,
                 .shapes = "[[2]]",
                 .types = R"j(["Tensor(float)"])j"}});
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(trace_.ranges[i].kind, RangeKind::kMarker) << i;
  // A function of the user, with its tensors, is a call.
  EXPECT_THAT(CallOf(4), HasSubstr("'op': 'mine.Square'"));
  EXPECT_EQ(diagnostics_.Render("t"), "");
}

TEST_F(ExecutionTracesTest, ArgumentsOfEveryType) {
  EXPECT_EQ(Arguments(R"j([7,0.250000,true,"sum","<None>","cuda:0"])j", "[[],[],[],[],[],[]]",
                      R"j(["Int","Double","Bool","String","None","Device"])j"),
            "{'name': '', 'type': 'int', 'value': 7}, {'name': '', 'type': 'float', 'value': 0.25}"
            ", {'name': '', 'type': 'bool', 'value': True}, {'name': '', 'type': 'str', 'value': "
            "'sum'}]}");
  EXPECT_EQ(
      Arguments(R"j(["inf","-inf","nan"])j", "[[],[],[]]", R"j(["Double","Double","Double"])j"),
      "{'name': '', 'type': 'float', 'value': 'inf'}, {'name': '', 'type': 'float', 'value': "
      "'-inf'}, {'name': '', 'type': 'float', 'value': 'nan'}]}");
  EXPECT_EQ(Arguments("[[4,3],[],[true,false],[0.500000]]", "[[[],[]],[],[[],[]],[[]]]",
                      R"j(["GenericList[Int,Int]","GenericList[]","GenericList[Bool,Bool]",)j"
                      R"j("GenericList[Double]"])j"),
            "{'name': '', 'type': 'list', 'value': [4, 3]}, {'name': '', 'type': 'list', 'value': "
            "[]}, {'name': '', 'type': 'list', 'value': [1, 0]}, {'name': '', 'type': 'list', "
            "'value': [0.5]}]}");
  // A tensor without dimensions, and none.
  EXPECT_EQ(Arguments(R"j([[4,5,0,1,8,"cpu"],[6,0,0,0,0,""],1])j", "[[],[],[]]",
                      R"j(["Tensor(long)","Tensor(nullptr (uninitialized))","Int"])j"),
            "{'name': '', 'type': 'tensor', 'shape': (), 'dtype': 'int64'}, {'name': '', 'type': "
            "'NoneType', 'value': None}, {'name': '', 'type': 'int', 'value': 1}]}");
}

TEST_F(ExecutionTracesTest, ListsOfTensors) {
  EXPECT_EQ(
      Arguments(
          R"j([[[4,5,0,6,4,"cpu"],"<None>",[6,7,0,2,8,"cpu"]],[[8,9,0,1,4,"cpu"]]])j",
          "[[[2,3],[],[2]],[[1]]]",
          R"j(["GenericList[Tensor(float),None,Tensor(long)]","GenericList[Tensor(bool)]"])j"),
      "{'name': '', 'type': 'tensor', 'shape': (2, 3), 'dtype': 'float32', 'list': 1}, "
      "{'name': '', 'type': 'NoneType', 'value': None, 'list': 1}, "
      "{'name': '', 'type': 'tensor', 'shape': (2,), 'dtype': 'int64', 'list': 1}, "
      "{'name': '', 'type': 'tensor', 'shape': (1,), 'dtype': 'bool', 'list': 2}]}");
  EXPECT_EQ(Arguments(R"j([[[[4,5,0,6,4,"cpu"]],[[6,7,0,2,8,"cpu"]]]])j", "[[[[2,3]],[[2]]]]",
                      R"j(["GenericList[GenericList[Tensor(float)],GenericList[Tensor(long)]]"])j"),
            "{'name': '', 'type': 'tensor', 'shape': (2, 3), 'dtype': 'float32', 'list': 1}, "
            "{'name': '', 'type': 'tensor', 'shape': (2,), 'dtype': 'int64', 'list': 2}]}");
}

// No figure can be made of such calls.
TEST_F(ExecutionTracesTest, WhatTheFileDoesNotHoldIsCut) {
  EXPECT_THAT(Arguments(R"j([[4,0,0,0,0,""]])j", "[[]]", R"j(["Tensor(float)"])j"),
              HasSubstr("'oplens': {'cut': 1}"));
  std::string types = "GenericList[Int";
  std::string numbers = "1";
  std::string shapes = "[]";
  for (int i = 1; i < 4097; ++i) {
    types += ",Int";
    numbers += ",1";
    shapes += ",[]";
  }
  EXPECT_THAT(Arguments("[[" + numbers + "]]", "[[" + shapes + "]]", "[\"" + types + "]\"]"),
              HasSubstr("'oplens': {'cut': 1}"));
}

TEST_F(ExecutionTracesTest, ArgumentsThatDoNotFitAreBad) {
  const std::vector<std::vector<std::string>> cases = {
      {"[1]", "[]", R"j(["Int"])j"},
      {"[]", "[[]]", R"j(["Int"])j"},
      {"[1.5]", "[[]]", R"j(["Int"])j"},
      {R"j(["x"])j", "[[]]", R"j(["Double"])j"},
      {"[1]", "[[]]", R"j(["Bool"])j"},
      {"[1]", "[[]]", "[7]"},
      {"[1]", "[7]", R"j(["Tensor(float)"])j"},
      {"[1]", "[[-1]]", R"j(["Tensor(float)"])j"},
      {"[1]", "[[2]]", R"j(["Tensor(float"])j"},
      {"[[1,2]]", "[[[]]]", R"j(["GenericList[Int,Int]"])j"},
      {"[[1,2]]", "[[[],[]]]", R"j(["GenericList[Int,Int"])j"},
      {R"j([["x"]])j", "[[[]]]", R"j(["GenericList[Int]"])j"},
      {R"j([[[4,5,0,1,4,"cpu"],3]])j", "[[[1],[]]]", R"j(["GenericList[Tensor(float),Int]"])j"},
  };
  for (const auto& lists : cases) {
    diagnostics_ = Diagnostics();
    EXPECT_EQ(Arguments(lists[0], lists[1], lists[2]), "-") << lists[0] << lists[2];
    EXPECT_EQ(diagnostics_.CountOf(Reason::kBadNode), 1) << lists[0] << lists[2];
    // The range itself says as much as without the file.
    EXPECT_EQ(trace_.strings.View(trace_.ranges[0].text), "zoo::op, op_id = 1");
  }
}

TEST_F(ExecutionTracesTest, NodesThatAreNoneAreBad) {
  Range(0, 9, kAddmmRange);
  std::string text = Document({kAddmm});
  const size_t last = text.rfind("\n  ],");
  text.insert(last,
              R"j(,{"name": "x"},7,{"name": 5, "id": 1},{"id": 3, "attrs": {}, "inputs": 4},)j"
              R"j({"name": "aten::mm", "id": 9, "rf_id": "x", "seq_id": 1})j");
  EXPECT_THAT(Complete({Write(text)}), IsEmpty());
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadNode), 5);
  EXPECT_NE(CallOf(0), "-");
}

TEST_F(ExecutionTracesTest, TheProcessDiedBeforeTheEnd) {
  for (const Generation generation :
       {Generation::kMembers, Generation::kChakra, Generation::kStrides}) {
    Node second = kAddmm;
    second.number = 18;
    const std::string whole = Document({kAddmm, second}, generation);
    for (size_t size = whole.rfind("\n    {"); size + 1 < whole.size(); size += 13) {
      trace_ = Trace();
      trace_.threads = {{kProcess, 100}};
      Range(0, 9, kAddmmRange);
      diagnostics_ = Diagnostics();
      EXPECT_THAT(Complete({Write(whole.substr(0, size))}), IsEmpty()) << size;
      EXPECT_NE(CallOf(0), "-") << size;
      EXPECT_FALSE(diagnostics_.Damaged()) << size;
    }
    EXPECT_THAT(diagnostics_.Render("t"), HasSubstr("ends early"));
  }
}

// PyTorch 1.13 writes texts as they are.
TEST_F(ExecutionTracesTest, TextsThatAreNoJson) {
  Range(0, 9, kAddmmRange);
  Complete({Node{.name = "a \\ label\n", .number = 1, .scope = 7},
            Node{.name = "a \"quoted\" label", .number = 2, .scope = 7}, kAddmm});
  EXPECT_NE(CallOf(0), "-");
  EXPECT_EQ(diagnostics_.CountOf(Reason::kRepairedEvent), 2);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadNode), 0);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadEvent), 0);
}

TEST_F(ExecutionTracesTest, AnotherRunIsTold) {
  Range(0, 9, kAddmmRange);
  Range(10, 19, "aten::mm, op_id = 18, sizes = [[2, 3], [3, 4]]");
  Range(20, 29, "aten::mm, op_id = 19, sizes = [[2, 3], [3, 4]]");
  Range(30, 39, "aten::relu, op_id = 20");
  Node other_number = kAddmm;
  other_number.sequence = 4;
  const Node other_name = {.name = "aten::bmm", .number = 18};
  const Node other_sizes = {.name = "aten::mm",
                            .number = 19,
                            .values = R"j([[4,5,0,6,4,"cpu"],[4,5,0,9,4,"cpu"]])j",
                            .shapes = "[[2,3],[3,3]]",
                            .types = R"j(["Tensor(float)","Tensor(float)"])j"};
  EXPECT_THAT(Complete({other_number, other_name, other_sizes}),
              ElementsAre(HasSubstr("et.json: nothing of the execution trace was used: none of its "
                                    "3 calls is a range of the profile")));
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(CallOf(i), "-") << i;
  EXPECT_EQ(diagnostics_.CountOf(Reason::kOtherNode), 3);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kNoNode), 1);
  EXPECT_TRUE(diagnostics_.Damaged());
}

TEST_F(ExecutionTracesTest, AFilePerProcess) {
  trace_.threads = {{10, 100}, {20, 100}, {30, 100}};
  for (ThreadIndex thread = 0; thread < 3; ++thread) Range(0, 9, kAddmmRange, thread);
  Node other = kAddmm;
  other.types = R"j(["Tensor(float)","Tensor(float)","Tensor(float)","Int","Double"])j";
  const std::string first = Write(Document({kAddmm}, Generation::kMembers, 10), "10.json");
  const std::string second = Write(Document({other}, Generation::kStrides, 20), "20.json");
  const std::string stranger = Write(Document({other}, Generation::kStrides, 40), "40.json");
  EXPECT_THAT(Complete({second, stranger, first}),
              ElementsAre(HasSubstr("40.json: nothing of the execution trace was used: it is of "
                                    "process 40, which has no range of emit_nvtx")));
  EXPECT_THAT(CallOf(0), HasSubstr("float16"));
  EXPECT_THAT(CallOf(1), HasSubstr("float32"));
  EXPECT_EQ(CallOf(2), "-");
  // That of the third process may never have been written.
  EXPECT_EQ(diagnostics_.CountOf(Reason::kNoNode), 0);
}

TEST_F(ExecutionTracesTest, OfAContainer) {
  Range(0, 9, kAddmmRange);
  const std::string path = Write(Document({kAddmm}, Generation::kMembers, 1));
  // There may be another profile of the process that it is of.
  EXPECT_THAT(Complete({path}, 2), ElementsAre(HasSubstr("process 1")));
  EXPECT_EQ(CallOf(0), "-");
  EXPECT_THAT(Complete({path}), IsEmpty());
  EXPECT_NE(CallOf(0), "-");
}

TEST_F(ExecutionTracesTest, NumbersThatComeAgain) {
  Range(0, 9, kAddmmRange);
  Range(10, 19, kAddmmRange);
  EXPECT_THAT(Complete({kAddmm, kAddmm}), IsEmpty());
  EXPECT_NE(CallOf(0), "-");
  EXPECT_NE(CallOf(1), "-");
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadNode), 1);
}

TEST_F(ExecutionTracesTest, WithoutNumbersNothingIsUsed) {
  Range(0, 9, "aten::addmm, seq = 3");
  EXPECT_THAT(Complete({kAddmm}), ElementsAre(HasSubstr("no ranges of emit_nvtx")));
  EXPECT_EQ(CallOf(0), "-");
  EXPECT_EQ(diagnostics_.Render("t"), "");
}

TEST_F(ExecutionTracesTest, OtherFilesAreRefused) {
  const auto refusal = [&](const std::string& text) -> std::string {
    try {
      ExecutionTraces({Write(text)}, 1);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal(R"j({"traceEvents": []})j"), HasSubstr("is JSON, but no execution trace"));
  EXPECT_THAT(refusal("[1, 2]"), HasSubstr("is JSON, but no execution trace"));
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal("nothing of the kind"), HasSubstr("execution trace"));
  EXPECT_THROW(ExecutionTraces({"/nowhere/et.json"}, 1), Error);
  EXPECT_THROW(ExecutionTraces({TestDir().string()}, 1), Error);
}

// Times, phases and links are those of emit_nvtx alone; figures are those of the whole call.
TEST_F(ExecutionTracesTest, LinksAreThoseOfTheNumbers) {
  Range(0, 9, kAddmmRange);
  Kernel(1);
  Range(20, 40, "AddmmBackward0, seq = 3, op_id = 30, sizes = [[8, 4]]", 1);
  Range(22, 30, "aten::mm, op_id = 31, sizes = [[4, 8], [8, 3]]", 1);
  Kernel(23, 1);
  Complete({kAddmm,
            Node{.name = "AddmmBackward0",
                 .number = 30,
                 .sequence = 3,
                 .values = R"j([[4,5,0,32,4,"cpu"]])j",
                 .shapes = "[[8,4]]",
                 .types = R"j(["Tensor(float)"])j",
                 .scope = 1,
                 .forward_thread = 1},
            Node{.name = "aten::mm",
                 .number = 31,
                 .values = R"j([[4,5,0,32,2,"cpu"],[4,5,0,24,2,"cpu"]])j",
                 .shapes = "[[4,8],[8,3]]",
                 .types = R"j(["Tensor(c10::Half)","Tensor(c10::Half)"])j"}});
  Join();
  EXPECT_THAT(Record(0).nodes, ElementsAre(1));
  EXPECT_THAT(Record(1).nodes, ElementsAre(1));
  EXPECT_EQ(Record(1).phase, Phase::kBackward);
  EXPECT_EQ(Record(1).direction, Direction::kBackward);
  EXPECT_THAT(Record(1).seq_markers, ElementsAre("AddmmBackward0, seq = 3"));
  EXPECT_THAT(Record(0).range, IsEmpty());
}

}  // namespace
}  // namespace oplens::parse::execution_traces_test
