// Activity, through the stand-in for CUDA and CUPTI: from a record in a buffer to a row of the
// database and to what parse and prof make of it.

#include <gmock/gmock.h>

#include "test/record/recording_fixture.h"
#include "test/support/test_files.h"

namespace oplens::test::activity_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Records a scenario of gpu_program; with more variables in the environment.
struct Recorded {
  std::filesystem::path database = TestDir() / "net.sql";
  RunResult run;

  explicit Recorded(const std::string& scenario, std::vector<std::string> options = {},
                    std::vector<std::string> environment = {}) {
    environment.push_back(FakeCuda().front());
    run = Record({.database = database,
                  .program = GpuProgram(scenario),
                  .options = std::move(options),
                  .environment = std::move(environment)});
    EXPECT_EQ(run.exit_code, 0) << run.err;
  }

  void MoveTo(const std::string& name) {
    std::filesystem::rename(database, TestDir() / name);
    database = TestDir() / name;
  }

  int64_t Count(const std::string& table) const {
    return Number(database, "SELECT count(*) FROM " + table);
  }
  int64_t Kernels() const { return Count("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"); }
  /// Names of kernels, in order of their start.
  std::vector<std::string> KernelNames() const {
    return Column(
        "SELECT value FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL k JOIN StringTable s ON s._id_ = "
        "k.name ORDER BY start");
  }
  std::vector<std::string> Column(const std::string& query) const {
    const SQLite::Database file(database.string());
    SQLite::Statement rows(file, query);
    std::vector<std::string> values;
    while (rows.executeStep()) values.push_back(rows.getColumn(0).getString());
    return values;
  }
  std::string Parsed() const {
    const RunResult parse = RunProgram({Program("parse"), "--format", "jsonl", database.string()});
    EXPECT_EQ(parse.exit_code, 0) << parse.err;
    return parse.out;
  }
  std::string Priced(const std::string& columns) const {
    const RunResult prof = RunProgram({Program("prof"), "--csv", "-c", columns, database.string()});
    EXPECT_EQ(prof.exit_code, 0) << prof.err;
    return prof.out;
  }
};

TEST(ActivityTest, StepIsAttributed) {
  const Recorded step("step");
  EXPECT_EQ(step.Kernels(), 5);
  EXPECT_EQ(step.Count("CUPTI_ACTIVITY_KIND_RUNTIME"), 8);
  EXPECT_EQ(step.Count("CUPTI_ACTIVITY_KIND_MEMCPY"), 1);
  EXPECT_EQ(step.Count("CUPTI_ACTIVITY_KIND_MEMSET"), 1);
  EXPECT_EQ(step.Count("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"), 1);
  EXPECT_THAT(step.run.err, HasSubstr("5 kernels"));
  // 2 * 64 * 256 * 128 in the product; the second layer ran on another thread.
  const std::string expected =
      "\"Layer\",\"Op\",\"Kernel\",\"FLOPs\",\"Sil(ns)\"\n"
      "\"first\",\"linear\",\"sgemm_run\",\"4194304\",\"20000\"\n"
      "\"first\",\"relu\",\"relu\",\"16384\",\"5000\"\n"
      "\"second\",\"linear\",\"sgemm_run\",\"4194304\",\"20000\"\n"
      "\"second\",\"relu\",\"relu\",\"16384\",\"5000\"\n"
      "\"\",\"\",\"outside\",\"\",\"1000\"\n";
  EXPECT_EQ(step.Priced("layer,op,kernel,flops,sil"), expected);
}

