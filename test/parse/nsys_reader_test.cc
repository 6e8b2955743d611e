// What databases of Nsight Systems are read to.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/threads.h"
#include "parse/readers/nsys/nsys_calls.h"
#include "parse/readers/open_trace.h"
#include "test/support/nsys_builder.h"
#include "test/support/test_files.h"

namespace oplens::parse::nsys_reader_test {
namespace {

using test::GlobalPid;
using test::NsysBuilder;
using test::NsysOptions;
using test::NsysThread;
using test::TestDir;
using testing::HasSubstr;
using testing::Not;
using Texts = std::vector<std::string>;

/// "2 3 4", of sizes of a grid or a block.
std::string SizesOf(const int32_t (&sizes)[3]) {
  return std::to_string(sizes[0]) + " " + std::to_string(sizes[1]) + " " + std::to_string(sizes[2]);
}

constexpr int64_t kProcess = 4242;
constexpr int64_t kOtherProcess = 5151;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

/// All parts but the calls that nothing refers to.
constexpr TraceNeeds kAllButCalls = {TracePart::kWaitEvents, TracePart::kMemoryEvents,
                                     TracePart::kInstants, TracePart::kOverheads,
                                     TracePart::kNames};

class NsysReaderTest : public testing::Test {
 protected:
  Trace Read(const NsysOptions& options = {}, TraceNeeds needs = kAllButCalls) {
    const std::filesystem::path path = TestDir() / "profile.sqlite";
    builder_.Write(path, options);
    diagnostics_ = Diagnostics();
    return OpenTrace(path.string(), needs, &diagnostics_);
  }

  std::string_view LaunchApi(const Trace& trace, LaunchIndex launch) {
    return launch == kNoLaunch ? "none" : trace.strings.View(trace.launches[launch].api);
  }

  test::Row& KernelRow(size_t i) { return builder_.rows("CUPTI_ACTIVITY_KIND_KERNEL").at(i); }

  test::Row& Nvtx(int64_t type, test::Row more) {
    test::Row row = {{"eventType", type}, {"globalTid", thread_.global_tid()}};
    for (auto& [column, value] : more) row[column] = std::move(value);
    return builder_.Add("NVTX_EVENTS", std::move(row));
  }

  NsysBuilder builder_;
  NsysThread thread_{&builder_, kProcess, 4243};
  Diagnostics diagnostics_;
};

TEST_F(NsysReaderTest, FillsTheModel) {
  thread_.Push("step");
  thread_.Launch({.name = "_Z1kv", .duration_ns = 500});
  thread_.Pop();
  const int64_t copy = thread_.Call("cudaMemcpyAsync_v3020");
  builder_.Add("CUPTI_ACTIVITY_KIND_MEMCPY", {{"start", 5},
                                              {"end", 9},
                                              {"deviceId", 0},
                                              {"contextId", 1},
                                              {"streamId", 7},
                                              {"correlationId", copy},
                                              {"globalPid", thread_.global_pid()},
                                              {"bytes", 4096},
                                              {"copyKind", 1},
                                              {"srcKind", 1},
                                              {"dstKind", 2}});
  builder_.Add("CUPTI_ACTIVITY_KIND_MEMSET", {{"start", 5},
                                              {"end", 6},
                                              {"deviceId", 0},
                                              {"contextId", 1},
                                              {"streamId", 7},
                                              {"correlationId", 999},
                                              {"globalPid", thread_.global_pid()},
                                              {"bytes", 64},
                                              {"value", 0xFFFFFFFF}});
  const int64_t wait = thread_.Call("cudaDeviceSynchronize_v3020");
  builder_.Add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", {{"start", 1},
                                                       {"end", 2},
                                                       {"deviceId", 0},
                                                       {"contextId", 1},
                                                       {"streamId", 4294967295},
                                                       {"correlationId", wait},
                                                       {"globalPid", thread_.global_pid()},
                                                       {"syncType", 4}});
  thread_.Call("cudaMalloc_v3020");
  const Trace trace = Read();
  EXPECT_EQ(trace.family, Family::kNsys);
  EXPECT_EQ(trace.schema_version, 3);
  EXPECT_EQ(trace.producer, "2024.6.2.225 (schema 3.16.1)");
  ASSERT_EQ(trace.kernels.size(), 1u);
  const Kernel& kernel = trace.kernels[0];
  EXPECT_EQ(trace.strings.View(kernel.name), "_Z1kv");
  EXPECT_EQ(kernel.end_ns - kernel.start_ns, 500);
  EXPECT_EQ(kernel.process_id, kProcess);
  EXPECT_EQ(SizesOf(trace.ShapeOf(kernel).grid), "2 3 4");
  EXPECT_EQ(SizesOf(trace.ShapeOf(kernel).block), "64 1 1");
  EXPECT_EQ(kernel.stream_id, 7);
  EXPECT_EQ(trace.ShapeOf(kernel).registers_per_thread, 32);
  EXPECT_EQ(trace.ShapeOf(kernel).static_shared_memory_bytes, 16);
  EXPECT_EQ(trace.ShapeOf(kernel).dynamic_shared_memory_bytes, 8);
  EXPECT_FALSE(kernel.graph);
  EXPECT_EQ(LaunchApi(trace, kernel.launch), "cudaLaunchKernel");
  const Thread& thread = trace.threads[trace.launches[kernel.launch].thread];
  EXPECT_EQ(thread.process_id, kProcess);
  EXPECT_EQ(thread.thread_id, 4243);
  ASSERT_EQ(trace.ranges.size(), 1u);
  EXPECT_EQ(trace.strings.View(trace.ranges[0].text), "step");
  EXPECT_EQ(trace.ranges[0].kind, RangeKind::kMarker);
  EXPECT_EQ(trace.ItemOf(trace.ranges[0]), kNoItem);
  EXPECT_EQ(trace.ThreadOf(trace.ranges[0]), trace.launches[kernel.launch].thread);
  ASSERT_EQ(trace.copies.size(), 1u);
  EXPECT_EQ(trace.copies[0].size_bytes, 4096);
  EXPECT_EQ(trace.copies[0].source_kind, MemoryKind::kPinned);
  EXPECT_EQ(trace.copies[0].target_kind, MemoryKind::kDevice);
  EXPECT_EQ(LaunchApi(trace, trace.copies[0].launch), "cudaMemcpyAsync");
  ASSERT_EQ(trace.sets.size(), 1u);
  EXPECT_EQ(trace.sets[0].value, -1);
  EXPECT_EQ(trace.sets[0].launch, kNoLaunch);
  ASSERT_EQ(trace.synchronizations.size(), 1u);
  EXPECT_EQ(trace.synchronizations[0].stream_id, -1);
  EXPECT_EQ(trace.synchronizations[0].kind, WaitKind::kContext);
  EXPECT_EQ(LaunchApi(trace, trace.synchronizations[0].launch), "cudaDeviceSynchronize");
  EXPECT_EQ(trace.launches.size(), 3u) << "cudaMalloc started nothing";
  EXPECT_FALSE(diagnostics_.Damaged());
  EXPECT_TRUE(diagnostics_.notes().empty());
}

