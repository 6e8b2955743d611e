// `record` of a Python program that is not touched, against what the test recorder sees of it.

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <re2/re2.h>

#include <algorithm>

#include "test/support/test_files.h"
#include "test/torch/torch_run.h"

namespace oplens::test::recorded_test {
namespace {

/// A text as `record` writes it, where what differs from call to call stands apart.
std::string WithoutFacts(std::string text) {
  static const RE2 kFacts("'seq': -?[0-9]+, 'tid': [0-9]+, 'ftid': [0-9]+, 'dir': '.', ");
  static const RE2 kHandles(", 'f?h': [0-9]+");
  static const RE2 kLast(", 'seq': -?[0-9]+, 'tid': [0-9]+, 'ftid': [0-9]+, 'dir': '.'");
  RE2::GlobalReplace(&text, kFacts, "");
  RE2::GlobalReplace(&text, kLast, "");
  RE2::GlobalReplace(&text, kHandles, "");
  return text;
}

TEST(RecordedTest, PythonProgram) {
  OPLENS_NEED(WhyNoPython);
  const std::vector<std::string> program = AnnotatedPython({SourceFile("examples/train.py")});
  std::vector<std::string> seen;
  std::vector<std::string> seen_facts;
  const NvtxRanges ranges = RunTorch(program, {"PYTHONPATH=" + BuildFile("lib")}).ranges;
  for (const NvtxRange& range : ranges.ranges) {
    const bool is_call = IsOp(range) || IsNode(range);
    const bool in_call =
        range.parent >= 0 && (IsOp(ranges.ranges[static_cast<size_t>(range.parent)]) ||
                              IsNode(ranges.ranges[static_cast<size_t>(range.parent)]));
    // The number of a call, for others.
    if (in_call && range.text.find(", seq = ") != std::string::npos) continue;
    seen.push_back(WithoutFacts(range.text));
    if (!is_call) continue;
    seen_facts.push_back(Fact(range.text, "seq") + " " + Fact(range.text, "dir") + " " +
                         seen.back());
  }
  const std::filesystem::path database = TestDir() / "net.sql";
  std::vector<std::string> command = {"/usr/bin/env",
                                      "PYTHONPATH=" + BuildFile("lib"),
                                      Program("record"),
                                      "-f",
                                      "-o",
                                      database.string(),
                                      "--"};
  command.insert(command.end(), program.begin(), program.end());
  const RunResult run = RunProgram(command);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, ::testing::HasSubstr(" " + std::to_string(seen.size()) + " ranges"));
  SQLite::Database file(database.string());
  SQLite::Statement rows(file,
                         "SELECT value FROM CUPTI_ACTIVITY_KIND_MARKER m JOIN StringTable s ON "
                         "s._id_ = m.name WHERE flags = 2");
  std::vector<std::string> recorded;
  while (rows.executeStep()) recorded.push_back(rows.getColumn(0).getString());
  std::sort(seen.begin(), seen.end());
  std::sort(recorded.begin(), recorded.end());
  EXPECT_THAT(recorded, ::testing::ElementsAreArray(seen));

  SQLite::Statement calls(file,
                          "SELECT seq || ' ' || dir || ' ' || value FROM OPLENS_CALL JOIN "
                          "CUPTI_ACTIVITY_KIND_MARKER m ON m.id = marker JOIN StringTable s ON "
                          "s._id_ = m.name WHERE flags = 2");
  std::vector<std::string> facts;
  while (calls.executeStep()) facts.push_back(calls.getColumn(0).getString());
  std::sort(seen_facts.begin(), seen_facts.end());
  std::sort(facts.begin(), facts.end());
  EXPECT_THAT(facts, ::testing::ElementsAreArray(seen_facts));

  // Every node with a number names the call that made it, of the thread that it names.
  const auto number = [&](const char* sql) { return file.execAndGet(sql).getInt(); };
  EXPECT_GT(number("SELECT count(*) FROM OPLENS_CALL WHERE fh != 0"), 20);
  EXPECT_EQ(
      number("SELECT count(*) FROM OPLENS_CALL n JOIN OPLENS_CALL o ON o.h = n.fh AND o.tid = "
             "n.ftid WHERE n.fh != 0 AND o.seq <= n.seq AND o.marker < n.marker"),
      number("SELECT count(*) FROM OPLENS_CALL WHERE dir = 'b' AND ftid != 0"));
}

}  // namespace
}  // namespace oplens::test::recorded_test
