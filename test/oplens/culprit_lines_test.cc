#include "oplens/culprit_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace oplens::screen::culprit_lines_test {
namespace {

CulpritFact Slow(const std::string& who, bool tested) {
  return {who, "slow op", "mm +20 %", "since step 8", 1.9e6, 7.5, tested};
}

TEST(CulpritLinesTest, NobodyIsNoBlock) { EXPECT_TRUE(CulpritLines({}, 100, 3).empty()); }

TEST(CulpritLinesTest, ARowSaysWhoWhatAndCost) {
  const Section lines = CulpritLines({Slow("rank 3", true)}, 100, 3);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].text, "What slows the run down");
  EXPECT_EQ(lines[1].text, "  rank 3  1.90 ms a step (7.5 %)  slow op; mm +20 %; since step 8");
}

TEST(CulpritLinesTest, TheTitleSaysHowFarItIsKnown) {
  const Section untested = CulpritLines({Slow("rank 3", false)}, 100, 3);
  EXPECT_EQ(untested[0].text, "What slows the run down (too few steps for a test)");
  CulpritFact missing;
  missing.who = "rank 5";
  missing.cause = "missing";
  const Section files = CulpritLines({missing}, 100, 3);
  EXPECT_EQ(files[0].text, "These files are not one whole run");
  EXPECT_EQ(files[1].text, "  rank 5  missing");
}

TEST(CulpritLinesTest, MoreThanFitAreSaidToBeThere) {
  const std::vector<CulpritFact> many(5, Slow("rank 3", true));
  const Section lines = CulpritLines(many, 40, 3);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_LE(lines[1].text.size(), 40U);
  EXPECT_EQ(lines[3].text, "  more: prof --view culprits");
}

}  // namespace
}  // namespace oplens::screen::culprit_lines_test
