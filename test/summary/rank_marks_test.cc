#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "prof/input/rank_namer.h"
#include "prof/summary_file/section.h"

namespace oplens::test::rank_marks_test {
namespace {

using prof::RankMark;
using prof::WithRankNames;

TEST(RankMarksTest, NamesStandForMarksAnywhere) {
  const std::vector<std::string> names = {"0", "", "7 (b.json)"};
  EXPECT_EQ(WithRankNames(RankMark(0), names), "0");
  EXPECT_EQ(WithRankNames("rank " + RankMark(2) + ", rank " + RankMark(1), names),
            "rank 7 (b.json), rank ");
  EXPECT_EQ(WithRankNames("no mark", names), "no mark");
  EXPECT_EQ(WithRankNames("", names), "");
}

TEST(RankMarksTest, WhatStandsForNoneStays) {
  const std::vector<std::string> names = {"0"};
  const std::string cut = RankMark(0).substr(0, RankMark(0).size() - 1);
  for (const std::string& text :
       {RankMark(1), RankMark(12'345'678), cut, cut + "x", cut.substr(0, cut.size() - 1),
        std::string("\x01rank -1\x02"), std::string("\x01rank 99999999999999999999\x02")}) {
    EXPECT_EQ(WithRankNames(text, names), text);
    EXPECT_EQ(WithRankNames(text + RankMark(0), names), text + "0");
  }
}

TEST(RankNamerTest, NamesAsOneAfterTheOther) {
  const std::vector<std::optional<int64_t>> three = {3};
  const std::vector<std::optional<int64_t>> none = {std::nullopt};
  prof::RankNamer namer(3);
  EXPECT_EQ(namer.NamesOf(three, "a.json"), std::vector<std::string>{"3"});
  EXPECT_EQ(namer.NamesOf(three, "b.json"), std::vector<std::string>{"3 (b.json)"});
  EXPECT_EQ(namer.NamesOf(none, "c.json"), std::vector<std::string>{"c.json"});
  EXPECT_EQ(prof::RankNamer(1).NamesOf(none, "c.json"), std::vector<std::string>{""});
}

}  // namespace
}  // namespace oplens::test::rank_marks_test
