#include "prof/views/memory/memory.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "parse/records/kernel_records.h"
#include "prof/compat/tb/views.h"
#include "prof/run/memory_curve.h"
#include "prof/views/views.h"
#include "test/support/kineto_builder.h"
#include "test/support/nsys_builder.h"
#include "test/support/nvprof_builder.h"
#include "test/support/test_files.h"
#include "test/views/device_run.h"
#include "test/views/made_memory.h"
#include "test/views/made_run.h"

namespace oplens::prof::memory_test {
namespace {

using test::AddMemory;
using test::MadeRun;
using test::ViewRow;
using testing::ElementsAre;
using testing::HasSubstr;

const View& kView = kMemoryView;

/// "device source: time=allocated/reserved/fragmentation ..." of each curve.
std::vector<std::string> CurvesOf(const std::vector<ViewRow>& rows) {
  std::vector<std::string> curves;
  std::string last;
  for (const ViewRow& row : rows) {
    const std::string key = row.at("device") + " " + row.at("source") + ":";
    if (key != last) curves.push_back(key);
    last = key;
    std::string point = " " + row.at("time_ns") + "=" + row.at("allocated_bytes");
    if (!row.at("reserved_bytes").empty()) {
      point += "/" + row.at("reserved_bytes") + "/" + row.at("fragmentation_bytes");
    }
    curves.back() += point;
  }
  return curves;
}

// 1000 B were there before the first event; of the host the framework reserves nothing.
TEST(MemoryTest, RecordedTotals) {
  MadeRun made;
  made.AddRange("train", 100, 900);
  AddMemory({200, 1, 64, 1064, 2048}, &made.trace);
  AddMemory({300, 2, 128, 1192, 2048}, &made.trace);
  AddMemory({400, 1, -64, 1128, 2048}, &made.trace);
  AddMemory({250, 9, 8, 8, 0, -1}, &made.trace);
  const auto rows = made.RowsOf(kMemoryView.make);
  EXPECT_THAT(CurvesOf(rows),
              ElementsAre("GPU0 framework: 0=1000 100=1064/2048/984 200=1192/2048/856 "
                          "300=1128/2048/920",
                          "CPU framework: 0=0 150=8"));
  EXPECT_EQ(rows.front().at("peak_bytes"), "1192");
  EXPECT_EQ(rows.back().at("total"), "recorded");
}

TEST(MemoryTest, SumsOfSizes) {
  MadeRun made;
  AddMemory({200, 1, 64}, &made.trace);
  AddMemory({300, 1, -64}, &made.trace);
  AddMemory({400, 5, -8}, &made.trace);
  const auto partial = made.PartialOf(kMemoryView.make, [](PricedKernel*) {});
  const auto rows = test::RowsOf(*partial);
  EXPECT_THAT(CurvesOf(rows), ElementsAre("GPU0 framework: 0=8 200=72 300=8 400=0"));
  EXPECT_EQ(rows[0].at("total"), "sizes");
  EXPECT_THAT(partial->Notes(),
              ElementsAre(HasSubstr("total: sizes"),
                          HasSubstr("1 releases of memory allocated before the recording")));
}

TEST(MemoryTest, NothingRecorded) {
  for (const auto& [family, flag] :
       {std::pair(Family::kKineto, "profile_memory=True"),
        std::pair(Family::kNsys, "--cuda-memory-usage"), std::pair(Family::kNvprof, "record")}) {
    MadeRun made;
    made.trace.family = family;
    made.AddKernel(0, 10);
    const auto partial = made.PartialOf(kMemoryView.make, [](PricedKernel*) {});
    EXPECT_TRUE(test::RowsOf(*partial).empty());
    EXPECT_THAT(partial->Notes(), ElementsAre(HasSubstr(flag)));
  }
}

TEST(MemoryTest, RecordsSayThatTheyAreNotEnough) {
  const auto partial = kMemoryView.make({});
  partial->Begin(nullptr);
  partial->End(nullptr);
  EXPECT_TRUE(test::RowsOf(*partial).empty());
  EXPECT_THAT(partial->Notes(), ElementsAre(HasSubstr("the profile itself")));
}

// A saw of 50,000 teeth with one that stands out.
TEST(MemoryTest, ThinnedCurveKeepsPeakAndEnds) {
  constexpr int64_t kTeeth = 50'000;
  MadeRun made;
  for (int64_t i = 0; i < kTeeth; ++i) {
    const int64_t size = i == 12'345 ? 777'777 : 100 + i % 7;
    AddMemory({2 * i, 1, size}, &made.trace);
    AddMemory({2 * i + 1, 1, -size}, &made.trace);
  }
  const auto rows = made.RowsOf(kMemoryView.make);
  EXPECT_LE(rows.size(), kMostCurvePoints);
  EXPECT_GT(rows.size(), kMostCurvePoints / 2);
  EXPECT_EQ(rows.front().at("time_ns"), "0");
  EXPECT_EQ(rows.back().at("time_ns"), std::to_string(2 * kTeeth - 1));
  EXPECT_EQ(rows.front().at("peak_bytes"), "777777");
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(),
                          [](const ViewRow& row) {
                            return row.at("allocated_bytes") == row.at("peak_bytes");
                          }),
            1);
}

