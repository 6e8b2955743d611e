// Every nvprof database of the corpus: kernels out = kernels in the file, and the counts that plain
// SQL gives on it. Counts, sums and hashes only; no text of the files stands here.

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "parse/readers/open_trace.h"
#include "test/e2e/e2e.h"
#include "test/support/dict_text.h"
#include "test/support/python_literal.h"
#include "test/support/test_files.h"

namespace oplens::test::corpus_nvprof_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

struct Profile {
  const char* name;
  const char* file;
  int version;
  int64_t kernels;
  int64_t gpu_ns;
  int64_t unlaunched;
  int64_t launch_threads;
  int64_t unannotated;  // Launched, but inside no range.
  std::map<int64_t, int64_t> kernels_of_stream;
};

void PrintTo(const Profile& p, std::ostream* out) { *out << p.name; }

const Profile kProfiles[] = {
    {"lm", "lm.sql", 12, 160, 7296770, 0, 2, 0, {{7, 160}}},
    {"gpu_ml", "gpu_ml.nvvp", 12, 38, 77080567, 0, 2, 38, {}},
    {"empty", "empty.sql", 12, 0, 0, 0, 0, 0, {}},
    {"empty_v22", "empty_v22.prof", 22, 0, 0, 0, 0, 0, {}},
    {"tf_mnist", "tf_mnist.nvvp", 8, 25, 1230629, 0, 2, 25, {}},
    {"openacc", "openacc.nvvp", 9, 1, 97641567, 0, 1, 1, {}},
    {"ece408_metrics", "ece408_metrics.nvprof", 11, 1, 395393, 1, 0, 0, {}},
    {"ece408_timeline", "ece408_timeline.nvprof", 11, 27, 2649927, 0, 2, 27, {}},
    {"pointcloud_metrics", "pointcloud_metrics.nvvp", 12, 58, 5458536, 58, 0, 0, {}},
    {"thesis", "thesis.nvprof", 17, 26, 4212833, 0, 1, 26, {}},
    {"nerf_windows",
     "nerf_windows.nvvp",
     18,
     57,
     4239435957,
     0,
     1,
     57,
     {{7, 15}, {15, 9}, {16, 33}}},
};

class CorpusProfile : public testing::TestWithParam<Profile> {
 protected:
  void SetUp() override { OPLENS_NEED_CORPUS(); }
  static fs::path File() { return CorpusFile(std::string("nvprof/") + GetParam().file); }
};

TEST_P(CorpusProfile, HasTheKernelsOfTheFile) {
  const Profile& expected = GetParam();
  const std::vector<json> records = Records(File());
  EXPECT_EQ(static_cast<int64_t>(records.size()), expected.kernels);
  int64_t gpu_ns = 0;
  int64_t unlaunched = 0;
  std::set<int64_t> threads;
  std::map<int64_t, int64_t> streams;
  for (const json& record : records) {
    gpu_ns += record["kDuration"].get<int64_t>();
    ++streams[record["stream"].get<int64_t>()];
    if (record["launch"].is_null()) {
      ++unlaunched;
      EXPECT_EQ(record["tid"], 0);
    } else {
      threads.insert(record["tid"].get<int64_t>());
      EXPECT_LE(record["launchStart"], record["kStart"]);
    }
  }
  EXPECT_EQ(gpu_ns, expected.gpu_ns);
  EXPECT_EQ(unlaunched, expected.unlaunched);
  EXPECT_EQ(static_cast<int64_t>(threads.size()), expected.launch_threads);
  if (!expected.kernels_of_stream.empty()) {
    EXPECT_EQ(streams, expected.kernels_of_stream);
  }
}

/// The integer that a query on a table gives; 0 where the table is missing.
int64_t Ask(const fs::path& file, const std::string& kind, const std::string& expression) {
  const SQLite::Database database(file.string(), SQLite::OPEN_READONLY);
  const std::string table = "CUPTI_ACTIVITY_KIND_" + kind;
  if (!database.tableExists(table)) return 0;
  SQLite::Statement query(database, fmt::format("SELECT {} FROM {}", expression, table));
  return query.executeStep() ? query.getColumn(0).getInt64() : 0;
}

TEST_P(CorpusProfile, HasWhatViewsAskFor) {
  Diagnostics diagnostics;
  const Trace trace = parse::OpenTrace(File().string(), TraceNeeds::All(), &diagnostics);
  const auto count = [](const auto& rows) { return static_cast<int64_t>(rows.size()); };
  EXPECT_EQ(count(trace.launches),
            Ask(File(), "RUNTIME", "count(*)") + Ask(File(), "DRIVER", "count(*)"));
  for (const LaunchCall& call : trace.launches) {
    EXPECT_EQ(trace.strings.View(call.api).find(':'), std::string_view::npos);
  }
  EXPECT_EQ(count(trace.overheads), Ask(File(), "OVERHEAD", "count(*)"));
  EXPECT_EQ(std::count_if(trace.overheads.begin(), trace.overheads.end(),
                          [](const Overhead& overhead) { return overhead.thread != kNoThread; }),
            Ask(File(), "OVERHEAD", "coalesce(sum(objectKind = 2), 0)"));
  EXPECT_EQ(count(trace.event_records), Ask(File(), "CUDA_EVENT", "count(*)"));
  for (const EventRecord& record : trace.event_records) EXPECT_NE(record.launch, kNoLaunch);
  EXPECT_EQ(std::count_if(trace.synchronizations.begin(), trace.synchronizations.end(),
                          [](const Synchronization& wait) { return wait.event_id != kNoEvent; }),
            Ask(File(), "SYNCHRONIZATION", "coalesce(sum(cudaEventId != -1), 0)"));
  EXPECT_EQ(count(trace.instants), Ask(File(), "MARKER", "coalesce(sum(flags = 1), 0)"));
  EXPECT_EQ(trace.clock_offset_ns, std::nullopt);
  const bool named = std::all_of(trace.processes.begin(), trace.processes.end(),
                                 [](const Process& process) { return process.name != 0; });
  EXPECT_TRUE(named);
  EXPECT_FALSE(diagnostics.Damaged()) << diagnostics.Render("parse");
}

