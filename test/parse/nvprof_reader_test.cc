#include "parse/readers/nvprof/nvprof_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/threads.h"
#include "parse/readers/open_trace.h"
#include "test/support/nvprof_builder.h"
#include "test/support/test_files.h"
#include "test/support/trace_script.h"

namespace oplens::parse::nvprof_reader_test {
namespace {

using test::HostThread;
using test::NvprofBuilder;
using test::NvprofOptions;
using test::ScriptState;
using test::TestDir;
using testing::HasSubstr;

constexpr int64_t kThread = 0xEADC3740;  // Stored as a negative number in the API tables.

/// All parts but the calls that nothing refers to.
constexpr TraceNeeds kAllButCalls = {TracePart::kWaitEvents, TracePart::kMemoryEvents,
                                     TracePart::kInstants, TracePart::kOverheads,
                                     TracePart::kNames};

class NvprofReaderTest : public testing::Test {
 protected:
  Trace Read(const NvprofOptions& options = {}, TraceNeeds needs = kAllButCalls) {
    const std::filesystem::path path = TestDir() / "profile.sql";
    builder_.Write(path, options);
    diagnostics_ = Diagnostics();
    return OpenTrace(path.string(), needs, &diagnostics_);
  }

  NvprofBuilder builder_;
  ScriptState state_ = {.builder = &builder_};
  HostThread thread_{&state_, kThread, 1'000'000};
  Diagnostics diagnostics_;
};

TEST_F(NvprofReaderTest, FillsTheModel) {
  thread_.Push("step");
  thread_.Launch({.name = "_Z1kv", .duration_ns = 500});
  thread_.Pop();
  const int64_t copy_call = thread_.CallApi(41);
  builder_.Add(
      "MEMCPY",
      {{"copyKind", 1}, {"bytes", 4096}, {"start", 5}, {"end", 9}, {"correlationId", copy_call}});
  builder_.Add("MEMSET", {{"value", 0xFFFFFFFF}, {"bytes", 64}, {"start", 5}, {"end", 6}});
  builder_.Add("SYNCHRONIZATION",
               {{"type", 3}, {"start", 1}, {"end", 2}, {"streamId", 4294967295}});
  builder_.Add("OVERHEAD", {{"overheadKind", 131072}, {"start", 1}, {"end", 2}});
  builder_.Add("DEVICE", {{"id", 3},
                          {"name", builder_.Intern("Some GPU")},
                          {"coreClockRate", 1530000},
                          {"globalMemoryBandwidth", 898048000},
                          {"numMultiprocessors", 80}});
  const Trace trace = Read();
  EXPECT_EQ(trace.schema_version, 12);
  ASSERT_EQ(trace.kernels.size(), 1u);
  EXPECT_EQ(trace.strings.View(trace.kernels[0].name), "_Z1kv");
  ASSERT_NE(trace.kernels[0].launch, kNoLaunch);
  const LaunchCall& call = trace.launches[trace.kernels[0].launch];
  EXPECT_EQ(trace.strings.View(call.api), "cudaLaunchKernel");
  EXPECT_EQ(trace.threads[call.thread].thread_id, kThread);
  ASSERT_EQ(trace.ranges.size(), 1u);
  EXPECT_EQ(trace.strings.View(trace.ranges[0].text), "step");
  EXPECT_EQ(trace.ThreadOf(trace.ranges[0]), call.thread);
  ASSERT_EQ(trace.copies.size(), 1u);
  EXPECT_EQ(trace.copies[0].size_bytes, 4096);
  EXPECT_EQ(trace.strings.View(trace.launches[trace.copies[0].launch].api), "cudaMemcpyAsync");
  ASSERT_EQ(trace.sets.size(), 1u);
  EXPECT_EQ(trace.sets[0].value, -1);
  EXPECT_EQ(trace.sets[0].launch, kNoLaunch);
  ASSERT_EQ(trace.synchronizations.size(), 1u);
  EXPECT_EQ(trace.synchronizations[0].stream_id, -1);
  EXPECT_EQ(trace.overheads.size(), 1u);
  ASSERT_EQ(trace.devices.size(), 1u);
  EXPECT_EQ(trace.devices[0].core_clock_hz, 1530000000);
  EXPECT_EQ(trace.devices[0].memory_bandwidth_bytes_per_s, 898048000000);
  EXPECT_FALSE(diagnostics_.Damaged());
}

TEST_F(NvprofReaderTest, RuntimeBeforeDriverAndTheFirstOfRepeatedRows) {
  const int64_t id = thread_.Launch({});
  builder_.Add("DRIVER", {{"cbid", 307}, {"start", 1}, {"end", 2}, {"correlationId", id}});
  builder_.Add("RUNTIME", {{"cbid", 13}, {"start", 7}, {"end", 8}, {"correlationId", id}});
  const Trace trace = Read();
  ASSERT_EQ(trace.launches.size(), 1u);
  EXPECT_EQ(trace.strings.View(trace.launches[0].api), "cudaLaunch");  // It starts first.
  EXPECT_EQ(trace.launches[0].start_ns, 7);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kDuplicateLaunch), 1);
}