TEST_F(NsysReaderTest, AllCallsWhereTheyAreAskedFor) {
  thread_.Call("cudaMalloc_v3020");
  const int64_t id = thread_.Launch();
  NsysThread other(&builder_, kOtherProcess, 7, 500);
  other.Call("cudaFree_v3020");
  auto& rows = builder_.rows("CUPTI_ACTIVITY_KIND_RUNTIME");
  const test::Row launch = rows[1];
  test::Row driver = launch;
  driver["eventClass"] = int64_t{1};
  driver["nameId"] = builder_.Intern("cuLaunchKernel");
  driver["start"] = std::get<int64_t>(launch.at("end"));
  driver["end"] = driver["start"];
  rows.push_back(driver);
  rows.push_back(launch);  // The same row twice.
  rows.push_back(rows[0]);
  test::Row backtrace = rows[0];
  backtrace["eventClass"] = int64_t{67};
  rows.push_back(backtrace);
  test::Row reversed = rows[0];
  reversed["end"] = int64_t{0};
  rows.push_back(reversed);

  const Trace without = Read({}, {});
  ASSERT_EQ(without.launches.size(), 1u);
  EXPECT_EQ(without.threads.size(), 1u);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadLaunchTimes), 0);

  const Trace trace = Read({}, {TracePart::kApiCalls});
  std::vector<std::string> names;
  for (const LaunchCall& call : trace.launches) names.emplace_back(trace.strings.View(call.api));
  EXPECT_EQ(names, (Texts{"cudaLaunchKernel", "cudaFree", "cudaMalloc", "cuLaunchKernel"}));
  EXPECT_EQ(trace.kernels.at(0).launch, 0u);
  EXPECT_EQ(trace.launches[0].correlation_id, id);
  EXPECT_EQ(trace.threads.at(trace.launches[1].thread).process_id, kOtherProcess);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadLaunchTimes), 1);

  rows[0]["end"] = std::get<int64_t>(rows[0].at("start")) + kLongCallNs;
  EXPECT_EQ(Read({}, {TracePart::kLongCalls}).launches.size(), 2u);
}

TEST_F(NsysReaderTest, CallsThatWaitAreKeptWhereTheyAreAskedFor) {
  thread_.Launch();
  thread_.Call("cudaMalloc_v3020");
  thread_.Call("cudaStreamSynchronize_v3020");
  const Trace trace = Read({}, {TracePart::kWaitCalls});
  ASSERT_EQ(trace.launches.size(), 2u);
  EXPECT_EQ(trace.strings.View(trace.launches[1].api), "cudaStreamSynchronize");
  EXPECT_EQ(trace.kernels.at(0).launch, 0u);
}

TEST_F(NsysReaderTest, ACallWithoutWorkSaysNothingOfTheRank) {
  thread_.Launch();
  NsysThread other(&builder_, kOtherProcess, 7);
  other.Call("cudaFree_v3020");
  const auto name = [&](const NsysThread& thread, const char* text) {
    builder_.Add(
        "ThreadNames",
        {{"nameId", builder_.Intern(text)}, {"priority", 1}, {"globalTid", thread.global_tid()}});
  };
  name(thread_, "MPI Rank 2");
  name(other, "MPI Rank 3");
  EXPECT_EQ(Read({}, {}).rank, 2);
  const Trace trace = Read({}, TraceNeeds::All());
  EXPECT_EQ(trace.rank, 2);
  ASSERT_EQ(trace.threads.size(), 2u);
  EXPECT_EQ(trace.strings.View(trace.threads[1].name), "MPI Rank 3");
}

TEST_F(NsysReaderTest, WhatNobodyAsksForIsNotKept) {
  const int64_t id = thread_.Launch();
  Nvtx(34, {{"start", 13}, {"text", "mark"}});
  builder_.Add("PROFILER_OVERHEAD", {{"start", 1}, {"end", 4}, {"globalTid", 5}});
  builder_.Add(
      "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
      {{"deviceId", 0}, {"contextId", 1}, {"streamId", 7}, {"correlationId", id}, {"eventId", 1}});
  builder_.Add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", {{"start", 1},
                                                       {"end", 2},
                                                       {"deviceId", 0},
                                                       {"contextId", 1},
                                                       {"streamId", 7},
                                                       {"correlationId", id},
                                                       {"syncType", 3},
                                                       {"eventId", 1}});
  builder_.Add("CUDA_GPU_MEMORY_USAGE_EVENTS", {{"start", 40},
                                                {"globalPid", thread_.global_pid()},
                                                {"deviceId", 1},
                                                {"address", 4096},
                                                {"bytes", 512},
                                                {"memoryOperationType", 0}});
  const Trace trace = Read({}, {});
  EXPECT_TRUE(trace.instants.empty());
  EXPECT_TRUE(trace.overheads.empty());
  EXPECT_TRUE(trace.event_records.empty());
  EXPECT_TRUE(trace.memory_events.empty());
  ASSERT_EQ(trace.synchronizations.size(), 1u);
  EXPECT_EQ(trace.synchronizations[0].event_id, kNoEvent);
  EXPECT_EQ(trace.synchronizations[0].kind, WaitKind::kStreamWaitEvent);
  EXPECT_EQ(trace.clock_offset_ns, std::nullopt);
}

TEST_F(NsysReaderTest, WaitsKnowTheirKindAndWhereTheirEventWasRecorded) {
  const auto record = [&](NsysThread* thread, int64_t event, int64_t stream) {
    const int64_t call = thread->Call("cudaEventRecord_v3020");
    builder_.Add("CUPTI_ACTIVITY_KIND_CUDA_EVENT", {{"deviceId", 4},
                                                    {"contextId", 1},
                                                    {"streamId", stream},
                                                    {"correlationId", call},
                                                    {"globalPid", thread->global_pid()},
                                                    {"eventId", event}});
  };
  constexpr int64_t kNone = 4294967295;
  const auto wait = [&](int64_t stream, test::Value event) {
    const int64_t call = thread_.Call("cudaStreamWaitEvent_v3020");
    builder_.Add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", {{"start", 1},
                                                         {"end", 2},
                                                         {"deviceId", 0},
                                                         {"contextId", 1},
                                                         {"streamId", stream},
                                                         {"correlationId", call},
                                                         {"globalPid", thread_.global_pid()},
                                                         {"syncType", 2},
                                                         {"eventId", std::move(event)}});
  };
  NsysThread other(&builder_, kOtherProcess, 7);
  record(&thread_, 5, 7);
  record(&other, 5, 8);  // Of another process.
  wait(9, 5);
  record(&thread_, 5, 7);
  wait(kNone, 5);
  wait(7, kNone);
  wait(kNone, test::Value());
  wait(9, 6);
  builder_.Add("CUPTI_ACTIVITY_KIND_CUDA_EVENT", {{"deviceId", 4}, {"eventId", 1}});
  const Trace trace = Read();
  const auto& waits = trace.synchronizations;
  ASSERT_EQ(waits.size(), 5u);
  ASSERT_EQ(trace.event_records.size(), 3u);
  EXPECT_EQ(waits[0].kind, WaitKind::kStreamWaitEvent);
  EXPECT_EQ(waits[0].event_id, 5u);
  EXPECT_EQ(waits[0].event_record, 0u);
  EXPECT_EQ(trace.event_records[0].stream_id, 7);
  EXPECT_EQ(trace.event_records[0].device_id, 4);
  EXPECT_EQ(LaunchApi(trace, trace.event_records[0].launch), "cudaEventRecord");
  EXPECT_EQ(waits[1].kind, WaitKind::kEvent);
  EXPECT_EQ(waits[1].event_record, 2u);
  EXPECT_EQ(waits[2].kind, WaitKind::kStream);
  EXPECT_EQ(waits[3].kind, WaitKind::kContext);
  EXPECT_EQ(waits[4].event_id, 6u);
  EXPECT_EQ(waits[4].event_record, kNoItem);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadOtherRow), 1);
  const Trace untold = Read({.drop_columns = {{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "eventId"}}});
  EXPECT_EQ(untold.synchronizations.at(0).kind, WaitKind::kUnknown);
}

