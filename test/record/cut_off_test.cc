// What the GPU did last: a program that leaves without exit, one that is sent a signal, and one
// whose kernels have no end.

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>

#include "test/record/recording_fixture.h"
#include "test/support/running_program.h"
#include "test/support/test_files.h"

namespace oplens::test::cut_off_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::Not;

std::filesystem::path Database() { return TestDir() / "net.sql"; }

int64_t Kernels(const std::string& condition = "1") {
  return Number(Database(),
                "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL WHERE " + condition);
}

int64_t Meta(const std::string& key) {
  return Number(Database(), "SELECT value FROM OPLENS_META WHERE key = '" + key + "'");
}

RunResult RecordGpu(std::vector<std::string> program, std::vector<std::string> options = {}) {
  program.insert(program.begin(), Program("gpu_program"));
  return Record({.database = Database(),
                 .program = program,
                 .options = std::move(options),
                 .environment = FakeCuda()});
}

constexpr char kCutOff[] = "ended without exit (a signal, _exit or exec): up to 0.4 s of GPU work";

class LeaveTest : public ::testing::TestWithParam<const char*> {};

TEST_P(LeaveTest, SaysThatWorkMayBeMissing) {
  const std::string how = GetParam();
  const RunResult run = RecordGpu({"leave", how}, {"--strict"});
  EXPECT_EQ(run.exit_code, how == "kill" ? 128 + SIGKILL : 3);
  EXPECT_THAT(run.err, HasSubstr(kCutOff));
  EXPECT_EQ(Meta("ended"), 0);
}

INSTANTIATE_TEST_SUITE_P(CutOff, LeaveTest, ::testing::Values("_exit", "exec", "kill"),
                         [](const auto& test) {
                           return std::string(test.param[0] == '_' ? "exit" : test.param);
                         });

TEST(CutOff, IsNotSaidOfAProgramThatExits) {
  const RunResult run = RecordGpu({"step"}, {"--strict"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.err, Not(HasSubstr("may be missing")));
  EXPECT_EQ(Meta("ended"), 1);
}

/// The kernels are there although CUPTI had no reason to give them.
TEST(CutOff, AForwardedSignalComesAfterAFlush) {
  std::vector<std::string> command = {"/usr/bin/env", FakeCuda().front(), Program("record")};
  command.insert(command.end(), {"-o", Database(), "--", Program("gpu_program"), "stay"});
  RunningProgram record(command, TestDir());
  ASSERT_TRUE(record.WaitForLine("ready")) << record.err();
  record.Send(SIGTERM);
  EXPECT_EQ(record.Wait(), 128 + SIGTERM);
  EXPECT_EQ(Kernels(), 100) << record.err();
  EXPECT_THAT(record.err(), HasSubstr(kCutOff));
}

/// A library that does not answer holds the signal back no longer than a second.
TEST(CutOff, AForwardedSignalWaitsForAFlushOneSecondAtMost) {
  std::vector<std::string> command = {"/usr/bin/env", FakeCuda().front(), "FAKE_CUPTI_STUCK=1",
                                      Program("record")};
  command.insert(command.end(), {"-f", "-o", Database(), "--", Program("gpu_program"), "stay"});
  // What the machine takes for the rest comes on top: the shortest of some waits counts.
  constexpr auto kMost = std::chrono::seconds(3);
  std::chrono::steady_clock::duration shortest = std::chrono::hours(1);
  for (int i = 0; i < 6 && shortest >= kMost; ++i) {
    RunningProgram record(command, TestDir());
    ASSERT_TRUE(record.WaitForLine("ready")) << record.err();
    const auto sent = std::chrono::steady_clock::now();
    record.Send(SIGTERM);
    EXPECT_EQ(record.Wait(), 128 + SIGTERM);
    shortest = std::min(shortest, std::chrono::steady_clock::now() - sent);
  }
  EXPECT_THAT(shortest, Lt(kMost));
}

/// Without the recorder the program would not wait for its kernels.
TEST(CutOff, AKernelWithoutEndEndsTheWait) {
  const RunResult run = RecordGpu({"endless"}, {"--timeout", "200", "--strict"});
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_THAT(run.err, HasSubstr("the GPU was still at work 3 s after the end of the program"));
  EXPECT_THAT(run.err, HasSubstr("2 launches have no kernel"));
  EXPECT_THAT(run.err, Not(HasSubstr(kCutOff)));
  EXPECT_EQ(Kernels("end > 0"), 1);
  EXPECT_EQ(Meta("ended"), 1);
  EXPECT_EQ(Meta("gpu_busy_at_end"), 1);
  EXPECT_EQ(Meta("unfinished_launches"), 2);
  const RunResult parse =
      RunProgram({Program("parse"), "-v", Database().string(), "-o", "/dev/null"});
  EXPECT_EQ(parse.exit_code, 0) << parse.err;
}

}  // namespace
}  // namespace oplens::test::cut_off_test
