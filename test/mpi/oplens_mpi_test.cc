// oplens-mpi gives the rows of prof, whatever the number of processes, and whatever becomes of
// them.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "test/mpi/mpirun.h"
#include "test/support/counted_calls.h"
#include "test/support/kineto_builder.h"
#include "test/support/program.h"
#include "test/support/test_files.h"

namespace oplens::test::oplens_mpi_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kViews = "distributed,collectives,operators,overview,temporal,groups";

std::string SourceFile(const std::string& path) { return SourceDir() + "/" + path; }

/// Traces of ranks that belong together, in a folder of the running test.
std::string MakeTraces(const std::vector<std::string>& options = {}) {
  const std::string folder = (TestDir() / "traces").string();
  std::vector<std::string> command = {
      "/usr/bin/env", "python3", "-B", SourceFile("bench/ranks/make_ranks.py"),
      folder,         "--steps", "2"};
  command.insert(command.end(), options.begin(), options.end());
  const RunResult made = RunProgram(command);
  EXPECT_EQ(made.exit_code, 0) << made.err;
  return folder;
}

std::string RowsOfProf(const std::string& folder, const std::string& views = kViews,
                       int exit_code = 0) {
  const RunResult result =
      RunProgram({Program("prof"), "--quiet", "--view", views, "--json", folder});
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  return result.out;
}

std::string NewFolder(const std::string& name) {
  const fs::path folder = TestDir() / name;
  fs::create_directories(folder);
  return folder.string();
}

/// Which file a name stands for.
std::map<std::string, ino_t> FilesBehind(const fs::path& folder) {
  std::map<std::string, ino_t> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    struct stat state {};
    if (stat(entry.path().c_str(), &state) == 0) files[entry.path().filename()] = state.st_ino;
  }
  return files;
}

class OplensMpiTest : public testing::TestWithParam<std::string> {
 protected:
  static RunResult Run(int processes, std::vector<std::string> arguments) {
    return RunMpi(GetParam(), processes, "oplens-mpi", arguments);
  }
};

TEST_P(OplensMpiTest, SameRowsAsOneProcess) {
  const std::string traces =
      MakeTraces({"--layout", "2x2x2", "--clocks", "2000,30", "--missing", "6"});
  const std::string expected = RowsOfProf(traces);
  std::string summaries;
  for (const int processes : {1, 2, 3, 8}) {
    summaries = NewFolder(fmt::format("summaries{}", processes));
    const RunResult result =
        Run(processes, {"--view", kViews, "--json", "--summary-dir", summaries, traces});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, expected) << processes;
  }
  EXPECT_EQ(RowsOfProf(summaries), expected);
}

TEST_P(OplensMpiTest, SaysTheSameAsOneProcess) {
  const std::string traces = MakeTraces({"--layout", "3x1x1", "--no-sequence", "--missing", "2"});
  const RunResult one = RunProgram({Program("prof"), "-v", "--view", "operators", traces});
  const RunResult three = Run(3, {"-v", "--view", "operators", traces});
  EXPECT_EQ(three.exit_code, 0);
  EXPECT_EQ(three.out, one.out);
  std::string said = three.err;
  for (size_t at = said.find("oplens-mpi:"); at != said.npos; at = said.find("oplens-mpi:", at)) {
    said.replace(at, 11, "prof:");
  }
  EXPECT_EQ(said, one.err);
}

TEST_P(OplensMpiTest, SameRowsOfRecordedRanks) {
  OPLENS_NEED_CORPUS();
  for (const char* name : {"dlrm_w8", "llama_tp2", "linear_tp2", "diff_ddp", "ddp_sampled_w128"}) {
    const std::string traces = (CorpusDir().path / "kineto" / name).string();
    const RunResult result =
        Run(3, {"--view", kViews, "--json", "--summary-dir", NewFolder(name), traces});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, RowsOfProf(traces)) << name;
  }
}

