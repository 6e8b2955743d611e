// Whole recordings: facts, several processes, growth, files that are there already, and the
// programs that read the result.

#include "record/conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/image_conversion.h"
#include "record/nvprof_tables.h"
#include "test/record/record_run.h"
#include "test/record/spool_test.h"

namespace oplens::record::conversion_test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using spool::RecordKind;
using spool::Table;
using test::EventRecord;
using test::RowRecord;
using test::SpoolStream;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ConversionTest : public SpoolTest {
 protected:
  fs::path Part() const { return spool() / "net.sql.part"; }
};

TEST_F(ConversionTest, HasExactlyTheTablesOfItsVersion) {
  MakeImage();
  ConvertOne();
  std::vector<std::string> expected = {"StringTable", "Version"};
  for (const auto& table : NvprofTables(12)) expected.push_back(table.name);
  EXPECT_THAT(Query(output(),
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE "
                    "'OPLENS%'"),
              testing::UnorderedElementsAreArray(expected));
  std::vector<std::string> indices = {"INDEX_StringTable"};
  for (const auto& table : NvprofTables(12)) {
    if (!table.indexed_column.empty()) indices.push_back("INDEX_" + table.name);
  }
  EXPECT_THAT(
      Query(output(), "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"),
      testing::UnorderedElementsAreArray(indices));
  EXPECT_THAT(Query(output(), "SELECT * FROM Version"), ElementsAre("12"));
  EXPECT_THAT(Query(output(), "SELECT * FROM StringTable WHERE _id_ = 0"),
              ElementsAre("0|-- null --"));
  EXPECT_THAT(Query(output(), "PRAGMA integrity_check"), ElementsAre("ok"));
}

TEST_F(ConversionTest, TellsTheFacts) {
  MakeImage([](spool::ProcessPage* page) {
    page->parent_id = 12;
    page->lost_events = 1;
    page->handler_events = 5;
    page->child_events = 6;
    page->cut_texts = 7;
    page->lost_rows = 2;
    page->cupti_lost = 3;
    page->odd_rows = 4;
    page->first_error = 28;
    page->cuda = spool::CudaState::kFailed;
    page->cupti_result = 35;
    page->cupti_version = 130001;
    test::SetField(page->cupti_step, "cuptiSubscribe");
    test::SetField(page->cupti_message, "not permitted");
  });
  const ProcessSummary summary = ConvertOne();
  EXPECT_EQ(summary.process_id, kProcess);
  EXPECT_EQ(summary.output, output().string());
  EXPECT_EQ(summary.command, "./program -n 3");
  EXPECT_EQ(summary.lost_events, 1);
  EXPECT_EQ(summary.handler_events, 5);
  EXPECT_EQ(summary.child_events, 6);
  EXPECT_EQ(summary.cut_texts, 7);
  EXPECT_EQ(summary.lost_rows, 2);
  EXPECT_EQ(summary.cupti_lost, 3);
  EXPECT_EQ(summary.odd_rows, 4);
  EXPECT_EQ(summary.first_error, 28);
  EXPECT_EQ(summary.cuda, spool::CudaState::kFailed);
  EXPECT_EQ(summary.cupti_result, 35);
  EXPECT_EQ(summary.cupti_version, 130001u);
  EXPECT_EQ(summary.cupti_step, "cuptiSubscribe");
  EXPECT_EQ(summary.cupti_message, "not permitted");
  EXPECT_TRUE(summary.ended);
  EXPECT_EQ(summary.damage, "");
  const std::map<std::string, std::string> expected = {
      {"version", "1.2.3"},        {"format_version", "1"},
      {"process_id", "4711"},      {"parent_id", "12"},
      {"recovered", "0"},          {"ended", "1"},
      {"left_out_ranges", "0"},    {"lost_events", "1"},
      {"lost_rows", "2"},          {"handler_events", "5"},
      {"child_events", "6"},       {"cut_texts", "7"},
      {"gpu_busy_at_end", "0"},    {"unfinished_launches", "0"},
      {"cupti_lost", "3"},         {"odd_rows", "4"},
      {"first_error", "28"},       {"open_ranges", "0"},
      {"unmatched_ends", "0"},     {"gpu", "failed: cuptiSubscribe: not permitted (35)"},
      {"cupti_version", "130001"}, {"damage", ""}};
  EXPECT_EQ(Meta(), expected);
}

TEST_F(ConversionTest, TellsWhetherTheGpuWasRecorded) {
  MakeImage();
  ConvertOne();
  EXPECT_EQ(Meta()["gpu"], "unavailable");
  MakeImage([](spool::ProcessPage* page) { page->cuda = spool::CudaState::kRecording; });
  ConvertOne();
  EXPECT_EQ(Meta()["gpu"], "recorded");
}