TEST_F(NvprofReaderTest, AllCallsWhereTheyAreAskedFor) {
  thread_.CallApi(20);
  const int64_t id = thread_.Launch({});
  thread_.CallApi(20);
  const test::Row launch = builder_.rows("RUNTIME")[1];
  builder_.Add("RUNTIME", builder_.rows("RUNTIME")[0]);  // The same row twice.
  builder_.Add("RUNTIME", launch);
  test::Row driver = launch;
  driver["cbid"] = 307;
  driver["start"] = std::get<int64_t>(launch.at("start")) + 1;
  builder_.Add("DRIVER", driver);  // What the runtime's call does.
  test::Row reversed = launch;
  reversed["correlationId"] = 777;
  reversed["end"] = 0;
  builder_.Add("RUNTIME", reversed);
  test::Row newer = launch;
  newer["correlationId"] = 778;
  newer["cbid"] = 4711;
  newer["threadId"] = 5;
  builder_.Add("DRIVER", newer);

  const Trace without = Read();
  ASSERT_EQ(without.launches.size(), 1u);
  EXPECT_EQ(without.threads.size(), 1u);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadLaunchTimes), 0);

  const Trace trace = Read({}, {TracePart::kApiCalls});
  std::vector<std::string> names;
  for (const LaunchCall& call : trace.launches) {
    names.emplace_back(trace.strings.View(call.api));
  }
  EXPECT_THAT(names, testing::ElementsAre("cudaLaunchKernel", "cudaMalloc", "driver:4711",
                                          "cuLaunchKernel", "cudaMalloc"));
  EXPECT_EQ(trace.kernels.at(0).launch, 0u);
  EXPECT_EQ(trace.launches[0].correlation_id, id);
  EXPECT_EQ(trace.threads.at(trace.launches[2].thread).thread_id, 5);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadLaunchTimes), 1);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kDuplicateLaunch), 2);
}

TEST_F(NvprofReaderTest, CallsThatWaitAreKeptWhereTheyAreAskedFor) {
  constexpr int64_t kMalloc = 20;
  constexpr int64_t kDeviceSynchronize = 165;
  thread_.Launch({});
  thread_.CallApi(kMalloc);
  thread_.CallApi(kDeviceSynchronize);
  const Trace trace = Read({}, {TracePart::kWaitCalls});
  ASSERT_EQ(trace.launches.size(), 2u);
  EXPECT_EQ(trace.strings.View(trace.launches[1].api), "cudaDeviceSynchronize");
  EXPECT_EQ(trace.kernels.at(0).launch, 0u);
}

TEST_F(NvprofReaderTest, LongCallsWhereTheyAreAskedFor) {
  thread_.Launch({});
  for (const int64_t length_ns : {kLongCallNs - 1, kLongCallNs}) {
    test::Row call = builder_.rows("RUNTIME")[0];
    call["cbid"] = 20;
    call["correlationId"] = 700 + length_ns;
    call["end"] = std::get<int64_t>(call.at("start")) + length_ns;
    builder_.Add("RUNTIME", call);
  }
  EXPECT_EQ(Read({}, {TracePart::kApiCalls}).launches.size(), 3u);
  const Trace trace = Read({}, {TracePart::kLongCalls});
  ASSERT_EQ(trace.launches.size(), 2u);
  EXPECT_EQ(trace.launches[1].end_ns - trace.launches[1].start_ns, kLongCallNs);
  EXPECT_TRUE(trace.api_times.empty());
  const Trace both = Read({}, {TracePart::kLongCalls, TracePart::kApiTimes});
  EXPECT_EQ(both.launches.size(), 2u);
  EXPECT_EQ(both.api_times.size(), 1u);
}