TEST(ActivityTest, CallsLieInTheirRangesAndBeforeTheirKernels) {
  for (const std::vector<std::string>& clock :
       {std::vector<std::string>{}, {"FAKE_CUPTI_CLOCK=own"}}) {
    const Recorded step("step", {}, clock);
    const SQLite::Database file(step.database.string());
    SQLite::Statement rows(
        file,
        "SELECT k.start - r.start, r.start - s.timestamp, e.timestamp - r.start FROM "
        "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING "
        "(correlationId) JOIN CUPTI_ACTIVITY_KIND_MARKER s ON s.flags = 2 JOIN "
        "CUPTI_ACTIVITY_KIND_MARKER e ON e.flags = 4 AND e.id = s.id JOIN StringTable t ON t._id_ "
        "= "
        "s.name WHERE t.value LIKE '%relu%' AND r.start BETWEEN s.timestamp AND e.timestamp");
    int pairs = 0;
    for (; rows.executeStep(); ++pairs) {
      EXPECT_GT(rows.getColumn(0).getInt64(), 0);
      EXPECT_LT(rows.getColumn(0).getInt64(), 1'000'000);
      EXPECT_GE(rows.getColumn(1).getInt64(), 0);
      EXPECT_GE(rows.getColumn(2).getInt64(), 0);
    }
    EXPECT_EQ(pairs, 2);
  }
}

TEST(ActivityTest, ThreadsOfCallsAndRangesAreOneNumber) {
  const Recorded step("step");
  EXPECT_EQ(
      Number(step.database,
             "SELECT count(DISTINCT threadId) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE threadId "
             "BETWEEN -2147483648 AND 2147483647"),
      2);
  const std::string calls =
      "SELECT DISTINCT printf('%08X', threadId & 4294967295) FROM CUPTI_ACTIVITY_KIND_RUNTIME "
      "ORDER "
      "BY 1";
  const std::string markers =
      "SELECT DISTINCT substr(h, 15, 2) || substr(h, 13, 2) || substr(h, 11, 2) || substr(h, 9, 2) "
      "FROM (SELECT hex(objectId) h FROM CUPTI_ACTIVITY_KIND_MARKER) ORDER BY 1";
  EXPECT_EQ(step.Column(calls), step.Column(markers));
}

TEST(ActivityTest, WindowIsThatOfTheProgram) {
  const Recorded whole("window");
  EXPECT_THAT(whole.KernelNames(), ElementsAre("before", "between"));
  const Recorded window("window", {"--profile-from-start", "off"});
  EXPECT_THAT(window.KernelNames(), ElementsAre("between"));
  EXPECT_THAT(window.Column("SELECT value FROM CUPTI_ACTIVITY_KIND_MARKER m JOIN StringTable s ON "
                            "s._id_ = m.name WHERE flags = 2 ORDER BY timestamp"),
              ElementsAre("between", "goes on"));
  EXPECT_EQ(
      Number(window.database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MARKER WHERE flags = 4"), 2)
      << "a range that is open when the window closes ends nevertheless";
}

TEST(ActivityTest, EachCycleOfAScheduleHasAFile) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{}, {"--profile-from-start", "off"}}) {
    Recorded cycle("schedule", options);
    EXPECT_EQ(cycle.run.out, "cycle 1\ncycle 2\n");
    EXPECT_FALSE(std::filesystem::exists(cycle.database));
    EXPECT_THAT(cycle.run.err, HasSubstr("net.1.sql and net.2.sql: 2 cycles, 4 kernels, 8 ranges, "
                                         "0 dropped records"));
    const std::string ranges =
        "SELECT value FROM CUPTI_ACTIVITY_KIND_MARKER m JOIN StringTable s ON s._id_ = m.name "
        "WHERE flags = 2 ORDER BY timestamp";
    const std::string allocations = "SELECT bytes FROM OPLENS_ALLOCATION ORDER BY timestamp";
    cycle.database = TestDir() / "net.1.sql";
    EXPECT_THAT(cycle.KernelNames(), ElementsAre("step_2", "step_3"));
    EXPECT_THAT(cycle.Column(ranges),
                ElementsAre("ProfilerStep#2", "step_2", "ProfilerStep#3", "step_3"));
    EXPECT_THAT(cycle.Column(allocations), ElementsAre("512", "-512"));
    cycle.Parsed();
    // The kernels of the first cycle still ran.
    const int64_t end =
        Number(cycle.database, "SELECT max(end) FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL");
    cycle.database = TestDir() / "net.2.sql";
    EXPECT_THAT(cycle.KernelNames(), ElementsAre("step_6", "step_7"));
    EXPECT_THAT(cycle.Column(ranges),
                ElementsAre("ProfilerStep#6", "step_6", "ProfilerStep#7", "step_7"));
    EXPECT_LT(Number(cycle.database, "SELECT min(timestamp) FROM CUPTI_ACTIVITY_KIND_MARKER"), end);
  }
}