TEST_F(NsysReaderTest, TheStartOfTheSessionIsTheOriginOfTimes) {
  thread_.Launch();
  builder_.Add("TARGET_INFO_SESSION_START_TIME", {{"utcEpochNs", 1696392839587175550}});
  EXPECT_EQ(Read({}, {}).clock_offset_ns, 1696392839587175550);
}

TEST_F(NsysReaderTest, AbiSuffixesOnly) {
  EXPECT_EQ(StripAbiSuffix("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(StripAbiSuffix("cudaLaunchKernelExC_v11060"), "cudaLaunchKernelExC");
  EXPECT_EQ(StripAbiSuffix("cuMemcpyHtoD_v2"), "cuMemcpyHtoD_v2");
  EXPECT_EQ(StripAbiSuffix("cuLaunchKernelEx"), "cuLaunchKernelEx");
  EXPECT_EQ(StripAbiSuffix("my_v2000_call"), "my_v2000_call");
  EXPECT_EQ(StripAbiSuffix("_v"), "_v");
  EXPECT_EQ(StripAbiSuffix(""), "");
}

TEST_F(NsysReaderTest, NameIsTheBestThatTheRowHas) {
  for (int i = 0; i < 5; ++i) thread_.Launch();
  const int64_t demangled = builder_.Intern("void k<int>(int)");
  const int64_t shorter = builder_.Intern("k");
  for (int i = 0; i < 5; ++i) {
    KernelRow(static_cast<size_t>(i))["demangledName"] = demangled;
    KernelRow(static_cast<size_t>(i))["shortName"] = shorter;
  }
  KernelRow(1)["mangledName"] = std::monostate();
  KernelRow(2)["mangledName"] = std::monostate();
  KernelRow(2)["demangledName"] = 12345;  // Of no string.
  KernelRow(3)["mangledName"] = builder_.Intern("_Zsomething that is no name");
  for (const char* column : {"mangledName", "demangledName", "shortName"}) {
    KernelRow(4)[column] = 12345;
  }
  const Trace trace = Read();
  EXPECT_EQ(trace.strings.View(trace.kernels[0].name), "_Z6kernelv");
  EXPECT_EQ(trace.strings.View(trace.kernels[1].name), "void k<int>(int)");
  EXPECT_EQ(trace.strings.View(trace.kernels[2].name), "k");
  EXPECT_EQ(trace.strings.View(trace.kernels[3].name), "void k<int>(int)");
  EXPECT_EQ(trace.kernels[4].name, 0u);
  EXPECT_EQ(trace.kernels[4].name, 0u);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kUnknownKernelName), 1);
  const Trace old = Read({.major = 0, .minor = 0});
  EXPECT_EQ(old.strings.View(old.kernels[0].name), "void k<int>(int)");
}

TEST_F(NsysReaderTest, ProcessesWithTheSameCorrelationIds) {
  NsysThread other(&builder_, kOtherProcess, 5151);
  NsysThread elsewhere(&builder_, 6000, 6000);
  thread_.Launch({.api = "cudaLaunchKernel_v7000"});
  other.Launch({.api = "cuLaunchKernel", .event_class = 1});
  // The same process and thread ids on another machine.
  elsewhere.Launch({.api = "cudaLaunchKernelExC_v11060"});
  builder_.rows("CUPTI_ACTIVITY_KIND_RUNTIME")[2]["globalTid"] = GlobalPid(kProcess, 2) | 4243;
  KernelRow(2)["globalPid"] = GlobalPid(kProcess, 2);
  for (const bool shuffled : {false, true}) {
    NsysOptions options;
    if (shuffled) options.shuffle_seed = 5;
    const Trace trace = Read(options);
    ASSERT_EQ(trace.kernels.size(), 3u);
    for (const Kernel& kernel : trace.kernels) {
      const LaunchCall& call = trace.launches.at(kernel.launch);
      EXPECT_EQ(trace.threads[call.thread].process_id, kernel.process_id);
      EXPECT_LT(call.end_ns, kernel.start_ns);
    }
    std::vector<std::string> apis;
    for (const Kernel& kernel : trace.kernels) apis.emplace_back(LaunchApi(trace, kernel.launch));
    std::sort(apis.begin(), apis.end());
    EXPECT_EQ(apis, (Texts{"cuLaunchKernel", "cudaLaunchKernel", "cudaLaunchKernelExC"}));
    EXPECT_EQ(trace.threads.size(), 3u);
    EXPECT_EQ(diagnostics_.CountOf(Reason::kDuplicateLaunch), 0);
  }
}

TEST_F(NsysReaderTest, WithoutAProcessOnlyWhereThereIsOne) {
  thread_.Launch();
  const NsysOptions options = {.drop_columns = {{"CUPTI_ACTIVITY_KIND_KERNEL", "globalPid"}}};
  const Trace one = Read(options);
  EXPECT_EQ(LaunchApi(one, one.kernels.at(0).launch), "cudaLaunchKernel");
  EXPECT_EQ(one.kernels[0].process_id, kProcess) << "that of its launch";
  EXPECT_FALSE(one.kernels[0].bad_row);
  NsysThread other(&builder_, kOtherProcess, 5151);
  other.Launch();
  const Trace two = Read(options);
  for (const Kernel& kernel : two.kernels) EXPECT_EQ(kernel.launch, kNoLaunch);
}

TEST_F(NsysReaderTest, CallsCountOnce) {
  const int64_t id = thread_.Launch();
  auto& rows = builder_.rows("CUPTI_ACTIVITY_KIND_RUNTIME");
  test::Row backtrace = rows[0];
  backtrace["eventClass"] = 67;
  backtrace["nameId"] = builder_.Intern("cudaLaunchKernel");
  backtrace["start"] = 1;
  rows.push_front(backtrace);
  test::Row alone = backtrace;  // Repeats nothing.
  alone["correlationId"] = id + 50;
  rows.push_back(alone);
  test::Row driver = rows[1];  // What the runtime call called.
  driver["eventClass"] = 1;
  driver["start"] = std::get<int64_t>(driver["start"]) + 1;
  rows.push_front(driver);
  const Trace trace = Read();
  ASSERT_EQ(trace.kernels.size(), 1u);
  ASSERT_EQ(trace.launches.size(), 1u);
  EXPECT_EQ(trace.launches[0].start_ns, std::get<int64_t>(driver["start"]) - 1);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kDuplicateLaunch), 2);
  EXPECT_FALSE(diagnostics_.Damaged());
}

