// What prof takes: profiles of every family without records in between, several files, folders.

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/network_run.h"
#include "test/support/test_files.h"

namespace oplens::test::prof_inputs_test {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

std::vector<nlohmann::json> Rows(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"--json", "-c", "all"});
  const RunResult result = RunProf(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<nlohmann::json> rows;
  size_t begin = 0;
  for (size_t end; (end = result.out.find('\n', begin)) != std::string::npos; begin = end + 1) {
    rows.push_back(nlohmann::json::parse(result.out.substr(begin, end - begin)));
  }
  return rows;
}

class ProfInputsTest : public testing::Test {
 protected:
  void SetUp() override {
    const NetworkRun run = ExampleNetwork();
    WriteNvprofRun(run, dir_ / "net.sql");
    WriteNsysRun(run, dir_ / "net.sqlite");
    WriteKinetoRun(run, dir_ / "net.json");
  }
  fs::path dir_ = TestDir();
};

TEST_F(ProfInputsTest, ProfilesGiveTheSameBytesAsTheirRecords) {
  for (const char* name : {"net.sql", "net.sqlite", "net.json"}) {
    const std::string profile = (dir_ / name).string();
    const std::string dict = (dir_ / "net.dict").string();
    ASSERT_EQ(RunParse({profile, "-o", dict}).exit_code, 0);
    const RunResult direct = RunProf({"-c", "all", "--csv", profile});
    EXPECT_EQ(direct.out, RunProf({"-c", "all", "--csv", dict}).out) << name;
    EXPECT_THAT(direct.err, HasSubstr("prof: FLOPs are known for 8 of 10 kernels\n"));
    // Counted once: by parse's part or by prof's.
    EXPECT_THAT(direct.err, HasSubstr("prof: 1 kernels of ops that have no cost model"));
  }
}

TEST_F(ProfInputsTest, InputsDoNotLinkToEachOther) {
  // The same process, threads and sequence numbers again: each file must look as it does alone.
  const std::string first = (dir_ / "net.sql").string();
  const std::string second = (dir_ / "net.sqlite").string();
  const auto alone = Rows({"--gpu", "V100 SXM2", first});
  // The two files tell the GPU with other figures.
  const auto both = Rows({"--gpu", "V100 SXM2", first, second});
  ASSERT_EQ(both.size(), 2 * alone.size());
  for (size_t i = 0; i < both.size(); ++i) {
    nlohmann::json row = both[i];
    EXPECT_EQ(row["rank"], i < alone.size() ? "net.sql" : "net.sqlite");
    EXPECT_EQ(row["idx"], static_cast<int>(i) + 1);
    row["rank"] = nullptr;
    row["idx"] = alone[i % alone.size()]["idx"];
    if (!row["inst"].is_null()) {
      const nlohmann::json& own = alone[i % alone.size()]["inst"];
      // Numbers of calls go on over all inputs.
      EXPECT_EQ(row["inst"] > own, i >= alone.size());
      row["inst"] = own;
    }
    EXPECT_EQ(row, alone[i % alone.size()]);
  }
}

TEST_F(ProfInputsTest, RecordsOfSeveralRanksDoNotLinkEither) {
  const std::string dict = (dir_ / "both.dict").string();
  const std::string first = (dir_ / "net.sql").string();
  const std::string second = (dir_ / "net.sqlite").string();
  ASSERT_EQ(RunParse({first, second, "-o", dict}).exit_code, 0);
  EXPECT_EQ(RunProf({"-c", "all", "--csv", dict}).out,
            RunProf({"-c", "all", "--csv", first, second}).out);
}

TEST_F(ProfInputsTest, InputsOfEveryKindComeInTheOrderGiven) {
  const fs::path folder = dir_ / "run";
  fs::create_directory(folder);
  fs::copy_file(dir_ / "net.sqlite", folder / "rank10.sqlite");
  fs::copy_file(dir_ / "net.sqlite", folder / "rank2.sqlite");
  const std::string dict = (dir_ / "net.dict").string();
  const std::string profile = (dir_ / "net.json").string();
  ASSERT_EQ(RunParse({(dir_ / "net.sql").string(), "-o", dict}).exit_code, 0);
  std::vector<std::string> ranks;
  // The profile that is named again counts once, at its first place.
  for (const auto& row : Rows({dict, folder.string(), dict, profile, dict, profile, dict})) {
    const std::string rank = row["rank"].is_null() ? "" : row["rank"].get<std::string>();
    if (row["idx"].get<int>() % 10 == 1) ranks.push_back(rank);
  }
  EXPECT_THAT(ranks, testing::ElementsAre("", "2", "10", "", "net.json", "", ""));
}