TEST(ActivityTest, ReplayedKernelsHaveTheOpsThatCapturedThem) {
  const Recorded graph("graph");
  EXPECT_EQ(graph.Kernels(), 4);
  EXPECT_EQ(graph.Count("OPLENS_GRAPH_NODE"), 6)
      << "two captured; two copies, told as created and as cloned";
  const std::string expected =
      "\"Op\",\"Sil(ns)\"\n\"mm\",\"2000\"\n\"relu\",\"2000\"\n\"mm\",\"2000\"\n"
      "\"relu\",\"2000\"\n";
  EXPECT_EQ(graph.Priced("op,sil"), expected);
}

/// What prof says of the op of each kernel, and from what.
std::string Explained(const Recorded& run, const Recorded& reference) {
  const RunResult prof =
      RunProgram({Program("prof"), "--csv", "-c", "op,evidence,confidence", "--reference",
                  reference.database.string(), run.database.string()});
  EXPECT_EQ(prof.exit_code, 0) << prof.err;
  return prof.out;
}

TEST(ActivityTest, AReferenceHoldsWhatWasCapturedAndNothingElse) {
  const Recorded reference("graph", {"--reference"});
  EXPECT_THAT(reference.run.err, HasSubstr("2 kernels, 2 ranges"));
  for (const char* table :
       {"CONCURRENT_KERNEL", "RUNTIME", "DRIVER", "MEMCPY", "MEMSET", "SYNCHRONIZATION"}) {
    EXPECT_EQ(reference.Count(std::string("CUPTI_ACTIVITY_KIND_") + table), 0) << table;
  }
  EXPECT_THAT(reference.Column("SELECT s.value FROM OPLENS_GRAPH_NODE n JOIN StringTable s ON "
                               "s._id_ = n.name WHERE originalGraphNodeId = 0 AND n.name != 0 "
                               "ORDER BY timestamp"),
              ElementsAre("_Z9sgemm_runPfS_S_iii", "_Z4reluPfi"));
  const std::vector<std::string> ranges = reference.Column(
      "SELECT value FROM CUPTI_ACTIVITY_KIND_MARKER m JOIN StringTable s ON s._id_ = m.name WHERE "
      "m.flags & 2 != 0");
  EXPECT_THAT(ranges, ElementsAre(HasSubstr("'op': 'mm'"), HasSubstr("'op': 'relu'")))
      << "not that of the replay";
  EXPECT_EQ(reference.Count("StringTable WHERE value = 'replay'"), 0);
}

TEST(ActivityTest, AReferenceExplainsReplays) {
  Recorded reference("graph", {"--reference"});
  reference.MoveTo("reference.sql");
  Recorded run("graph", {"--trace", "cuda"});
  EXPECT_EQ(run.Priced("op,evidence,confidence"),
            "\"Op\",\"Evidence\",\"Confidence\"\n\"mm\",\"name\",\"medium\"\n"
            "\"relu\",\"name\",\"low\"\n\"mm\",\"name\",\"medium\"\n"
            "\"relu\",\"name\",\"low\"\n");
  // As where the graph is older than the recording.
  SQLite::Database(run.database.string(), SQLite::OPEN_READWRITE)
      .exec("DELETE FROM OPLENS_GRAPH_NODE");
  EXPECT_EQ(Explained(run, reference),
            "\"Op\",\"Evidence\",\"Confidence\"\n\"mm\",\"reference\",\"high\"\n"
            "\"relu\",\"reference\",\"high\"\n\"mm\",\"reference\",\"high\"\n"
            "\"relu\",\"reference\",\"high\"\n");
}

