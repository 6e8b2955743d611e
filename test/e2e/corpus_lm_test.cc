// The language model of the corpus against PyProf's own results for it, against facts taken from
// the database by hand, and after changes that must not, or must visibly, matter.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/dict_text.h"
#include "test/support/test_files.h"

namespace oplens::test::corpus_lm_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;

class CorpusLm : public testing::Test {
 protected:
  void SetUp() override { OPLENS_NEED_CORPUS(); }
  static fs::path Database() { return CorpusFile("nvprof/lm.sql"); }
  // A copy that the test may change.
  static fs::path Copy() {
    const fs::path copy = TestDir() / "lm.sql";
    fs::copy_file(Database(), copy);
    return copy;
  }
};

// Keys that differ from the real file, with the number of lines that do. docs/pyprof_differences.md
// says why each is a correction.
const std::map<std::string, int64_t> kCorrected = {
    {"dir", 24},  // Sums of gradients, and AccumulateGrad.
    {"kLongName", 25},
};

TEST_F(CorpusLm, EqualsPyProfKeyByKey) {
  const std::vector<std::string> ours = DictLines(Database());
  const std::vector<std::string> theirs = Lines(ReadFile(CorpusFile("dict/lm.dict")));
  const std::vector<std::string> newer = Lines(ReadFile(CorpusFile("dict/lm.pyprof.dict")));
  ASSERT_EQ(ours.size(), 160u);
  ASSERT_EQ(theirs.size(), 160u);

  std::map<std::string, int64_t> different;
  for (size_t i = 0; i < ours.size(); ++i) {
    const auto their_fields = SplitDictLine(theirs[i]);
    const auto our_fields = SplitDictLine(ours[i]);
    ASSERT_EQ(their_fields.size(), 19u);
    ASSERT_GE(our_fields.size(), 19u);
    for (size_t k = 0; k < their_fields.size(); ++k) {
      const auto& [key, value] = their_fields[k];
      ASSERT_EQ(our_fields[k].first, key) << "line " << i + 1;
      if (our_fields[k].second == value) continue;
      ++different[key];
      // The demangled name is PyProf's too, of its current version.
      if (key == "kLongName") {
        EXPECT_EQ(our_fields[k].second, DictValue(newer[i], key));
      }
      if (!kCorrected.contains(key)) {
        ADD_FAILURE() << "line " << i + 1 << ", " << key << ": " << our_fields[k].second
                      << " instead of " << value;
      }
    }
  }
  EXPECT_EQ(different, kCorrected);
}

TEST_F(CorpusLm, HasTheTotalsOfTheRealFile) {
  std::map<std::string, int64_t> total;
  for (const json& record : Records(Database())) {
    total[record["dir"].get<std::string>()] += 1;
    total["marker"] += !record["marker"].empty();
    total["seqId"] += !record["seqId"].empty();
    total["altSeqId"] += !record["altSeqId"].empty();
    total["subSeqId"] += record["subSeqId"] > 0;
    const std::string seq_markers = record["seqMarker"].dump();
    total["seqMarker"] += seq_markers != "[]";
    total["backward"] += seq_markers.find("Backward, seq") != std::string::npos;
    total["accumulate"] += record["range"].dump().find("AccumulateGrad") != std::string::npos;
  }
  const std::map<std::string, int64_t> expected = {
      {"fprop", 94},    {"bprop", 66},      {"marker", 94},   {"seqId", 135},     {"altSeqId", 29},
      {"subSeqId", 72}, {"seqMarker", 159}, {"backward", 39}, {"accumulate", 16},
  };
  EXPECT_EQ(total, expected);
}

// Found in the database with SQL: the enclosing ranges of chosen kernels.
struct Spot {
  int row;  // From 1; rows are in order of start.
  int64_t correlation_id, duration_ns;
  json grid;
  int64_t block_x, thread_id;
  json op;                 // Annotated ops, outermost first; else the name of an autograd range.
  std::string seq_marker;  // One of the autograd ranges.
  std::string range;       // A free-text range around it; "" for none.
};

