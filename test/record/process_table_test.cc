#include "record/process_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "test/record/running_program.h"

namespace oplens::record {
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

TEST(ProcessTable, KnowsWhatIsMapped) {
  EXPECT_TRUE(MapsFile(::getpid(), "/record_test"));
  EXPECT_FALSE(MapsFile(::getpid(), "/no-such-file-of-oplens"));
  EXPECT_FALSE(MapsFile(-1, "/record_test")) << "no such process";
}

}  // namespace
}  // namespace oplens::record