TEST_F(ProfInputsTest, AFolderIsItsProfiles) {
  WriteFile(dir_ / "broken.json", "{\"nodes\": []}");
  WriteFile(dir_ / "notes.txt", "not looked at");
  const RunResult result = RunProf({"--csv", "-c", "rank", dir_.string()});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(LineCount(result.out), 31);  // And the header.
  EXPECT_THAT(result.err, HasSubstr("broken.json"));
  EXPECT_THAT(result.err, HasSubstr("left out"));
}

TEST_F(ProfInputsTest, ANamedFileThatCannotBeReadCostsOnlyItself) {
  WriteFile(dir_ / "broken.json", "{\"nodes\": []}");
  const fs::path out = dir_ / "out.csv";
  const RunResult result = RunProf(
      {"--csv", (dir_ / "net.sql").string(), (dir_ / "broken.json").string(), "-o", out.string()});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("broken.json"));
  EXPECT_TRUE(fs::exists(out));
  fs::remove(out);
  // If nothing can be read, there is no result.
  const RunResult alone = RunProf({"--csv", (dir_ / "broken.json").string(), "-o", out.string()});
  EXPECT_EQ(alone.exit_code, 1);
  EXPECT_EQ(LineCount(alone.err), 1);
  EXPECT_FALSE(fs::exists(out));
}

TEST_F(ProfInputsTest, AWrongNameIsSaidBeforeAnythingIsRead) {
  // More rows than one write to standard output takes.
  const std::string profile = (dir_ / "net.sql").string();
  const std::string dict = (dir_ / "net.dict").string();
  ASSERT_EQ(RunParse({profile, "-o", dict}).exit_code, 0);
  std::string records = ReadFile(dict);
  while (records.size() < (size_t{8} << 20)) records += records;
  WriteFile(dict, records);
  const RunResult result = RunProf({"-c", "all", "--csv", dict, (dir_ / "none.dict").string()});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_GT(LineCount(result.out), 1);
  EXPECT_THAT(result.err, testing::StartsWith("prof: " + (dir_ / "none.dict").string()));
}

