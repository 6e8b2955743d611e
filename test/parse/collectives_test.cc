#include "parse/join/collectives.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "test/parse/hand_trace.h"

namespace oplens::parse::collectives_test {
namespace {

/// "all_reduce 8:float32 world_size=2"
std::string Made(std::string_view name, std::string_view dtype, int64_t in, int64_t out,
                 int64_t ranks) {
  StringPool strings;
  Communication communication;
  communication.name = strings.Intern(name);
  communication.dtype = strings.Intern(dtype);
  communication.input_elements = in;
  communication.output_elements = out;
  communication.group_size = ranks;
  const OpCall call = CommunicationCall(communication, strings);
  EXPECT_EQ(call.mod, "c10d");
  std::string text = call.op;
  for (const OpArg& arg : call.args) {
    text += arg.kind == OpArg::Kind::kTensor ? fmt::format(" {}:{}", arg.shape.at(0), arg.dtype)
                                             : fmt::format(" {}={}", arg.name, arg.int_value);
  }
  return text;
}

TEST(CommunicationCallTest, TakesTheWholeBuffer) {
  EXPECT_EQ(Made("allreduce", "Float", 8, 8, 2), "all_reduce 8:float32 world_size=2");
  EXPECT_EQ(Made("allreduce_coalesced", "Half", 8, 8, 2), "all_reduce 8:float16 world_size=2");
  EXPECT_EQ(Made("_allgather_base", "BFloat16", 8, 64, 8), "all_gather 64:bfloat16 world_size=8");
  EXPECT_EQ(Made("allgather_into_tensor_coalesced", "Byte", 8, 64, 8),
            "all_gather 64:uint8 world_size=8");
  EXPECT_EQ(Made("_reduce_scatter_base", "Double", 64, 8, 8),
            "reduce_scatter 64:float64 world_size=8");
  EXPECT_EQ(Made("reduce_scatter", "Int", 64, 8, 8), "reduce_scatter 64:int32 world_size=8");
  // What is sent, however much is received.
  EXPECT_EQ(Made("all_to_allv", "Long", 60, 64, 8), "all_to_all 60:int64 world_size=8");
  EXPECT_EQ(Made("all_to_all", "Char", -1, 64, 8), "all_to_all 64:int8 world_size=8");
  EXPECT_EQ(Made("broadcast", "Bool", 5, 5, 2), "broadcast 5:bool world_size=2");
  EXPECT_EQ(Made("send", "Float8_e5m2", 5, 5, 2), "send 5:float8_e5m2 world_size=2");
  EXPECT_EQ(Made("recv", "Float", 0, 5, 2), "recv 5:float32 world_size=2");
}

TEST(CommunicationCallTest, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(Made("allreduce", "Float", -1, -1, 2), "all_reduce world_size=2");
  EXPECT_EQ(Made("allreduce", "Float", 8, 8, -1), "all_reduce 8:float32");
  EXPECT_EQ(Made("allreduce", "Float", 8, 8, 0), "all_reduce 8:float32");
  EXPECT_EQ(Made("no such", "Float99", 8, INT64_MAX, 2),
            "no such 9223372036854775807:Float99 world_size=2");
}

TEST(CommunicationCallTest, LabelsOfGathersTellAPart) {
  EXPECT_EQ(Made("all_gather", "float", 8, -1, 4), "all_gather 32:float32 world_size=4");
  EXPECT_EQ(Made("all_reduce", "c10::Half", 8, -1, 4), "all_reduce 8:float16 world_size=4");
}

TEST(WithRanksTest, AddsWhatIsMissing) {
  EXPECT_TRUE(NeedsRanks("symm_mem::multimem_all_reduce_"));
  EXPECT_TRUE(NeedsRanks("c10d::alltoall_base_"));
  EXPECT_FALSE(NeedsRanks("aten::add"));
  EXPECT_FALSE(NeedsRanks("mine::all_reduce"));
  const std::string call =
      "{'mod': 'c10d', 'op': 'all_reduce', 'args': [{'name': '', 'type': 'tensor', 'shape': "
      "(8,), 'dtype': 'float32'}]}";
  const std::string added = WithRanks(call, 4);
  EXPECT_NE(added.find("world_size"), std::string::npos);
  EXPECT_EQ(WithRanks(added, 4), "");
  EXPECT_EQ(WithRanks("{'mod': 'c10d', 'op': 'all_reduce', 'args': []}", 4), "");
  EXPECT_EQ(WithRanks("no call", 4), "");
}

TEST(RanksByExtentsTest, WholeOverPart) {
  EXPECT_EQ(RanksByExtents("c10d::_allgather_base_", {8, 64}), 8);
  EXPECT_EQ(RanksByExtents("all_gather", {64, 64}), 1);
  EXPECT_EQ(RanksByExtents("_reduce_scatter_base", {64, 16}), 4);
  for (const CallElements& untold :
       {CallElements{-1, 64}, CallElements{8, -1}, CallElements{0, 0}, CallElements{7, 64}}) {
    EXPECT_EQ(RanksByExtents("all_gather", untold), kUnknownId);
  }
  EXPECT_EQ(RanksByExtents("c10d::allreduce_", {8, 8}), kUnknownId);
}

constexpr char kGather[] =
    "{'mod': 'c10d', 'op': '_allgather_base_', 'args': [{'name': '', 'type': 'tensor', 'shape': "
    "(65536, 384), 'dtype': 'float32'}, {'name': '', 'type': 'tensor', 'shape': (8192, 384), "
    "'dtype': 'float32'}]}";

TEST(WithRanksTest, ExtentsThatTellThemNeedNone) { EXPECT_EQ(WithRanks(kGather, 16), ""); }

class CollectivesTest : public HandTrace {
 protected:
  void Label(int64_t start, int64_t end, int64_t elements, ThreadIndex thread = 0) {
    Communication& label = trace_.communications.emplace_back();
    label.start_ns = start;
    label.end_ns = end;
    label.name = trace_.strings.Intern("all_reduce");
    label.dtype = trace_.strings.Intern("float");
    label.input_elements = elements;
    label.thread = thread;
  }
};

TEST_F(CollectivesTest, LabelsAroundLaunches) {
  trace_.group_size = 4;
  Label(100, 200, 8);
  Label(0, 90, 16);
  Label(100, 200, 32, 1);
  Kernel(10, 0, "ncclKernel_AllReduce");
  Kernel(150, 0, "ncclKernel_AllReduce");
  Kernel(150, 1, "ncclKernel_AllReduce");
  Kernel(250, 0, "ncclKernel_AllReduce");  // Inside none.
  Kernel(160, 0, "elementwise");
  Join();
  ASSERT_EQ(Record(0).markers.size(), 1u);
  EXPECT_NE(Record(0).markers[0].find("(16,)"), std::string_view::npos) << Record(0).markers[0];
  EXPECT_NE(Record(0).markers[0].find("world_size"), std::string_view::npos);
  EXPECT_EQ(Record(0).marker_starts_ns, std::vector<int64_t>{0});
  EXPECT_NE(Record(1).markers.at(0).find("(8,)"), std::string_view::npos);
  EXPECT_NE(Record(2).markers.at(0).find("(32,)"), std::string_view::npos);
  EXPECT_TRUE(Record(3).markers.empty());
  EXPECT_TRUE(Record(4).markers.empty());
}

// A label tells what a rank puts in, the op around it that there are 8 of them.
TEST_F(CollectivesTest, RanksAreByExtentsThenByTheGroupThenByTheRun) {
  trace_.group_size = 16;
  Op(0, 100, "c10d::_allgather_base_", kGather);
  Label(10, 90, 8192 * 384);
  Label(110, 190, 8192 * 384);
  trace_.communications.back().group = trace_.strings.Intern("7");
  Label(210, 290, 8192 * 384);
  for (Communication& label : trace_.communications) {
    label.name = trace_.strings.Intern("_all_gather_base");
  }
  ProcessGroup& group = trace_.process_groups.emplace_back();
  group.name = trace_.strings.Intern("7");
  group.size = 4;
  for (const int64_t launch : {20, 120, 220}) Kernel(launch, 0, "ncclKernel_AllGather");
  Join();
  constexpr std::string_view kRanks[] = {"'value': 8}", "'value': 4}", "'value': 16}"};
  for (size_t i = 0; i < 3; ++i) {
    const std::string_view call = Record(i).markers.back();
    EXPECT_NE(call.find(kRanks[i]), std::string_view::npos) << call;
  }
}

TEST_F(CollectivesTest, LabelsOfUnknownRanksTellNothing) {
  Label(0, 90, 16);
  Kernel(10, 0, "ncclKernel_AllReduce");
  Join();
  EXPECT_TRUE(Record(0).markers.empty());
}

}  // namespace
}  // namespace oplens::parse::collectives_test