TEST(ActivityTest, AWholeRecordingIsAReferenceToo) {
  Recorded reference("graph");
  reference.MoveTo("reference.sql");
  Recorded run("graph", {"--trace", "cuda"});
  SQLite::Database(run.database.string(), SQLite::OPEN_READWRITE)
      .exec("DELETE FROM OPLENS_GRAPH_NODE");
  EXPECT_THAT(Explained(run, reference), HasSubstr("\"mm\",\"reference\",\"high\""));
}

TEST(ActivityTest, TraceChoosesWhatIsRecorded) {
  const Recorded ranges("step", {"--trace", "nvtx"});
  EXPECT_EQ(ranges.Kernels(), 0);
  EXPECT_GT(ranges.Count("CUPTI_ACTIVITY_KIND_MARKER"), 0);
  const Recorded kernels("step", {"--trace", "cuda"});
  EXPECT_EQ(kernels.Kernels(), 5);
  EXPECT_EQ(kernels.Count("CUPTI_ACTIVITY_KIND_MARKER"), 0);
  EXPECT_EQ(kernels.Count("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"), 0);
}

TEST(ActivityTest, OlderCuptiLacksTheNewestColumnsOnly) {
  const Recorded step("step", {}, {"FAKE_CUPTI_VERSION=24"});
  EXPECT_EQ(step.Kernels(), 5);
  EXPECT_EQ(
      Number(step.database,
             "SELECT count(*) FROM OPLENS_KERNEL WHERE clusterX = 4 AND isDeviceLaunched IS NULL"),
      5);
}

/// Every column of every table.
TEST(ActivityTest, RowsHoldEveryMember) {
  const Recorded records("records");
  const SQLite::Database file(records.database.string());
  std::string text;
  SQLite::Statement tables(
      file,
      "SELECT name FROM sqlite_master WHERE type = 'table' AND (name LIKE "
      "'CUPTI_%' OR name LIKE 'OPLENS_%') AND name NOT IN ('OPLENS_META') ORDER "
      "BY name");
  while (tables.executeStep()) {
    const std::string table = tables.getColumn(0).getString();
    SQLite::Statement rows(file, "SELECT * FROM \"" + table + "\"");
    while (rows.executeStep()) {
      text += table + "\n";
      for (int i = 0; i < rows.getColumnCount(); ++i) {
        const SQLite::Column value = rows.getColumn(i);
        std::string shown = value.isNull() ? "null" : value.getString();
        if (value.isBlob()) {
          shown.clear();
          for (const char c : value.getString()) {
            constexpr const char* kDigits = "0123456789abcdef";
            const auto byte = static_cast<unsigned char>(c);
            shown += {kDigits[byte >> 4], kDigits[byte & 15]};
          }
        } else if (value.getName() == std::string("name") && !value.isText()) {
          SQLite::Statement name(file, "SELECT value FROM StringTable WHERE _id_ = ?");
          name.bind(1, value.getInt64());
          ASSERT_TRUE(name.executeStep()) << table << " names no text: " << shown;
          shown = "'" + name.getColumn(0).getString() + "'";
        }
        // Not the same in two runs: this process and its command line.
        if (table == "CUPTI_ACTIVITY_KIND_NAME" && rows.getColumn(1).getInt64() == 1) shown = "..";
        text += std::string("  ") + value.getName() + " " + shown + "\n";
      }
    }
  }
  const std::string golden = SourceDir() + "/test/golden/recording/activity_rows.txt";
  if (std::getenv("OPLENS_UPDATE_GOLDENS") != nullptr) WriteFile(golden, text);
  EXPECT_EQ(text, ReadFile(golden));
  EXPECT_THAT(records.run.err, HasSubstr("1 ")) << "the record of an unknown kind is counted";
}