TEST_F(CorpusLm, HasTheRangesThatEncloseChosenKernels) {
  constexpr int64_t kMain = 3940300608;
  constexpr int64_t kAutograd = 452974336;
  const std::string grad = "torch::autograd::AccumulateGrad";
  const Spot spots[] = {
      {1,
       2743,
       6624,
       {640, 1, 1},
       128,
       kMain,
       {"embedding", "embedding"},
       "embedding, seq = 65",
       ""},
      {2, 2754, 3168, {274, 1, 1}, 512, kMain, {"__mul__"}, "mul, seq = 66", ""},
      {10,
       2851,
       3615,
       {137, 1, 1},
       1024,
       kMain,
       {"multi_head_attention_forward", "equal"},
       "equal, seq = 70",
       ""},
      {20,
       2978,
       2752,
       {96, 1, 1},
       256,
       kMain,
       {"multi_head_attention_forward", "dropout"},
       "_fused_dropout, seq = 89",
       ""},
      {33, 3144, 2176, {274, 1, 1}, 512, kMain, {"relu", "relu"}, "relu, seq = 110", ""},
      {60, 3532, 1408, {1, 1, 1}, 512, kAutograd, {"add_"}, "add_, seq = 0", grad},
      {80, 3769, 1408, {1, 1, 1}, 512, kAutograd, {"add_"}, "add_, seq = 0", grad},
      {100, 4067, 47263, {2, 19, 1}, 256, kAutograd, {"Mm"}, "MmBackward, seq = 72", ""},
      {120, 4359, 3840, {1, 1, 1}, 128, kMain, {"norm", "norm"}, "norm, seq = 130", ""},
      {159, 4692, 98111, {13000, 1, 1}, 512, kMain, {"add_"}, "add_, seq = 130", ""},
      {160, 4697, 2144, {65, 1, 1}, 512, kMain, {"add_"}, "add_, seq = 130", ""},
  };
  const std::vector<json> records = Records(Database());
  ASSERT_EQ(records.size(), 160u);
  for (const Spot& spot : spots) {
    SCOPED_TRACE(fmt::format("row {}", spot.row));
    const json& record = records[static_cast<size_t>(spot.row - 1)];
    EXPECT_EQ(record["corrId"], spot.correlation_id);
    EXPECT_EQ(record["kDuration"], spot.duration_ns);
    EXPECT_EQ(record["grid"], spot.grid);
    EXPECT_EQ(record["block"][0], spot.block_x);
    EXPECT_EQ(record["tid"], spot.thread_id);
    EXPECT_EQ(record["op"], spot.op);
    EXPECT_THAT(record["seqMarker"], Contains(spot.seq_marker));
    EXPECT_EQ(record["range"], spot.range.empty() ? json::array() : json({spot.range}));
  }
}

// Changes of the file that say the same in another way.
struct SameMeaning {
  const char* name;
  const char* sql;
};

void PrintTo(const SameMeaning& m, std::ostream* out) { *out << m.name; }

class CorpusLmSame : public CorpusLm, public testing::WithParamInterface<SameMeaning> {};