TEST_F(NsysReaderTest, UnclosedRangesByTheEndOfTheRecording) {
  thread_.Push("closed");
  thread_.Pop();
  thread_.Push("open by NULL");
  Nvtx(59, {{"start", 50}, {"end", 900'000}, {"text", "open by duration"}});
  Nvtx(59, {{"start", 950'000}, {"end", 960'000}, {"text", "after it all"}});
  Nvtx(59, {{"start", -80}, {"end", -70}, {"text", "before the recording"}});
  builder_.Add("ANALYSIS_DETAILS", {{"globalVid", int64_t{1} << 48}, {"duration", 900'000}});
  const Trace trace = Read();
  std::vector<std::string> closed;
  for (const Range& range : trace.ranges) {
    if (!range.open()) closed.emplace_back(trace.strings.View(range.text));
  }
  std::sort(closed.begin(), closed.end());
  EXPECT_EQ(closed, (Texts{"before the recording", "closed"}));
  EXPECT_EQ(trace.ranges.size(), 5u);
  // Without a session of this machine among several, an end is an end.
  builder_.rows("ANALYSIS_DETAILS")[0]["globalVid"] = int64_t{2} << 48;
  builder_.Add("ANALYSIS_DETAILS", {{"globalVid", int64_t{3} << 48}, {"duration", 900'000}});
  const Trace others = Read();
  EXPECT_EQ(std::count_if(others.ranges.begin(), others.ranges.end(),
                          [](const Range& range) { return range.open(); }),
            1);
}

TEST_F(NsysReaderTest, DomainsCategoriesAndPayloads) {
  thread_.Push("of a library", {{"domainId", 3}, {"category", 9}});
  thread_.Push("named", {{"domainId", 3}, {"category", 2}});
  thread_.Push("of ours", {{"domainId", 4}});
  thread_.Push("with payload", {{"int64Value", -5}});
  thread_.Push("of an unnamed domain", {{"domainId", 8}, {"doubleValue", 2.5}});
  thread_.Push("large", {{"uint64Value", -1}});
  thread_.Push("schema", {{"jsonText", "{\"bytes\": 4}"}});
  thread_.Push("once more", {{"domainId", 3}, {"category", 2}});
  for (int i = 0; i < 8; ++i) thread_.Pop();
  // Names come last: they are known all the same. Of another process, domain 3 is another one.
  Nvtx(75, {{"start", 1}, {"domainId", 3}, {"text", "NCCL"}});
  Nvtx(75, {{"start", 1}, {"domainId", 4}, {"text", "oplens"}});
  Nvtx(75,
       {{"start", 1}, {"domainId", 3}, {"text", "MPI"}, {"globalTid", GlobalPid(kOtherProcess)}});
  Nvtx(33, {{"start", 1}, {"domainId", 3}, {"category", 2}, {"text", "collective"}});
  const Trace trace = Read();
  ASSERT_EQ(trace.ranges.size(), 8u);
  const auto label = [&](size_t i) { return *trace.LabelOf(trace.ranges[i]); };
  const auto text = [&](StringId id) { return std::string(trace.strings.View(id)); };
  EXPECT_EQ(trace.ranges[0].kind, RangeKind::kAnnotation);
  EXPECT_EQ(text(label(0).domain), "NCCL");
  EXPECT_EQ(text(label(0).category), "9");
  EXPECT_EQ(text(label(1).category), "collective");
  EXPECT_EQ(trace.ranges[2].kind, RangeKind::kMarker) << "our own recorder";
  EXPECT_EQ(text(label(2).domain), "oplens");
  EXPECT_EQ(trace.ranges[3].kind, RangeKind::kMarker);
  EXPECT_EQ(text(label(3).payload), "-5");
  EXPECT_EQ(label(3).domain, 0u);
  EXPECT_EQ(trace.ranges[4].kind, RangeKind::kAnnotation);
  EXPECT_EQ(text(label(4).domain), "domain 8");
  EXPECT_EQ(text(label(4).payload), "2.5");
  EXPECT_EQ(text(label(5).payload), "18446744073709551615");
  EXPECT_EQ(text(label(6).payload), "{\"bytes\": 4}");
  EXPECT_EQ(trace.ItemOf(trace.ranges[7]), trace.ItemOf(trace.ranges[1])) << "equal labels are one";
  EXPECT_FALSE(label(0).start_end);
}

TEST_F(NsysReaderTest, OtherKindsOfEvents) {
  const int64_t registered = builder_.Intern("registered");
  Nvtx(60, {{"start", 10}, {"end", 20}, {"text", "start/end"}, {"rangeId", 77}});
  Nvtx(71, {{"start", 11}, {"end", 21}, {"text", "imported start/end"}});
  Nvtx(70, {{"start", 12}, {"end", 22}, {"textId", registered}});
  Nvtx(34, {{"start", 13}, {"text", "mark"}});
  Nvtx(39, {{"start", 14}, {"text", "main loop"}});
  Nvtx(76, {{"start", 15}, {"domainId", 3}});
  builder_.Add("ThreadNames", {{"globalTid", thread_.global_tid()},
                               {"nameId", builder_.Intern("python3")},
                               {"priority", 20}});
  const Trace trace = Read();
  ASSERT_EQ(trace.ranges.size(), 3u);
  EXPECT_EQ(trace.ranges[0].kind, RangeKind::kAnnotation);
  EXPECT_TRUE(trace.labels.at(trace.ItemOf(trace.ranges[0])).start_end);
  EXPECT_TRUE(trace.labels.at(trace.ItemOf(trace.ranges[1])).start_end);
  EXPECT_EQ(trace.ranges[2].kind, RangeKind::kMarker);
  EXPECT_EQ(trace.strings.View(trace.ranges[2].text), "registered");
  ASSERT_EQ(trace.instants.size(), 1u);
  EXPECT_EQ(trace.strings.View(trace.instants[0].text), "mark");
  EXPECT_EQ(trace.instants[0].time_ns, 13);
  ASSERT_EQ(trace.threads.size(), 1u);
  EXPECT_EQ(trace.strings.View(trace.threads[0].name), "main loop");
  EXPECT_FALSE(diagnostics_.Damaged());
}

TEST_F(NsysReaderTest, ThreadsAndProcessesThatDidSomething) {
  thread_.Launch();
  for (const auto& [name, priority] :
       {std::pair("python3", 20), std::pair("worker", 10), std::pair("late", 20)}) {
    builder_.Add("ThreadNames", {{"globalTid", thread_.global_tid()},
                                 {"nameId", builder_.Intern(name)},
                                 {"priority", priority}});
  }
  builder_.Add(
      "ThreadNames",
      {{"globalTid", GlobalPid(1) | 1}, {"nameId", builder_.Intern("systemd")}, {"priority", 20}});
  builder_.Add("PROCESSES", {{"globalPid", GlobalPid(1)}, {"pid", 1}, {"name", "systemd"}});
  builder_.Add("PROCESSES",
               {{"globalPid", thread_.global_pid()}, {"pid", kProcess}, {"name", "train"}});
  const Trace trace = Read();
  ASSERT_EQ(trace.threads.size(), 1u);
  EXPECT_EQ(trace.strings.View(trace.threads[0].name), "worker");
  ASSERT_EQ(trace.processes.size(), 1u);
  EXPECT_EQ(trace.processes[0].id, kProcess);
  EXPECT_EQ(trace.strings.View(trace.processes[0].name), "train");
  const Trace unnamed = Read({.drop_tables = {"PROCESSES", "ThreadNames"}});
  ASSERT_EQ(unnamed.processes.size(), 1u);
  EXPECT_EQ(unnamed.processes[0].id, kProcess);
}

TEST_F(NsysReaderTest, RankOfAnMpiProcess) {
  thread_.Launch();
  EXPECT_EQ(Read().rank, kUnknownId);
  Nvtx(39, {{"start", 1}, {"text", "MPI Rank 3"}});
  EXPECT_EQ(Read().rank, 3);
  // Several processes in one file.
  NsysThread other(&builder_, kOtherProcess, 5151);
  other.Launch();
  Nvtx(39, {{"start", 1}, {"text", "MPI Rank 4"}, {"globalTid", other.global_tid()}});
  EXPECT_EQ(Read().rank, kUnknownId);
}

TEST_F(NsysReaderTest, EnvironmentOfTheProgram) {
  thread_.Launch();
  const auto add = [this](const char* name, const char* value) {
    builder_.Add("META_DATA_CAPTURE", {{"name", name}, {"value", value}});
  };
  add("PROCESS_0:ENVIRONMENT_VARIABLE", "PASSWORD=\"hunter2\"");
  add("PROCESS_0:ENVIRONMENT_VARIABLE", "RANK=\"3\"");
  add("PROCESS_0:ENVIRONMENT_VARIABLE", "WORLD_SIZE=8");
  add("PROCESS_0:ARGUMENT_0", "LOCAL_RANK=\"5\"");
  add("PROCESS_0:ENVIRONMENT_VARIABLE", "LOCAL_RANK");
  const Trace trace = Read();
  EXPECT_EQ(trace.environment, (RunPlace{3, 8, -1, -1}));
  EXPECT_EQ(trace.rank, kUnknownId) << "the metadata say none";
  for (StringId i = 0; i < trace.strings.size(); ++i) {
    EXPECT_THAT(trace.strings.View(i), Not(HasSubstr("hunter2")));
  }
}

TEST_F(NsysReaderTest, AnyIdOfAThreadIsOne) {
  Nvtx(59, {{"start", 1}, {"end", 2}, {"text", "x"}, {"globalTid", -1}});
  const Trace trace = Read();
  ASSERT_EQ(trace.ranges.size(), 1u);
  EXPECT_FALSE(trace.ranges[0].open());
  EXPECT_EQ(trace.threads.at(0).process_id, 0xFFFFFF);
  EXPECT_EQ(trace.threads.at(0).thread_id, 0xFFFFFF);
}

TEST_F(NsysReaderTest, DevicesByTheNumberThatCudaGivesThem) {
  const auto add_gpu = [this](int64_t id, int64_t cu_device, const char* name) {
    builder_.Add("TARGET_INFO_GPU", {{"id", id},
                                     {"cuDevice", cu_device},
                                     {"name", name},
                                     {"computeMajor", 8},
                                     {"computeMinor", 0},
                                     {"smMajor", 8},
                                     {"smMinor", 2},
                                     {"smCount", 108},
                                     {"clockRate", 1410000000},
                                     {"memoryBandwidth", 2039040000000},
                                     {"totalMemory", 85095874560},
                                     {"l2CacheSize", 41943040}});
  };
  thread_.Launch();
  add_gpu(3, 1, "second");
  add_gpu(1, 0, "first");
  const Trace trace = Read();
  ASSERT_EQ(trace.devices.size(), 2u);
  EXPECT_EQ(trace.devices[0].id, 0);
  EXPECT_EQ(trace.strings.View(trace.devices[0].name), "first");
  EXPECT_EQ(trace.devices[0].compute_capability_minor, 0);
  EXPECT_EQ(trace.devices[0].multiprocessors, 108);
  EXPECT_EQ(trace.devices[0].core_clock_hz, 1410000000);
  EXPECT_EQ(trace.devices[0].memory_bandwidth_bytes_per_s, 2039040000000);
  EXPECT_EQ(trace.devices[0].memory_bytes, 85095874560);
  EXPECT_EQ(trace.devices[0].l2_cache_bytes, 41943040);
  // The process saw one of them only, as its device 0.
  builder_.Add("TARGET_INFO_CUDA_DEVICE", {{"gpuId", 3}, {"cudaId", 0}, {"pid", kProcess}});
  builder_.Add("TARGET_INFO_CUDA_DEVICE", {{"gpuId", 1}, {"cudaId", 0}, {"pid", 77}});
  const Trace mapped = Read();
  ASSERT_EQ(mapped.devices.size(), 1u);
  EXPECT_EQ(mapped.devices[0].id, 0);
  EXPECT_EQ(mapped.strings.View(mapped.devices[0].name), "second");
}

TEST_F(NsysReaderTest, WholeGraphsHideTheirKernels) {
  for (int i = 0; i < 3; ++i) {
    const int64_t id = thread_.Call("cudaGraphLaunch_v10000");
    builder_.Add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {{"start", 100 + i},
                                                     {"end", 200 + i},
                                                     {"deviceId", 0},
                                                     {"contextId", 1},
                                                     {"streamId", 7},
                                                     {"correlationId", id},
                                                     {"globalPid", thread_.global_pid()},
                                                     {"graphId", 33}});
  }
  const Trace trace = Read();
  ASSERT_EQ(trace.graph_replays.size(), 3u);
  EXPECT_EQ(trace.graph_replays[0].graph_id, 33);
  EXPECT_EQ(LaunchApi(trace, trace.graph_replays[2].launch), "cudaGraphLaunch");
  EXPECT_THAT(diagnostics_.Render("parse"),
              HasSubstr("3 graph replays hide their kernels; record with --cuda-graph-trace=node"));
}

// A graph that is captured on one thread, instantiated (which clones its nodes) and replayed twice
// from another, as recorded with --cuda-graph-trace=node.
class NsysGraphTest : public NsysReaderTest {
 protected:
  void AddNode(NsysThread* by, int64_t node, test::Value original) {
    by->Call("cudaStreamIsCapturing_v10000");
    builder_.Add("CUDA_GRAPH_NODE_EVENTS", {{"start", by->now()},
                                            {"end", by->now()},
                                            {"eventClass", 77},
                                            {"globalTid", by->global_tid()},
                                            {"nameId", builder_.Intern("cudaLaunchKernel_v7000")},
                                            {"graphNodeId", node},
                                            {"originalGraphNodeId", std::move(original)}});
  }

  void Capture() {
    capturer_.Push("conv");
    AddNode(&capturer_, 101, std::monostate());
    capturer_.Pop();
    capturer_.Push("relu");
    AddNode(&capturer_, 102, std::monostate());
    capturer_.Pop();
    AddNode(&capturer_, 201, 101);
    AddNode(&capturer_, 301, 201);
    AddNode(&capturer_, 302, 102);
  }

  void Replay() {
    const int64_t id = thread_.Launch({.name = "_Z4convv", .api = "cudaGraphLaunch_v10000"});
    auto& kernels = builder_.rows("CUPTI_ACTIVITY_KIND_KERNEL");
    kernels.back()["graphNodeId"] = 301;
    test::Row second = kernels.back();
    second["mangledName"] = builder_.Intern("_Z4reluv");
    second["graphNodeId"] = 302;
    EXPECT_EQ(std::get<int64_t>(second["correlationId"]), id);
    kernels.push_back(second);
  }

  std::string_view CaptureRange(const Trace& trace, const Kernel& kernel) {
    if (kernel.capture == kNoLaunch) return "none";
    const LaunchCall& call = trace.launches[kernel.capture];
    for (const Range& range : trace.ranges) {
      const bool around = range.start_ns <= call.start_ns && call.end_ns <= range.end_ns;
      if (trace.ThreadOf(range) == call.thread && around) return trace.strings.View(range.text);
    }
    return "outside";
  }

  NsysThread capturer_{&builder_, kProcess, 7777, 500};
};

TEST_F(NsysGraphTest, KernelsLeadToTheCallThatWasCaptured) {
  Capture();
  Replay();
  Replay();
  const Trace trace = Read();
  ASSERT_EQ(trace.kernels.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const Kernel& kernel = trace.kernels[i];
    EXPECT_TRUE(kernel.graph);
    EXPECT_EQ(LaunchApi(trace, kernel.launch), "cudaGraphLaunch");
    EXPECT_EQ(LaunchApi(trace, kernel.capture), "cudaLaunchKernel");
    EXPECT_EQ(CaptureRange(trace, kernel), i % 2 == 0 ? "conv" : "relu");
  }
  EXPECT_EQ(trace.kernels[0].capture, trace.kernels[2].capture);
  EXPECT_EQ(trace.launches.size(), 4u);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kDuplicateLaunch), 0);
}

TEST_F(NsysGraphTest, AGraphLaunchIsEnough) {
  thread_.Launch({.api = "cuGraphLaunch", .event_class = 1});
  thread_.Launch();
  const Trace trace = Read();
  EXPECT_TRUE(trace.kernels.at(0).graph);
  EXPECT_FALSE(trace.kernels.at(1).graph);
  EXPECT_EQ(trace.kernels[0].capture, kNoLaunch);
}

TEST_F(NsysGraphTest, OldTableOfTheSameName) {
  Capture();
  Replay();
  const Trace trace = Read({.major = 2, .minor = 9});
  EXPECT_EQ(CaptureRange(trace, trace.kernels.at(0)), "conv");
}

TEST_F(NsysGraphTest, BrokenChainsLeadNowhere) {
  Capture();
  Replay();
  auto& nodes = builder_.rows("CUDA_GRAPH_NODE_EVENTS");
  nodes[0]["originalGraphNodeId"] = 301;  // A ring.
  nodes.erase(nodes.begin() + 1);         // The creation of the other.
  builder_.Add("CUDA_GRAPH_EVENTS", {{"start", 1}, {"globalTid", 1}, {"graphId", 302}});
  const Trace trace = Read();
  for (const Kernel& kernel : trace.kernels) {
    EXPECT_TRUE(kernel.graph);
    EXPECT_EQ(kernel.capture, kNoLaunch);
  }
  const Trace none = Read({.drop_tables = {"CUDA_GRAPH_NODE_EVENTS"}});
  EXPECT_EQ(none.kernels.at(0).capture, kNoLaunch);
  EXPECT_TRUE(none.kernels[0].graph);
}

TEST_F(NsysGraphTest, NodesOfAnotherProcessAreOthers) {
  Capture();
  Replay();
  for (test::Row& row : builder_.rows("CUDA_GRAPH_NODE_EVENTS")) {
    row["globalTid"] = GlobalPid(kOtherProcess) | 1;
  }
  const Trace trace = Read();
  EXPECT_EQ(trace.kernels.at(0).capture, kNoLaunch);
}

TEST_F(NsysReaderTest, MemoryEvents) {
  const int64_t id = thread_.Call("cudaMalloc_v3020");
  const auto add = [&](int64_t correlation, int64_t operation, int64_t kind) {
    builder_.Add("CUDA_GPU_MEMORY_USAGE_EVENTS", {{"start", 40},
                                                  {"globalPid", thread_.global_pid()},
                                                  {"deviceId", 1},
                                                  {"contextId", 1},
                                                  {"address", 4096},
                                                  {"bytes", 512},
                                                  {"memKind", kind},
                                                  {"memoryOperationType", operation},
                                                  {"correlationId", correlation}});
  };
  add(id, 0, 2);
  add(id + 9, 1, 2);
  add(id, 0, 1);
  add(id, 2, 2);
  const Trace trace = Read();
  ASSERT_EQ(trace.memory_events.size(), 3u);
  EXPECT_EQ(trace.memory_events[0].size_bytes, 512);
  EXPECT_EQ(trace.memory_events[0].source, MemorySource::kDriver);
  EXPECT_EQ(trace.memory_events[0].kind, MemoryKind::kDevice);
  EXPECT_EQ(LaunchApi(trace, trace.memory_events[0].launch), "cudaMalloc");
  EXPECT_EQ(trace.memory_events[0].device_id, 1);
  EXPECT_EQ(trace.threads.at(trace.memory_events[0].thread).thread_id, 4243);
  EXPECT_EQ(trace.memory_events[1].size_bytes, -512);
  EXPECT_EQ(trace.threads.at(trace.memory_events[1].thread).process_id, kProcess);
  EXPECT_EQ(trace.memory_events[2].device_id, -1) << "pinned memory of the host";
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadOtherRow), 1);
}

TEST_F(NsysReaderTest, OverheadsByTheirNames) {
  thread_.Launch();
  builder_.Add("PROFILER_OVERHEAD",
               {{"start", 0}, {"end", 9}, {"globalTid", GlobalPid(kOtherProcess) | 1}});
  for (const char* name : {"CUPTI: Buffer flush", "CUPTI Instrumentation",
                           "CUPTI Resource Management", "dlopen(libcuda.so.1)"}) {
    builder_.Add("PROFILER_OVERHEAD", {{"start", 1},
                                       {"end", 4},
                                       {"nameId", builder_.Intern(name)},
                                       {"globalTid", thread_.global_tid()}});
  }
  const Trace trace = Read();
  std::vector<OverheadKind> kinds;
  for (const Overhead& overhead : trace.overheads) kinds.push_back(overhead.kind);
  EXPECT_EQ(kinds, (std::vector{OverheadKind::kUnknown, OverheadKind::kBufferFlush,
                                OverheadKind::kInstrumentation, OverheadKind::kResource,
                                OverheadKind::kUnknown}));
  EXPECT_EQ(trace.overheads[0].thread, kNoThread) << "nothing else was read of its process";
  EXPECT_EQ(trace.threads.at(trace.overheads[1].thread).thread_id, 4243);
  EXPECT_EQ(trace.processes.size(), 1u);
}

TEST_F(NsysReaderTest, EveryGenerationAndLayoutReadsTheSame) {
  thread_.Push("r");
  thread_.Launch({.name = "k", .duration_ns = 77});
  thread_.Pop();
  std::vector<NsysOptions> layouts(9);
  layouts[0] = {.major = 0, .minor = 0};
  layouts[1] = {.major = 2, .minor = 9};
  layouts[2] = {.major = 3, .minor = 24};
  layouts[3].table_suffix = "_V2";
  layouts[4].reverse_columns = true;
  layouts[5].extra_columns = {{"CUPTI_ACTIVITY_KIND_RUNTIME", "note"},
                              {"CUPTI_ACTIVITY_KIND_KERNEL", "note"},
                              {"NVTX_EVENTS", "note"}};
  layouts[6].encoding = "UTF-16le";
  layouts[7].empty_tables = true;
  layouts[8].drop_columns = {{"CUPTI_ACTIVITY_KIND_RUNTIME", "eventClass"},
                             {"NVTX_EVENTS", "domainId"},
                             {"NVTX_EVENTS", "textId"}};
  for (size_t i = 0; i < layouts.size(); ++i) {
    const Trace trace = Read(layouts[i]);
    ASSERT_EQ(trace.kernels.size(), 1u) << "layout " << i;
    EXPECT_EQ(trace.kernels[0].end_ns - trace.kernels[0].start_ns, 77) << "layout " << i;
    EXPECT_EQ(LaunchApi(trace, trace.kernels[0].launch), "cudaLaunchKernel") << "layout " << i;
    ASSERT_EQ(trace.ranges.size(), 1u) << "layout " << i;
    EXPECT_FALSE(trace.ranges[0].open()) << "layout " << i;
    EXPECT_EQ(trace.schema_version, layouts[i].major) << "layout " << i;
    EXPECT_TRUE(diagnostics_.notes().empty()) << "layout " << i;
    EXPECT_FALSE(diagnostics_.Damaged()) << "layout " << i;
  }
}

TEST_F(NsysReaderTest, OfSuffixedTablesTheNewest) {
  thread_.Launch();
  const std::filesystem::path path = TestDir() / "profile.sqlite";
  builder_.Write(path, {.table_suffix = "_V10"});
  test::ExecSql(path,
                "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_V9(start INTEGER);"
                "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_Vx(start INTEGER);"
                "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_V99999999999(start INTEGER);"
                "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_NAMES_V99(start INTEGER);");
  EXPECT_EQ(OpenTrace(path.string(), TraceNeeds::All(), &diagnostics_).kernels.size(), 1u);
}

TEST_F(NsysReaderTest, AMissingColumnCostsASentenceAndNoRow) {
  thread_.Push("x");
  thread_.Launch({.duration_ns = 5});
  thread_.Pop();
  const Trace trace = Read({.drop_columns = {{"CUPTI_ACTIVITY_KIND_KERNEL", "gridZ"},
                                             {"CUPTI_ACTIVITY_KIND_KERNEL", "staticSharedMemory"},
                                             {"CUPTI_ACTIVITY_KIND_RUNTIME", "correlationId"},
                                             {"NVTX_EVENTS", "globalTid"}}});
  ASSERT_EQ(trace.kernels.size(), 1u);
  EXPECT_EQ(trace.kernels[0].end_ns - trace.kernels[0].start_ns, 5);
  EXPECT_EQ(trace.ShapeOf(trace.kernels[0]).static_shared_memory_bytes, -1);
  EXPECT_FALSE(trace.kernels[0].bad_row);
  EXPECT_EQ(trace.kernels[0].launch, kNoLaunch);
  EXPECT_TRUE(trace.ranges.empty());
  EXPECT_FALSE(diagnostics_.Damaged());
  EXPECT_THAT(diagnostics_.Render("parse"),
              HasSubstr("table CUPTI_ACTIVITY_KIND_RUNTIME has no column correlationId"));
  EXPECT_THAT(diagnostics_.Render("parse"), HasSubstr("table NVTX_EVENTS has no column globalTid"));
}

TEST_F(NsysReaderTest, EmptinessIsSaid) {
  Read();
  EXPECT_THAT(diagnostics_.Render("parse"), HasSubstr("no kernels, no ranges"));
  EXPECT_FALSE(diagnostics_.Damaged());
  thread_.Push("x");
  thread_.Pop();
  Read();
  EXPECT_THAT(diagnostics_.Render("parse"), HasSubstr("no kernels were recorded"));
  EXPECT_THAT(diagnostics_.Render("parse"), Not(HasSubstr("no ranges")));
}

TEST_F(NsysReaderTest, BadKernelRowsAreKept) {
  for (int i = 0; i < 6; ++i) thread_.Launch();
  KernelRow(0)["gridX"] = std::string("wide");
  KernelRow(1)["streamId"] = int64_t{1} << 40;
  KernelRow(2)["correlationId"] = std::monostate();
  KernelRow(3)["correlationId"] = kLeast;
  KernelRow(4)["globalPid"] = std::string("pid");
  KernelRow(5)["start"] = 2.5;
  const Trace trace = Read();
  ASSERT_EQ(trace.kernels.size(), 6u);
  for (const Kernel& kernel : trace.kernels) {
    EXPECT_TRUE(kernel.bad_row) << kernel.row_id;
  }
  EXPECT_EQ(trace.kernels[3].launch, kNoLaunch);
  EXPECT_EQ(trace.kernels[3].correlation_id, kUnknownId);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadKernelRow), 6);
}

TEST_F(NsysReaderTest, BadRowsOfOtherTablesAreCounted) {
  const int64_t id = thread_.Launch();
  auto& calls = builder_.rows("CUPTI_ACTIVITY_KIND_RUNTIME");
  const test::Row good_call = calls[0];
  for (const auto& [column, value] :
       {std::pair<const char*, test::Value>("start", std::string("x")),
        {"globalTid", std::monostate()},
        {"correlationId", int64_t{-7}},
        {"eventClass", std::string("runtime")}}) {
    test::Row bad = good_call;
    bad[column] = value;
    calls.push_back(bad);
  }
  test::Row reversed = good_call;
  reversed["end"] = 1;
  calls.push_front(reversed);
  const test::Row copy = {
      {"start", 5},          {"end", 9},   {"deviceId", 0}, {"contextId", 1}, {"streamId", 7},
      {"correlationId", id}, {"bytes", 1}, {"copyKind", 1}, {"srcKind", 99},  {"dstKind", -4}};
  builder_.Add("CUPTI_ACTIVITY_KIND_MEMCPY", copy);
  builder_.Add("CUPTI_ACTIVITY_KIND_MEMCPY", copy)["bytes"] = std::string("many");
  builder_.Add("CUPTI_ACTIVITY_KIND_MEMCPY", copy)["deviceId"] = kMost;
  builder_.Add("CUPTI_ACTIVITY_KIND_MEMSET", {{"start", 5}});
  builder_.Add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", {{"start", 5}});
  builder_.Add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {{"start", 5}});
  builder_.Add("PROFILER_OVERHEAD", {{"start", 5}});
  builder_.Add("TARGET_INFO_GPU", {{"id", std::string("gpu")}, {"name", "x"}});
  builder_.Add("ANALYSIS_DETAILS", {{"globalVid", 1}, {"duration", -5}});
  builder_.AddString(900, int64_t{7});
  builder_.AddString(901, test::Blob{"abc"});
  const Trace trace = Read();
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadLaunchRow), 4);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadLaunchTimes), 1);
  ASSERT_EQ(trace.copies.size(), 1u);
  EXPECT_EQ(trace.copies[0].source_kind, MemoryKind::kUnknown);
  EXPECT_EQ(trace.copies[0].target_kind, MemoryKind::kUnknown);
  // Two copies, a fill, a wait, a replay, an overhead, a GPU, a session, two strings. A string
  // column turns an integer into a text.
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadOtherRow), 9);
  EXPECT_NE(trace.kernels.at(0).launch, kNoLaunch);
}