TEST_F(NvprofReaderTest, WhatNobodyAsksForIsNotKept) {
  thread_.Launch({});
  thread_.CallApi(20);
  thread_.Instant("tick");
  builder_.Add("OVERHEAD", {{"overheadKind", 131072}, {"start", 1}, {"end", 2}});
  builder_.Add("CUDA_EVENT", {{"correlationId", 9}, {"eventId", 1}});
  builder_.Add("SYNCHRONIZATION", {{"type", 2}, {"cudaEventId", 1}});
  builder_.Add("MEMORY", {{"bytes", 5}, {"start", 1}, {"end", 2}});
  builder_.Add("NAME", {{"objectKind", 1},
                        {"objectId", test::ThreadObject(4242, 0)},
                        {"name", builder_.Intern("python train.py")}});
  const Trace trace = Read({}, {});
  EXPECT_EQ(trace.launches.size(), 1u);
  EXPECT_TRUE(trace.instants.empty());
  EXPECT_TRUE(trace.overheads.empty());
  EXPECT_TRUE(trace.event_records.empty());
  ASSERT_EQ(trace.synchronizations.size(), 1u);
  EXPECT_EQ(trace.synchronizations[0].event_id, kNoEvent);
  EXPECT_TRUE(trace.memory_events.empty());
  EXPECT_TRUE(trace.processes.empty());
  EXPECT_EQ(trace.clock_offset_ns, std::nullopt);
  EXPECT_FALSE(diagnostics_.Damaged());
}

TEST_F(NvprofReaderTest, WaitsKnowWhereTheirEventWasRecorded) {
  const auto record = [&](int64_t event, int64_t stream, int64_t context = 1) {
    const int64_t call = thread_.CallApi(135);
    return builder_.Add("CUDA_EVENT", {{"correlationId", call},
                                       {"contextId", context},
                                       {"streamId", stream},
                                       {"eventId", event}});
  };
  const auto wait = [&](int64_t kind, int64_t stream, int64_t event) {
    const int64_t call = thread_.CallApi(147);
    builder_.Add("SYNCHRONIZATION", {{"type", kind},
                                     {"start", 1},
                                     {"end", 2},
                                     {"correlationId", call},
                                     {"contextId", 1},
                                     {"streamId", stream},
                                     {"cudaEventId", event}});
  };
  wait(2, 8, 5);  // Before the event was recorded.
  record(5, 7);
  record(5, 9);  // Again, elsewhere.
  record(6, 10);
  record(5, 11, 2);
  wait(2, 8, 5);
  record(5, 12);
  wait(1, -1, 6);
  wait(3, 7, -1);
  wait(4, 4294967295, 4294967295);
  builder_.Add("CUDA_EVENT", {{"correlationId", 1}, {"eventId", -1}});
  builder_.Add("CUDA_EVENT", {{"correlationId", 1}, {"eventId", std::string("x")}});
  const Trace trace = Read();
  ASSERT_EQ(trace.synchronizations.size(), 5u);
  ASSERT_EQ(trace.event_records.size(), 5u);
  const auto& waits = trace.synchronizations;
  EXPECT_EQ(waits[0].event_record, kNoItem);
  EXPECT_EQ(waits[1].kind, WaitKind::kStreamWaitEvent);
  EXPECT_EQ(waits[1].event_id, 5u);
  ASSERT_EQ(waits[1].event_record, 1u);
  EXPECT_EQ(trace.event_records[1].stream_id, 9);
  EXPECT_EQ(trace.strings.View(trace.launches.at(trace.event_records[1].launch).api),
            "cudaEventRecord");
  EXPECT_EQ(waits[2].kind, WaitKind::kEvent);
  EXPECT_EQ(waits[2].event_record, 2u);
  EXPECT_EQ(waits[3].kind, WaitKind::kStream);
  EXPECT_EQ(waits[3].event_id, kNoEvent);
  EXPECT_EQ(waits[4].kind, WaitKind::kContext);
  EXPECT_EQ(waits[4].event_record, kNoItem);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadOtherRow), 2);
}