TEST_P(CorpusLmSame, GivesTheSameOutput) {
  const fs::path copy = Copy();
  ExecSql(copy, GetParam().sql);
  const RunResult result = RunParse({copy.string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, RunParse({Database().string()}).out);
}

INSTANTIATE_TEST_SUITE_P(
    Mutation, CorpusLmSame,
    testing::Values(
        SameMeaning{"UnsignedThreadIds",
                    "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET threadId = threadId + 4294967296 "
                    "WHERE threadId < 0"},
        SameMeaning{"GarbageTailOfObjectIds",
                    "UPDATE CUPTI_ACTIVITY_KIND_MARKER SET objectId = "
                    "CAST(substr(objectId, 1, 8) || x'FFFFFFFF' AS BLOB)"},
        SameMeaning{"EveryApiRowTwice",
                    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(cbid, start, end, processId, "
                    "threadId, correlationId, returnValue) SELECT cbid, start, end, processId, "
                    "threadId, correlationId, returnValue FROM CUPTI_ACTIVITY_KIND_RUNTIME"},
        SameMeaning{"Version8WithoutDomain",
                    "ALTER TABLE CUPTI_ACTIVITY_KIND_MARKER DROP COLUMN domain; "
                    "UPDATE Version SET version = 8"},
        SameMeaning{"WithoutThreeTables",
                    "DROP TABLE CUPTI_ACTIVITY_KIND_MARKER_DATA; "
                    "DROP TABLE CUPTI_ACTIVITY_KIND_PCIE; "
                    "DROP TABLE CUPTI_ACTIVITY_KIND_OVERHEAD"},
        SameMeaning{"AnAddedColumn",
                    "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN name TEXT DEFAULT 'x'"},
        SameMeaning{"Vacuumed", "DELETE FROM CUPTI_ACTIVITY_KIND_MEMSET; VACUUM"},
        SameMeaning{"AutoVacuum", "PRAGMA auto_vacuum = FULL; VACUUM"},
        SameMeaning{"SmallPages", "PRAGMA page_size = 512; VACUUM"}),
    [](const auto& test) { return test.param.name; });

TEST_F(CorpusLm, ShuffledRowsGiveTheSameOutput) {
  const std::string expected = RunParse({Database().string()}).out;
  const fs::path copy = Copy();
  for (const uint32_t seed : {11u, 12u}) {
    ShuffleRows(copy, seed);
    EXPECT_EQ(RunParse({copy.string()}).out, expected);
  }
}

TEST_F(CorpusLm, DuplicateApiRowsAreCounted) {
  const fs::path copy = Copy();
  ExecSql(copy,
          "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(cbid, start, end, processId, threadId, "
          "correlationId, returnValue) SELECT cbid, start, end, processId, threadId, "
          "correlationId, returnValue FROM CUPTI_ACTIVITY_KIND_RUNTIME");
  EXPECT_EQ(CountedReason(RunParse({copy.string()}), "duplicate-launch"), 1968);
}

TEST_F(CorpusLm, LostLaunchMakesOneKernelUnlaunched) {
  const fs::path copy = Copy();
  ExecSql(copy, "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId = 2851");
  EXPECT_EQ(CountedReason(RunParse({copy.string()}), "no-launch"), 1);
  const std::vector<json> records = Records(copy);
  ASSERT_EQ(records.size(), 160u);
  const json& row10 = records[9];
  EXPECT_EQ(row10["corrId"], 2851);
  EXPECT_EQ(row10["tid"], 0);
  EXPECT_EQ(row10["marker"], json::array());
  EXPECT_EQ(row10["seqMarker"], json::array());
}

TEST_F(CorpusLm, LaunchThroughTheDriverChangesItsNameOnly) {
  const fs::path copy = Copy();
  ExecSql(copy,
          "INSERT INTO CUPTI_ACTIVITY_KIND_DRIVER(cbid, start, end, processId, threadId, "
          "correlationId, returnValue) SELECT 307, start, end, processId, threadId, "
          "correlationId, returnValue FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId = 2851;"
          "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId = 2851");
  std::vector<json> expected = Records(Database());
  ASSERT_EQ(expected.size(), 160u);
  ASSERT_EQ(expected[9]["launch"], "cudaLaunchKernel");
  expected[9]["launch"] = "cuLaunchKernel";
  EXPECT_EQ(Records(copy), expected);
}

int64_t GpuNs(const std::vector<json>& records) {
  int64_t sum = 0;
  for (const json& record : records) sum += record["kDuration"].get<int64_t>();
  return sum;
}

TEST_F(CorpusLm, UntimedKernelIsLastAndNotSummed) {
  const fs::path copy = Copy();
  ExecSql(copy,
          "UPDATE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL SET start = 0, end = 0 WHERE _id_ = 20");
  EXPECT_EQ(CountedReason(RunParse({copy.string()}), "untimed"), 1);
  const std::vector<json> records = Records(copy);
  ASSERT_EQ(records.size(), 160u);
  EXPECT_EQ(GpuNs(records), 7294018);
  EXPECT_EQ(records.back()["corrId"], 2978);
  EXPECT_THAT(records.back()["op"], Contains("multi_head_attention_forward"));
}

TEST_F(CorpusLm, RangeThatLostItsEndIsOpen) {
  const fs::path copy = Copy();
  ExecSql(copy, "DELETE FROM CUPTI_ACTIVITY_KIND_MARKER WHERE id = 180472 AND flags = 4");
  const RunResult result = RunParse({"--strict", copy.string()});
  EXPECT_EQ(result.exit_code, 0) << "absence of an end is no damage: " << result.err;
  EXPECT_EQ(CountedReason(result, "open-range"), 1);
  const std::vector<json> records = Records(copy);
  ASSERT_EQ(records.size(), 160u);
  EXPECT_EQ(records[9]["op"], json({"equal"})) << "the open op is left out";
  EXPECT_EQ(Records(copy, {"--keep-open"})[9]["op"],
            json({"multi_head_attention_forward", "equal"}));
  EXPECT_EQ(records[8]["grid"], Records(Database())[8]["grid"]);
}

TEST_F(CorpusLm, LostStartIsAnUnmatchedEnd) {
  const fs::path copy = Copy();
  ExecSql(copy, "DELETE FROM CUPTI_ACTIVITY_KIND_MARKER WHERE id = 180472 AND flags = 2");
  EXPECT_EQ(CountedReason(RunParse({copy.string()}), "unmatched-end"), 1);
}

TEST_F(CorpusLm, MetricsRunLosesEveryLaunch) {
  const fs::path copy = Copy();
  ExecSql(copy,
          "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM "
          "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;"
          "DELETE FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;"
          "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME");
  EXPECT_EQ(CountedReason(RunParse({copy.string()}), "no-launch"), 160);
  EXPECT_EQ(GpuNs(Records(copy)), 7296770);
}

// `prof` against PyProf's csv of the same profile.
std::vector<std::string> CsvCells(const std::string& line) {
  std::vector<std::string> cells;
  size_t at = 0;
  while (at < line.size()) {
    const size_t end = line.find('"', at + 1);
    cells.push_back(line.substr(at + 1, end - at - 1));
    at = end + 2;
  }
  return cells;
}

TEST_F(CorpusLm, ProfEqualsTheRealCsvInWhatIsNotModelled) {
  const fs::path dict = TestDir() / "lm.dict";
  EXPECT_EQ(RunParse({"-o", dict.string(), Database().string()}).exit_code, 0);
  const RunResult result = RunProf({"--csv", "-c", "kernel,dir,sil,block,grid", dict.string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::vector<std::string> ours = Lines(result.out);
  const std::vector<std::string> theirs = Lines(ReadFile(CorpusFile("dict/lm.csv")));
  ASSERT_EQ(ours.size(), 161u);
  ASSERT_EQ(theirs.size(), 161u);
  int64_t sum = 0;
  int64_t corrected = 0;
  for (size_t i = 1; i < ours.size(); ++i) {
    const std::vector<std::string> cells = CsvCells(ours[i]);
    const std::vector<std::string> real = CsvCells(theirs[i]);
    ASSERT_EQ(cells.size(), 5u) << ours[i];
    ASSERT_EQ(real.size(), 12u) << theirs[i];
    EXPECT_EQ(cells[0], real[0]) << "row " << i;
    corrected += cells[1] != real[3];
    EXPECT_EQ((std::vector<std::string>(cells.begin() + 2, cells.end())),
              (std::vector<std::string>{real[4], real[10], real[11]}))
        << "row " << i;
    sum += std::stoll(cells[2]);
  }
  EXPECT_EQ(sum, 7296770);
  EXPECT_EQ(corrected, kCorrected.at("dir"));
}

// The same rows come out of PyProf's own file, but for the kernels whose forward op launched none.
TEST_F(CorpusLm, ProfReadsPyProfsFileAsItReadsOurs) {
  const fs::path dict = TestDir() / "lm.dict";
  EXPECT_EQ(RunParse({"-o", dict.string(), Database().string()}).exit_code, 0);
  const std::vector<std::string> options = {"--csv", "-c", "kernel,sil,mod,op,params,flops,bytes"};
  std::vector<std::string> of_ours = options;
  of_ours.push_back(dict.string());
  std::vector<std::string> of_theirs = options;
  of_theirs.push_back(CorpusFile("dict/lm.pyprof.dict").string());
  const std::vector<std::string> ours = Lines(RunProf(of_ours).out);
  const std::vector<std::string> theirs = Lines(RunProf(of_theirs).out);
  ASSERT_EQ(ours.size(), 161u);
  ASSERT_EQ(theirs.size(), 161u);
  const std::set<size_t> of_a_view = {95, 96, 97};
  for (size_t i = 0; i < ours.size(); ++i) {
    if (of_a_view.contains(i)) {
      EXPECT_THAT(ours[i], HasSubstr("\"chunk\""));
      EXPECT_THAT(theirs[i], HasSubstr("\"Split\""));
    } else {
      EXPECT_EQ(ours[i], theirs[i]);
    }
  }
}

}  // namespace
}  // namespace oplens::test::corpus_lm_test
