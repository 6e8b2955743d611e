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
#include <string>
#include <vector>

#include "test/record/record_run.h"
#include "test/record/running_program.h"
#include "test/support/program.h"
#include "test/support/test_files.h"

namespace oplens::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(RecordSignals, LeavesTheProgramInItsGroup) {
  RunningProgram record(RecordCommand({"-o", "net.sql"}, Recorded({"state"})), TestDir());
  EXPECT_EQ(record.Wait(), 0);
  EXPECT_THAT(record.out(), HasSubstr(fmt::format("group {}\n", record.process_id())));
}

TEST(RecordSignals, PassesSignalsOn) {
  RunningProgram record(RecordCommand({"-o", "net.sql"}, Recorded({"signals", "6"})), TestDir());
  ASSERT_TRUE(record.WaitForLine("ready")) << record.err();
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    record.Send(number);
    EXPECT_TRUE(record.WaitForLine(fmt::format("signal {}", ::strsignal(number)))) << number;
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
  if (child == 0) {
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
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
  ::kill(child, SIGSTOP);
  ASSERT_EQ(::write(terminal, "\x03", 1), 1);
  read_until("signal Interrupt");
  ::kill(child, SIGCONT);
  ::usleep(200'000);
  ::kill(child, SIGUSR1);
  read_until("signal User");
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ::close(terminal);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_THAT(text, HasSubstr("signal Interrupt"));
  EXPECT_THAT(text, HasSubstr("signal User defined signal 1"));
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
  EXPECT_EQ(Record({"exit", "3"}, {"--timeout", "30"}).exit_code, 3);
}

}  // namespace
}  // namespace oplens::test