TEST_F(NsysReaderTest, BadNvtxRowsAreCounted) {
  thread_.Push("good");
  thread_.Pop();
  const test::Row good = builder_.rows("NVTX_EVENTS")[0];
  for (const auto& [column, value] :
       {std::pair<const char*, test::Value>("eventType", std::monostate()),
        {"globalTid", std::string("main")},
        {"start", std::monostate()},
        {"end", std::string("later")},
        {"domainId", std::string("NCCL")},
        {"textId", test::Blob{"x"}},
        {"text", test::Blob{"x"}}}) {
    test::Row bad = good;
    bad[column] = value;
    builder_.Add("NVTX_EVENTS", bad);
  }
  test::Row unknown = good;
  unknown["text"] = std::monostate();
  unknown["textId"] = 12345;
  builder_.Add("NVTX_EVENTS", unknown);
  test::Row reversed = good;
  reversed["end"] = kLeast;
  builder_.Add("NVTX_EVENTS", reversed);
  test::Row textless = good;
  textless["text"] = std::monostate();
  builder_.Add("NVTX_EVENTS", textless);
  const Trace trace = Read();
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadMarkerRow), 8);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kReversedRange), 1);
  ASSERT_EQ(trace.ranges.size(), 4u);
  EXPECT_EQ(std::count_if(
                trace.ranges.begin(), trace.ranges.end(),
                [&](const Range& range) { return trace.strings.View(range.text) == "<unknown>"; }),
            3);
}