TEST_F(ConversionTest, TellsThatAProcessDidNotEndAndWasRecovered) {
  MakeImage([](spool::ProcessPage* page) { page->state = spool::ProcessState::kRunning; });
  ConversionOptions options = Options();
  options.recovered = true;
  EXPECT_FALSE(Conversion(options).Finish({}).at(0).ended);
  EXPECT_EQ(Meta()["ended"], "0");
  EXPECT_EQ(Meta()["recovered"], "1");
}

TEST_F(ConversionTest, LeavesAFileThatIsThere) {
  MakeImage();
  test::WriteFile(output(), "mine");
  try {
    Conversion(Options()).Finish({});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), output().string() +
                                             ": is there already; move it away, or replace it with "
                                             "`record -f --recover`");
  }
  EXPECT_EQ(test::ReadFile(output()), "mine");
}

TEST_F(ConversionTest, LeavesAFileThatComesDuringTheRecording) {
  MakeImage();
  Conversion conversion(Options());
  conversion.Advance(10s);
  test::WriteFile(output(), "mine");
  EXPECT_THROW(conversion.Finish({}), Error);
  EXPECT_EQ(test::ReadFile(output()), "mine");
}

/// A link that somebody planted, be it to nowhere.
TEST_F(ConversionTest, NeverFollowsALink) {
  MakeImage();
  test::WriteFile(dir_ / "other", "theirs");
  for (const char* const target : {"other", "nowhere"}) {
    fs::remove(output());
    fs::create_symlink(dir_ / target, output());
    EXPECT_THROW(Conversion(Options()).Finish({}), Error);
    EXPECT_TRUE(fs::is_symlink(output()));
    ConvertOne();  // With force: the link goes.
    EXPECT_FALSE(fs::is_symlink(output()));
    EXPECT_EQ(test::ReadFile(dir_ / "other"), "theirs");
    EXPECT_FALSE(fs::exists(dir_ / "nowhere"));
  }
}

TEST_F(ConversionTest, TouchesNothingButTheDatabaseAndTheSpool) {
  MakeImage();
  test::WriteFile(output().string() + ".part", "mine");
  ConvertOne();
  EXPECT_EQ(test::ReadFile(output().string() + ".part"), "mine");
  EXPECT_THAT(test::FilesIn(dir_), ElementsAre("net.sql", "net.sql.part", "net.sql.spool"));
}

TEST_F(ConversionTest, NeverReplacesWhatIsNoFile) {
  MakeImage();
  fs::create_directory(output());
  EXPECT_THROW(Convert(), Error);
}

TEST_F(ConversionTest, TellsThatAFolderIsMissing) {
  test::MakeSpoolImage(spool(), kProcess, dir_ / "none" / "net.sql");
  try {
    Convert();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("none/net.sql: cannot be written: No such file"));
  }
}

TEST_F(ConversionTest, TellsThatThePartCannotBeMade) {
  MakeImage();
  fs::create_directories(Part() / "sub");
  try {
    Convert();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the spool stays"));
  }
}

TEST_F(ConversionTest, StartsAPartThatACrashLeftAnew) {
  MakeImage();
  test::WriteFile(Part(), "no database");
  ConvertOne();
  EXPECT_THAT(Query(output(), "PRAGMA integrity_check"), ElementsAre("ok"));
  EXPECT_FALSE(fs::exists(Part()));
}

TEST_F(ConversionTest, GrowsWithTheSpool) {
  const fs::path image =
      MakeImage([](spool::ProcessPage* page) { page->state = spool::ProcessState::kRunning; });
  // Chunks that hold about three records.
  SpoolStream events(image, 2, 7, 7, 56 + 130);
  SpoolStream activity(image, spool::kActivityStream, 0, 0, 200);
  Conversion conversion(Options());
  for (int64_t i = 0; i < 100; ++i) {
    if (i % 3 == 0) {
      EXPECT_FALSE(conversion.Advance(10s));
    }
    events.Push(2 * i + 1, "a");
    events.Pop(2 * i + 2);
    activity.Append(RowRecord(Table::kExternalCorrelation, {i, i, i}));
  }
  EXPECT_EQ(conversion.processes(), 1);
  EXPECT_TRUE(fs::exists(Part()));
  EXPECT_FALSE(fs::exists(output()));
  const ProcessSummary summary = conversion.Finish({}).at(0);
  EXPECT_EQ(summary.ranges, 100);
  EXPECT_EQ(summary.open_ranges, 0);
  EXPECT_EQ(summary.damage, "");
  EXPECT_EQ(Markers().size(), 200u);
  EXPECT_THAT(Query(output(),
                    "SELECT count(DISTINCT correlationId) FROM "
                    "CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION"),
              ElementsAre("100"));
}

