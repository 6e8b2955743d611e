// Every Nsight Systems database of the corpus: kernels out = kernels in the file, and the counts
// that plain SQL gives on it. Counts and sums only; no text of the files stands here.

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/demangle.h"
#include "parse/readers/open_trace.h"
#include "test/e2e/e2e.h"
#include "test/support/dict_text.h"
#include "test/support/nsys_builder.h"
#include "test/support/python_literal.h"
#include "test/support/test_files.h"

namespace oplens::test::corpus_nsys_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

struct Profile {
  const char* name;
  const char* schema;  // As the file prints it; "" when it says none.
  int64_t kernels;
  int64_t gpu_ns;
  int64_t ranges;
  int64_t unclosed;
  int64_t copies;
  int64_t sets;
  int64_t repeated_calls;
  int64_t replays;
  // How many kernels have how many ranges around their launch, on its thread; unclosed ones too.
  std::map<int64_t, int64_t> enclosing;
};

void PrintTo(const Profile& p, std::ostream* out) { *out << p.name; }

const Profile kProfiles[] = {
    {"mmagic", "3.11.1", 328, 4140952, 1956, 1404, 40, 7, 0, 0, {{1404, 180}, {1406, 148}}},
    {"dlprof_dummy", "2.9.1", 46, 346684, 82, 2, 12, 4, 0, 0, {{6, 46}}},
    {"saxpy_mpi", "2.9.1", 5, 88573480, 22, 0, 15, 0, 38, 0, {{1, 5}}},
    {"lm27b_nvtx", "3.16.1", 7328, 3408380989, 516, 0, 294, 0, 0, 0, {{1, 5920}, {3, 1408}}},
    {"lm27b_graph", "3.16.1", 30, 78270, 0, 0, 0, 0, 0, 10, {{0, 30}}},
    {"fuser2", "3.16.1", 19, 402301, 639, 0, 1, 1, 0, 0, {{0, 17}, {3, 2}}},
    {"llama_stream", "3.16.1", 64, 24527076, 271, 0, 16, 16, 0, 0, {{4, 64}}},
    {"cloverleaf", "3.13.2", 1312, 294404540, 0, 0, 279, 0, 0, 0, {{0, 1312}}},
    {"cutlass", "3.1.7", 6, 162000609, 0, 0, 4, 0, 0, 0, {{0, 6}}},
    {"ssb_old", "", 12, 8544420, 0, 0, 48, 12, 0, 0, {{0, 12}}},
    {"poolformer_trt", "3.0.0", 0, 0, 14713, 0, 0, 0, 0, 0, {}},
    {"stella", "3.16.1", 0, 0, 0, 0, 0, 0, 0, 0, {}},
};

fs::path FileOf(const std::string& name) { return CorpusFile("nsys/" + name + ".sqlite"); }

/// The integer that a query gives; 0 where a table is missing.
int64_t Ask(const fs::path& file, const std::string& table, const std::string& expression) {
  const SQLite::Database database(file.string(), SQLite::OPEN_READONLY);
  if (!database.tableExists(table)) return 0;
  SQLite::Statement query(database, fmt::format("SELECT {} FROM {}", expression, table));
  return query.executeStep() ? query.getColumn(0).getInt64() : 0;
}

constexpr const char* kKernelTable = "CUPTI_ACTIVITY_KIND_KERNEL";

class CorpusNsys : public testing::TestWithParam<Profile> {
 protected:
  void SetUp() override { OPLENS_NEED_CORPUS(); }
  static fs::path File() { return FileOf(GetParam().name); }
};

