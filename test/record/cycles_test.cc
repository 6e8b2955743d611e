// A file for each cycle of a program's schedule.

#include "record/cycles.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <limits>

#include "base/error.h"
#include "nvtx_annotate/vocabulary/marker_format.h"
#include "record/cycle_files.h"
#include "test/record/spool_test.h"
#include "test/support/program.h"

namespace oplens::record::cycles_test {
namespace {

namespace fs = std::filesystem;
using spool::RecordKind;
using spool::Table;
using test::EventRecord;
using test::RowRecord;
using test::SpoolStream;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kForEver = std::numeric_limits<int64_t>::max();

/// "NUMBER BEGIN END", with "?" behind one that was not completed.
std::vector<std::string> Cycles(
    const std::vector<std::pair<int64_t, std::string>>& times_and_texts) {
  std::vector<CycleMark> marks;
  for (const auto& [time, text] : times_and_texts) {
    if (const auto mark = CycleMark::Read(time, text)) marks.push_back(*mark);
  }
  std::vector<std::string> lines;
  for (const Cycle& cycle : CyclesOf(marks)) {
    lines.push_back(fmt::format("{} {} {}{}", cycle.number, cycle.begin_ns,
                                cycle.end_ns == kForEver ? "end" : std::to_string(cycle.end_ns),
                                cycle.complete ? "" : "?"));
  }
  return lines;
}

TEST(CyclesTest, OfMarks) {
  EXPECT_THAT(Cycles({}), IsEmpty());
  EXPECT_THAT(Cycles({{1, "capture stop: schedule"}}), IsEmpty());
  EXPECT_THAT(Cycles({{1, "capture stop: schedule"},
                      {5, "capture start: cycle 1"},
                      {9, "capture stop: cycle 1"},
                      {10, "capture start: cycle 2"},
                      {12, "capture stop: cycle 2"}}),
              ElementsAre("1 5 10", "2 10 13"));
  // Threads are read as they come.
  EXPECT_THAT(Cycles({{9, "capture stop: cycle 1"}, {5, "capture start: cycle 1"}}),
              ElementsAre("1 5 10"));
}

TEST(CyclesTest, DroppedAndCutOff) {
  EXPECT_THAT(Cycles({{5, "capture start: cycle 1"},
                      {9, "capture stop: dropped"},
                      {10, "capture start: cycle 1"},
                      {11, "capture stop: cycle 1"},
                      {12, "capture start: cycle 2"}}),
              ElementsAre("1 10 12", "2 12 end?"));
  EXPECT_THAT(Cycles({{5, "capture start: cycle 1"}, {9, "capture start: cycle 2"}}),
              ElementsAre("1 5 9?", "2 9 end?"));
  EXPECT_THAT(Cycles({{5, "capture start: cycle 1"}, {9, "capture stop: schedule"}}),
              ElementsAre("1 5 9?"));
  EXPECT_THAT(Cycles({{5, "capture stop: cycle 1"}, {9, "capture stop: dropped"}}), IsEmpty());
}

TEST(CyclesTest, ProgramsThatReplaceThemselvesCountAnew) {
  EXPECT_THAT(Cycles({{1, "capture start: cycle 1"},
                      {2, "capture stop: cycle 1"},
                      {3, "capture start: cycle 1"},
                      {4, "capture stop: cycle 1"}}),
              ElementsAre("1 1 3", "2 3 5"));
}

TEST(CyclesTest, TooManyShareTheLastFile) {
  std::vector<CycleMark> marks;
  for (int64_t i = 1; i <= 1500; ++i) {
    marks.push_back({10 * i, i, CycleMark::Kind::kStart});
    marks.push_back({10 * i + 5, i, CycleMark::Kind::kComplete});
  }
  const auto last = [&marks] {
    const std::vector<Cycle> cycles = CyclesOf(marks);
    EXPECT_EQ(cycles.size(), kMostCycleFiles);
    EXPECT_EQ(cycles[998].last_number, 999);
    return cycles.back();
  };
  EXPECT_EQ(last().number, 1000);
  EXPECT_EQ(last().last_number, 1500);
  EXPECT_EQ(last().begin_ns, 10'000);
  EXPECT_EQ(last().end_ns, 15'006);
  EXPECT_TRUE(last().complete);
  marks.pop_back();
  EXPECT_FALSE(last().complete);
  EXPECT_EQ(last().end_ns, kForEver);
}

TEST(CyclesTest, TimesAtTheirEnd) {
  EXPECT_THAT(
      Cycles({{kForEver - 1, "capture start: cycle 1"}, {kForEver, "capture stop: cycle 1"}}),
      ElementsAre(fmt::format("1 {} end", kForEver - 1)));
}

TEST(CyclesTest, OtherMarks) {
  for (const char* const text :
       {"", "capture start", "capture stop", "capture start: cycle ", "capture start: cycle 0",
        "capture start: cycle -1", "capture start: cycle 1x", "capture start: cycle  1",
        "capture start: cycle 99999999999999999999", "capture start: cycle 1000000001",
        "capture stop: ", "capture stop: dropped "}) {
    EXPECT_FALSE(CycleMark::Read(1, text).has_value()) << text;
  }
}

TEST(CyclesTest, NamesOfFiles) {
  EXPECT_EQ(CycleOutput("/a/net.sql", 1), "/a/net.1.sql");
  EXPECT_EQ(CycleOutput("/a.b/net", 12), "/a.b/net.12");
  EXPECT_EQ(CycleOutput("/a/net.77.sql", 2), "/a/net.77.2.sql");
}

constexpr uint32_t kThread = 0xEADC3740;  // Negative where it is signed.
constexpr uint64_t kMemorySchema = markers::kSchemaIdTag << 48 | 2;

std::string MemoryBytes(const markers::MemoryPayload& payload) {
  return {reinterpret_cast<const char*>(&payload), sizeof payload};
}

/// A spool with two cycles, [100, 200] and [300, 400].
class CycleConversion : public SpoolTest {
 protected:
  void SetUp() override {
    image_ = MakeImage([](spool::ProcessPage* page) { page->cuda = spool::CudaState::kRecording; });
    SpoolStream names(image_, spool::kNamesStream);
    names.Append(EventRecord(RecordKind::kDomain, 1, {.domain = 1, .text = "oplens"}));
    names.Append(EventRecord(RecordKind::kDomain, 1, {.domain = 2, .text = "other"}));
    names.Append(
        EventRecord(RecordKind::kSchema, 2,
                    {.domain = 1, .range = kMemorySchema, .text = markers::kMemorySchemaName}));
    names.Append(EventRecord(RecordKind::kThreadName, 1, {.range = 9, .text = "worker"}));
    events_.emplace(image_, spool::kFirstEventStream, kThread, 9);
    activity_.emplace(image_, spool::kActivityStream);
  }

  void Mark(int64_t time, const std::string& text) {
    events_->Append(EventRecord(RecordKind::kMark, time, {.domain = 1, .text = text}));
  }
  void Memory(int64_t time, const std::string& bytes) {
    events_->Append(
        EventRecord(RecordKind::kMark, time, {.domain = 1, .payloads = {{kMemorySchema, bytes}}}));
  }
  void Launch(int64_t start, int64_t correlation) {
    activity_->Append(RowRecord(Table::kRuntime, {int64_t{211}, start, start + 2, int64_t{4711},
                                                  int64_t{kThread}, correlation, int64_t{0}}));
  }
  void Kernel(int64_t start, int64_t correlation, int64_t node = 0) {
    activity_->Append(
        RowRecord(Table::kConcurrentKernel, KernelValues(start, start + 10, correlation, node)));
  }
  fs::path CycleFile(int number) const { return dir_ / fmt::format("net.{}.sql", number); }

  std::vector<std::string> Texts(const fs::path& file) const {
    return Query(
        file,
        "SELECT flags || ' ' || timestamp || ' ' || value FROM CUPTI_ACTIVITY_KIND_MARKER m "
        "JOIN StringTable s ON s._id_ = m.name ORDER BY m._id_");
  }
  std::vector<std::string> Kernels(const fs::path& file) const {
    return Query(file,
                 "SELECT correlationId, start, graphNodeId FROM "
                 "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL k LEFT JOIN OPLENS_KERNEL o ON o.row = "
                 "k._id_ ORDER BY k._id_");
  }

  fs::path image_;
  std::optional<SpoolStream> events_;
  std::optional<SpoolStream> activity_;
};

TEST_F(CycleConversion, RangesBelongWhereTheyBegin) {
  events_->Push(10, "before");
  Mark(20, "capture stop: schedule");
  Mark(100, "capture start: cycle 1");
  events_->Push(110, "in 1");
  events_->Append(EventRecord(RecordKind::kMark, 120, {.category = 7, .text = "mark in 1"}));
  events_->Append(EventRecord(RecordKind::kStart, 130, {.range = 5, .text = "long"}));
  events_->Pop(140);
  events_->Push(150, "open at the end");
  Mark(200, "capture stop: cycle 1");
  events_->Pop(210);
  events_->Pop(220);
  Mark(300, "capture start: cycle 2");
  events_->Append(EventRecord(RecordKind::kEnd, 310, {.range = 5}));
  events_->Append(
      EventRecord(RecordKind::kMark, 320, {.domain = 2, .payloads = {{99, "abc"}}, .text = "x"}));
  Mark(400, "capture stop: cycle 2");
  const ProcessSummary summary = ConvertOne();
  EXPECT_FALSE(fs::exists(output()));
  EXPECT_THAT(Texts(CycleFile(1)),
              ElementsAre("1 100 capture start: cycle 1", "2 110 in 1", "1 120 mark in 1",
                          "2 130 long", "4 140 -- null --", "2 150 open at the end",
                          "1 200 capture stop: cycle 1", "4 210 -- null --", "4 310 -- null --"));
  EXPECT_THAT(Texts(CycleFile(2)), ElementsAre("1 300 capture start: cycle 2", "1 320 x",
                                               "1 400 capture stop: cycle 2"));
  EXPECT_THAT(Query(CycleFile(1), "SELECT category FROM CUPTI_ACTIVITY_KIND_MARKER_DATA"),
              ElementsAre("7"));
  EXPECT_THAT(Query(CycleFile(2), "SELECT category FROM CUPTI_ACTIVITY_KIND_MARKER_DATA"),
              IsEmpty());
  EXPECT_THAT(Query(CycleFile(1), "SELECT data FROM OPLENS_PAYLOAD"), IsEmpty());
  EXPECT_THAT(Query(CycleFile(2), "SELECT data FROM OPLENS_PAYLOAD"), ElementsAre("x'616263'"));
  EXPECT_THAT(Query(CycleFile(2),
                    "SELECT d.value FROM CUPTI_ACTIVITY_KIND_MARKER m JOIN StringTable d ON d._id_ "
                    "= m.domain WHERE timestamp = 320"),
              ElementsAre("other"));
  // Only texts that rows refer to.
  EXPECT_THAT(Query(CycleFile(2), "SELECT value FROM StringTable WHERE value LIKE '%in 1%'"),
              IsEmpty());
  EXPECT_THAT(summary.cycle_outputs, ElementsAre(CycleFile(1), CycleFile(2)));
  EXPECT_EQ(summary.ranges, 4);
  EXPECT_EQ(summary.ranges_outside, 1);
  EXPECT_EQ(summary.incomplete_cycles, 0);
}

TEST_F(CycleConversion, KernelsBelongWhereTheyWereLaunched) {
  Mark(100, "capture start: cycle 1");
  Launch(90, 1);  // Its kernel runs in the cycle.
  Kernel(110, 1);
  Launch(120, 2);
  Kernel(130, 2, 77);
  Launch(190, 3);  // Its kernel runs after the cycle, in the next one.
  Kernel(310, 3);
  Mark(200, "capture stop: cycle 1");
  Launch(250, 4);
  Kernel(260, 4);
  Mark(300, "capture start: cycle 2");
  Launch(320, 5);
  Kernel(330, 5, 78);
  Kernel(340, 99);  // Whose call is not known.
  Kernel(500, 98);
  Mark(400, "capture stop: cycle 2");
  const ProcessSummary summary = ConvertOne();
  EXPECT_THAT(Kernels(CycleFile(1)), ElementsAre("2|130|77", "3|310|0"));
  EXPECT_THAT(Kernels(CycleFile(2)), ElementsAre("5|330|78", "99|340|0"));
  const char* const calls = "SELECT correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY _id_";
  EXPECT_THAT(Query(CycleFile(1), calls), ElementsAre("2", "3"));
  EXPECT_THAT(Query(CycleFile(2), calls), ElementsAre("5"));
  EXPECT_EQ(summary.kernels, 7);
  EXPECT_EQ(summary.kernels_outside, 3);
}

TEST_F(CycleConversion, WhatHasNoTimeIsInEachFile) {
  Mark(100, "capture start: cycle 1");
  events_->Push(110, "a");
  Mark(200, "capture stop: cycle 1");
  Mark(300, "capture start: cycle 2");
  Mark(400, "capture stop: cycle 2");
  std::vector<test::SpoolValue> device;
  for (const auto& column : NvprofTable("DEVICE").columns) {
    if (column.name == "name") {
      device.emplace_back("GPU");
    } else if (column.blob) {
      device.emplace_back("\x11");
    } else {
      device.emplace_back(int64_t{3});
    }
  }
  device.resize(device.size() + 6, kAbsent);
  activity_->Append(RowRecord(Table::kDevice, device));
  ConvertOne();
  for (const int number : {1, 2}) {
    const fs::path file = CycleFile(number);
    EXPECT_THAT(Query(file,
                      "SELECT value FROM CUPTI_ACTIVITY_KIND_DEVICE d JOIN StringTable s ON "
                      "s._id_ = d.name"),
                ElementsAre("GPU"));
    EXPECT_THAT(Query(file,
                      "SELECT value FROM OPLENS_THREAD t JOIN StringTable s ON s._id_ = "
                      "t.name"),
                ElementsAre("worker"));
    EXPECT_THAT(Query(file,
                      "SELECT value FROM OPLENS_META WHERE key IN ('cycle', "
                      "'cycle_complete', 'process_id') ORDER BY key"),
                ElementsAre(std::to_string(number), "1", std::to_string(kProcess)));
    // As every other database: the same tables and indices.
    EXPECT_THAT(Query(file, "SELECT count(*) FROM sqlite_master WHERE name LIKE '%CYCLE%'"),
                ElementsAre("0"));
    EXPECT_THAT(Query(file, "SELECT count(*) > 20 FROM sqlite_master WHERE type = 'index'"),
                ElementsAre("1"));
    EXPECT_THAT(Query(file, "PRAGMA integrity_check"), ElementsAre("ok"));
    const test::RunResult parsed = test::RunProgram({test::Program("parse"), "-v", file.string()});
    EXPECT_EQ(parsed.exit_code, 0) << parsed.err;
  }
}

TEST_F(CycleConversion, WithoutCyclesThereIsOneFile) {
  Mark(20, "capture stop: schedule");
  events_->Append(
      EventRecord(RecordKind::kMark, 100, {.domain = 2, .text = "capture start: cycle 1"}));
  events_->Push(110, "a");
  Mark(120, "capture start: cycle 1");
  Mark(130, "capture stop: dropped");
  const ProcessSummary summary = ConvertOne();
  EXPECT_TRUE(summary.scheduled);
  EXPECT_THAT(summary.cycle_outputs, IsEmpty());
  EXPECT_TRUE(fs::exists(output()));
  EXPECT_FALSE(fs::exists(CycleFile(1)));
  EXPECT_EQ(summary.ranges_outside, 0);
}

TEST_F(CycleConversion, ACycleThatWasCutOff) {
  Mark(100, "capture start: cycle 1");
  events_->Push(110, "a");
  const ProcessSummary summary = ConvertOne();
  EXPECT_EQ(summary.incomplete_cycles, 1);
  EXPECT_THAT(Texts(CycleFile(1)), ElementsAre("1 100 capture start: cycle 1", "2 110 a"));
  EXPECT_THAT(Query(CycleFile(1), "SELECT value FROM OPLENS_META WHERE key = 'cycle_complete'"),
              ElementsAre("0"));
}

TEST_F(CycleConversion, AllFilesOrNone) {
  Mark(100, "capture start: cycle 1");
  Mark(200, "capture stop: cycle 1");
  Mark(300, "capture start: cycle 2");
  Mark(400, "capture stop: cycle 2");
  std::ofstream(CycleFile(2)) << "mine";
  EXPECT_THROW(Conversion(Options()).Finish({}), Error);
  EXPECT_FALSE(fs::exists(CycleFile(1)));
  EXPECT_FALSE(fs::exists(output()));
  EXPECT_EQ(fs::file_size(CycleFile(2)), 4u);
  ConvertOne();  // By force, from what is left of the first try.
  EXPECT_THAT(Texts(CycleFile(1)).size(), 2u);
  EXPECT_THAT(Texts(CycleFile(2)).size(), 2u);
}

TEST_F(CycleConversion, Allocations) {
  Mark(100, "capture start: cycle 1");
  Memory(110, MemoryBytes({0xFFFF000012345678, 64, 100, -1, 0, -1}));
  Memory(120, MemoryBytes({0x1000, -64, 36, 4096, 1, 3}));
  Mark(200, "capture stop: cycle 1");
  Memory(210, MemoryBytes({1, 1, 1, 1, 1, 1}));
  Mark(300, "capture start: cycle 2");
  Memory(310, MemoryBytes({2, 2, 2, 2, 1, 1}));
  // Damaged ones.
  Memory(320, "short");
  Memory(321, "");
  Memory(322, MemoryBytes({1, 0, 1, 1, 1, 1}));
  Memory(323, MemoryBytes({1, std::numeric_limits<int64_t>::min(), 1, 1, 1, 1}));
  Memory(324, MemoryBytes({1, 1, 1, 1, 1, 1}) + "x");
  Mark(400, "capture stop: cycle 2");
  const ProcessSummary summary = ConvertOne();
  const char* const all =
      "SELECT timestamp, processId, threadId, address, bytes, totalAllocated, totalReserved, "
      "deviceType, deviceId FROM OPLENS_ALLOCATION ORDER BY _id_";
  EXPECT_THAT(Query(CycleFile(1), all),
              ElementsAre("110|4711|-354666688|-281474671290760|64|100|NULL|0|-1",
                          "120|4711|-354666688|4096|-64|36|4096|1|3"));
  EXPECT_THAT(Query(CycleFile(2), all), ElementsAre("310|4711|-354666688|2|2|2|2|1|1"));
  EXPECT_THAT(summary.notes, ElementsAre("5 events of allocators were damaged and left out"));
  EXPECT_EQ(summary.marks, 4) << "they are no marks";
}

TEST_F(CycleConversion, AllocationsAreReadBack) {
  Memory(110, MemoryBytes({0x1000, 64, 64, 128, 1, 2}));
  events_->Push(111, "a");
  Memory(120, MemoryBytes({0x2000, 32, 32, -1, 0, -1}));
  Memory(130, MemoryBytes({0x1000, -64, 0, 128, 1, 2}));
  ConvertOne();
  {
    // Rows that say nothing are kept out and counted.
    SQLite::Database database(output().string(), SQLite::OPEN_READWRITE);
    database.exec(
        "INSERT INTO OPLENS_ALLOCATION(timestamp, processId, threadId, address, bytes, "
        "totalAllocated, totalReserved, deviceType, deviceId) VALUES "
        "(NULL, 1, 1, 1, 1, 1, 1, 1, 1), (1, NULL, 1, 1, 1, 1, 1, 1, 1), "
        "(1, 1, 'x', 1, 1, 1, 1, 1, 1), (1, 1, 1, 1.5, 1, 1, 1, 1, 1), "
        "(1, 1, 1, 1, 0, 1, 1, 1, 1), (1, 1, 1, 1, x'00', 1, 1, 1, 1), "
        "(1, 1, 1, 1, -9223372036854775808, 1, 1, 1, 1), (1, 1, 1, 1, 1, -1, 1, 1, 1), "
        "(1, 1, 1, 1, 1, 1, 'y', 1, 1), (1, 1, 1, 1, 1, 1, 1, 1, 99999999999), "
        "(1, 1, 1, 1, 1, 1, 1, NULL, 1)");
  }
  const fs::path trace = dir_ / "net.json";
  const test::RunResult parsed =
      test::RunProgram({test::Program("parse"), "-v", "--format", "chrome", output().string(), "-o",
                        trace.string()});
  EXPECT_EQ(parsed.exit_code, 0) << parsed.err;
  EXPECT_THAT(parsed.err, HasSubstr("11 "));
  EXPECT_THAT(parsed.err, HasSubstr("OPLENS_ALLOCATION, row 4"));
  const std::string text = test::ReadFile(trace);
  EXPECT_THAT(text, HasSubstr(R"("Bytes":-64)"));
  EXPECT_THAT(text, HasSubstr(R"("allocated bytes":32)"));
  EXPECT_THAT(text, HasSubstr(R"("reserved bytes":128)"));
  size_t counters = 0;
  for (size_t at = text.find("\"memory\""); at != text.npos; at = text.find("\"memory\"", at + 1)) {
    ++counters;
  }
  EXPECT_EQ(counters, 3u);
}

}  // namespace
}  // namespace oplens::record::cycles_test