TEST_F(NsysReaderTest, ExtremeNumbersAreHarmless) {
  thread_.Push("x");
  thread_.Launch();
  thread_.Pop();
  for (const int64_t number : {kMost, kLeast, int64_t{-1}}) {
    for (const auto& table :
         {"NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL",
          "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET", "ANALYSIS_DETAILS",
          "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
          "CUDA_GRAPH_NODE_EVENTS", "CUDA_GPU_MEMORY_USAGE_EVENTS", "PROFILER_OVERHEAD",
          "TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE", "PROCESSES", "ThreadNames"}) {
      test::Row row;
      for (const char* column : {"start",
                                 "end",
                                 "globalTid",
                                 "globalPid",
                                 "globalVid",
                                 "duration",
                                 "correlationId",
                                 "eventClass",
                                 "nameId",
                                 "deviceId",
                                 "contextId",
                                 "streamId",
                                 "bytes",
                                 "copyKind",
                                 "srcKind",
                                 "dstKind",
                                 "value",
                                 "syncType",
                                 "graphId",
                                 "graphNodeId",
                                 "originalGraphNodeId",
                                 "address",
                                 "memKind",
                                 "memoryOperationType",
                                 "id",
                                 "cuDevice",
                                 "gpuId",
                                 "cudaId",
                                 "pid",
                                 "priority",
                                 "domainId",
                                 "category",
                                 "textId",
                                 "gridX",
                                 "uint64Value",
                                 "clockRate"}) {
        row[column] = number;
      }
      row["eventType"] = 59;
      builder_.Add(table, row);
    }
  }
  const Trace trace = Read();
  EXPECT_EQ(trace.kernels.size(), 4u);
  EXPECT_GE(trace.ranges.size(), 1u);
}