TEST_P(OplensMpiTest, ReadsWhatIsMissing) {
  const std::string traces = MakeTraces({"--layout", "3x1x1"});
  const std::string summaries = NewFolder("summaries");
  const std::vector<std::string> arguments = {"--view",        "collectives", "--json",
                                              "--summary-dir", summaries,     traces};
  const RunResult whole = Run(2, arguments);
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  const auto before = FilesBehind(summaries);
  ASSERT_EQ(before.size(), 3);
  fs::remove(fs::path(summaries) / "rank1.json.oplens");
  WriteFile(fs::path(summaries) / "rank2.json.oplens", "no summary");
  const RunResult again = Run(2, arguments);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, whole.out);
  EXPECT_NE(again.err.find("oplens-mpi: 1 of 3 inputs were read before"), std::string::npos)
      << again.err;
  const auto after = FilesBehind(summaries);
  ASSERT_EQ(after.size(), 3);
  EXPECT_EQ(after.at("rank0.json.oplens"), before.at("rank0.json.oplens"));
  EXPECT_NE(after.at("rank2.json.oplens"), before.at("rank2.json.oplens"));
}

/// How often `processes` look a path up, for so many ranks: in a run that writes summaries, and in
/// one that finds them up to date. Empty: processes cannot be traced here.
std::vector<int64_t> PathCallsFor(const std::string& mpi, int processes, int ranks) {
  const fs::path folder = NewFolder(fmt::format("run{}", ranks));
  const std::string summaries = NewFolder(fmt::format("sums{}", ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    KinetoBuilder builder;
    builder.AddMember("distributedInfo",
                      fmt::format(R"({{"rank": {}, "world_size": {}}})", rank, ranks));
    builder.AddKernel({.name = "gemm", .start_ns = 5'000, .duration_ns = 1'000});
    builder.Write(folder / fmt::format("rank{}.json", rank));
  }
  std::vector<std::string> command = MpiRunCommand(mpi, processes);
  command.insert(command.end(), {Program("oplens-mpi." + mpi), "--quiet", "--view", "ranks",
                                 "--summary-dir", summaries, folder.string()});
  std::vector<int64_t> calls;
  for (int run = 0; run < 2; ++run) {
    const std::optional<CountedRun> counted = RunCounted(command);
    if (!counted) return {};
    EXPECT_EQ(counted->exit_code, 0);
    calls.push_back(counted->path_calls);
  }
  EXPECT_EQ(FilesIn(summaries).size(), static_cast<size_t>(ranks));
  return calls;
}

TEST_P(OplensMpiTest, AsksLinearlyOftenAboutFiles) {
  constexpr int kFewest = 40;
  std::vector<std::vector<int64_t>> calls;
  for (const int ranks : {kFewest, 2 * kFewest, 4 * kFewest}) {
    calls.push_back(PathCallsFor(GetParam(), 2, ranks));
    if (calls.back().empty()) GTEST_SKIP() << "processes cannot be traced here";
  }
  for (const size_t run : {0U, 1U}) {
    SCOPED_TRACE(run == 0 ? "the first run" : "again");
    const int64_t more = calls[1][run] - calls[0][run];
    EXPECT_GT(more, 0);
    const double times =
        static_cast<double>(calls[2][run] - calls[1][run]) / static_cast<double>(more);
    EXPECT_NEAR(times, 2, 0.2) << calls[0][run] << ' ' << calls[1][run] << ' ' << calls[2][run];
  }
  EXPECT_LT(calls[2][1], calls[2][0]);
}

TEST_P(OplensMpiTest, ABrokenFileCostsItsRank) {
  const std::string traces = MakeTraces({"--layout", "3x1x1"});
  const fs::path broken = fs::path(traces) / "rank1.json";
  WriteFile(broken, "no trace");
  const std::string expected = RowsOfProf(traces, "distributed", 3);
  const std::string output = (TestDir() / "rows").string();
  const std::vector<std::string> arguments = {"--view", "distributed", "--json",
                                              "-o",     output,        traces};
  const RunResult result = Run(3, arguments);
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_NE(result.err.find("rank1.json"), std::string::npos) << result.err;
  EXPECT_EQ(ReadFile(output), expected);
  fs::remove(output);
  std::vector<std::string> allowed = arguments;
  allowed.insert(allowed.end(), {"--allow-missing", "1"});
  EXPECT_EQ(Run(3, allowed).exit_code, 0);
  EXPECT_EQ(ReadFile(output), expected);
}

int Times(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_P(OplensMpiTest, SaysOnceWhatIsWrong) {
  const RunResult unknown = Run(3, {"--view", "nothing", "x.json"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(Times(unknown.err, "oplens-mpi: --view"), 1) << unknown.err;
  const RunResult missing = Run(3, {"--view", "gpu", (TestDir() / "missing.json").string()});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_EQ(Times(missing.err, "missing.json"), 1) << missing.err;
}

// mpirun ends all processes where one fails. The first begins when the others wait for it: these
// would have failed by then.
TEST_P(OplensMpiTest, NobodyFailsBeforeTheFirstHasSpoken) {
  constexpr char kScript[] = R"sh(
    if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ]; then
      until [ "$(ls "$OPLENS_TEST_ARRIVAL".* 2>/dev/null | wc -l)" -eq 2 ]; do sleep 0.05; done
      exec "$@"
    fi
    exec env LD_PRELOAD="$0" "$@")sh";
  int runs = 0;
  const auto late = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> command = MpiRunCommand(GetParam(), 3);
    command.insert(command.end(), {"/bin/sh", "-c", kScript,
                                   BuildFile("lib/liboplens_arrival." + GetParam() + ".so"),
                                   Program("oplens-mpi." + GetParam())});
    command.insert(command.end(), arguments.begin(), arguments.end());
    const std::string arrival = (TestDir() / std::to_string(++runs)).string();
    return RunProgram(command, {.environment = {"OPLENS_TEST_ARRIVAL=" + arrival}});
  };
  const RunResult unknown = late({"--view", "nothing", "x.json"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(Times(unknown.err, "oplens-mpi: --view"), 1) << unknown.err;
  const RunResult missing = late({"--view", "gpu", (TestDir() / "missing.json").string()});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_EQ(Times(missing.err, "missing.json"), 1) << missing.err;
}

TEST_P(OplensMpiTest, OneProcessOfManyDoesNotBegin) {
  const std::string program = Program("oplens-mpi." + GetParam());
  const bool open_mpi = GetParam() == "openmpi";
  RunOptions options;
  options.environment = {"SLURM_NTASKS=4", "SLURM_PROCID=0"};
  const RunResult first = RunProgram({program, "--view", "gpu", "x.json"}, options);
  EXPECT_EQ(first.exit_code, 1);
  EXPECT_EQ(first.err, fmt::format("oplens-mpi: MPI sees one process, but SLURM_NTASKS says 4; "
                                   "start it with srun --mpi={}\n",
                                   open_mpi ? "pmix" : "pmi2"));
  options.environment = {"SLURM_NTASKS=4", "SLURM_PROCID=1"};
  const RunResult second = RunProgram({program, "--view", "gpu", "x.json"}, options);
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_EQ(second.err, "");
}

TEST_P(OplensMpiTest, GoesOnWhereAKilledProcessEnded) {
  const std::string traces = MakeTraces();
  const RunResult result =
      RunProgram({"/usr/bin/env", "python3", "-B", SourceFile("test/mpi/kill_check.py"), "--bin",
                  ProgramDir(), "--mpi", GetParam(), "--runs", "1", traces});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OplensMpiTest);
INSTANTIATE_TEST_SUITE_P(Mpi, OplensMpiTest, testing::ValuesIn(MpiNames()),
                         [](const auto& name) { return name.param; });

// Both ways of examples/cluster/, on a Slurm of this machine.
TEST(ClusterTest, ScriptsMakeTheTablesOfOneProcess) {
  const std::string traces = MakeTraces({"--layout", "3x1x1"});
  const RunResult result =
      RunProgram({SourceFile("test/mpi/slurm_node.sh"), SourceFile("test/mpi/cluster_check.sh"),
                  ProgramDir(), OPLENS_MPI_NAMES, traces, NewFolder("work")});
  if (result.exit_code == 77) GTEST_SKIP() << result.out;
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

}  // namespace
}  // namespace oplens::test::oplens_mpi_test
