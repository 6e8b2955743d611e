#include "parse/readers/nvprof/nvprof_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "parse/readers/open_trace.h"
#include "test/support/nvprof_builder.h"
#include "test/support/test_files.h"
#include "test/support/trace_script.h"

namespace oplens::parse {
namespace {

using test::HostThread;
using test::NvprofBuilder;
using test::NvprofOptions;
using test::ScriptState;
using test::TestDir;
using testing::HasSubstr;

constexpr int64_t kThread = 0xEADC3740;  // Stored as a negative number in the API tables.

class NvprofReaderTest : public testing::Test {
 protected:
  Trace Read(const NvprofOptions& options = {}) {
    const std::filesystem::path path = TestDir() / "profile.sql";
    builder_.Write(path, options);
    diagnostics_ = Diagnostics();
    return OpenTrace(path.string(), &diagnostics_);
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
  EXPECT_EQ(trace.ranges[0].thread, call.thread);
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
  EXPECT_TRUE(trace.kernels[0].reasons.Has(Reason::kBadKernelRow));
  EXPECT_TRUE(trace.kernels[1].reasons.Has(Reason::kBadKernelRow));
  EXPECT_TRUE(trace.kernels[2].reasons.Has(Reason::kUnknownKernelName));
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
  EXPECT_TRUE(trace.kernels[0].reasons.Empty());
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

}  // namespace
}  // namespace oplens::parse