TEST_F(ProfInputsTest, ADashIsStandardInputWhateverHasThatName) {
  const std::string dict = (dir_ / "net.dict").string();
  ASSERT_EQ(RunParse({(dir_ / "net.sql").string(), "-o", dict}).exit_code, 0);
  WriteFile(dir_ / "-", "{\"nodes\": []}");  // Taken for a profile, it would end the run.
  const RunResult result =
      RunProgram({"/bin/sh", "-c", "cd \"$1\" && \"$2\" --csv -c all - < net.dict", "sh",
                  dir_.string(), Program("prof")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, RunProf({"--csv", "-c", "all", dict}).out);
}

TEST_F(ProfInputsTest, QuietStillTellsWhatIsLeftOut) {
  WriteFile(dir_ / "broken.json", "{\"nodes\": []}");
  const RunResult result = RunProf({"--quiet", "--csv", dir_.string()});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(LineCount(result.err), 1);
  EXPECT_THAT(result.err, HasSubstr("broken.json"));
}

TEST_F(ProfInputsTest, SqliteRefusalsNameTheirOption) {
  const std::string profile = (dir_ / "net.sql").string();
  EXPECT_THAT(RunProf({"--sqlite", profile, profile}).err, HasSubstr("--sqlite " + profile));
  EXPECT_EQ(RunProf({"--sqlite", "-", profile}).exit_code, 2);
}

TEST_F(ProfInputsTest, AReportThatIsNotExportedSaysHow) {
  const std::string path = (dir_ / "net.nsys-rep").string();
  WriteFile(path, "a report");
  for (const RunResult& result : {RunProf({path}), RunParse({path})}) {
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(LineCount(result.err), 1);
    EXPECT_THAT(result.err, HasSubstr("nsys export --type sqlite"));
  }
}

TEST_F(ProfInputsTest, SqliteHoldsWhatJsonHolds) {
  const std::string profile = (dir_ / "net.json").string();
  const fs::path path = dir_ / "out.db";
  const RunResult result = RunProf({"--sqlite", path.string(), profile});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  const SQLite::Database database(path.string());
  SQLite::Statement query(database, "SELECT * FROM kernels ORDER BY idx");
  const auto rows = Rows({profile});
  for (const nlohmann::json& row : rows) {
    ASSERT_TRUE(query.executeStep());
    EXPECT_EQ(query.getColumnCount(), static_cast<int>(row.size()) - 1);  // schema
    for (int i = 0; i < query.getColumnCount(); ++i) {
      const SQLite::Column column = query.getColumn(i);
      const nlohmann::json& value = row.at(column.getName());
      if (value.is_null()) {
        EXPECT_TRUE(column.isNull()) << column.getName();
      } else if (value.is_number()) {
        EXPECT_EQ(column.getInt64(), value.get<int64_t>()) << column.getName();
      } else if (value.is_string()) {
        EXPECT_EQ(column.getString(), value.get<std::string>()) << column.getName();
      } else {
        EXPECT_EQ(nlohmann::json::parse(column.getString()), value) << column.getName();
      }
    }
  }
  EXPECT_FALSE(query.executeStep());
}

TEST_F(ProfInputsTest, SqliteTextsAreUtf8) {
  const std::string dict = (dir_ / "net.dict").string();
  ASSERT_EQ(RunParse({(dir_ / "net.sql").string(), "-o", dict}).exit_code, 0);
  std::string records = ReadFile(dict);
  const std::string key = "'kShortName': '";
  records.insert(records.find(key) + key.size(),
                 "a\xff"
                 "b");
  WriteFile(dict, records);
  const fs::path path = dir_ / "out.db";
  ASSERT_EQ(RunProf({"--sqlite", path.string(), dict}).exit_code, 0);
  const SQLite::Database database(path.string());
  SQLite::Statement query(database, "SELECT kernel FROM kernels WHERE idx = 1");
  ASSERT_TRUE(query.executeStep());
  EXPECT_THAT(query.getColumn(0).getString(), testing::StartsWith("a\xEF\xBF\xBD"
                                                                  "b"));
}

TEST_F(ProfInputsTest, SqliteKeepsALinkAndThePermissions) {
  const std::string profile = (dir_ / "net.sql").string();
  const fs::path target = dir_ / "target.db";
  WriteFile(target, "older");
  fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("target.db", dir_ / "link.db");
  ASSERT_EQ(RunProf({"--sqlite", (dir_ / "link.db").string(), profile}).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(dir_ / "link.db"));
  EXPECT_THAT(ReadFile(target), testing::StartsWith("SQLite format 3"));
  EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(ProfInputsTest, SqliteTakesThePlaceOfFilesOnly) {
  const fs::path pipe = dir_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const fs::path& path : {pipe, dir_}) {
    const RunResult result = RunProf({"--sqlite", path.string(), (dir_ / "net.sql").string()});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(LineCount(result.err), 1);
    EXPECT_THAT(result.err, HasSubstr("is not a regular file"));
  }
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(ProfInputsTest, SqliteMakesWayForWhatAKilledRunLeft) {
  // The shell's process id becomes that of prof.
  const RunResult result =
      RunProgram({"/bin/sh", "-c",
                  "echo junk > \"$1/out.db.tmp$$\"; exec \"$2\" --sqlite \"$1/out.db\" \"$3\"",
                  "sh", dir_.string(), Program("prof"), (dir_ / "net.sql").string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(ReadFile(dir_ / "out.db"), testing::StartsWith("SQLite format 3"));
}

TEST_F(ProfInputsTest, SqliteLeavesNothingWhenItIsEnded) {
  // More records than a pipe and the buffers behind it hold: once they are written, the database
  // has been begun.
  const RunResult records = RunParse({(dir_ / "net.sql").string()});
  std::string many;
  while (many.size() < (size_t{8} << 20)) many += records.out;
  WriteFile(dir_ / "many.dict", many);
  for (const char* signal : {"TERM", "HUP", "KILL"}) {
    const fs::path folder = dir_ / signal;
    fs::create_directory(folder);
    const RunResult result =
        RunProgram({"/bin/bash", "-c",
                    "mkfifo pipe; \"$1\" --sqlite \"$2/out.db\" pipe & exec 3>pipe; "
                    "cat many.dict >&3; kill -$2 $!; wait $!; echo $?; rm pipe",
                    "sh", Program("prof"), signal},
                   {.directory = dir_});
    EXPECT_THAT(result.out, AnyOf("143\n", "129\n", "137\n")) << result.err;
    EXPECT_THAT(FilesIn(folder), testing::IsEmpty()) << signal;
  }
}

TEST_F(ProfInputsTest, SqliteIsWholeOrNotAtAll) {
  const fs::path path = dir_ / "out.db";
  WriteFile(path, "older");
  EXPECT_EQ(RunProf({"--sqlite", path.string(), (dir_ / "none.sql").string()}).exit_code, 1);
  EXPECT_EQ(ReadFile(path), "older");
  const std::string profile = (dir_ / "net.sql").string();
  EXPECT_EQ(RunProf({"--sqlite", profile, profile}).exit_code, 2);  // Never over its input.
  EXPECT_EQ(RunProf({"--sqlite", (dir_ / "no" / "x.db").string(), profile}).exit_code, 1);
  EXPECT_EQ(RunProf({"--sqlite", path.string(), profile}).exit_code, 0);
  EXPECT_THAT(ReadFile(path), testing::StartsWith("SQLite format 3"));
  for (const auto& entry : fs::directory_iterator(dir_)) {
    EXPECT_THAT(entry.path().string(), Not(HasSubstr(".tmp")));
  }
}

TEST(CopiesTest, ListsCopiesAndFills) {
  SmallProfile small;
  const int64_t call = small.thread.CallApi(41);
  small.builder.Add("MEMCPY", {{"copyKind", int64_t{2}},
                               {"srcKind", int64_t{3}},
                               {"dstKind", int64_t{2}},
                               {"bytes", int64_t{4096}},
                               {"start", int64_t{2'000'000}},
                               {"end", int64_t{2'001'000}},
                               {"streamId", int64_t{7}},
                               {"correlationId", call}});
  small.builder.Add("MEMSET", {{"bytes", int64_t{64}},
                               {"start", int64_t{1'000'000}},
                               {"end", int64_t{1'000'010}},
                               {"correlationId", int64_t{99}}});
  const fs::path path = small.Write();
  const RunResult csv =
      RunProf({"--copies", "--csv", "-c", "kind,src,dst,bytes,dur,gbps,api", path.string()});
  EXPECT_EQ(csv.exit_code, 0) << csv.err;
  EXPECT_EQ(csv.out,
            "\"Kind\",\"Source\",\"Target\",\"Bytes\",\"Dur(ns)\",\"GB/s\",\"Call\"\n"
            "\"fill\",\"\",\"\",\"64\",\"10\",\"6.400\",\"\"\n"
            "\"DtoH\",\"device\",\"pinned\",\"4096\",\"1000\",\"4.096\",\"cudaMemcpyAsync\"\n");
  EXPECT_EQ(RunProf({"--copies", "-w", "130", path.string()}).exit_code, 0);

  const fs::path dict = TestDir() / "net.dict";
  ASSERT_EQ(RunParse({path.string(), "-o", dict.string()}).exit_code, 0);
  const RunResult records = RunProf({"--copies", dict.string()});
  EXPECT_EQ(records.exit_code, 1);
  EXPECT_THAT(records.err, HasSubstr("holds records, not copies"));
  EXPECT_THAT(RunProf({"--copies", (TestDir() / "none.sql").string()}).err,
              HasSubstr("cannot be opened"));
}

TEST(CopiesTest, RecordsAreFoundBeforeAnythingIsWritten) {
  // More rows than one write to standard output takes.
  SmallProfile small;
  for (int64_t i = 0; i < 100'000; ++i) {
    small.builder.Add("MEMSET", {{"bytes", int64_t{64}}, {"start", i}, {"end", i + 1}});
  }
  small.AnnotatedKernel(OpText("add"), 1, "kernel");  // An empty file of records is left out.
  const fs::path path = small.Write();
  const fs::path dict = TestDir() / "net.dict";
  ASSERT_EQ(RunParse({path.string(), "-o", dict.string()}).exit_code, 0);
  EXPECT_EQ(LineCount(RunProf({"--copies", "--csv", path.string()}).out), 100'001);
  const RunResult result = RunProf({"--copies", path.string(), dict.string()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(LineCount(result.err), 1);
}

}  // namespace
}  // namespace oplens::test::prof_inputs_test
