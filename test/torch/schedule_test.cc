// The capture schedule from Python against torch.profiler's own, and what `record` makes of it.

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "test/support/test_files.h"
#include "test/torch/torch_run.h"

namespace oplens::test::schedule_test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> Rows(const std::filesystem::path& database, const std::string& query) {
  const SQLite::Database file(database.string());
  SQLite::Statement statement(file, query);
  std::vector<std::string> rows;
  while (statement.executeStep()) {
    std::string row;
    for (int i = 0; i < statement.getColumnCount(); ++i) {
      const SQLite::Column column = statement.getColumn(i);
      row += (i == 0 ? "" : "|") + (column.isNull() ? "NULL" : column.getString());
    }
    rows.push_back(row);
  }
  return rows;
}

class PythonScheduleTest : public ::testing::Test {
 protected:
  void SetUp() override { OPLENS_NEED(WhyNoPython); }

  static std::vector<std::string> Command(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {OPLENS_TORCH_PYTHON, SourceFile("test/torch/schedule_cases.py")});
    return arguments;
  }
  static std::string Run(const std::string& name) {
    return RunWithoutTool(Command({name}), {"PYTHONPATH=" + BuildFile("lib")}).out;
  }
  static RunResult Record(const std::vector<std::string>& program) {
    std::vector<std::string> command = {"/usr/bin/env",
                                        "PYTHONPATH=" + BuildFile("lib"),
                                        Program("record"),
                                        "-f",
                                        "-o",
                                        Database().string(),
                                        "--"};
    command.insert(command.end(), program.begin(), program.end());
    RunResult run = RunProgram(command);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run;
  }
  static std::filesystem::path Database() { return TestDir() / "net.sql"; }
  static std::filesystem::path Cycle(int number) {
    return TestDir() / fmt::format("net.{}.sql", number);
  }
  /// Ranges in the order of their beginning.
  static std::vector<std::string> Ranges(const std::filesystem::path& database) {
    return Rows(database,
                "SELECT value FROM CUPTI_ACTIVITY_KIND_MARKER m JOIN StringTable s ON s._id_ = "
                "m.name WHERE flags = 2 ORDER BY timestamp, m.id");
  }
};

TEST_F(PythonScheduleTest, EverySmallScheduleIsAsThatOfTorch) {
  EXPECT_EQ(Run("like_torch"), "2673 runs alike\n");
}

TEST_F(PythonScheduleTest, AllTransitionsAreAsThoseOfTorch) {
  EXPECT_EQ(Run("any_actions"), "20 transitions alike\n");
}

TEST_F(PythonScheduleTest, WithoutSchedule) { EXPECT_EQ(Run("without_schedule"), "alike\n"); }

TEST_F(PythonScheduleTest, SkipFirstWait) { EXPECT_EQ(Run("skip_first_wait"), "by the table\n"); }

TEST_F(PythonScheduleTest, Errors) { EXPECT_EQ(Run("errors"), "refused\n"); }

TEST_F(PythonScheduleTest, AFileACycle) {
  const RunResult run = Record(Command({"train"}));
  EXPECT_EQ(run.out, "cycles [1, 2]\n");
  EXPECT_THAT(run.err, HasSubstr("net.1.sql and net.2.sql: 2 cycles, "));
  EXPECT_FALSE(std::filesystem::exists(Database()));
  std::vector<size_t> counts;
  for (const int number : {1, 2}) {
    const std::vector<std::string> ranges = Ranges(Cycle(number));
    std::vector<std::string> steps;
    std::vector<std::string> own;
    for (const std::string& range : ranges) {
      if (range.starts_with("ProfilerStep#")) steps.push_back(range);
      if (range == "forward pass" || range == "again: depth") own.push_back(range);
    }
    const int first = number == 1 ? 2 : 6;
    EXPECT_THAT(steps, ElementsAre(fmt::format("ProfilerStep#{}", first),
                                   fmt::format("ProfilerStep#{}", first + 1)));
    EXPECT_THAT(own, ElementsAre("forward pass", "again: depth", "again: depth", "forward pass",
                                 "again: depth", "again: depth"));
    EXPECT_THAT(ranges, Contains("layer:first"));
    EXPECT_THAT(ranges, Contains(HasSubstr("'shape': (4, 8)")));
    EXPECT_THAT(Rows(Cycle(number), "SELECT count(*) FROM OPLENS_ALLOCATION"), ElementsAre("0"));
    // What a call has of its own is with its range.
    EXPECT_THAT(Rows(Cycle(number), "SELECT count(*) > 20 FROM OPLENS_CALL"), ElementsAre("1"));
    EXPECT_THAT(Rows(Cycle(number),
                     "SELECT marker FROM OPLENS_CALL WHERE marker NOT IN (SELECT id FROM "
                     "CUPTI_ACTIVITY_KIND_MARKER WHERE flags = 2)"),
                IsEmpty());
    counts.push_back(ranges.size());
    EXPECT_EQ(RunProgram({Program("parse"), Cycle(number).string()}).exit_code, 0);
  }
  // The second cycle is as the first, whose warm-up is not in it.
  EXPECT_EQ(counts[0], counts[1]);
}

TEST_F(PythonScheduleTest, WithoutShapesAndModules) {
  Record(Command({"bare"}));
  const std::vector<std::string> ranges = Ranges(Cycle(1));
  EXPECT_THAT(ranges, Contains(HasSubstr("'op': 'linear', 'args': []")));
  EXPECT_THAT(ranges, Each(Not(HasSubstr("'shape'"))));
  EXPECT_THAT(ranges, Each(Not(StartsWith("layer:"))));
}