TEST_F(ConversionTest, AnAdvanceThatIsCutShortLosesNothing) {
  const fs::path image = MakeImage();
  constexpr int64_t kPairs = 20'000;
  {
    SpoolStream first(image, 2, 1, 1);
    SpoolStream second(image, 3, 2, 2);
    for (int64_t i = 0; i < kPairs; ++i) {
      SpoolStream& stream = i % 2 == 0 ? first : second;
      stream.Push(4 * i, "a");
      stream.Pop(4 * i + 1);
    }
  }
  Conversion conversion(Options());
  int turns = 1;
  while (conversion.Advance(0ms)) ++turns;
  EXPECT_GT(turns, 10);
  std::vector<double> told;
  const ProcessSummary summary =
      conversion.Finish([&](double done) { told.push_back(done); }).at(0);
  EXPECT_EQ(summary.ranges, kPairs);
  EXPECT_EQ(summary.open_ranges, 0);
  EXPECT_THAT(Query(output(),
                    "SELECT count(*) FROM (SELECT id FROM CUPTI_ACTIVITY_KIND_MARKER GROUP BY id "
                    "HAVING count(*) = 2)"),
              ElementsAre(std::to_string(kPairs)));
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  ASSERT_FALSE(told.empty());
  EXPECT_DOUBLE_EQ(told.back(), 1);
}

TEST_F(ConversionTest, ProcessesHaveTheirOwnFiles) {
  SpoolStream(test::MakeSpoolImage(spool(), 5, dir_ / "5.sql"), 2, 1, 1).Push(1, "five");
  SpoolStream(test::MakeSpoolImage(spool(), 6, dir_ / "6.sql"), 2, 1, 1).Push(1, "six");
  test::MakeSpoolImage(spool(), 7, dir_ / "7.sql", [](spool::ProcessPage* page) {
    page->state = spool::ProcessState::kSkipped;
  });
  Conversion conversion(Options());
  conversion.Advance(10s);
  EXPECT_EQ(conversion.processes(), 2);
  EXPECT_EQ(conversion.skipped_processes(), 1);
  EXPECT_EQ(conversion.Finish({}).size(), 2u);
  EXPECT_FALSE(fs::exists(dir_ / "7.sql"));
  const std::string sql = "SELECT value FROM StringTable WHERE _id_ = 2";
  EXPECT_THAT(Query(dir_ / "5.sql", sql), ElementsAre("five"));
  EXPECT_THAT(Query(dir_ / "6.sql", sql), ElementsAre("six"));
}

TEST_F(ConversionTest, ProcessesOfOneNameAreTold) {
  const auto started_at = [](int64_t ns) {
    return [ns](spool::ProcessPage* page) { page->start_ns = ns; };
  };
  test::MakeSpoolImage(spool(), 5, output(), started_at(20));
  test::MakeSpoolImage(spool(), 6, output(), started_at(10));
  std::vector<std::string> outputs;
  for (const ProcessSummary& summary : Convert()) outputs.push_back(summary.output);
  EXPECT_THAT(outputs, ElementsAre(output().string() + ".5", output().string()));
}

/// The same number in two namespaces of processes, and twice in one: an image each.
TEST_F(ConversionTest, ProcessesOfOneNumberAreTold) {
  const std::pair<uint64_t, uint64_t> identities[] = {{1, 10}, {2, 10}, {2, 11}};
  int image = 0;
  for (const auto& [pid_namespace, start_ticks] : identities) {
    const fs::path folder = test::MakeSpoolImage(
        spool(), kProcess, output(),
        [&, pid_namespace = pid_namespace, start_ticks = start_ticks](spool::ProcessPage* page) {
          page->pid_namespace = pid_namespace;
          page->start_ticks = start_ticks;
          page->start_ns = image;
        },
        image);
    SpoolStream events(folder, 2, 1, 1);
    for (int i = 0; i <= image; ++i) events.Push(1 + i, "a");
    ++image;
  }
  std::map<std::string, int64_t> ranges;
  for (const ProcessSummary& summary : Convert()) ranges[summary.output] = summary.ranges;
  const std::map<std::string, int64_t> expected = {
      {output().string(), 1}, {output().string() + ".4711", 2}, {output().string() + ".4711.2", 3}};
  EXPECT_EQ(ranges, expected);
}