TEST_F(NvprofReaderTest, MemoryOfTheDriver) {
  const int64_t call = thread_.CallApi(20);
  const auto add = [&](int64_t operation, int64_t kind, int64_t time_ns, int64_t correlation) {
    return builder_.Add("MEMORY2", {{"memoryOperationType", operation},
                                    {"memoryKind", kind},
                                    {"correlationId", correlation},
                                    {"address", 4096},
                                    {"bytes", 512},
                                    {"timestamp", time_ns},
                                    {"processId", 4242},
                                    {"deviceId", 3}});
  };
  add(2, 3, 90, 999);
  add(1, 3, 40, call);
  add(1, 2, 50, call);
  add(3, 3, 60, call);
  builder_.rows("MEMORY2").back()["bytes"] = -512;
  builder_.Add("MEMORY", {{"memoryKind", 3}, {"bytes", 7}, {"start", 45}, {"end", 95}});
  builder_.Add("MEMORY", {{"memoryKind", 3}, {"bytes", 8}, {"start", 55}});
  const Trace trace = Read({.version = 16});
  std::vector<std::pair<int64_t, int64_t>> events;
  for (const MemoryEvent& event : trace.memory_events) {
    EXPECT_EQ(event.source, MemorySource::kDriver);
    events.emplace_back(event.time_ns, event.size_bytes);
  }
  EXPECT_THAT(events,
              testing::ElementsAre(std::pair(40, 512), std::pair(45, 7), std::pair(50, 512),
                                   std::pair(55, 8), std::pair(90, -512), std::pair(95, -7)));
  EXPECT_EQ(trace.memory_events[0].kind, MemoryKind::kDevice);
  EXPECT_EQ(trace.memory_events[0].device_id, 3);
  EXPECT_EQ(trace.strings.View(trace.launches.at(trace.memory_events[0].launch).api), "cudaMalloc");
  EXPECT_EQ(trace.threads.at(trace.memory_events[0].thread).thread_id, kThread);
  EXPECT_EQ(trace.memory_events[2].device_id, -1) << "pinned memory of the host";
  EXPECT_EQ(trace.threads.at(trace.memory_events[4].thread).process_id, 4242);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadOtherRow), 1);
}

TEST_F(NvprofReaderTest, InstantsOfThreads) {
  thread_.Instant("tick");
  test::Row row = builder_.rows("MARKER")[0];
  row["objectKind"] = 1;
  builder_.Add("MARKER", row);  // Of the process.
  row["objectKind"] = 2;
  row["objectId"] = test::Blob{"abc"};
  builder_.Add("MARKER", row);
  row = builder_.rows("MARKER")[0];
  row["name"] = 12345;
  builder_.Add("MARKER", row);
  const Trace trace = Read();
  ASSERT_EQ(trace.instants.size(), 2u);
  EXPECT_EQ(trace.strings.View(trace.instants[0].text), "tick");
  EXPECT_EQ(trace.threads.at(trace.instants[0].thread).thread_id, kThread);
  EXPECT_EQ(trace.instants[0].time_ns, std::get<int64_t>(row["timestamp"]));
  EXPECT_EQ(trace.strings.View(trace.instants[1].text), "<unknown>");
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadMarkerRow), 2);
}

TEST_F(NvprofReaderTest, OverheadsAndTheirThreads) {
  const auto add = [&](int64_t kind, int64_t object) {
    builder_.Add("OVERHEAD", {{"overheadKind", kind},
                              {"start", 1},
                              {"end", 2},
                              {"objectKind", object},
                              {"objectId", test::ThreadObject(4242, kThread)}});
  };
  add(1, 2);
  add(65536, 1);
  add(77, 0);
  const Trace trace = Read();
  ASSERT_EQ(trace.overheads.size(), 3u);
  EXPECT_EQ(trace.overheads[0].kind, OverheadKind::kDriverCompiler);
  EXPECT_EQ(trace.threads.at(trace.overheads[0].thread).thread_id, kThread);
  EXPECT_EQ(trace.overheads[1].kind, OverheadKind::kBufferFlush);
  EXPECT_EQ(trace.overheads[1].thread, kNoThread);
  EXPECT_EQ(trace.overheads[2].kind, OverheadKind::kUnknown);
}