TEST_F(PythonScheduleTest, AProgramThatIsCutOff) {
  const RunResult run = Record(Command({"killed"}));
  EXPECT_THAT(run.err, HasSubstr("1 cycle was not completed by the program"));
  EXPECT_THAT(Ranges(Cycle(1)), Contains("ProfilerStep#3"));
  EXPECT_THAT(Ranges(Cycle(2)), Contains(HasSubstr("'op': 'abs'")));
  EXPECT_THAT(Rows(Cycle(2), "SELECT value FROM OPLENS_META WHERE key = 'cycle_complete'"),
              ElementsAre("0"));
}

TEST_F(PythonScheduleTest, AllocationsAddUp) {
  Record(Command({"memory"}));
  const std::vector<std::string> sizes =
      Rows(Cycle(1), "SELECT bytes FROM OPLENS_ALLOCATION ORDER BY timestamp");
  // 1000 floats and 15 doubles come, the floats go; 11 bytes on another thread; 100 doubles.
  ASSERT_GT(sizes.size(), 6U);
  EXPECT_THAT(std::vector<std::string>(sizes.begin(), sizes.begin() + 4),
              ElementsAre("4000", "120", "-4000", "11"));
  EXPECT_THAT(sizes, IsSupersetOf({"800", "-120", "40", "-40"}));
  EXPECT_THAT(sizes, Not(Contains("-308"))) << "made before";
  EXPECT_THAT(sizes, Not(Contains("-11"))) << "released after";
  EXPECT_THAT(sizes, Not(Contains("0")));
  EXPECT_THAT(Rows(Cycle(1), "SELECT sum(bytes) FROM OPLENS_ALLOCATION"), ElementsAre("811"));
  // Every total is the sum so far, every release is of a block that was made so large.
  EXPECT_THAT(Rows(Cycle(1),
                   "SELECT * FROM (SELECT totalAllocated t, sum(bytes) OVER (ORDER BY timestamp) s "
                   "FROM OPLENS_ALLOCATION) WHERE t != s"),
              IsEmpty());
  EXPECT_THAT(Rows(Cycle(1),
                   "SELECT address FROM OPLENS_ALLOCATION GROUP BY address HAVING sum(bytes) < 0"),
              IsEmpty());
  EXPECT_THAT(
      Rows(Cycle(1), "SELECT DISTINCT deviceType, deviceId, totalReserved FROM OPLENS_ALLOCATION"),
      ElementsAre("0|-1|NULL"));
  EXPECT_THAT(Rows(Cycle(1), "SELECT count(DISTINCT threadId) FROM OPLENS_ALLOCATION"),
              ElementsAre("2"));
  // The curve, where Kineto's files have it.
  const std::filesystem::path trace = TestDir() / "net.json";
  const RunResult parsed =
      RunProgram({Program("parse"), "--format", "chrome", Cycle(1).string(), "-o", trace.string()});
  EXPECT_EQ(parsed.exit_code, 0) << parsed.err;
  EXPECT_THAT(ReadFile(trace), HasSubstr(R"("allocated bytes":811)"));
}

TEST_F(PythonScheduleTest, AllocationsAreThoseThatTorchReports) {
  std::istringstream lines(Record(Command({"memory_as_torch_sees_it"})).out);
  std::vector<std::string> theirs;
  for (std::string line; std::getline(lines, line);) theirs.push_back(line);
  EXPECT_GT(theirs.size(), 50U);
  std::vector<std::string> ours =
      Rows(Cycle(1), "SELECT bytes FROM OPLENS_ALLOCATION ORDER BY timestamp, _id_");
  // In order, among what came before and after.
  auto at = ours.begin();
  for (const std::string& event : theirs) {
    at = std::find(at, ours.end(), event);
    ASSERT_NE(at, ours.end()) << event;
    ++at;
  }
  EXPECT_LE(ours.size(), theirs.size() + 40);
}

TEST_F(PythonScheduleTest, AllocationsOfAProgramThatIsNotTouched) {
  const RunResult run =
      Record({"/usr/bin/env", "OPLENS_ANNOTATE=memory", OPLENS_TORCH_PYTHON, "-m",
              "oplens_annotate", SourceFile("test/torch/python_cases.py"), "layers"});
  EXPECT_THAT(run.err, HasSubstr("net.sql: 0 kernels"));
  EXPECT_THAT(Rows(Database(), "SELECT count(*) > 10 FROM OPLENS_ALLOCATION"), ElementsAre("1"));
}

TEST_F(PythonScheduleTest, AllocationsWhileOthersFork) {
  EXPECT_EQ(Record(Command({"memory_forked"})).out, "forked\n");
}

// What a device's allocator reports, to the slot of the thread that torch.profiler uses too.
TEST_F(PythonScheduleTest, SlotIsTakenWhileAnOpRunsOnly) {
  const RunResult run = Record({Program("torch_cases"), "memory"});
  EXPECT_EQ(run.out, "host 0\nother 1\nseen by other 77\nobserved 1, slot 0\n");
  EXPECT_THAT(
      Rows(Database(),
           "SELECT address, bytes, totalAllocated, totalReserved, deviceType, deviceId FROM "
           "OPLENS_ALLOCATION WHERE deviceType != 0 ORDER BY timestamp"),
      ElementsAre("2|22|1022|4096|1|2", "3|-22|978|4096|1|2", "4|44|1044|4096|1|2",
                  "5|55|1055|4096|1|2"));
  EXPECT_THAT(RunWithoutTool({Program("torch_cases"), "memory"}).out,
              HasSubstr("observed 0, slot 0"));
}

}  // namespace
}  // namespace oplens::test::schedule_test