TEST_P(CorpusNsys, HasTheKernelsOfTheFile) {
  const Profile& expected = GetParam();
  const std::vector<json> records = Records(File());
  EXPECT_EQ(static_cast<int64_t>(records.size()), expected.kernels);
  EXPECT_EQ(static_cast<int64_t>(records.size()), Ask(File(), kKernelTable, "count(*)"));
  int64_t gpu_ns = 0;
  std::set<int64_t> threads;
  for (const json& record : records) {
    gpu_ns += record["kDuration"].get<int64_t>();
    EXPECT_FALSE(record["launch"].is_null());
    EXPECT_LE(record["launchStart"], record["kStart"]);
    threads.insert(record["tid"].get<int64_t>());
  }
  EXPECT_EQ(gpu_ns, expected.gpu_ns);
  EXPECT_EQ(gpu_ns, Ask(File(), kKernelTable, "coalesce(sum(end - start), 0)"));
  EXPECT_EQ(threads.size(), expected.kernels > 0 ? 1u : 0u);
}

TEST_P(CorpusNsys, HasTheOtherRowsOfTheFile) {
  const Profile& expected = GetParam();
  Diagnostics diagnostics;
  const Trace trace = parse::OpenTrace(File().string(), TraceNeeds::All(), &diagnostics);
  const auto count = [](const auto& rows) { return static_cast<int64_t>(rows.size()); };
  EXPECT_EQ(trace.family, Family::kNsys);
  if (*expected.schema != '\0') {
    EXPECT_THAT(trace.producer, HasSubstr(fmt::format("(schema {})", expected.schema)));
    EXPECT_EQ(trace.schema_version, expected.schema[0] - '0');
  } else {
    EXPECT_EQ(trace.producer, "");
  }
  EXPECT_EQ(count(trace.ranges), expected.ranges);
  EXPECT_EQ(std::count_if(trace.ranges.begin(), trace.ranges.end(),
                          [](const Range& range) { return range.open(); }),
            expected.unclosed);
  EXPECT_EQ(count(trace.copies), expected.copies);
  EXPECT_EQ(count(trace.sets), expected.sets);
  EXPECT_EQ(count(trace.graph_replays), expected.replays);
  EXPECT_EQ(diagnostics.CountOf(Reason::kDuplicateLaunch), expected.repeated_calls);
  EXPECT_FALSE(diagnostics.Damaged()) << diagnostics.Render("parse");
  const fs::path file = File();
  EXPECT_EQ(count(trace.ranges),
            Ask(file, "NVTX_EVENTS", "coalesce(sum(eventType IN (59, 60)), 0)"));
  EXPECT_EQ(count(trace.copies), Ask(file, "CUPTI_ACTIVITY_KIND_MEMCPY", "count(*)"));
  EXPECT_EQ(count(trace.sets), Ask(file, "CUPTI_ACTIVITY_KIND_MEMSET", "count(*)"));
  EXPECT_EQ(count(trace.synchronizations),
            Ask(file, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "count(*)"));
  EXPECT_EQ(count(trace.overheads), Ask(file, "PROFILER_OVERHEAD", "count(*)"));
  for (const auto& copy : trace.copies) EXPECT_NE(copy.launch, kNoLaunch);
  for (const auto& set : trace.sets) EXPECT_NE(set.launch, kNoLaunch);
  for (const auto& replay : trace.graph_replays) EXPECT_NE(replay.launch, kNoLaunch);
  const int64_t joined =
      std::count_if(trace.synchronizations.begin(), trace.synchronizations.end(),
                    [](const Synchronization& wait) { return wait.launch != kNoLaunch; });
  EXPECT_EQ(joined, Ask(file, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                        "coalesce(sum(EXISTS (SELECT 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME AS call "
                        "WHERE call.correlationId = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION."
                        "correlationId AND call.eventClass < 2)), 0)"));
  EXPECT_LE(trace.processes.size(), 8u) << "of thousands on the machine";
  int64_t bytes = 0;
  for (const auto& copy : trace.copies) bytes += copy.size_bytes;
  EXPECT_EQ(bytes, Ask(file, "CUPTI_ACTIVITY_KIND_MEMCPY", "coalesce(sum(bytes), 0)"));
}

