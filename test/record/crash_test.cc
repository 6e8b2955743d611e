// Recordings that were killed: the program, record, or both, at any moment.

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include "test/record/recording_fixture.h"
#include "test/support/test_files.h"

namespace oplens::test::crash_test {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

/// A command in a process group of its own.
pid_t Start(const std::vector<std::string>& command, const std::filesystem::path& errors) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  setpgid(0, 0);
  if (freopen(errors.c_str(), "w", stderr) == nullptr) _exit(126);
  execv(arguments[0], arguments.data());
  _exit(127);
}

int Wait(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool WaitFor(const std::function<bool()>& condition) {
  for (int i = 0; i < 20'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return false;
}

/// Whether a process that is nobody's child here has ended, be it still in the table.
bool IsGone(int64_t process_id) {
  std::ifstream file("/proc/" + std::to_string(process_id) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return true;
  const size_t state = text.rfind(") ");
  return state == text.npos || text[state + 2] == 'Z';
}

/// What gpu_program says of itself.
struct Progress {
  int64_t process_id = 0;
  int64_t ranges = 0;
};
Progress ReadProgress(const std::filesystem::path& path) {
  Progress progress;
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(&progress), sizeof progress);
  return progress;
}

class CrashTest : public ::testing::Test {
 protected:
  static constexpr int kRuns = OPLENS_CRASH_RUNS;

  void StartRecording(int run, const std::string& pause_us = "0", const std::string& output = "") {
    const std::string name = std::to_string(run);
    database_ = TestDir() / (name + ".sql");
    progress_ = TestDir() / (name + ".progress");
    errors_ = TestDir() / (name + ".err");
    std::vector<std::string> command = {"/usr/bin/env",
                                        FakeCuda().front(),
                                        Program("record"),
                                        "-o",
                                        output.empty() ? database_.string() : output,
                                        "--"};
    for (const std::string& word : GpuProgram("forever")) command.push_back(word);
    command.insert(command.end(), {progress_.string(), pause_us});
    record_ = Start(command, errors_);
    ASSERT_GT(record_, 0);
  }
  Progress WaitForProgram() const {
    EXPECT_TRUE(WaitFor([this] { return ReadProgress(progress_).ranges > 0; }))
        << ReadFile(errors_);
    return ReadProgress(progress_);
  }
  void Pause(int most_ms) {
    std::this_thread::sleep_for(
        std::chrono::microseconds(std::uniform_int_distribution(0, most_ms * 1000)(random_)));
  }

  int64_t Count(const std::string& what) const {
    return Number(database_, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_" + what);
  }
  /// Every range that ended is there, and each is nested as it was.
  void ExpectRanges(int64_t ended) const {
    EXPECT_EQ(Text(database_, "PRAGMA integrity_check"), "ok");
    // The program was killed between the end of a range and counting it, or not.
    const int64_t ends = Count("MARKER WHERE flags = 4");
    EXPECT_GE(ends, ended);
    EXPECT_LE(ends, ended + 2);
    const int64_t open = Count("MARKER WHERE flags = 2") - ends;
    EXPECT_GE(open, 0);
    EXPECT_LE(open, 2);
    const RunResult parse =
        RunProgram({Program("parse"), "-v", database_.string(), "-o", "/dev/null"});
    EXPECT_EQ(parse.exit_code, 0) << parse.err;
  }
  void RemoveAll() const {
    for (const auto& path : {database_, progress_, errors_}) std::filesystem::remove(path);
  }

  std::filesystem::path database_;
  std::filesystem::path progress_;
  std::filesystem::path errors_;
  pid_t record_ = 0;
  std::mt19937 random_{20'261'121};
};

TEST_F(CrashTest, KilledProgramCostsNoRange) {
  for (int run = 0; run < kRuns && !HasFailure(); ++run) {
    SCOPED_TRACE(run);
    StartRecording(run);
    const Progress start = WaitForProgram();
    Pause(30);
    ASSERT_EQ(kill(static_cast<pid_t>(start.process_id), SIGKILL), 0);
    EXPECT_EQ(Wait(record_), 128 + SIGKILL);
    ExpectRanges(ReadProgress(progress_).ranges);
    EXPECT_THAT(ReadFile(errors_), HasSubstr("0 dropped"));
    RemoveAll();
  }
}

/// CUPTI gives buffers that are full; these are far from it.
TEST_F(CrashTest, KilledProgramCostsTheLastSecondOfKernels) {
  StartRecording(0, "10000");
  const Progress start = WaitForProgram();
  constexpr int64_t kRangesASecond = 200;
  ASSERT_TRUE(WaitFor([this] { return ReadProgress(progress_).ranges > 2 * kRangesASecond; }));
  ASSERT_EQ(kill(static_cast<pid_t>(start.process_id), SIGKILL), 0);
  Wait(record_);
  const int64_t ranges = ReadProgress(progress_).ranges;
  ExpectRanges(ranges);
  EXPECT_GE(Count("CONCURRENT_KERNEL"), (ranges - kRangesASecond) / 2);
}

TEST_F(CrashTest, EverythingKilledIsRecovered) {
  for (int run = 0; run < kRuns && !HasFailure(); ++run) {
    SCOPED_TRACE(run);
    StartRecording(run);
    ASSERT_TRUE(WaitFor([this] {
      return std::filesystem::exists(database_.string() + ".spool/session");
    })) << ReadFile(errors_);
    Pause(60);
    ASSERT_EQ(kill(-record_, SIGKILL), 0);
    EXPECT_EQ(Wait(record_), 128 + SIGKILL);
    // The program is not our child: it may need a moment to be gone.
    const int64_t program = ReadProgress(progress_).process_id;
    ASSERT_TRUE(WaitFor([program] { return program == 0 || IsGone(program); }));
    EXPECT_FALSE(std::filesystem::exists(database_));
    const RunResult lost = RunProgram({Program("parse"), "-v", database_.string()});
    EXPECT_NE(lost.exit_code, 0);
    EXPECT_THAT(lost.err, HasSubstr("record --recover"));
    const RunResult recovery = RunProgram({Program("record"), "--recover", database_.string()});
    ASSERT_EQ(recovery.exit_code, 0) << recovery.err;
    ExpectRanges(ReadProgress(progress_).ranges);
    const RunResult parse = RunProgram({Program("parse"), "-v", database_.string()});
    EXPECT_THAT(parse.err, HasSubstr("recovered"));
    EXPECT_FALSE(std::filesystem::exists(database_.string() + ".spool"));
    RemoveAll();
  }
}

TEST_F(CrashTest, PatternOfTheNameFindsTheSpool) {
  const std::string pattern = TestDir() / "net.%p.sql";
  StartRecording(0, "1000", pattern);
  const int64_t program = WaitForProgram().process_id;
  ASSERT_EQ(kill(-record_, SIGKILL), 0);
  Wait(record_);
  ASSERT_TRUE(WaitFor([program] { return IsGone(program); }));
  database_ = TestDir() / ("net." + std::to_string(program) + ".sql");
  const RunResult lost = RunProgram({Program("prof"), database_.string()});
  EXPECT_NE(lost.exit_code, 0);
  EXPECT_THAT(lost.err, HasSubstr("record --recover"));
  const RunResult recovery = RunProgram({Program("record"), "--recover", pattern});
  ASSERT_EQ(recovery.exit_code, 0) << recovery.err;
  ExpectRanges(ReadProgress(progress_).ranges);
}

TEST_F(CrashTest, ProgramRunsOnWithoutRecord) {
  StartRecording(0);
  const Progress start = WaitForProgram();
  ASSERT_EQ(kill(record_, SIGKILL), 0);
  Wait(record_);
  EXPECT_TRUE(WaitFor([&] { return ReadProgress(progress_).ranges > start.ranges + 1000; }));
  const RunResult forced =
      RunProgram({Program("record"), "-f", "-o", database_.string(), "--", "true"});
  EXPECT_NE(forced.exit_code, 0);
  EXPECT_THAT(forced.err, HasSubstr("still runs"));
  const RunResult early = RunProgram({Program("record"), "--recover", database_.string()});
  ASSERT_EQ(kill(static_cast<pid_t>(start.process_id), SIGKILL), 0);
  ASSERT_TRUE(WaitFor([&] { return IsGone(start.process_id); }));
  // Whether or not it was still running, nothing of the spool may be gone.
  if (early.exit_code != 0) {
    const RunResult recovery = RunProgram({Program("record"), "--recover", database_.string()});
    ASSERT_EQ(recovery.exit_code, 0) << recovery.err;
    ExpectRanges(ReadProgress(progress_).ranges);
  }
  EXPECT_EQ(Text(database_, "PRAGMA integrity_check"), "ok");
}

}  // namespace
}  // namespace oplens::test::crash_test