TEST_F(NvprofReaderTest, NamesWithoutArguments) {
  thread_.Push("x");
  thread_.Pop();
  const auto add = [&](int64_t kind, test::Blob object, const std::string& name) {
    builder_.Add(
        "NAME",
        {{"objectKind", kind}, {"objectId", std::move(object)}, {"name", builder_.Intern(name)}});
  };
  test::Blob process = test::ThreadObject(4242, 0);
  process.bytes.replace(4, 8, "leftover");
  add(1, process, "sh -c x");
  add(1, process, "python train.py --token=SESAME");
  add(2, test::ThreadObject(4242, kThread), "main thread");
  add(2, test::ThreadObject(4242, 99), "unseen");
  add(3, test::ThreadObject(0, 0), "a device");
  add(1, test::Blob{"abc"}, "cut");
  const Trace trace = Read();
  ASSERT_EQ(trace.processes.size(), 1u);
  EXPECT_EQ(trace.processes[0].id, 4242);
  EXPECT_EQ(trace.strings.View(trace.processes[0].name), "python");
  ASSERT_EQ(trace.threads.size(), 1u);
  EXPECT_EQ(trace.strings.View(trace.threads[0].name), "main thread");
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadOtherRow), 1);
}

TEST_F(NvprofReaderTest, RangesWhateverTheOrderOfTheirRows) {
  thread_.Push("outer");
  thread_.Push("inner");
  thread_.Pop();
  thread_.Pop();
  auto& rows = builder_.rows("MARKER");
  std::reverse(rows.begin(), rows.end());
  const Trace trace = Read();
  ASSERT_EQ(trace.ranges.size(), 2u);
  for (const Range& range : trace.ranges) EXPECT_FALSE(range.open());
  EXPECT_FALSE(diagnostics_.Damaged());
}

TEST_F(NvprofReaderTest, OfRangesWithEqualTimesTheFirstOpenedComesFirst) {
  thread_.Push("outer");
  thread_.Push("inner");
  thread_.Pop();
  thread_.Pop();
  auto& rows = builder_.rows("MARKER");
  for (size_t i = 0; i < rows.size(); ++i) rows[i]["timestamp"] = i < 2 ? 10 : 20;
  std::swap(rows[0], rows[1]);
  const Trace trace = Read();
  ASSERT_EQ(trace.ranges.size(), 2u);
  EXPECT_EQ(trace.strings.View(trace.ranges[0].text), "outer");
  EXPECT_EQ(trace.strings.View(trace.ranges[1].text), "inner");
}

TEST_F(NvprofReaderTest, OddMarkerRowsAreCounted) {
  thread_.Push("good");
  thread_.Pop();
  thread_.PushAndLeak("open");
  thread_.Instant("tick");
  auto& rows = builder_.rows("MARKER");
  const test::Row good_start = rows[0];
  builder_.Add("MARKER", good_start);  // A second start of a closed id: open.
  builder_.Add("MARKER", good_start);  // And one more start while that is open.
  test::Row end = rows[1];
  end["id"] = 999;
  builder_.Add("MARKER", end);  // An end without a start ...
  builder_.Add("MARKER", end);  // ... twice.
  test::Row bad = good_start;
  bad["id"] = 1000;
  bad["timestamp"] = std::string("noon");
  builder_.Add("MARKER", bad);
  bad = good_start;
  bad["id"] = 1001;
  bad["objectId"] = test::Blob{"abc"};
  builder_.Add("MARKER", bad);
  test::Row process = good_start;
  process["id"] = 1002;
  process["objectKind"] = 1;
  builder_.Add("MARKER", process);
  const Trace trace = Read();
  EXPECT_EQ(trace.ranges.size(), 3u);  // good, open, the repeated start
  EXPECT_EQ(std::count_if(trace.ranges.begin(), trace.ranges.end(),
                          [](const Range& range) { return range.open(); }),
            2);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kDuplicateMarker), 2);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kUnmatchedEnd), 1);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadMarkerRow), 2);
  EXPECT_THAT(diagnostics_.Render("parse"), HasSubstr("1 range rows belong to no thread"));
}

TEST_F(NvprofReaderTest, ReversedRangesAndCallsAreSkipped) {
  thread_.Push("x");
  thread_.Pop();
  builder_.rows("MARKER")[1]["timestamp"] = 1;
  const int64_t id = thread_.Launch({});
  for (test::Row& row : builder_.rows("RUNTIME")) {
    if (std::get<int64_t>(row["correlationId"]) == id) row["end"] = 0;
  }
  const Trace trace = Read();
  EXPECT_TRUE(trace.ranges.empty());
  EXPECT_EQ(trace.kernels.at(0).launch, kNoLaunch);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kReversedRange), 1);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadLaunchTimes), 1);
}

