// `record` and signals: those that come to it, those of the terminal, and its own after a timeout.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/record/record_run.h"
#include "test/support/program.h"
#include "test/support/running_program.h"
#include "test/support/test_files.h"

namespace oplens::test::signals_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

[[noreturn]] void Execute(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

TEST(RecordSignals, LeavesTheProgramInItsGroup) {
  RunningProgram record(RecordCommand({"-o", "net.sql"}, Recorded({"state"})), TestDir());
  EXPECT_EQ(record.Wait(), 0);
  EXPECT_THAT(record.out(), HasSubstr(fmt::format("group {}\n", record.process_id())));
}

TEST(RecordSignals, PassesSignalsOn) {
  RunningProgram record(RecordCommand({"-o", "net.sql"}, Recorded({"signals", "15"})), TestDir());
  ASSERT_TRUE(record.WaitForLine("ready")) << record.err();
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM,
                           SIGPROF, SIGPOLL, SIGPWR, SIGSTKFLT, SIGXCPU, SIGRTMIN, SIGRTMAX}) {
    record.Send(number);
    ASSERT_TRUE(record.WaitForLine(fmt::format("signal {}", ::strsignal(number)))) << number;
  }
  EXPECT_EQ(record.Wait(), 7);
  EXPECT_THAT(record.err(), StartsWith("record: net.sql: 0 kernels, 1 range"));
  EXPECT_THAT(FilesIn(TestDir()), ElementsAre("net.sql"));
}

TEST(RecordSignals, FinishesTheDatabaseOfAProgramThatASignalEnds) {
  RunningProgram record(RecordCommand({"-o", "net.sql"}, Recorded({"sleep", "60"})), TestDir());
  ASSERT_TRUE(record.WaitForLine("ready")) << record.err();
  record.Send(SIGINT);
  EXPECT_EQ(record.Wait(), 128 + SIGINT);
  EXPECT_THAT(record.err(), HasSubstr("net.sql: 0 kernels, "));
  EXPECT_THAT(FilesIn(TestDir()), ElementsAre("net.sql"));
}

TEST(RecordSignals, LeavesCtrlCToTheTerminal) {
  // The terminal sends it to the program itself: it must not come twice.
  int terminal = -1;
  const std::vector<std::string> words =
      RecordCommand({"-o", (TestDir() / "net.sql").string()}, Recorded({"signals", "2"}));
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  ASSERT_GE(child, 0);
  if (child == 0) Execute(words);
  std::string text;
  const auto read_until = [&](const std::string& end) {
    std::array<char, 1024> buffer{};
    while (text.find(end) == std::string::npos) {
      const ssize_t n = ::read(terminal, buffer.data(), buffer.size());
      if (n <= 0) return;
      text.append(buffer.data(), static_cast<size_t>(n));
    }
  };
  read_until("ready");
  // `record` takes its signal when the program has taken its own: two at once would be one.
  int status = 0;
  ::kill(child, SIGSTOP);
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_EQ(::write(terminal, "\x03", 1), 1);
  read_until("signal Interrupt");
  ::kill(child, SIGCONT);
  // Taken after the other: of those that wait the one of the lowest number comes first.
  ::kill(child, SIGUSR1);
  read_until("signal User");
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ::close(terminal);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_THAT(text, HasSubstr("signal Interrupt"));
  EXPECT_THAT(text, HasSubstr("signal User defined signal 1"));
}

TEST(RecordSignals, LeavesTheGroupsSignalsToTheGroup) {
  RunningProgram record(RecordCommand({"-o", "net.sql"}, Recorded({"signals", "6"})), TestDir());
  ASSERT_TRUE(record.WaitForLine("ready")) << record.err();
  std::string expected = "ready\n";
  for (const auto& [number, after] : {std::pair{SIGTERM, SIGRTMIN}, {SIGINT, SIGRTMAX}}) {
    record.SendToGroup(number);
    // Once this one is passed on, the other was taken: that of the lower number comes first.
    record.Send(after);
    EXPECT_TRUE(record.WaitForLine(fmt::format("signal {}", ::strsignal(after))));
    expected += fmt::format("signal {}\nsignal {}\n", ::strsignal(number), ::strsignal(after));
  }
  for (const int number : {SIGUSR1, SIGTERM}) {
    record.Send(number);
    expected += fmt::format("signal {}\n", ::strsignal(number));
  }
  EXPECT_EQ(record.Wait(), 7);
  EXPECT_EQ(record.out(), expected);
}

