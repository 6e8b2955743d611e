// What `parse` and `prof` say of a recording.

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "parse/readers/open_trace.h"
#include "record/nvprof_writer.h"
#include "record/spool/activity_columns.h"
#include "test/record/spool_test.h"
#include "test/support/program.h"

namespace oplens::record::read_back_test {
namespace {

namespace fs = std::filesystem;
using spool::Table;
using test::RowRecord;
using test::SpoolStream;
using test::SpoolValue;
using testing::HasSubstr;
using testing::Not;

constexpr uint32_t kThread = 0xEADC3740;  // Negative where it is signed.
constexpr const char* kRelu =
    "{'mod': 'torch', 'op': 'relu', 'args': [{'name': '', 'type': 'tensor', 'shape': (4, 8), "
    "'dtype': 'float32'}]}";

std::string LaunchRecord(int64_t start, int64_t correlation, int64_t cbid) {
  return RowRecord(Table::kRuntime, {cbid, start, start + 2, int64_t{4711}, int64_t{kThread},
                                     correlation, int64_t{0}});
}

class ReadBack : public SpoolTest {
 protected:
  test::RunResult Parse() const {
    return test::RunProgram({test::Program("parse"), "-v", output().string()});
  }
  fs::path MakeRecordedImage() const {
    return MakeImage([](spool::ProcessPage* page) { page->cuda = spool::CudaState::kRecording; });
  }
  /// A range of an op from 100 to 150, with ranges of layer and autograd.
  void AppendOp(const fs::path& image) const {
    SpoolStream events(image, 2, kThread, 9);
    events.Push(100, "layer:fc1");
    events.Push(110, kRelu);
    events.Push(120, "relu, seq = 5");
    events.Pop(130);
    events.Pop(140);
    events.Pop(150);
  }
};

TEST_F(ReadBack, ParseAndProf) {
  const fs::path image = MakeRecordedImage();
  AppendOp(image);
  SpoolStream activity(image, spool::kActivityStream);
  activity.Append(LaunchRecord(122, 55, 211));
  activity.Append(RowRecord(Table::kConcurrentKernel, KernelValues(200, 300, 55, 0)));
  ConvertOne();
  const test::RunResult parsed = Parse();
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_EQ(parsed.err,
            "parse: " + output().string() + ": nvprof schema 12: 1 kernels, 3 ranges\n");
  EXPECT_THAT(parsed.out, HasSubstr("'kShortName': 'my_kernel'"));
  EXPECT_THAT(parsed.out, HasSubstr("'layer': ['fc1']"));
  EXPECT_THAT(parsed.out, HasSubstr("'seqId': [5]"));
  EXPECT_THAT(parsed.out, HasSubstr("'op': 'relu'"));
  const test::RunResult priced =
      test::RunProgram({test::Program("prof"), "--csv", output().string()});
  EXPECT_EQ(priced.exit_code, 0) << priced.err;
  EXPECT_THAT(priced.out, HasSubstr("relu"));
}

TEST_F(ReadBack, WhatViewsAskFor) {
  const fs::path image = MakeRecordedImage();
  SpoolStream activity(image, spool::kActivityStream);
  const auto call = [&](int64_t start, int64_t correlation, int64_t cbid) {
    activity.Append(LaunchRecord(start, correlation, cbid));
  };
  const auto event = [&](int64_t correlation, int64_t stream, int64_t sync_id) {
    activity.Append(RowRecord(Table::kCudaEvent, {correlation, int64_t{1}, stream, int64_t{25},
                                                  int64_t{2}, kAbsent, sync_id}));
  };
  const auto wait = [&](int64_t correlation, int64_t sync_id) {
    activity.Append(RowRecord(Table::kSynchronization,
                              {int64_t{2}, int64_t{500}, int64_t{501}, correlation, int64_t{1},
                               int64_t{8}, int64_t{25}, sync_id, kAbsent}));
  };
  const auto memory = [&](int64_t operation, int64_t correlation, int64_t time) {
    activity.Append(RowRecord(
        Table::kMemoryOperation,
        {operation, int64_t{3}, correlation, int64_t{4096}, int64_t{512}, time, int64_t{0},
         int64_t{kProcess}, int64_t{2}, int64_t{1}, int64_t{7}, int64_t{0}, std::monostate()}));
  };
  call(100, 1, 135);
  event(1, 20, 71);
  call(110, 2, 135);
  event(2, 21, 72);
  call(120, 3, 147);
  wait(3, 71);  // By its number the first recording, not the last.
  call(130, 4, 147);
  wait(4, kAbsent);
  call(140, 5, 20);
  memory(1, 5, 141);
  memory(2, 99, 160);
  call(150, 6, 20);
  SpoolStream(image, 2, kThread, 9).Push(100, "open");
  ConvertOne();
  Diagnostics diagnostics;
  const Trace trace = parse::OpenTrace(output().string(), TraceNeeds::All(), &diagnostics);
  EXPECT_FALSE(diagnostics.Damaged()) << diagnostics.Render("parse");
  EXPECT_EQ(trace.clock_offset_ns, 0) << "ns since 1970";
  EXPECT_EQ(trace.launches.size(), 6u);
  ASSERT_EQ(trace.event_records.size(), 2u);
  EXPECT_EQ(trace.event_records[0].event_id, 25u);
  EXPECT_EQ(trace.event_records[0].device_id, 2);
  EXPECT_EQ(trace.event_records[0].stream_id, 20);
  ASSERT_EQ(trace.synchronizations.size(), 2u);
  EXPECT_EQ(trace.synchronizations[0].event_record, 0u);
  EXPECT_EQ(trace.synchronizations[1].event_record, 1u);
  ASSERT_EQ(trace.memory_events.size(), 2u);
  const MemoryEvent& taken = trace.memory_events[0];
  EXPECT_EQ(taken.source, MemorySource::kDriver);
  EXPECT_EQ(taken.size_bytes, 512);
  EXPECT_EQ(taken.device_id, 2);
  EXPECT_EQ(trace.strings.View(trace.launches.at(taken.launch).api), "cudaMalloc");
  EXPECT_EQ(trace.threads.at(taken.thread).thread_id, kThread);
  EXPECT_EQ(trace.memory_events[1].size_bytes, -512);
  EXPECT_EQ(trace.memory_events[1].launch, kNoLaunch);
  ASSERT_EQ(trace.processes.size(), 1u);
  EXPECT_NE(trace.processes[0].name, 0u);
  const Trace without = parse::OpenTrace(output().string(), {}, &diagnostics);
  EXPECT_EQ(without.launches.size(), 2u);
  EXPECT_TRUE(without.event_records.empty());
  EXPECT_TRUE(without.memory_events.empty());
}

TEST_F(ReadBack, RangesOfTheSameTimesNestByTheirNumbers) {
  const fs::path image = MakeRecordedImage();
  SpoolStream events(image, 2, kThread, 9);
  // Texts that would nest in another order by anything but their numbers.
  events.Push(100, "layer:b");
  events.Push(100, "layer:c");
  events.Push(100, "layer:a");
  for (int i = 0; i < 3; ++i) events.Pop(200);
  SpoolStream activity(image, spool::kActivityStream);
  activity.Append(LaunchRecord(122, 55, 211));
  activity.Append(RowRecord(Table::kConcurrentKernel, KernelValues(200, 300, 55, 0)));
  ConvertOne();
  EXPECT_THAT(Parse().out, HasSubstr("'layer': ['b', 'c', 'a']"));
}

TEST_F(ReadBack, AReplayedKernelHasTheOpThatPutItIntoTheGraph) {
  const fs::path image = MakeRecordedImage();
  AppendOp(image);
  SpoolStream activity(image, spool::kActivityStream);
  const auto node = [&](int64_t time, int64_t id, int64_t original) {
    activity.Append(
        RowRecord(Table::kGraphNode, {time, int64_t{kProcess}, int64_t{kThread}, int64_t{1}, id,
                                      original, int64_t{0}, spool::kNullText}));
  };
  node(122, 7, 0);
  node(500, 8, 7);  // Instantiated outside of the op.
  activity.Append(LaunchRecord(600, 55, 311));
  activity.Append(RowRecord(Table::kConcurrentKernel, KernelValues(700, 800, 55, 8)));
  activity.Append(RowRecord(Table::kConcurrentKernel, KernelValues(800, 900, 55, 99)));
  ConvertOne();
  const std::string out = Parse().out;
  const std::string first = out.substr(0, out.find('\n'));
  const std::string second = out.substr(out.find('\n') + 1);
  EXPECT_THAT(first, HasSubstr("'layer': ['fc1']"));
  EXPECT_THAT(first, HasSubstr("'op': 'relu'"));
  EXPECT_THAT(second, Not(HasSubstr("relu")));
}

TEST_F(ReadBack, ParseTellsWhatIsMissing) {
  SpoolStream events(MakeImage([](spool::ProcessPage* page) {
                       page->state = spool::ProcessState::kRunning;
                       page->lost_events = 7;
                       page->handler_events = 5;
                       page->child_events = 6;
                       page->lost_rows = 8;
                       page->cut_texts = 4;
                       page->cupti_lost = 9;
                       page->odd_rows = 10;
                     }),
                     2, 1, 1);
  events.Push(1, "a");
  events.PatchUsed(events.used() + 8);
  SpoolStream(events.path().parent_path(), spool::kActivityStream)
      .Append(test::EventRecord(spool::RecordKind::kNote, 1, {.text = "a note\x1b[31m"}));
  ConversionOptions options = Options();
  options.recovered = true;
  Conversion(options).Finish({});
  const std::string err = Parse().err;
  for (const char* const sentence :
       {"was recovered from the spool of a recording that did not end",
        "the recorded program did not end by itself", "7 NVTX calls could not be stored",
        "5 NVTX calls of signal handlers were dropped",
        "6 NVTX calls of child processes that were made without fork were dropped",
        "8 records of the GPU and of API calls could not be stored",
        "CUPTI dropped 9 records of the GPU", "10 records of the GPU and of API calls fit no table",
        "4 texts were too long and were cut",
        "not all of the recording could be read: ", "a note_[31m"}) {
    EXPECT_THAT(err, HasSubstr(sentence));
  }
}

TEST_F(ReadBack, ParseTellsWhatTheGpuDidBeyond) {
  const fs::path image = MakeImage([](spool::ProcessPage* page) {
    page->cuda = spool::CudaState::kRecording;
    page->gpu_busy_at_end = 1;
  });
  SpoolStream(image, spool::kActivityStream).Append(LaunchRecord(600, 55, 211));
  ConvertOne();
  const std::string err = Parse().err;
  EXPECT_THAT(err, HasSubstr("the GPU was still at work when the recording ended"));
  EXPECT_THAT(err, HasSubstr("1 launches have no kernel: the recording ended before they did"));
}

TEST_F(ReadBack, ParseTellsWhyTheGpuWasNotRecorded) {
  MakeImage([](spool::ProcessPage* page) {
    page->cuda = spool::CudaState::kFailed;
    page->cupti_result = 35;
    test::SetField(page->cupti_step, "cuptiSubscribe");
    test::SetField(page->cupti_message, "not permitted");
  });
  ConvertOne();
  EXPECT_THAT(Parse().err,
              HasSubstr("the GPU was not recorded: cuptiSubscribe: not permitted (35)"));
}

TEST_F(ReadBack, TellsTheRank) {
  MakeImage([](spool::ProcessPage* page) {
    const uint32_t place[] = {3 + 1, 8 + 1, 1 + 1, 0, 0};  // The number and 1; 0: none.
    std::copy(std::begin(place), std::end(place), page->rank_variables[0]);
  });
  ConvertOne();
  Diagnostics diagnostics;
  const Trace trace = parse::OpenTrace(output().string(), {}, &diagnostics);
  EXPECT_EQ(trace.environment, (RunPlace{3, 8, 1, -1}));
}

TEST_F(ReadBack, OurTablesMayHoldAnything) {
  const fs::path image = MakeRecordedImage();
  SpoolStream activity(image, spool::kActivityStream);
  activity.Append(RowRecord(Table::kConcurrentKernel, KernelValues(700, 800, 55, 8)));
  ConvertOne();
  SQLite::Database change(output().string(), SQLite::OPEN_READWRITE);
  change.exec(
      "INSERT INTO OPLENS_KERNEL(row, graphNodeId) VALUES (77, 5), (-9223372036854775807, 6);"
      "INSERT INTO OPLENS_GRAPH_NODE(timestamp, processId, threadId, graphNodeId, "
      "originalGraphNodeId) VALUES ('x', 1, 2, 3, 4), (1, 2, 3, 8, 9), (1, 2, 3, 9, 8);"
      "UPDATE OPLENS_META SET value = 1.5 WHERE key = 'recovered';"
      "UPDATE OPLENS_META SET value = x'00' WHERE key = 'gpu';"
      "INSERT INTO OPLENS_META VALUES (5, 6), (NULL, NULL);"
      "INSERT INTO OPLENS_NOTE(text) VALUES (5), (NULL), (x'ff')");
  const test::RunResult parsed = Parse();
  EXPECT_EQ(parsed.exit_code, 0) << parsed.err;
  EXPECT_THAT(parsed.err, HasSubstr("3 rows of other tables"));
}

}  // namespace
}  // namespace oplens::record::read_back_test
