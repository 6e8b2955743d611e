#include "parse/model/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace oplens::messages_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string Long(const std::string& word) {
  std::string text = word;
  while (text.size() < 150) text += " and " + word;
  return text;
}

TEST(MessagesTest, NothingToSayIsNothing) {
  EXPECT_EQ(Messages("prof").Short(), "");
  EXPECT_EQ(Messages("prof").Whole(), "");
}

TEST(MessagesTest, TheMostImportantComesFirst) {
  Messages messages("prof");
  messages.Advise("mend little", 1);
  messages.Advise("mend much", 50);
  messages.Tell("a figure");
  messages.Tell("another");
  messages.Need("a need");
  messages.losses()->Count(Reason::kUnknownOp, "op");
  messages.losses()->Count(Reason::kBadLine, "line 3");
  messages.losses()->Count(Reason::kUntimed);
  messages.Head("wrote it");
  EXPECT_THAT(
      LinesOf(messages.Short()),
      ElementsAre("prof: wrote it", "prof: damaged or lost: untimed 1, bad-line 1", "prof: a need",
                  "prof: a figure; another", "prof: mend much", "prof: more with -v"));
  EXPECT_THAT(messages.Sentences(),
              ElementsAre("wrote it", "a need", "a figure", "another", "mend much", "mend little",
                          StartsWith("1 kernels without a time"), StartsWith("1 lines that"),
                          StartsWith("1 kernels of ops")));
}

TEST(MessagesTest, OneCountHasItsSentence) {
  Messages messages("parse");
  messages.losses()->CountMany(Reason::kNoLaunchCall, 7);
  messages.losses()->CountMany(Reason::kOpenRange, 2);
  EXPECT_THAT(LinesOf(messages.Short()),
              ElementsAre("parse: damaged or lost: kernels whose launch call is not in the file: 7 "
                          "[no-launch]",
                          "parse: also: ranges that were never closed; they give no op unless "
                          "--keep-open: 2 [open-range]"));
}

TEST(MessagesTest, AdviceAboutNextToNothingIsForWhoAsks) {
  Messages messages("prof");
  messages.Advise("mend it", 0.04);
  messages.Advise("mend that", 0.05);
  EXPECT_EQ(messages.Short(), "prof: mend that\n");
  EXPECT_EQ(messages.Whole(), "prof: mend that\nprof: mend it\n");
}

TEST(MessagesTest, LinesFitWhateverIsSaid) {
  for (size_t notes = 0; notes < 12; ++notes) {
    Messages messages("report");
    for (size_t i = 0; i < notes; ++i) {
      messages.losses()->Note(Long("loss" + std::to_string(i)));
      messages.Need(std::string(250, 'x') + std::to_string(i));
      messages.Tell(Long("fact" + std::to_string(i)));
      messages.Advise(Long("advice" + std::to_string(i)), 10);
    }
    messages.losses()->Count(Reason::kBadLine);
    messages.losses()->Count(Reason::kUntimed);
    const std::vector<std::string> lines = LinesOf(messages.Short());
    EXPECT_LE(lines.size(), Messages::kMostLines);
    for (const std::string& line : lines) {
      EXPECT_LE(line.size(), Messages::kLineBytes);
      EXPECT_THAT(line, StartsWith("report: "));
    }
    // Losses are never left out.
    EXPECT_THAT(lines.front(), StartsWith("report: damaged or lost: untimed 1, bad-line 1"));
    if (notes > 1) {
      EXPECT_EQ(lines.back(), "report: more with -v");
    }
  }
}

TEST(MessagesTest, RepeatsAreSaidOnce) {
  Messages messages("prof");
  messages.Need("the same");
  messages.Need("the same");
  EXPECT_THAT(LinesOf(messages.Short()), SizeIs(1));
  EXPECT_THAT(messages.Short(), Not(HasSubstr(";")));
}

}  // namespace
}  // namespace oplens::messages_test