TEST_P(CorpusProfile, CountsWhatIsMissing) {
  const RunResult result = RunParse({File().string()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr(fmt::format("schema {}", GetParam().version)));
  EXPECT_EQ(CountedReason(result, "no-launch"), GetParam().unlaunched);
  EXPECT_EQ(CountedReason(result, "no-range"), GetParam().unannotated);
}

TEST_P(CorpusProfile, StrictFailsForLostLaunchesAndEmptyFilesOnly) {
  const bool complete = GetParam().kernels > 0 && GetParam().unlaunched == 0;
  EXPECT_EQ(RunParse({"--strict", "--quiet", File().string()}).exit_code, complete ? 0 : 3);
}

TEST_P(CorpusProfile, IsReadableAsPython) {
  if (!HavePython()) GTEST_SKIP() << "no python3";
  const fs::path dict = TestDir() / "net.dict";
  EXPECT_EQ(RunParse({"--quiet", "-o", dict.string(), File().string()}).exit_code, 0);
  EXPECT_EQ(CheckPythonDictLines(dict), "");
}

TEST_P(CorpusProfile, LinesComeInOrderOfTime) {
  const std::vector<json> records = Records(File());
  EXPECT_TRUE(std::is_sorted(records.begin(), records.end(), [](const json& a, const json& b) {
    return std::pair(a["kStart"].get<int64_t>(), a["corrId"].get<int64_t>()) <
           std::pair(b["kStart"].get<int64_t>(), b["corrId"].get<int64_t>());
  }));
}

TEST_P(CorpusProfile, IsTheSameInAnyOrderOfRows) {
  const fs::path shuffled = TestDir() / "shuffled.sql";
  fs::copy_file(File(), shuffled);
  ShuffleRows(shuffled, 7);
  EXPECT_EQ(RunParse({shuffled.string()}).out, RunParse({File().string()}).out);
}

TEST_P(CorpusProfile, PassesThroughProf) {
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

// The builder that the other tests rely on writes the schema that nvprof wrote.
TEST_P(CorpusProfile, HasTheSchemaThatTheBuilderWrites) {
  const fs::path built = TestDir() / "built.sql";
  NvprofBuilder().Write(built, {.version = GetParam().version});
  const std::map<std::string, std::set<std::string>> real = ColumnsOf(File());
  std::map<std::string, std::set<std::string>> ours = ColumnsOf(built);
  EXPECT_EQ(real, ours);
}

INSTANTIATE_TEST_SUITE_P(Nvprof, CorpusProfile, testing::ValuesIn(kProfiles),
                         [](const auto& test) { return test.param.name; });

TEST(CorpusProfiles, TableAboveNamesEveryFile) {
  OPLENS_NEED_CORPUS();
  std::set<std::string> listed;
  for (const Profile& profile : kProfiles) listed.insert(std::string(profile.file) + ".gz");
  std::set<std::string> there;
  for (const auto& entry : fs::directory_iterator(CorpusDir().path / "nvprof")) {
    there.insert(entry.path().filename());
  }
  EXPECT_EQ(listed, there);
}

struct Dict {
  const char* name;
  int64_t lines;
};

void PrintTo(const Dict& d, std::ostream* out) { *out << d.name; }

const Dict kDicts[] = {
    {"lm.dict", 160},
    {"lm.pyprof.dict", 160},
    {"gpu_ml.pyprof.dict", 38},
    {"openacc.pyprof.dict", 1},
    {"dlprof_dummy.pyprof.dict", 46},
    {"mmagic.pyprof.dict", 328},
    {"saxpy_mpi.pyprof.dict", 10},
};

class CorpusDict : public testing::TestWithParam<Dict> {
 protected:
  void SetUp() override { OPLENS_NEED_CORPUS(); }
};

TEST_P(CorpusDict, OfPyProfIsReadWhole) {
  const fs::path dict = CorpusFile(std::string("dict/") + GetParam().name);
  const RunResult csv = RunProf({"-c", "all", "--csv", dict.string()});
  EXPECT_EQ(csv.exit_code, 0) << csv.err;
  EXPECT_EQ(CountedReason(csv, "bad-line"), 0) << csv.err;
  EXPECT_EQ(static_cast<int64_t>(ProfRows(dict, {"-c", "kernel,sil"}).size()), GetParam().lines);
}

INSTANTIATE_TEST_SUITE_P(PyProf, CorpusDict, testing::ValuesIn(kDicts), [](const auto& test) {
  std::string name = test.param.name;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

TEST(CorpusDicts, TableAboveNamesEveryFile) {
  OPLENS_NEED_CORPUS();
  std::set<std::string> listed;
  for (const Dict& dict : kDicts) listed.insert(std::string(dict.name) + ".gz");
  std::set<std::string> there;
  for (const auto& entry : fs::directory_iterator(CorpusDir().path / "dict")) {
    const std::string name = entry.path().filename();
    if (name.find(".dict.") != std::string::npos) there.insert(name);
  }
  EXPECT_EQ(listed, there);
}

}  // namespace
}  // namespace oplens::test::corpus_nvprof_test