TEST_F(NsysReaderTest, NvprofDatabasesAreNotTaken) {
  const std::filesystem::path path = TestDir() / "both.sqlite";
  builder_.Write(path);
  test::ExecSql(path, "CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT)");
  EXPECT_EQ(OpenTrace(path.string(), TraceNeeds::All(), &diagnostics_).family, Family::kNvprof);
}

TEST(NsysReport, TellsHowToExportIt) {
  for (const char* name : {"net.nsys-rep", "net.qdrep", "net.qdstrm"}) {
    const std::filesystem::path path = TestDir() / name;
    test::WriteFile(path, "PK\x03\x04 anything that is no database");
    try {
      Diagnostics diagnostics;
      OpenTrace(path.string(), TraceNeeds::All(), &diagnostics);
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("of Nsight Systems, not a database; "));
      EXPECT_THAT(error.what(), HasSubstr("nsys export --type sqlite FILE"));
    }
  }
}

TEST(NsysReport, ADatabaseOfAnyNameIsOne) {
  const std::filesystem::path path = TestDir() / "net.nsys-rep";
  NsysBuilder().Write(path);
  Diagnostics diagnostics;
  EXPECT_EQ(OpenTrace(path.string(), TraceNeeds::All(), &diagnostics).family, Family::kNsys);
}