TEST_P(CorpusNsys, HasWhatViewsAskFor) {
  Diagnostics diagnostics;
  const Trace trace = parse::OpenTrace(File().string(), TraceNeeds::All(), &diagnostics);
  const auto count = [](const auto& rows) { return static_cast<int64_t>(rows.size()); };
  EXPECT_EQ(count(trace.launches),
            Ask(File(), "CUPTI_ACTIVITY_KIND_RUNTIME", "coalesce(sum(eventClass < 2), 0)"));
  EXPECT_EQ(trace.clock_offset_ns.value_or(0),
            Ask(File(), "TARGET_INFO_SESSION_START_TIME", "utcEpochNs"));
  EXPECT_EQ(count(trace.event_records), Ask(File(), "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "count(*)"));
  const std::map<std::string_view, WaitKind> kinds = {
      {"cudaDeviceSynchronize", WaitKind::kContext},
      {"cudaStreamSynchronize", WaitKind::kStream},
      {"cudaStreamWaitEvent", WaitKind::kStreamWaitEvent},
      {"cudaEventSynchronize", WaitKind::kEvent}};
  int64_t waits = 0;
  int64_t linked = 0;
  for (const Synchronization& wait : trace.synchronizations) {
    const std::string_view api = wait.launch == kNoLaunch
                                     ? std::string_view()
                                     : trace.strings.View(trace.launches[wait.launch].api);
    const auto kind = kinds.find(api);
    if (kind != kinds.end()) {
      EXPECT_EQ(wait.kind, kind->second) << api;
    }
    waits += wait.event_id != kNoEvent ? 1 : 0;
    if (wait.event_record == kNoItem) continue;
    ++linked;
    const EventRecord& record = trace.event_records.at(wait.event_record);
    EXPECT_EQ(record.event_id, wait.event_id);
    EXPECT_EQ(trace.strings.View(trace.launches.at(record.launch).api), "cudaEventRecord");
    EXPECT_LT(trace.launches[record.launch].start_ns, trace.launches.at(wait.launch).start_ns);
  }
  EXPECT_EQ(waits, Ask(File(), "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                       "coalesce(sum(eventId != 4294967295), 0)"));
  // All in the files that say where events were recorded: 55, 18, 1 and 1, as plain SQL finds them.
  EXPECT_EQ(linked, trace.event_records.empty() ? 0 : waits);
}

TEST_P(CorpusNsys, LaunchesAreInsideTheRangesAroundThem) {
  Diagnostics diagnostics;
  const Trace trace = parse::OpenTrace(File().string(), TraceNeeds::All(), &diagnostics);
  std::map<int64_t, int64_t> enclosing;
  for (const Kernel& kernel : trace.kernels) {
    const LaunchCall& call = trace.launches.at(kernel.launch);
    ++enclosing[std::count_if(trace.ranges.begin(), trace.ranges.end(), [&](const Range& range) {
      return trace.ThreadOf(range) == call.thread && range.start_ns <= call.start_ns &&
             range.end_ns >= call.end_ns;
    })];
  }
  EXPECT_EQ(enclosing, GetParam().enclosing);
}

// Spans of graphs whose kernels the file hides stand in summaries, and in no table of kernels.
TEST_P(CorpusNsys, SumsUpWhatGraphsHide) {
  const char* const table = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
  const int64_t replay_ns = Ask(File(), table, "coalesce(sum(end - start), 0)");
  EXPECT_EQ(Ask(File(), table, "count(*)"), GetParam().replays);
  const RunResult kernels = RunProf({"--json", "-c", "kernel", File().string()});
  EXPECT_EQ(LineCount(kernels.out), GetParam().kernels);
  for (const char* by : {"kernel", "op,dir", "stream,device"}) {
    const RunResult groups = RunProf({"--json", "--by", by, File().string()});
    int64_t replays = 0;
    int64_t total_ns = 0;
    std::istringstream rows(groups.out);
    for (std::string line; std::getline(rows, line);) {
      const json row = json::parse(line);
      if (row["total"].is_null()) continue;
      total_ns += row["total"].get<int64_t>();
      if (line.find("(graph replay)") == std::string::npos) continue;
      replays += row["count"].get<int64_t>();
      EXPECT_EQ(row["total"], replay_ns);
    }
    EXPECT_EQ(replays, GetParam().replays) << by;
    EXPECT_EQ(total_ns, GetParam().gpu_ns + replay_ns) << by;
  }
  EXPECT_EQ(kernels.err.find(" ns at most") != std::string::npos, replay_ns > 0);
}

TEST_P(CorpusNsys, CountsWhatIsMissing) {
  const RunResult result = RunParse({File().string()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(CountedReason(result, "no-launch"), 0);
  const auto outside = GetParam().enclosing.find(0);
  EXPECT_EQ(CountedReason(result, "no-range"),
            outside == GetParam().enclosing.end() ? 0 : outside->second);
  EXPECT_EQ(CountedReason(result, "duplicate-launch"), GetParam().repeated_calls);
  if (GetParam().replays > 0) {
    EXPECT_THAT(result.err, HasSubstr(fmt::format("{} graph replays hide their kernels; record "
                                                  "with --cuda-graph-trace=node",
                                                  GetParam().replays)));
  }
  if (GetParam().kernels == 0) {
    const bool ranges = GetParam().ranges > 0;
    EXPECT_THAT(result.err,
                HasSubstr(ranges ? "no kernels were recorded" : "no kernels, no ranges"));
  }
}

// The last name of a kernel, without the namespaces and classes that it is in, is what the file
// itself calls its short name.
TEST_P(CorpusNsys, ShortNamesAreThoseOfTheFile) {
  const SQLite::Database database(File().string(), SQLite::OPEN_READONLY);
  if (!database.tableExists(kKernelTable)) {
    EXPECT_TRUE(Records(File()).empty());
    return;
  }
  SQLite::Statement query(
      database,
      "SELECT k.start, k.correlationId, s.value, d.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN "
      "StringIds s ON s.id = k.shortName JOIN StringIds d ON d.id = k.demangledName ORDER BY 1, 2");
  const auto last_name = [](const std::string& name) {
    const size_t colons = name.rfind("::");
    return colons == std::string::npos ? name : name.substr(colons + 2);
  };
  for (const json& record : Records(File())) {
    ASSERT_TRUE(query.executeStep());
    ASSERT_EQ(record["corrId"], query.getColumn(1).getInt64());
    const std::string expected = query.getColumn(2).getString();
    EXPECT_EQ(last_name(record["kShortName"]), expected);
    EXPECT_EQ(last_name(parse::ShortKernelName(query.getColumn(3).getString())), expected);
  }
}

TEST_P(CorpusNsys, IsReadableAsPython) {
  if (!HavePython()) GTEST_SKIP() << "no python3";
  const fs::path dict = TestDir() / "net.dict";
  EXPECT_EQ(RunParse({"--quiet", "-o", dict.string(), File().string()}).exit_code, 0);
  EXPECT_EQ(CheckPythonDictLines(dict), "");
}

TEST_P(CorpusNsys, PassesThroughProf) {
  const fs::path dict = TestDir() / "net.dict";
  EXPECT_EQ(RunParse({"-o", dict.string(), File().string()}).exit_code, 0);
  if (GetParam().kernels == 0) {
    EXPECT_EQ(RunProf({dict.string()}).exit_code, 1) << "an empty file";
    EXPECT_EQ(RunProf({}, {.stdin_path = dict}).exit_code, 0);
    return;
  }
  int64_t gpu_ns = 0;
  const std::vector<json> rows = ProfRows(dict, {"-c", "all"});
  EXPECT_EQ(static_cast<int64_t>(rows.size()), GetParam().kernels);
  for (const json& row : rows) gpu_ns += row["sil"].get<int64_t>();
  EXPECT_EQ(gpu_ns, GetParam().gpu_ns);
}

TEST_P(CorpusNsys, IsTheSameInAnyOrderOfRows) {
  const fs::path shuffled = TestDir() / "shuffled.sqlite";
  fs::copy_file(File(), shuffled);
  for (const char* table : {"NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", kKernelTable,
                            "TARGET_INFO_GPU", "ThreadNames", "PROCESSES"}) {
    if (!SQLite::Database(shuffled.string()).tableExists(table)) continue;
    ExecSql(shuffled,
            fmt::format("CREATE TABLE moved AS SELECT * FROM {0} ORDER BY rowid * 7919 % 104729;"
                        "DROP TABLE {0}; ALTER TABLE moved RENAME TO {0}",
                        table));
  }
  EXPECT_EQ(RunParse({shuffled.string()}).out, RunParse({File().string()}).out);
}

// The builder that the other tests rely on writes no column that Nsight Systems did not.
TEST_P(CorpusNsys, HasTheColumnsThatTheBuilderWrites) {
  NsysOptions options = {.major = 0, .minor = 0, .empty_tables = true};
  std::sscanf(GetParam().schema, "%d.%d", &options.major, &options.minor);
  const fs::path built = TestDir() / "built.sqlite";
  NsysBuilder().Write(built, options);
  const std::map<std::string, std::set<std::string>> real = ColumnsOf(File());
  for (const auto& [table, columns] : ColumnsOf(built)) {
    const auto there = real.find(table);
    if (there == real.end()) continue;
    EXPECT_THAT(columns, testing::IsSubsetOf(there->second)) << table;
  }
}

INSTANTIATE_TEST_SUITE_P(Nsys, CorpusNsys, testing::ValuesIn(kProfiles),
                         [](const auto& test) { return test.param.name; });

TEST(CorpusNsysFiles, TableAboveNamesEveryFile) {
  OPLENS_NEED_CORPUS();
  std::set<std::string> listed;
  for (const Profile& profile : kProfiles) listed.insert(profile.name + std::string(".sqlite.gz"));
  std::set<std::string> there;
  for (const auto& entry : fs::directory_iterator(CorpusDir().path / "nsys")) {
    there.insert(entry.path().filename());
  }
  EXPECT_EQ(listed, there);
}

// Ranges that were opened by a wrapper and never closed surround everything that comes later: they
// name no op, and do not swell the records.
TEST(CorpusNsysFiles, LeakedRangesNameNoOp) {
  OPLENS_NEED_CORPUS();
  std::map<std::string, int64_t> ops;
  for (const json& record : Records(FileOf("mmagic"))) {
    const bool leaked = record["reason"].dump().find("leaked") != std::string::npos;
    EXPECT_EQ(record["op"].empty(), leaked);
    ++ops[record["op"].empty() ? "" : record["op"][0].get<std::string>()];
  }
  const std::map<std::string, int64_t> expected = {
      {"", 180},       {"conv2d", 90},    {"cat", 18},       {"interpolate", 12}, {"__mul__", 12},
      {"__add__", 12}, {"avg_pool3d", 2}, {"zeros_like", 1}, {"stack", 1}};
  EXPECT_EQ(ops, expected);
}

TEST(CorpusNsysFiles, LeakedRangesTakeNoSpace) {
  OPLENS_NEED_CORPUS();
  const fs::path clean = TestDir() / "clean.sqlite";
  fs::copy_file(FileOf("mmagic"), clean);
  ExecSql(clean, "DELETE FROM NVTX_EVENTS WHERE end >= (SELECT duration FROM ANALYSIS_DETAILS)");
  EXPECT_EQ(Ask(clean, "NVTX_EVENTS", "count(*)"), 1956 - 1404);
  const size_t with_leaks = RunParse({FileOf("mmagic").string()}).out.size();
  const size_t without = RunParse({clean.string()}).out.size();
  EXPECT_LE(static_cast<double>(with_leaks), 1.2 * static_cast<double>(without));
}

TEST(CorpusNsysFiles, HandWrittenRangesStandInTheRecord) {
  OPLENS_NEED_CORPUS();
  std::map<std::string, int64_t> kernels_of_text;
  std::map<size_t, int64_t> kernels_of_depth;
  for (const json& record : Records(FileOf("lm27b_nvtx"))) {
    ++kernels_of_depth[record["range"].size()];
    for (const json& text : record["range"]) ++kernels_of_text[text];
  }
  EXPECT_EQ(kernels_of_depth, (std::map<size_t, int64_t>{{1, 5920}, {3, 1408}}));
  std::multiset<int64_t> counts;
  for (const auto& [text, kernels] : kernels_of_text) counts.insert(kernels);
  EXPECT_EQ(counts, (std::multiset<int64_t>{256, 512, 640, 1408, 1832, 5496}));
}

TEST(CorpusNsysFiles, OpsOfADLProfRun) {
  OPLENS_NEED_CORPUS();
  int64_t ops = 0;
  int64_t sequences = 0;
  for (const json& record : Records(FileOf("dlprof_dummy"))) {
    ops += record["marker"].empty() ? 0 : 1;
    sequences += record["seqMarker"].size() == 4 ? 1 : 0;
  }
  EXPECT_EQ(ops, 46);
  EXPECT_EQ(sequences, 46);
}

// Tables that hold the environment, the command line and the output of the program.
TEST(NsysSecrets, AreNeverPrinted) {
  NsysBuilder builder;
  NsysThread thread(&builder, 4242, 4243);
  thread.Push("step");
  thread.Launch();
  thread.Pop();
  const std::string secret = "SESAME-OPEN-YOURSELF";
  const int64_t secret_id = builder.Intern(secret);
  const fs::path file = TestDir() / "net.sqlite";
  builder.Write(file);
  ExecSql(file, fmt::format(
                    "CREATE TABLE TARGET_INFO_SYSTEM_ENV(globalVid INTEGER, devStateName TEXT, "
                    "name TEXT, nameEnum INTEGER, value TEXT);"
                    "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, 'x', 'TOKEN', 1, '{0}');"
                    "CREATE TABLE META_DATA_CAPTURE(name TEXT, value TEXT);"
                    "INSERT INTO META_DATA_CAPTURE VALUES ('COMMAND', '{0}');"
                    "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_USER', '{0}');"
                    "CREATE TABLE ProcessStreams(globalPid INTEGER, filenameId INTEGER, contentId "
                    "INTEGER); INSERT INTO ProcessStreams VALUES ({1}, {2}, {2})",
                    secret, GlobalPid(4242), secret_id));
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {}, {"--format", "jsonl"}, {"--format", "chrome"}, {"--check"}}) {
    std::vector<std::string> arguments = options;
    arguments.push_back(file.string());
    const RunResult result = RunParse(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out, "");
    EXPECT_THAT(result.out, Not(HasSubstr(secret)));
    EXPECT_THAT(result.err, Not(HasSubstr(secret)));
  }
}

// A report is binary data; some begin like an archive.
TEST(NsysReportFile, IsRefusedWithTheWayToExportIt) {
  const fs::path file = TestDir() / "net.nsys-rep";
  WriteFile(file, std::string("PK\x03\x04\0\0", 6));
  const RunResult result = RunParse({file.string()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, fmt::format("parse: {}: is a report of Nsight Systems, not a database; "
                                    "export it: nsys export --type sqlite FILE\n",
                                    file.string()));
}

}  // namespace
}  // namespace oplens::test::corpus_nsys_test