TEST_F(ConversionTest, AnImageWithADamagedPageIsOfTheProcessOfItsNumber) {
  const auto identify = [](spool::ProcessPage* page) { page->start_ticks = 10; };
  SpoolStream(MakeImage(identify), 2, 1, 1).Push(1, "a");
  const fs::path second = test::MakeSpoolImage(spool(), kProcess, output(), identify, 1);
  SpoolStream(second, 2, 1, 1).Push(2, "b");
  test::WriteFile(second / "process", "");
  EXPECT_EQ(ConvertOne().ranges, 2);
}

TEST_F(ConversionTest, TheNameMayComeFromTheCaller) {
  test::MakeSpoolImage(spool(), 5, "/elsewhere/5.sql");
  test::MakeSpoolImage(spool(), 6, "/elsewhere/6.sql");
  ConversionOptions options = Options();
  options.name_of = [&](const PageFacts& facts) {
    return facts.identity.process_id == 5 ? output().string() : "";
  };
  Conversion conversion(options);
  const std::vector<ProcessSummary> summaries = conversion.Finish({});
  ASSERT_EQ(summaries.size(), 1u);
  EXPECT_EQ(summaries[0].output, output().string());
  EXPECT_EQ(conversion.unnamed_processes(), 1);
}

/// SQLite opens no path of more than 512 bytes by itself.
TEST_F(ConversionTest, LongNamesAreWritten) {
  fs::path folder = dir_;
  for (int i = 0; i < 3; ++i) folder /= std::string(200, 'd');
  fs::create_directories(folder);
  ConversionOptions options = Options();
  options.spool = folder / "net.sql.spool";
  test::MakeSpoolImage(options.spool, kProcess, folder / "net.sql");
  Conversion(options).Finish({});
  EXPECT_THAT(test::ReadFile(folder / "net.sql"), testing::StartsWith("SQLite format 3"));
}

TEST_F(ConversionTest, ImagesOfOneProcessShareAFile) {
  const auto set = [](spool::ProcessState state, spool::CudaState cuda, uint64_t lost,
                      std::string command) {
    return [=](spool::ProcessPage* page) {
      page->state = state;
      page->cuda = cuda;
      page->lost_events = lost;
      test::SetField(page->command, command);
    };
  };
  const fs::path first = test::MakeSpoolImage(
      spool(), kProcess, output(),
      set(spool::ProcessState::kRunning, spool::CudaState::kRecording, 1, "first"));
  const fs::path second = test::MakeSpoolImage(
      spool(), kProcess, dir_ / "other.sql",
      set(spool::ProcessState::kEnded, spool::CudaState::kUnused, 2, "second"), 1);
  // The same numbers mean something else in each.
  SpoolStream(first, 0).Append(EventRecord(RecordKind::kString, 1, {.string = 1, .text = "x"}));
  SpoolStream(second, 0).Append(EventRecord(RecordKind::kString, 1, {.string = 1, .text = "y"}));
  for (const fs::path& image : {first, second}) {
    SpoolStream events(image, 2, 8, 9);
    events.Append(EventRecord(RecordKind::kPush, 10, {.string = 1}));
    events.Append(EventRecord(RecordKind::kStart, 11, {.range = 1}));
  }
  const ProcessSummary summary = ConvertOne();
  EXPECT_FALSE(summary.ended) << "the first image did not";
  EXPECT_TRUE(summary.gpu_cut_off);
  EXPECT_EQ(summary.command, "first");
  EXPECT_EQ(summary.cuda, spool::CudaState::kRecording);
  EXPECT_EQ(summary.lost_events, 3);
  EXPECT_EQ(summary.open_ranges, 4);
  EXPECT_THAT(Query(output(),
                    "SELECT id, value FROM CUPTI_ACTIVITY_KIND_MARKER m JOIN "
                    "StringTable s ON s._id_ = m.name ORDER BY m._id_"),
              ElementsAre("1|x", "2|-- null --", "3|y", "4|-- null --"));
  EXPECT_THAT(Query(output(),
                    "SELECT value FROM CUPTI_ACTIVITY_KIND_NAME n JOIN StringTable s ON "
                    "s._id_ = n.name"),
              ElementsAre("first", "second"));
}

TEST_F(ConversionTest, AnEmptySpoolGivesNothing) {
  EXPECT_THAT(Convert(), IsEmpty());  // No such folder.
  fs::create_directories(spool() / "77.0");
  test::WriteFile(spool() / "session", "a=b\n");
  test::WriteFile(spool() / "78.0", "no folder");
  EXPECT_THAT(Convert(), IsEmpty());
}

}  // namespace
}  // namespace oplens::record::conversion_test
