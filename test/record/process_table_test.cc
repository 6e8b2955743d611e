#include "record/process_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <limits>
#include <string>

#include "test/support/running_program.h"

namespace oplens::record::process_table_test {
namespace {

using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;

TEST(ProcessTable, KnowsTheChildrenOfChildren) {
  test::RunningProgram shell({"/bin/sh", "-c", "sleep 60 & echo $!; echo ready; wait"});
  ASSERT_TRUE(shell.WaitForLine("ready"));
  const int32_t sleeper = std::stoi(shell.out());
  EXPECT_THAT(Descendants(), IsSupersetOf({int32_t{shell.process_id()}, sleeper}));
  EXPECT_THAT(Descendants(), Not(Contains(::getpid())));
}

TEST(ProcessTable, KnowsWhoLives) {
  ProcessIdentity child;
  {
    const test::RunningProgram sleeper({"/bin/sleep", "60"});
    child = IdentityOf(sleeper.process_id());
    EXPECT_EQ(child.process_id, sleeper.process_id());
    EXPECT_EQ(child.pid_namespace, OwnIdentity().pid_namespace);
    EXPECT_GE(child.start_ticks, OwnIdentity().start_ticks);
    EXPECT_TRUE(IsAlive(child));
    ProcessIdentity other = child;
    ++other.start_ticks;
    EXPECT_FALSE(IsAlive(other)) << "one that had the number earlier";
    other = child;
    ++other.pid_namespace;
    EXPECT_FALSE(IsAlive(other)) << "one that has the number elsewhere";
    sleeper.Kill();
    EXPECT_FALSE(IsAlive(child));
    EXPECT_EQ(IdentityOf(child.process_id), ProcessIdentity{}) << "nobody has waited for it yet";
  }
  EXPECT_TRUE(IsAlive(OwnIdentity()));
  EXPECT_FALSE(IsAlive({}));
}

TEST(ProcessIdentity, IsReadAsItWasWritten) {
  constexpr ProcessIdentity kIdentity = {std::numeric_limits<int32_t>::max(),
                                         std::numeric_limits<uint64_t>::max(), 7};
  std::array<char, 64> text{};
  FormatIdentity(kIdentity, text.data(), text.size());
  EXPECT_EQ(ParseIdentity(text.data()), kIdentity);
  EXPECT_EQ(ParseIdentity("12"), (ProcessIdentity{12, 0, 0}));
  EXPECT_EQ(ParseIdentity(""), ProcessIdentity{});
  EXPECT_TRUE(IsSameProcess({12, 0, 0}, {12, 3, 4})) << "what is not known";
  EXPECT_FALSE(IsSameProcess({12, 3, 5}, {12, 3, 4}));
  EXPECT_FALSE(IsSameProcess({12, 2, 4}, {12, 3, 4}));
  EXPECT_FALSE(IsSameProcess({13, 3, 4}, {12, 3, 4}));
}

TEST(ProcessTable, KnowsWhatIsMapped) {
  EXPECT_TRUE(MapsFile(::getpid(), "/record_test"));
  EXPECT_FALSE(MapsFile(::getpid(), "/no-such-file-of-oplens"));
  EXPECT_FALSE(MapsFile(-1, "/record_test")) << "no such process";
}

}  // namespace
}  // namespace oplens::record::process_table_test