TEST_F(NvprofReaderTest, BadKernelRowsAreKept) {
  thread_.Launch({});
  thread_.Launch({});
  thread_.Launch({});
  auto& rows = builder_.rows("CONCURRENT_KERNEL");
  rows[0]["gridX"] = std::string("wide");
  rows[1]["streamId"] = int64_t{1} << 40;
  rows[2]["name"] = 12345;
  const Trace trace = Read();
  ASSERT_EQ(trace.kernels.size(), 3u);
  EXPECT_TRUE(trace.kernels[0].bad_row);
  EXPECT_TRUE(trace.kernels[1].bad_row);
  EXPECT_EQ(trace.kernels[2].name, 0u);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadKernelRow), 2);
  EXPECT_TRUE(diagnostics_.Damaged());
}

TEST_F(NvprofReaderTest, ADamagedCorrelationIdBelongsToNoLaunch) {
  thread_.Launch({});
  thread_.CallApi(211);
  builder_.rows("RUNTIME").back()["correlationId"] = 0;
  builder_.rows("CONCURRENT_KERNEL")[0]["correlationId"] = std::string("x");
  const Trace trace = Read();
  ASSERT_EQ(trace.kernels.size(), 1u);
  EXPECT_EQ(trace.kernels[0].launch, kNoLaunch);
  EXPECT_EQ(trace.kernels[0].correlation_id, kUnknownId);
}

TEST_F(NvprofReaderTest, AnEndNeedsItsIdAndTimeOnly) {
  thread_.Push("x");
  thread_.Pop();
  test::Row& end = builder_.rows("MARKER")[1];
  end["name"] = std::string("odd");
  end["objectKind"] = 1;
  end["objectId"] = test::Blob{};
  const Trace trace = Read();
  ASSERT_EQ(trace.ranges.size(), 1u);
  EXPECT_FALSE(trace.ranges[0].open());
  EXPECT_FALSE(diagnostics_.Damaged());
}

TEST_F(NvprofReaderTest, AMissingColumnCostsASentenceAndNoRow) {
  thread_.Push("x");
  thread_.Launch({.duration_ns = 5});
  thread_.Pop();
  const Trace trace = Read({.drop_columns = {{"CONCURRENT_KERNEL", "gridZ"},
                                             {"CONCURRENT_KERNEL", "registersPerThread"},
                                             {"RUNTIME", "threadId"}}});
  ASSERT_EQ(trace.kernels.size(), 1u);
  EXPECT_EQ(trace.kernels[0].end_ns - trace.kernels[0].start_ns, 5);
  EXPECT_FALSE(trace.kernels[0].bad_row);
  EXPECT_EQ(trace.kernels[0].launch, kNoLaunch);
  EXPECT_FALSE(diagnostics_.Damaged());
  EXPECT_THAT(diagnostics_.Render("parse"),
              HasSubstr("table CUPTI_ACTIVITY_KIND_RUNTIME has no column threadId"));
}

TEST_F(NvprofReaderTest, EveryVersionAndLayoutReadsTheSame) {
  thread_.Push("r");
  thread_.Launch({.name = "k", .duration_ns = 77});
  thread_.Pop();
  std::vector<NvprofOptions> layouts(8);
  layouts[0].version = 8;
  layouts[1].version = 22;
  layouts[2].reverse_columns = true;
  layouts[3].page_size = 1024;
  layouts[4].encoding = "UTF-16be";
  layouts[5].journal = NvprofOptions::Journal::kWalCheckpointed;
  layouts[6].journal = NvprofOptions::Journal::kWalPending;
  layouts[7].extra_columns = {{"RUNTIME", "name"}, {"CONCURRENT_KERNEL", "note"}};
  for (size_t i = 0; i < layouts.size(); ++i) {
    const Trace trace = Read(layouts[i]);
    ASSERT_EQ(trace.kernels.size(), 1u) << "layout " << i;
    EXPECT_EQ(trace.kernels[0].end_ns - trace.kernels[0].start_ns, 77) << "layout " << i;
    EXPECT_NE(trace.kernels[0].launch, kNoLaunch) << "layout " << i;
    ASSERT_EQ(trace.ranges.size(), 1u) << "layout " << i;
    EXPECT_FALSE(trace.ranges[0].open()) << "layout " << i;
    EXPECT_EQ(trace.schema_version, layouts[i].version) << "layout " << i;
  }
}