class SelectedMemoryTest : public ::testing::Test {
 protected:
  /// Rows of what a selection leaves.
  std::vector<ViewRow> RowsOf(const Selection& selection) {
    Diagnostics diagnostics;
    const parse::KernelRecords records(&made_.trace, parse::JoinOptions(), &diagnostics);
    const prof::Run run(records, {.selection = selection});
    const auto partial = kMemoryView.make({});
    partial->Begin(&run);
    partial->End(&run);
    return test::RowsOf(*partial);
  }
  MadeRun made_;
};

TEST_F(SelectedMemoryTest, StepsTimesAndDevices) {
  made_.AddStep(1, 100, 200);
  made_.AddStep(2, 200, 300);
  AddMemory({110, 1, 8}, &made_.trace);
  AddMemory({150, 2, 4}, &made_.trace);
  AddMemory({210, 2, -4}, &made_.trace);
  AddMemory({.time_ns = 220, .address = 3, .size_bytes = 2, .device_id = 1}, &made_.trace);
  AddMemory({.time_ns = 230, .address = 4, .size_bytes = 1, .device_id = -1}, &made_.trace);
  Selection selection;
  selection.steps = {2, 2};
  auto rows = RowsOf(selection);
  EXPECT_THAT(CurvesOf(rows), ElementsAre("GPU0 framework: 110=8", "GPU1 framework: 120=2",
                                          "CPU framework: 130=1"));
  EXPECT_EQ(rows[0].at("peak_bytes"), "8");
  selection.device = 1;
  EXPECT_THAT(CurvesOf(RowsOf(selection)), ElementsAre("GPU1 framework: 120=2"));
  selection = {};
  selection.time = Interval{50, 110};
  EXPECT_THAT(CurvesOf(RowsOf(selection)), ElementsAre("GPU0 framework: 50=12"));
}

