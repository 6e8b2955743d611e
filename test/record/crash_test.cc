// Recordings that were killed: the program, record, or both. The place is where the program has got
// to; it runs on until the signal is there, so that each kill hits it elsewhere.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <random>

#include "test/record/progress.h"
#include "test/record/recording_fixture.h"
#include "test/support/test_files.h"

namespace oplens::test::crash_test {
namespace {

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

/// Waits until a file is there whose folder is. False: 30 s went by.
bool WaitForFile(const std::filesystem::path& path) {
  const int watch = inotify_init1(IN_CLOEXEC);
  inotify_add_watch(watch, path.parent_path().c_str(), IN_CREATE | IN_MOVED_TO);
  std::array<char, 4096> events;
  pollfd fds = {watch, POLLIN, 0};
  bool there = std::filesystem::exists(path);
  while (!there && poll(&fds, 1, 30'000) > 0 && read(watch, events.data(), events.size()) > 0) {
    there = std::filesystem::exists(path);
  }
  close(watch);
  return there;
}

class CrashTest : public ::testing::Test {
 protected:
  static constexpr int kRuns = OPLENS_CRASH_RUNS;

  // What record leaves behind becomes a child of the test, which waits for its end.
  void SetUp() override { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }
  void TearDown() override { prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0); }

  /// Records gpu_program, which tells when it is at `place`: Progress::Want().
  void StartRecording(int run, int64_t place, const std::string& pause_us = "0",
                      const std::string& output = "") {
    const std::string name = std::to_string(run);
    database_ = TestDir() / (name + ".sql");
    errors_ = TestDir() / (name + ".err");
    const std::filesystem::path file = TestDir() / (name + ".progress");
    WriteFile(file, std::string(sizeof(Progress), '\0'));
    const int fd = open(file.c_str(), O_RDWR | O_CLOEXEC);
    void* const memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    ASSERT_NE(memory, MAP_FAILED);
    progress_ = static_cast<Progress*>(memory);
    progress_->Want(place);
    std::vector<std::string> command = {"/usr/bin/env",
                                        FakeCuda().front(),
                                        Program("record"),
                                        "-o",
                                        output.empty() ? database_.string() : output,
                                        "--"};
    for (const std::string& word : GpuProgram("forever")) command.push_back(word);
    command.insert(command.end(), {file.string(), pause_us});
    record_ = Start(command, errors_);
    ASSERT_GT(record_, 0);
  }
  void WaitForProgram() const { ASSERT_TRUE(progress_->Wait()) << ReadFile(errors_); }
  void KillProgram() const {
    ASSERT_GT(progress_->process_id, 0);
    ASSERT_EQ(kill(progress_->process_id, SIGKILL), 0);
  }
  /// Record and all that it started, to the end of the last of them.
  void KillAll() const {
    ASSERT_GT(record_, 0);
    ASSERT_EQ(kill(-record_, SIGKILL), 0);
    EXPECT_EQ(Wait(record_), 128 + SIGKILL);
    while (waitpid(-record_, nullptr, 0) > 0 || errno == EINTR) {
    }
  }
  /// How many ranges a recording has when it is killed: each size as often as any other, from one
  /// range to files of the spool that have their full size.
  int64_t SomeRanges() {
    constexpr double kMostDigits = 4.5;
    return static_cast<int64_t>(
        std::pow(10.0, std::uniform_real_distribution<double>(0, kMostDigits)(random_)));
  }

  int64_t Count(const std::string& what) const {
    return Number(database_, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_" + what);
  }
  /// Every range that ended is there, and each is nested as it was.
  void ExpectRanges() {
    EXPECT_EQ(Text(database_, "PRAGMA integrity_check"), "ok");
    // The program was killed between the end of a range and counting it, or not.
    const int64_t ended = progress_->ranges;
    const int64_t ends = Count("MARKER WHERE flags = 4");
    EXPECT_GE(ends, ended);
    EXPECT_LE(ends, ended + 2);
    const int64_t open = Count("MARKER WHERE flags = 2") - ends;
    EXPECT_GE(open, 0);
    EXPECT_LE(open, 2);
    databases_.push_back(database_);
  }
  /// What parse says of all databases; it reads them.
  std::string Parsed() const {
    std::vector<std::string> command = {Program("parse"), "-v", "-o", "/dev/null"};
    command.insert(command.end(), databases_.begin(), databases_.end());
    const RunResult parse = RunProgram(command);
    EXPECT_EQ(parse.exit_code, 0) << parse.err;
    return parse.err;
  }

  std::filesystem::path database_;
  std::filesystem::path errors_;
  Progress* progress_ = nullptr;
  pid_t record_ = 0;
  std::vector<std::string> databases_;
  std::mt19937 random_{20'261'121};
};

TEST_F(CrashTest, KilledProgramCostsNoRange) {
  for (int run = 0; run < kRuns && !HasFailure(); ++run) {
    SCOPED_TRACE(run);
    StartRecording(run, SomeRanges());
    WaitForProgram();
    KillProgram();
    EXPECT_EQ(Wait(record_), 128 + SIGKILL);
    ExpectRanges();
    EXPECT_THAT(ReadFile(errors_), HasSubstr("0 dropped"));
  }
  Parsed();
}

/// CUPTI gives buffers that are full; these are far from it.
TEST_F(CrashTest, KilledProgramCostsTheLastSecondOfKernels) {
  StartRecording(0, Progress::kFlushed, "1000");
  WaitForProgram();
  KillProgram();
  Wait(record_);
  ExpectRanges();
  EXPECT_GE(Count("CONCURRENT_KERNEL"), progress_->flushed_ranges / 2);
  Parsed();
}

TEST_F(CrashTest, EverythingKilledIsRecovered) {
  for (int run = 0; run < kRuns && !HasFailure(); ++run) {
    SCOPED_TRACE(run);
    // Some before the first range.
    constexpr int kEarly = 20;
    const int early = run % kEarly;
    StartRecording(run, early == 0   ? Progress::kBegun
                        : early == 1 ? Progress::kReady
                                     : SomeRanges());
    if (early == 2) {
      const std::string spool = database_.string() + ".spool";
      ASSERT_TRUE(WaitForFile(spool) && WaitForFile(spool + "/session")) << ReadFile(errors_);
    } else {
      WaitForProgram();
    }
    KillAll();
    EXPECT_FALSE(std::filesystem::exists(database_));
    if (run == 0) {
      const RunResult lost = RunProgram({Program("parse"), "-v", database_.string()});
      EXPECT_NE(lost.exit_code, 0);
      EXPECT_THAT(lost.err, HasSubstr("record --recover"));
    }
    const RunResult recovery = RunProgram({Program("record"), "--recover", database_.string()});
    ASSERT_EQ(recovery.exit_code, 0) << recovery.err;
    ExpectRanges();
    EXPECT_EQ(Number(database_, "SELECT value FROM OPLENS_META WHERE key = 'recovered'"), 1);
    EXPECT_FALSE(std::filesystem::exists(database_.string() + ".spool"));
  }
  EXPECT_THAT(Parsed(), HasSubstr("recovered"));
}

TEST_F(CrashTest, PatternOfTheNameFindsTheSpool) {
  const std::string pattern = TestDir() / "net.%p.sql";
  StartRecording(0, 1, "1000", pattern);
  WaitForProgram();
  KillAll();
  database_ = TestDir() / ("net." + std::to_string(progress_->process_id) + ".sql");
  const RunResult lost = RunProgram({Program("prof"), database_.string()});
  EXPECT_NE(lost.exit_code, 0);
  EXPECT_THAT(lost.err, HasSubstr("record --recover"));
  const RunResult recovery = RunProgram({Program("record"), "--recover", pattern});
  ASSERT_EQ(recovery.exit_code, 0) << recovery.err;
  ExpectRanges();
  Parsed();
}

TEST_F(CrashTest, ProgramRunsOnWithoutRecord) {
  StartRecording(0, 1, "100");
  WaitForProgram();
  ASSERT_EQ(kill(record_, SIGKILL), 0);
  Wait(record_);
  progress_->Want(progress_->ranges + 1000);
  EXPECT_TRUE(progress_->Wait());
  const RunResult forced =
      RunProgram({Program("record"), "-f", "-o", database_.string(), "--", "true"});
  EXPECT_NE(forced.exit_code, 0);
  EXPECT_THAT(forced.err, HasSubstr("still runs"));
  const RunResult early = RunProgram({Program("record"), "--recover", database_.string()});
  EXPECT_NE(early.exit_code, 0);
  KillProgram();
  EXPECT_EQ(Wait(progress_->process_id), 128 + SIGKILL);
  // Nothing of the spool is gone.
  const RunResult recovery = RunProgram({Program("record"), "--recover", database_.string()});
  ASSERT_EQ(recovery.exit_code, 0) << recovery.err;
  ExpectRanges();
  Parsed();
}

}  // namespace
}  // namespace oplens::test::crash_test