TEST_F(NvprofReaderTest, MissingTablesCostASentenceEach) {
  thread_.Launch({});
  const Trace trace =
      Read({.drop_tables = {"RUNTIME", "DRIVER", "MARKER", "MEMCPY", "MEMCPY2", "MEMSET",
                            "SYNCHRONIZATION", "OVERHEAD", "DEVICE", "KERNEL"}});
  EXPECT_EQ(trace.kernels.size(), 1u);
  EXPECT_EQ(diagnostics_.notes().size(), 10u);
  EXPECT_FALSE(diagnostics_.Damaged());
  EXPECT_THROW(Read({.without_string_table = true}), Error);
  const Trace none = Read({.drop_tables = {"CONCURRENT_KERNEL", "KERNEL"}});
  EXPECT_TRUE(none.kernels.empty());
  EXPECT_THAT(diagnostics_.Render("parse"), HasSubstr("no kernels were recorded"));
}

/// Everything of ranges and instants, and what was counted.
std::string Describe(const Trace& trace, const Diagnostics& diagnostics) {
  std::string text;
  for (const Thread& thread : trace.threads) text += fmt::format("thread {}\n", thread.thread_id);
  for (const Range& range : trace.ranges) {
    text += fmt::format("{} {} {} {} {}\n", range.start_ns, range.end_ns, range.text,
                        trace.strings.View(range.text), trace.ThreadOf(range));
  }
  for (const Instant& instant : trace.instants) {
    text += fmt::format("{} {} {}\n", instant.time_ns, trace.strings.View(instant.text),
                        instant.thread);
  }
  return text + diagnostics.Render("test");
}

// Of so many rows a thread reads the ranges while others are read.
TEST_F(NvprofReaderTest, RangesAreTheSameWithAnyNumberOfThreads) {
  HostThread other{&state_, 77, 2'000'000};
  for (int i = 0; i < 17'000; ++i) {
    HostThread& thread = i % 3 == 0 ? other : thread_;
    thread.Push(fmt::format("outer {}", i % 50));
    thread.Push("inner");
    if (i % 10 == 0) thread.Launch({.name = fmt::format("kernel_{}", i % 4000)});
    thread.Pop();
    thread.Pop();
  }
  std::deque<test::Row>& rows = builder_.rows("MARKER");
  ASSERT_GT(rows.size(), size_t{1} << 16);
  for (size_t i = 500; i < rows.size(); i += 1000) {
    test::Row& row = rows[i];  // The start of an outer range.
    switch (i / 1000 % 7) {
      case 0:
        row["timestamp"] = "soon";
        break;
      case 1:
        row["name"] = 987654;  // No such text.
        break;
      case 2:
        rows[i + 1]["id"] = row["id"];
        break;
      case 3:
        row["objectId"] = 5;
        break;
      case 4:
        row["flags"] = 1;  // An instant.
        break;
      case 5:
        std::swap(rows[i + 1], rows[i + 2]);  // An end before its start.
        break;
      default:
        rows[i + 3]["timestamp"] = 3;  // Before the start.
    }
  }
  const int before = ThreadLimit();
  for (const bool unknown_texts : {true, false}) {
    for (size_t i = 1500; !unknown_texts && i < rows.size(); i += 7000)
      rows[i]["name"] = 0;  // NULL
    SetThreadLimit(1);
    const Trace alone = Read();
    const std::string expected = Describe(alone, diagnostics_);
    EXPECT_GT(alone.ranges.size(), 30'000u);
    for (const Reason reason :
         {Reason::kBadMarkerRow, Reason::kDuplicateMarker, Reason::kReversedRange}) {
      EXPECT_GT(diagnostics_.CountOf(reason), 0);
    }
    EXPECT_FALSE(alone.instants.empty());
    EXPECT_THAT(expected, HasSubstr("<unknown>"));
    for (const int threads : {2, 3, 8}) {
      SetThreadLimit(threads);
      const Trace trace = Read();
      EXPECT_EQ(Describe(trace, diagnostics_), expected) << threads;
    }
  }
  SetThreadLimit(before);
}

}  // namespace
}  // namespace oplens::parse::nvprof_reader_test