// `kill $(pidof record)` and `pkill record` mean one process: what helps it has another name.
TEST(RecordSignals, OneProcessIsCalledRecord) {
  RunningProgram record(RecordCommand({"-o", "net.sql"}, Recorded({"signals", "1"})), TestDir());
  ASSERT_TRUE(record.WaitForLine("ready")) << record.err();
  int called_record = 0;
  int called_signals = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::filesystem::path folder = entry.path();
    std::error_code error;
    if (std::filesystem::read_symlink(folder / "cwd", error) != TestDir()) continue;
    std::ifstream file(folder / "cmdline");
    std::string name;
    std::getline(file, name, '\0');
    called_record += name == Program("record") ? 1 : 0;
    called_signals += name == "signals" ? 1 : 0;
  }
  EXPECT_EQ(called_record, 1);
  EXPECT_EQ(called_signals, 1);
  record.Send(SIGTERM);
  EXPECT_EQ(record.Wait(), 7);
}

TEST(RecordSignals, PassesTheGroupsSignalsOnToAProgramThatLeftIt) {
  std::vector<std::string> program = Recorded({"signals", "1"});
  program.insert(program.begin(), "setsid");
  RunningProgram record(RecordCommand({"-o", "net.sql"}, program), TestDir());
  ASSERT_TRUE(record.WaitForLine("ready")) << record.err();
  record.SendToGroup(SIGINT);
  EXPECT_EQ(record.Wait(), 7);
  EXPECT_EQ(record.out(), "ready\nsignal Interrupt\n");
}

TEST(RecordSignals, PassesOnThatTheTerminalWasClosed) {
  // As of `ssh -t host record ...`: the leader of the session alone is told.
  int terminal = -1;
  const std::string heard = TestDir() / "heard";
  const std::vector<std::string> words = RecordCommand(
      {"-o", (TestDir() / "net.sql").string()},
      {"/bin/sh", "-c",
       fmt::format("trap 'echo hangup >> {}; kill $!; exit 5' HUP; sleep 60 & echo ready; wait; "
                   "exit 6",
                   heard)});
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  ASSERT_GE(child, 0);
  if (child == 0) Execute(words);
  std::array<char, 1024> buffer{};
  ASSERT_GT(::read(terminal, buffer.data(), buffer.size()), 0);
  ::close(terminal);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 5);
  EXPECT_EQ(ReadFile(heard), "hangup\n");
  EXPECT_TRUE(std::filesystem::exists(TestDir() / "net.sql"));
}

/// Whether a process runs that is nobody's child here.
bool Runs(const std::string& process_id) {
  const std::filesystem::path file = "/proc/" + process_id + "/stat";
  if (!std::filesystem::exists(file)) return false;
  const std::string text = ReadFile(file);
  return text.substr(text.rfind(") ") + 2, 1) != "Z";
}

TEST(RecordSignals, EndsWhatTheProgramStartedAfterTheTimeout) {
  // A machine that starts nothing within a second gets longer.
  for (int timeout_s = 1; timeout_s <= 16; timeout_s *= 4) {
    // Beside each other: a program that heeds no signal has five seconds.
    const auto run = [&](const std::string& name, const std::string& trap) {
      return std::make_unique<RunningProgram>(
          RecordCommand({"-f", "-o", name, "--timeout", std::to_string(timeout_s)},
                        {"/bin/sh", "-c", trap + "sleep 61 & echo $!; wait; true"}),
          TestDir());
    };
    bool started = true;
    for (const auto& record : {run("net.sql", ""), run("other.sql", "trap '' TERM; ")}) {
      EXPECT_EQ(record->Wait(), 124);
      const size_t end = record->out().find('\n');
      started &= end != std::string::npos;
      if (started) {
        EXPECT_FALSE(Runs(record->out().substr(0, end))) << record->err();
      }
    }
    if (started) return;
  }
  FAIL() << "nothing was started";
}

TEST(RecordSignals, EndsTheProgramAfterTheTimeout) {
  const RunResult result = Record({"sleep", "60"}, {"--timeout", "1"});
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_THAT(result.err, StartsWith("record: the program was ended after --timeout 1 s\n"));
  EXPECT_THAT(result.err, HasSubstr("net.sql: 0 kernels"));
}

TEST(RecordSignals, KillsAProgramThatDoesNotEndAfterTheTimeout) {
  const RunResult result = Record({"stubborn", "60"}, {"--timeout", "1"});
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_THAT(result.err, HasSubstr("net.sql: 0 kernels"));
}

TEST(RecordSignals, LeavesAProgramAloneThatEndsBeforeTheTimeout) {
  EXPECT_EQ(Record({"exit", "3"}, {"--timeout", "1000"}).exit_code, 3);
}

}  // namespace
}  // namespace oplens::test::signals_test