std::string WriteKineto(const std::string& name, int64_t rank, int64_t size) {
  test::KinetoBuilder builder;
  builder.AddMember("distributedInfo", R"({"rank": )" + std::to_string(rank) + "}");
  builder.AddOperator({.name = "aten::empty", .start_ns = 0, .duration_ns = 10'000});
  const auto add = [&](int64_t time_ns, int64_t bytes, int64_t total) {
    builder.AddInstant("[memory]", time_ns,
                       {{"Device Type", "1"},
                        {"Device Id", "0"},
                        {"Addr", "4096"},
                        {"Bytes", std::to_string(bytes)},
                        {"Total Allocated", std::to_string(total)},
                        {"Total Reserved", "1000"}});
  };
  add(1000, size, size + 1);
  add(2000, -size, 1);
  const auto path = test::TestDir() / name;
  builder.Write(path);
  return path.string();
}

TEST(MemoryTest, RanksInAnyOrderOfFiles) {
  const std::string two = WriteKineto("a.json", 2, 100);
  const std::string ten = WriteKineto("b.json", 10, 300);
  const auto rows = RowsOver(kView, {ten, two});
  EXPECT_EQ(rows, RowsOver(kView, {two, ten}));
  EXPECT_EQ(rows, MergedRows(kView, {ten, two}));
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows.front().at("rank"), "2");
  EXPECT_EQ(rows.back().at("rank"), "10");
  EXPECT_THAT(CurvesOf({rows.begin(), rows.begin() + 3}),
              ElementsAre("GPU0 framework: 0=1 1000=101/1000/899 2000=1/1000/999"));
}

// The plugin draws each step by two points and knows neither a base line nor the driver.
TEST(MemoryTest, PointsOfThePlugin) {
  MadeRun made;
  AddMemory({200, 1, 64, 1064, 2048}, &made.trace);
  AddMemory({300, 2, 128, 1192, 2048}, &made.trace);
  AddMemory({400, 3, 128}, &made.trace);
  AddMemory({450, 0, 128, 99, 99}, &made.trace);
  AddMemory({.time_ns = 500,
             .address = 4,
             .size_bytes = 9,
             .total_bytes = 9,
             .reserved_bytes = 9,
             .source = MemorySource::kDriver},
            &made.trace);
  const auto rows = made.RowsOf(MakeTbMemory);
  EXPECT_THAT(CurvesOf(rows), ElementsAre("GPU0 framework: 200=1064/2048/984 300=1064/2048/984 "
                                          "300=1192/2048/856"));
}

// Driver memory of an Nsight Systems export.
TEST(MemoryTest, OfNsys) {
  test::NsysBuilder builder;
  constexpr int64_t kProcess = int64_t{7} << 24;
  const auto add = [&](int64_t time_ns, int64_t operation, int64_t kind, int64_t bytes) {
    builder.Add("CUDA_GPU_MEMORY_USAGE_EVENTS", {{"start", time_ns},
                                                 {"globalPid", kProcess},
                                                 {"deviceId", 1},
                                                 {"contextId", 1},
                                                 {"address", 4096 + kind},
                                                 {"bytes", bytes},
                                                 {"memKind", kind},
                                                 {"memoryOperationType", operation},
                                                 {"correlationId", 0}});
  };
  add(40, 0, 2, 512);
  add(50, 0, 1, 64);
  add(60, 1, 2, 512);
  const auto path = test::TestDir() / "net.sqlite";
  builder.Write(path);
  EXPECT_THAT(CurvesOf(RowsOver(kView, {path.string()})),
              ElementsAre("GPU1 driver: 0=0 40=512 60=0", "CPU driver: 0=0 50=64"));
}

// What `record` adds to nvprof's schema: the driver's memory, and the framework's out of it.
TEST(MemoryTest, OfRecord) {
  const auto path = test::TestDir() / "net.sql";
  test::NvprofBuilder().Write(path);
  SQLite::Database database(path.string(), SQLite::OPEN_READWRITE);
  database.exec(
      "CREATE TABLE OPLENS_MEMORY (memoryOperationType INT, memoryKind INT, correlationId INT, "
      "address INT, bytes INT, timestamp INT, processId INT, deviceId INT);"
      "INSERT INTO OPLENS_MEMORY VALUES (1, 3, 5, 4096, 2097152, 100, 42, 0),"
      "  (2, 3, 9, 4096, 2097152, 400, 42, 0);"
      "CREATE TABLE OPLENS_ALLOCATION (timestamp INT, processId INT, threadId INT, address INT, "
      "bytes INT, deviceType INT, deviceId INT, totalAllocated INT, totalReserved INT);"
      "INSERT INTO OPLENS_ALLOCATION VALUES (150, 42, 7, 4096, 512, 1, 0, 512, 2097152),"
      "  (250, 42, 7, 4096, -512, 1, 0, 0, 2097152);");
  EXPECT_THAT(CurvesOf(RowsOver(kView, {path.string()})),
              ElementsAre("GPU0 framework: 0=0 150=512/2097152/2096640 250=0/2097152/2097152",
                          "GPU0 driver: 0=0 100=2097152 400=0"));
}

}  // namespace
}  // namespace oplens::prof::memory_test
