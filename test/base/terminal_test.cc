#include "base/terminal.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace oplens::terminal_test {
namespace {

/// A terminal that says it has `columns` and 30 lines, with an environment of its own.
class TerminalTest : public testing::Test {
 protected:
  TerminalTest() {
    for (const char* const name : {"COLUMNS", "LINES", "NO_COLOR"}) ::unsetenv(name);
    ::setenv("TERM", "xterm", 1);
  }
  ~TerminalTest() override {
    for (const int fd : ends_) ::close(fd);
  }

  Terminal Open(int columns) {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = 30;
    EXPECT_EQ(::openpty(&ends_[0], &ends_[1], nullptr, nullptr, &size), 0);
    return TerminalAt(ends_[1]);
  }

 private:
  std::array<int, 2> ends_ = {-1, -1};
};

TEST_F(TerminalTest, TellsItsSize) {
  const Terminal terminal = Open(133);
  EXPECT_TRUE(terminal.is_terminal);
  EXPECT_EQ(terminal.columns, 133);
  EXPECT_EQ(terminal.rows, 30);
  EXPECT_TRUE(terminal.takes_colours);
}

TEST_F(TerminalTest, HasAWidthWhereItTellsNone) { EXPECT_EQ(Open(0).columns, 80); }

TEST_F(TerminalTest, FollowsTheEnvironment) {
  ::setenv("COLUMNS", "60", 1);
  EXPECT_EQ(Open(133).columns, 60);
  for (const char* const bad : {"", "0", "-3", "60x", "99999999999"}) {
    ::setenv("COLUMNS", bad, 1);
    EXPECT_EQ(Open(133).columns, 133) << bad;
  }
}

TEST_F(TerminalTest, TakesNoColoursWhereToldSo) {
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(Open(80).takes_colours);
  ::setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(Open(80).takes_colours);
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(Open(80).takes_colours);
}

TEST_F(TerminalTest, IsNoPipe) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const Terminal terminal = TerminalAt(ends[1]);
  for (const int fd : ends) ::close(fd);
  EXPECT_FALSE(terminal.is_terminal);
  EXPECT_FALSE(terminal.takes_colours);
  EXPECT_FALSE(TerminalAt(-1).is_terminal);
}

}  // namespace
}  // namespace oplens::terminal_test
