// What PyTorch's profiler writes since 2.12, by the sources of Kineto
// (libkineto/src/output_json.cpp) and of PyTorch (torch/profiler/_chrome_trace_export.py,
// _cupti_monitor_trace.py): the CPU build records no work of a GPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "parse/model/reason.h"
#include "parse/model/trace.h"
#include "test/parse/read_kineto.h"
#include "test/support/kineto_builder.h"

namespace oplens::parse::kineto_today_test {
namespace {

using test::JsonText;
using test::KinetoBuilder;
using testing::HasSubstr;
using testing::Not;

class KinetoTodayTest : public testing::Test {
 protected:
  Trace Read(const KinetoBuilder& builder, TraceNeeds needs = TraceNeeds::All()) {
    return test::ReadKineto(builder.Text(), needs, &diagnostics_);
  }

  Diagnostics diagnostics_;
};

TEST_F(KinetoTodayTest, MomentsMayHaveADuration) {
  KinetoBuilder builder;
  builder.AddKernel({});
  builder.AddHost("cpu_instant_event", "[memory]", 1500, 0, 1234,
                  {{"Total Reserved", "4096"},
                   {"Total Allocated", "512"},
                   {"Bytes", "512"},
                   {"Addr", "140115188167680"},
                   {"Device Id", "0"},
                   {"Device Type", "1"},
                   {"Ev Idx", "7"}});
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.memory_events.size(), 1u);
  EXPECT_EQ(trace.memory_events[0].size_bytes, 512);
  EXPECT_EQ(trace.memory_events[0].device_id, 0);
  EXPECT_THAT(diagnostics_.Render("t"), Not(HasSubstr("not read")));
}

TEST_F(KinetoTodayTest, StreamSynchronizationsStandInARowOfTheirOwn) {
  KinetoBuilder builder;
  builder.AddKernel({});
  builder.AddRaw(
      R"({"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": 1000007, "ts": 5, "dur": 3,
          "args": {"cuda_sync_kind": "Stream Sync", "stream": 7, "correlation": 12, "device": 0, "context": 1}})");
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.synchronizations.size(), 1u);
  EXPECT_EQ(trace.synchronizations[0].stream_id, 7);
}

TEST_F(KinetoTodayTest, KindsOfACopyAreItsArguments) {
  KinetoBuilder builder;
  builder.AddKernel({});
  builder.AddDevice("gpu_memcpy", "Memcpy", 10, 20,
                    {{"device", "0"},
                     {"stream", "7"},
                     {"bytes", "64"},
                     {"copy kind", JsonText("HtoD")},
                     {"src kind", JsonText("pinned")},
                     {"dst kind", JsonText("device")}});
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.copies.size(), 1u);
  EXPECT_EQ(trace.copies[0].copy_kind, CopyKind::kHostToDevice);
  EXPECT_EQ(trace.copies[0].source_kind, MemoryKind::kPinned);
  EXPECT_EQ(trace.copies[0].target_kind, MemoryKind::kDevice);
}

// _chrome_trace_export.py gives the number of multiprocessors the name of another property.
TEST_F(KinetoTodayTest, MultiprocessorsUnderAnotherName) {
  for (const auto& [properties, expected] :
       {std::pair(R"([{"id": 0, "name": "GPU", "maxThreadsPerMultiprocessor": 132}])", 132),
        std::pair(R"([{"id": 0, "name": "GPU", "maxThreadsPerMultiprocessor": 2048}])", 0),
        std::pair(R"([{"id": 0, "name": "GPU", "maxThreadsPerMultiprocessor": 132, "numSms": 84}])",
                  84)}) {
    KinetoBuilder builder;
    builder.AddMember("deviceProperties", properties);
    builder.AddKernel({});
    const Trace trace = Read(builder);
    ASSERT_EQ(trace.devices.size(), 1u);
    EXPECT_EQ(std::max(trace.devices[0].multiprocessors, 0), expected) << properties;
  }
}

TEST_F(KinetoTodayTest, SamplesOfHardwareCounters) {
  KinetoBuilder builder;
  builder.AddKernel({});
  const auto sample = [&](const std::string& process, const std::string& value) {
    builder.AddRaw(
        R"({"ph": "C", "cat": "hardware_counters", "name": "dram__bytes_read.sum", "pid": )" +
        process + R"(, "tid": 0, "ts": 12.345, "args": {"": )" + value + "}}");
  };
  sample(R"("GPU 3 Counters")", "1234567");
  sample("2", "0.5");
  sample(R"("CPU")", "1");
  sample(R"("GPU x Counters")", "1");
  sample(R"("GPU 1 Counters")", R"("many")");
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.counter_samples.size(), 2u);
  EXPECT_EQ(trace.counter_samples[0].device_id, 3);
  EXPECT_EQ(trace.counter_samples[0].start_ns, 12345);
  EXPECT_EQ(trace.counter_samples[0].value, 1234567);
  EXPECT_EQ(trace.strings.View(trace.counter_samples[0].metric), "dram__bytes_read.sum");
  EXPECT_EQ(trace.counter_samples[1].device_id, 2);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadOtherRow), 3);
}

TEST_F(KinetoTodayTest, RanksOfAPeer) {
  KinetoBuilder builder;
  const std::string group =
      R"("Group size": 4, "In msg nelems": 8, "Out msg nelems": 8, "dtype": "Float", "Process Group Name": "3", "Seq": 5)";
  builder.AddKernel({.name = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
                     .more = {{"Collective name", JsonText("send")}, {"Dst Rank", "2"}}});
  builder.AddKernel({.name = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
                     .start_ns = 5000,
                     .more = {{"Collective name", JsonText("recv")}, {"Src Rank", "1"}}});
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.communications.size(), 2u);
  EXPECT_EQ(trace.communications[0].peer, 2);
  EXPECT_EQ(trace.communications[1].peer, 1);
}

}  // namespace
}  // namespace oplens::parse::kineto_today_test
