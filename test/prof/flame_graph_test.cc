// Stacks as a picture: it is XML whatever the names are, and bounded.

#include "prof/table/flame_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pugixml.hpp>
#include <string>
#include <vector>

namespace oplens::prof::flame_graph_test {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Frame {
  std::string name;
  std::string tooltip;
  double x = 0;
  double y = 0;
  double width = 0;
};

/// Fails if the picture is no XML.
std::vector<Frame> FramesOf(const std::string& picture) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_buffer(picture.data(), picture.size(), pugi::parse_full);
  EXPECT_TRUE(parsed) << parsed.description() << picture;
  std::vector<Frame> frames;
  for (const pugi::xml_node& frame : document.child("svg").children("svg")) {
    frames.push_back({frame.child("text").text().get(), frame.child("title").text().get(),
                      frame.attribute("x").as_double(), frame.attribute("y").as_double(),
                      frame.attribute("width").as_double()});
  }
  return frames;
}

TEST(FlameGraphTest, AFrameIsAsWideAsItsTimeAndStandsOnItsCaller) {
  const std::vector<Frame> frames =
      FramesOf(FlameGraph("a;b 1000000\na;c 2000000\nd 1000000\n", "t"));
  ASSERT_EQ(frames.size(), 5U);
  EXPECT_EQ(frames[0].tooltip, "all: 4.000 ms, 100.00 %");
  EXPECT_EQ(frames[1].tooltip, "a: 3.000 ms, 75.00 %");
  EXPECT_EQ(frames[2].tooltip, "b: 1.000 ms, 25.00 %");
  EXPECT_EQ(frames[3].name, "c");
  EXPECT_EQ(frames[4].name, "d");
  EXPECT_NEAR(frames[1].width, 0.75 * frames[0].width, 0.01);
  EXPECT_NEAR(frames[3].x, frames[2].x + frames[2].width, 0.02);
  EXPECT_NEAR(frames[4].x, frames[1].x + frames[1].width, 0.02);
  EXPECT_LT(frames[2].y, frames[1].y);
  EXPECT_LT(frames[1].y, frames[0].y);
}

TEST(FlameGraphTest, NamesAreTextWhateverTheyHold) {
  const std::string name = "</text><script>alert(\"1\")</script>&]]>\xff\x1b[1m\xEF\xBF\xBF";
  const std::string picture = FlameGraph(name + " 5\n", "<b>&");
  EXPECT_THAT(picture, Not(HasSubstr("<script")));
  EXPECT_THAT(picture, Not(HasSubstr("\x1b")));
  const std::vector<Frame> frames = FramesOf(picture);
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[1].name, "</text><script>alert(\"1\")</script>&]]>\xEF\xBF\xBD_[1m_");
}

TEST(FlameGraphTest, WhatIsTooSmallIsMergedAndSaid) {
  std::string stacks = "a 1000000000\n";
  for (int i = 0; i < 50; ++i) stacks += "b" + std::to_string(i) + " 1000\n";
  const std::string picture = FlameGraph(stacks, "t");
  EXPECT_EQ(FramesOf(picture).size(), 2U);
  EXPECT_THAT(picture, HasSubstr("; 50 frames below 0.424 ms not drawn, 0.00 %"));
}

TEST(FlameGraphTest, HasABoundedNumberOfFramesAndLevels) {
  std::string stacks;
  for (int i = 0; i < 200; ++i) {
    for (int k = 0; k < 200; ++k) {
      stacks += "a" + std::to_string(1000 + i) + ";b;c;d;e;f" + std::to_string(k) + " 7\n";
    }
  }
  EXPECT_LE(FramesOf(FlameGraph(stacks, "t")).size(), kMostFlameFrames);
  std::string deep = "a";
  for (int i = 0; i < 5000; ++i) deep += ";a";
  const std::string picture = FlameGraph(deep + " 9\n", "t");
  EXPECT_EQ(FramesOf(picture).size(), kMostFlameLevels + 1);
  EXPECT_THAT(picture, HasSubstr("; 1 stack deeper than 256 levels ends there"));
}

TEST(FlameGraphTest, WrongLinesAreCounted) {
  const std::string picture = FlameGraph("a 1\nb\nc -1\nd x\n 4\n\ne 99999999999999999999\n", "t");
  EXPECT_THAT(picture, HasSubstr("; 5 lines are no stacks"));
  EXPECT_EQ(FramesOf(picture).size(), 3U) << "a name may be empty";
  EXPECT_THAT(FlameGraph("", "t"), HasSubstr("no stack took time"));
  EXPECT_EQ(FramesOf(FlameGraph("", "t")).size(), 0U);
}

}  // namespace
}  // namespace oplens::prof::flame_graph_test