/// Everything of ranges, marks and threads, and what was counted.
std::string Describe(const Trace& trace, const Diagnostics& diagnostics) {
  const auto view = [&](StringId id) { return trace.strings.View(id); };
  std::string text;
  for (const Process& process : trace.processes) {
    text += fmt::format("process {}\n", process.id);
  }
  for (const Thread& thread : trace.threads) {
    text += fmt::format("thread {} {}\n", thread.thread_id, view(thread.name));
  }
  for (const Range& range : trace.ranges) {
    text += fmt::format("{} {} {} {} {} {} {}\n", range.start_ns, range.end_ns, range.text,
                        view(range.text), trace.ThreadOf(range), trace.ItemOf(range),
                        static_cast<int>(range.kind));
  }
  for (const Label& label : trace.labels) {
    text += fmt::format("label {} {} {} {}\n", view(label.domain), view(label.category),
                        view(label.payload), label.start_end);
  }
  for (const Instant& instant : trace.instants) {
    text += fmt::format("{} {} {}\n", instant.time_ns, view(instant.text), instant.thread);
  }
  return text + diagnostics.Render("test");
}

// Of so many rows a thread reads the ranges while others are read.
TEST_F(NsysReaderTest, RangesAreTheSameWithAnyNumberOfThreads) {
  NsysThread other(&builder_, kOtherProcess, 5152, 2'000'000);
  Nvtx(75, {{"text", "library"}, {"domainId", 1}});
  Nvtx(75, {{"text", "elsewhere"}, {"domainId", 1}, {"globalTid", GlobalPid(6161) | 6162}});
  for (int i = 0; i < 33'000; ++i) {
    NsysThread& thread = i % 3 == 0 ? other : thread_;
    thread.Push(fmt::format("outer {}", i % 50));
    test::Row& inner = thread.Push("inner");
    if (i % 5 == 0) inner["text"] = fmt::format("direct {}", i % 70);
    if (i % 10 == 0) thread.Launch({.name = fmt::format("kernel_{}", i % 4000)});
    thread.Pop();
    thread.Pop();
    if (i % 1000 != 500) continue;
    switch (i / 1000 % 8) {
      case 0:
        inner["start"] = "soon";
        break;
      case 1:
        inner["text"] = test::Value();
        inner["textId"] = 987654;  // No such text.
        break;
      case 2:
        inner["end"] = 3;  // Before the start.
        break;
      case 3:
        inner["domainId"] = 1;
        inner["category"] = 7;
        break;
      case 4:
        inner["uint64Value"] = i;
        break;
      case 5:
        inner["eventType"] = 34;  // A mark.
        break;
      case 6:
        inner["globalTid"] = GlobalPid(7171) | i;
        break;
      default:
        Nvtx(39, {{"text", fmt::format("thread of {}", i)}});
    }
  }
  ASSERT_GT(builder_.rows("NVTX_EVENTS").size(), size_t{1} << 16);
  const int before = ThreadLimit();
  SetThreadLimit(1);
  const Trace alone = Read();
  const std::string expected = Describe(alone, diagnostics_);
  EXPECT_GT(alone.ranges.size(), 60'000u);
  for (const Reason reason : {Reason::kBadMarkerRow, Reason::kReversedRange}) {
    EXPECT_GT(diagnostics_.CountOf(reason), 0);
  }
  EXPECT_FALSE(alone.instants.empty());
  EXPECT_FALSE(alone.labels.empty());
  for (const int threads : {2, 3, 8}) {
    SetThreadLimit(threads);
    const Trace trace = Read();
    EXPECT_EQ(Describe(trace, diagnostics_), expected) << threads;
  }
  SetThreadLimit(before);
}

}  // namespace
}  // namespace oplens::parse::nsys_reader_test
