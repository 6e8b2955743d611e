#include "prof/run/collective_calls.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "prof/views/collectives/collective_matches.h"
#include "prof/views/collectives/collective_set.h"
#include "test/views/made_run.h"

namespace oplens::test::collective_calls_test {
namespace {

using prof::CollectiveCall;
using prof::CollectiveKind;
using prof::CollectiveTime;

constexpr const char* kSendRecv = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)";

TEST(CollectiveKindTest, SaysWhatNamesMean) {
  using Kind = CollectiveKind;
  for (const auto& [name, kind] : std::vector<std::pair<const char*, Kind>>{
           {"c10d::allreduce_", Kind::kAllReduce},
           {"nccl:all_reduce", Kind::kAllReduce},
           {"allreduce_coalesced", Kind::kAllReduce},
           {"ncclAllReduce", Kind::kAllReduce},
           {"_allgather_base", Kind::kAllGather},
           {"_c10d_functional::all_gather_into_tensor", Kind::kAllGather},
           {"nccl:_reduce_scatter_base", Kind::kReduceScatter},
           {"c10d::alltoall_base_", Kind::kAllToAll},
           {"all_to_allv", Kind::kAllToAll},
           {"c10d::broadcast_", Kind::kBroadcast},
           {"gloo:reduce", Kind::kReduce},
           {"c10d::gather_", Kind::kGather},
           {"scatter", Kind::kScatter},
           {"nccl:send 0->1", Kind::kSend},
           {"nccl:recv 0<-1", Kind::kRecv},
           {"c10d::barrier", Kind::kBarrier},
           {"_c10d_functional::wait_tensor", Kind::kWait},
           {"record_param_comms", Kind::kUnknown},
           {"nccl:coalesced", Kind::kUnknown},
           {"", Kind::kUnknown}}) {
    EXPECT_EQ(prof::KindOfCollective(name), kind) << name;
  }
}

TEST(CollectiveKindTest, CountsTheWholeMessage) {
  using prof::MessageElements;
  using Kind = CollectiveKind;
  EXPECT_EQ(MessageElements(Kind::kAllReduce, {7, 7}, 4), 7);
  EXPECT_EQ(MessageElements(Kind::kAllReduce, {7, -1}, -1), 7);
  EXPECT_EQ(MessageElements(Kind::kAllGather, {7, 28}, 4), 28);
  EXPECT_EQ(MessageElements(Kind::kAllGather, {7, -1}, 4), 28);
  EXPECT_EQ(MessageElements(Kind::kAllGather, {7, -1}, -1), -1);
  EXPECT_EQ(MessageElements(Kind::kReduceScatter, {28, 7}, 4), 28);
  EXPECT_EQ(MessageElements(Kind::kReduceScatter, {-1, 7}, 4), 28);
  EXPECT_EQ(MessageElements(Kind::kAllToAll, {10, 30}, 4), 10);
  EXPECT_EQ(MessageElements(Kind::kAllToAll, {-1, 30}, 4), 30);
  EXPECT_EQ(MessageElements(Kind::kBarrier, {1, 1}, 4), -1);
  EXPECT_EQ(MessageElements(Kind::kAllGather, {INT64_MAX, -1}, INT64_MAX), -1);
  EXPECT_EQ(MessageElements(Kind::kUnknown, {-1, -1}, -1), -1);
}

TEST(CollectiveKindTest, KnowsWhatLinksCarry) {
  using prof::BusFactor;
  using Kind = CollectiveKind;
  EXPECT_EQ(BusFactor(Kind::kAllReduce, 4), 1.5);
  for (const Kind kind : {Kind::kAllGather, Kind::kReduceScatter, Kind::kAllToAll}) {
    EXPECT_EQ(BusFactor(kind, 4), 0.75);
    EXPECT_EQ(BusFactor(kind, -1), std::nullopt);
  }
  for (const Kind kind : {Kind::kBroadcast, Kind::kReduce, Kind::kSend, Kind::kRecv}) {
    EXPECT_EQ(BusFactor(kind, 4), 1);
    EXPECT_EQ(BusFactor(kind, -1), 1);
    EXPECT_EQ(BusFactor(kind, 1), std::nullopt);
  }
  EXPECT_EQ(BusFactor(Kind::kBarrier, 4), std::nullopt);
  EXPECT_EQ(BusFactor(Kind::kUnknown, 4), std::nullopt);
}

Communication Record(Trace* trace, std::string_view name, int64_t input, int64_t output,
                     int64_t sequence = -1) {
  Communication record;
  record.name = trace->strings.Intern(name);
  record.dtype = trace->strings.Intern("Half");
  record.group = trace->strings.Intern("3");
  record.ranks = trace->strings.Intern("[0, 1, 2, 3]");
  record.group_size = 4;
  record.input_elements = input;
  record.output_elements = output;
  record.sequence = sequence;
  return record;
}

void AddRecord(const Communication& record, MadeRun* made, Kernel* kernel) {
  KernelDetails details;
  details.communication = static_cast<ItemIndex>(made->trace.communications.size());
  made->trace.communications.push_back(record);
  made->trace.SetDetails(details, kernel);
}

// host     |0- c10d::_allgather_base_ -----90|
//            |10- record_param_comms ----80|
//                |20- nccl:... ------60|
//                   call 30-40
// kernels                       |100----200|  |210--250|
// compute                    |90------130|      |215-225|
TEST(CollectiveCallsTest, OneCallOfThreeRangesAndTwoKernels) {
  MadeRun made;
  made.AddRange("c10d::_allgather_base_", 0, 90, RangeKind::kOperator);
  made.AddRange("record_param_comms", 10, 80);
  made.AddRange("nccl:_all_gather_base", 20, 60);
  const LaunchIndex launch = made.AddCall(30, 40);
  made.AddKernel(100, 200, launch, kSendRecv);
  made.AddKernel(210, 250, launch, kSendRecv);
  made.AddKernel(90, 130, kNoLaunch, "gemm", 0, 9);
  made.AddKernel(215, 225, kNoLaunch, "gemm", 0, 9);
  Communication record = Record(&made.trace, "_allgather_base", 8, 32);
  record.start_ns = 10;
  record.end_ns = 80;
  record.thread = 0;
  made.trace.communications.push_back(record);
  const auto& calls = made.run().collectives();
  ASSERT_EQ(calls.size(), 1u);
  const CollectiveCall& call = calls[0];
  EXPECT_EQ(call.time, CollectiveTime::kKernel);
  EXPECT_EQ(call.facts.kind, CollectiveKind::kAllGather);
  EXPECT_EQ(call.facts.size_bytes, 64);
  EXPECT_EQ(call.facts.dtype, ops::DType::kFloat16);
  EXPECT_EQ(call.facts.group_size, 4);
  EXPECT_EQ(call.start_ns, 100);
  EXPECT_EQ(call.end_ns, 250);
  EXPECT_EQ(call.latency_ns, 140);
  EXPECT_EQ(call.exposed_ns, 70 + 30);
  EXPECT_EQ(call.step, 0);
}

TEST(CollectiveCallsTest, TheKernelsOwnRecordGoesFirst) {
  MadeRun made;
  made.AddRange("nccl:coalesced", 0, 50);
  const LaunchIndex launch = made.AddCall(10, 20);
  const Communication gather = Record(&made.trace, "_allgather_base", 8, 32, 5);
  const Communication reduce = Record(&made.trace, "allreduce", 16, 16, 6);
  AddRecord(gather, &made, &made.AddKernel(100, 200, launch, kSendRecv));
  AddRecord(reduce, &made, &made.AddKernel(200, 300, launch, kSendRecv));
  const auto& calls = made.run().collectives();
  ASSERT_EQ(calls.size(), 2u);  // Different records: different calls.
  EXPECT_EQ(calls[0].facts.kind, CollectiveKind::kAllGather);
  EXPECT_EQ(calls[0].facts.sequence, 5);
  EXPECT_EQ(calls[1].facts.kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(calls[1].facts.size_bytes, 32);
}

// thread  |0- c10d::allreduce_ -10|  |20- c10d::broadcast_ -30|  |40- c10d::allreduce_ -50| |62-
// ..allreduce_ -65|
//                                                                   |42 gloo:all_reduce 45|
// gloo 1        |5- gloo:all_reduce --35|                                                      |70-
// gloo:all_reduce -90| |95- gloo:all_gather -99| gloo 2 |36- gloo:broadcast -60|
TEST(CollectiveCallsTest, ThreadsOfALibraryDoTheWorkOfCalls) {
  MadeRun made;
  const ThreadIndex one = made.AddThread(1, 2);
  const ThreadIndex two = made.AddThread(1, 3);
  made.AddRange("c10d::allreduce_", 0, 10, RangeKind::kOperator);
  made.AddRange("c10d::broadcast_", 20, 30, RangeKind::kOperator);
  made.AddRange("c10d::allreduce_", 40, 50, RangeKind::kOperator);
  made.AddRange("gloo:all_reduce", 42, 45);
  made.AddRange("c10d::allreduce_", 62, 65, RangeKind::kOperator);
  made.AddRange("gloo:all_reduce", 5, 35, RangeKind::kAnnotation, one);
  made.AddRange("gloo:broadcast", 36, 60, RangeKind::kAnnotation, two);
  made.AddRange("gloo:all_reduce", 70, 90, RangeKind::kAnnotation, one);
  made.AddRange("gloo:all_gather", 95, 99, RangeKind::kAnnotation, one);
  std::vector<std::string> said;
  for (const CollectiveCall& call : made.run().collectives()) {
    said.push_back(fmt::format("{} {}-{} {}", prof::CollectiveWord(call.facts.kind), call.start_ns,
                               call.end_ns, call.time == CollectiveTime::kHost ? "host" : "other"));
  }
  EXPECT_THAT(said, testing::ElementsAre("all_reduce 5-35 host", "broadcast 36-60 host",
                                         "all_reduce 42-45 host", "all_reduce 70-90 host",
                                         "all_gather 95-99 host"));
}

// A group of four: rank 1 sends to 2 what comes from 0, in another order than 2 receives from
// others.
//
// rank 1       |10-- send 2 ---50|   |60- recv 0 -70|  |80 send 2 90|
// rank 2    |5- recv 3 -8|  |30- recv 1 -50|                 |85 recv 1 90|
TEST(CollectiveCallsTest, MessagesMatchByTheirSenderAndReceiver) {
  prof::CollectiveSet set;
  const auto add = [&](int64_t rank,
                       const std::vector<std::tuple<const char*, int64_t, int, int>>& messages) {
    MadeRun made;
    made.trace.rank = rank;
    made.trace.rank_name = made.trace.strings.Intern(std::to_string(rank));
    for (const auto& [name, peer, start_ns, end_ns] : messages) {
      Communication record = Record(&made.trace, name, 8, 8, start_ns);
      record.peer = peer;
      AddRecord(record, &made, &made.AddKernel(start_ns, end_ns, kNoLaunch, kSendRecv));
    }
    set.Add(made.run());
  };
  add(1, {{"send", 2, 10, 50}, {"recv", 0, 60, 70}, {"send", 2, 80, 90}});
  add(2, {{"recv", 3, 5, 8}, {"recv", 1, 30, 50}, {"recv", 1, 85, 90}});
  const prof::CollectiveMatches matches(set);
  ASSERT_EQ(matches.rank_count(), 2u);
  std::vector<std::string> said;
  for (size_t rank = 0; rank < 2; ++rank) {
    for (const prof::CollectiveRow& row : matches.RowsOf(rank)) {
      said.push_back(fmt::format("{} {} of {}: {}, {}", row.group->name, row.group->ranks,
                                 row.group->size, row.share.transfer_ns, row.share.match_id));
    }
  }
  // The transfer is the shorter latency of both; the id that of the first rank's row.
  EXPECT_THAT(said, testing::ElementsAre("3 [1, 2] of 2: 20, 1", "3 [0, 1] of 2: -1, -1",
                                         "3 [1, 2] of 2: 5, 3", "3 [3, 2] of 2: -1, -1",
                                         "3 [1, 2] of 2: 20, 1", "3 [1, 2] of 2: 5, 3"));
}

TEST(CollectiveCallsTest, KernelsAloneSayWhatTheirNamesDo) {
  MadeRun made;
  made.AddKernel(0, 10, kNoLaunch, kAllReduce);
  made.AddKernel(20, 30, kNoLaunch, kSendRecv);
  made.AddKernel(40, 50, kNoLaunch, "gemm");
  const auto& calls = made.run().collectives();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].facts.kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(calls[0].facts.size_bytes, -1);
  EXPECT_EQ(calls[1].facts.kind, CollectiveKind::kSendRecv);
}

TEST(CollectiveCallsTest, HostCallsWithoutKernels) {
  MadeRun made;
  made.AddRange("c10d::allreduce_", 0, 10, RangeKind::kOperator);  // NCCL: asks for it only.
  made.AddRange("nccl:all_reduce", 2, 8);
  made.AddRange("_c10d_functional::wait_tensor", 20, 30, RangeKind::kOperator);
  made.AddRange("record_param_comms", 40, 50);                      // Of nobody knows what.
  made.AddRange("c10d::broadcast_", 60, 70, RangeKind::kOperator);  // Gloo works on the host,
  made.AddRange("gloo:broadcast", 65, 200);                         // longer than the op.
  made.AddRange("gloo:all_reduce", 80, 150);                        // No part of the one before.
  made.AddRange("c10d::barrier", 300, kNeverClosed, RangeKind::kOperator);
  const auto& calls = made.run().collectives();
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].time, CollectiveTime::kEnqueue);
  EXPECT_EQ(calls[0].facts.kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(calls[0].latency_ns, -1);
  EXPECT_EQ(calls[1].time, CollectiveTime::kHost);
  EXPECT_EQ(calls[1].facts.kind, CollectiveKind::kBroadcast);
  EXPECT_EQ(calls[1].start_ns, 65);
  EXPECT_EQ(calls[1].latency_ns, 135);
  EXPECT_EQ(calls[2].facts.kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(calls[2].latency_ns, 70);
}

TEST(CollectiveCallsTest, EachReplayOfAGraphIsACall) {
  MadeRun made;
  made.AddRange("nccl:all_reduce", 0, 50);
  const LaunchIndex capture = made.AddCall(10, 20);
  for (const int64_t start_ns : {100, 200}) {
    const LaunchIndex replay = made.AddCall(start_ns - 20, start_ns - 10, "cudaGraphLaunch");
    Kernel& kernel = made.AddKernel(start_ns, start_ns + 30, replay, kSendRecv);
    kernel.capture = capture;
    kernel.graph = true;
  }
  const auto& calls = made.run().collectives();
  ASSERT_EQ(calls.size(), 2u);
  for (const CollectiveCall& call : calls) {
    EXPECT_EQ(call.facts.kind, CollectiveKind::kAllReduce);
    EXPECT_EQ(call.latency_ns, 30);
  }
}

TEST(CollectiveCallsTest, ArgumentsOfOpsTellSizes) {
  MadeRun made;
  const auto add = [&](std::string_view name, std::string_view args, int64_t start_ns) {
    made.AddRange(name, start_ns, start_ns + 50, RangeKind::kOperator);
    made.trace.operators.back().call =
        made.trace.strings.Intern(fmt::format("{{'mod': 'c10d', 'op': 'x', 'args': [{}]}}", args));
    made.AddKernel(start_ns + 100, start_ns + 200, made.AddCall(start_ns + 10, start_ns + 20),
                   kSendRecv);
  };
  const auto tensor = [](int64_t elements) {
    return fmt::format("{{'name': '', 'type': 'tensor', 'shape': ({},), 'dtype': 'float32'}}",
                       elements);
  };
  add("c10d::alltoall_base_", tensor(30) + ", " + tensor(10), 0);
  add("c10d::_allgather_base_", tensor(40) + ", " + tensor(10), 1000);
  add("c10d::broadcast_", tensor(7), 2000);
  const auto& calls = made.run().collectives();
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].facts.size_bytes, 40);
  EXPECT_EQ(calls[1].facts.size_bytes, 160);
  EXPECT_EQ(calls[2].facts.size_bytes, 28);
}

}  // namespace
}  // namespace oplens::test::collective_calls_test