TEST(ActivityTest, ManyRecordsFillManyBuffers) {
  const std::filesystem::path database = TestDir() / "net.sql";
  std::vector<std::string> program = GpuProgram("many");
  program.push_back("20000");
  const RunResult run =
      Record({.database = database, .program = program, .environment = FakeCuda()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(Number(database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"), 20'000);
  EXPECT_EQ(Number(database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME"), 20'000);
  EXPECT_EQ(Number(database,
                   "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL k JOIN "
                   "CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId)"),
            20'000);
}

/// CUPTI keeps more buffers than it is to have. Newer versions are refused more, older ones would
/// crash.
TEST(ActivityTest, BuffersAreBoundedWhereCuptiCanBeRefused) {
  std::vector<std::string> program = GpuProgram("many");
  program.push_back("100000");
  for (const char* version : {"130001", "24"}) {
    const std::filesystem::path database = TestDir() / (std::string(version) + ".sql");
    const RunResult run = Record({.database = database,
                                  .program = program,
                                  .environment = {FakeCuda().front(), "FAKE_CUPTI_HOLD=1000",
                                                  std::string("FAKE_CUPTI_VERSION=") + version}});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const int64_t kernels =
        Number(database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL");
    // Whether the regular flush comes in between is a matter of time.
    EXPECT_GT(kernels, 10'000);
    const bool all = kernels == 100'000;
    EXPECT_TRUE(all || std::string(version) != "24");
    if (!all) {
      EXPECT_THAT(run.err, HasSubstr("CUPTI dropped"));
    }
  }
}

TEST(ActivityTest, ForkedChildThatUsesCudaLives) {
  const Recorded forked("fork");  // Expects exit code 0, which is the child's fate.
  EXPECT_EQ(forked.Kernels(), 0) << "the child's launches are nobody's";
}

/// CUPTI refuses: the ranges are there, and the reason.
struct Refusal {
  const char* name;
  const char* variable;
  const char* said;
};
class RefusalTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusalTest, IsSaidWithItsRemedy) {
  const Recorded step("step", {}, {GetParam().variable});
  EXPECT_THAT(step.run.err, HasSubstr(GetParam().said));
  EXPECT_EQ(step.Kernels(), 0);
  EXPECT_EQ(
      Number(step.database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MARKER WHERE flags = 2"), 6);
}

INSTANTIATE_TEST_SUITE_P(
    Cupti, RefusalTest,
    ::testing::Values(Refusal{"Privileges", "FAKE_CUPTI_FAIL=cuptiActivityEnable=35",
                              "NVreg_RestrictProfilingToAdminUsers"},
                      Refusal{"Subscriber", "FAKE_CUPTI_FAIL=cuptiSubscribe=39",
                              "another profiler"},
                      Refusal{"Other", "FAKE_CUPTI_FAIL=cuptiSubscribe=999", "CUPTI_ERROR_FAKE"},
                      Refusal{"TooOld", "FAKE_CUPTI_VERSION=12", "too old"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ActivityTest, OneRefusedKindCostsOnlyItself) {
  const Recorded step("step", {}, {"FAKE_CUPTI_FAIL=cuptiActivityEnable/38=35"});
  EXPECT_EQ(step.Kernels(), 5);
  EXPECT_EQ(step.Count("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"), 0);
  EXPECT_THAT(step.run.err, HasSubstr("kind 38"));
}

TEST(ActivityTest, ProgramWithoutCudaIsSaid) {
  const Recorded unused("unused");
  EXPECT_EQ(Number(unused.database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MARKER"), 2);
  EXPECT_THAT(unused.run.err, HasSubstr("0 kernels"));
  EXPECT_THAT(unused.run.err, Not(HasSubstr("dropped records,")));
}

}  // namespace
}  // namespace oplens::test::activity_test
