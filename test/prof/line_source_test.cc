#include "prof/input/line_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "test/support/test_files.h"

namespace oplens::prof::line_source_test {
namespace {

using test::TestDir;
using test::WriteFile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> LinesOf(const std::string& content) {
  const auto path = TestDir() / "lines.txt";
  WriteFile(path, content);
  LineSource source(path.string());
  std::vector<std::string> lines;
  for (std::string_view line; source.Next(&line);) lines.emplace_back(line);
  return lines;
}

TEST(LineSourceTest, LineEnds) {
  EXPECT_THAT(LinesOf(""), IsEmpty());
  EXPECT_THAT(LinesOf("\n"), ElementsAre(""));
  EXPECT_THAT(LinesOf("a\nb\n"), ElementsAre("a", "b"));
  EXPECT_THAT(LinesOf("a\nb"), ElementsAre("a", "b")) << "the last newline may be missing";
  EXPECT_THAT(LinesOf("a\r\n\r\nb\r"), ElementsAre("a", "", "b"));
  EXPECT_THAT(LinesOf(std::string("a\0b\nc", 5)), ElementsAre(std::string("a\0b", 3), "c"));
}

TEST(LineSourceTest, LeavesOutTheByteOrderMark) {
  EXPECT_THAT(LinesOf("\xef\xbb\xbf{}\n"), ElementsAre("{}"));
  EXPECT_THAT(LinesOf("a\n\xef\xbb\xbf{}\n"), ElementsAre("a", "\xef\xbb\xbf{}"));
}

// Lines of every size around the size of the buffer, so that each break of a read is met.
TEST(LineSourceTest, LinesOfAnyLength) {
  std::vector<std::string> expected;
  std::string content;
  for (size_t size : {1u, 262143u, 262144u, 262145u, 0u, 524287u, 524288u, 524289u, 3000000u, 5u}) {
    expected.push_back(std::string(size, static_cast<char>('a' + expected.size())));
    content += expected.back() + "\n";
  }
  EXPECT_EQ(LinesOf(content), expected);
}

TEST(LineSourceTest, AnEndlessLineIsCutAndTheNextOneIsRead) {
  const auto path = TestDir() / "long.txt";
  WriteFile(path, std::string(LineSource::kMaxLineBytes + 1000000, 'x') + "\nnext\n");
  LineSource source(path.string());
  std::string_view line;
  ASSERT_TRUE(source.Next(&line));
  EXPECT_TRUE(source.cut());
  EXPECT_GE(line.size(), LineSource::kMaxLineBytes);
  ASSERT_TRUE(source.Next(&line));
  EXPECT_FALSE(source.cut());
  EXPECT_EQ(line, "next");
  EXPECT_FALSE(source.Next(&line));
}

TEST(LineSourceTest, HeadHoldsTheFirstBytes) {
  const auto path = TestDir() / "head.txt";
  WriteFile(path, "first\nsecond\n");
  LineSource source(path.string());
  std::string_view line;
  source.Next(&line);
  EXPECT_EQ(source.head(), "first\nsecond\n");
  source.Next(&line);
  EXPECT_EQ(source.head(), "first\nsecond\n");
}

std::string OpenError(const std::string& path) {
  try {
    LineSource source(path);
    std::string_view line;
    source.Next(&line);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(LineSourceTest, SaysWhatCannotBeRead) {
  const auto dir = TestDir();
  EXPECT_THAT(OpenError(dir.string()), HasSubstr("Is a directory"));
  EXPECT_THAT(OpenError((dir / "none").string()), HasSubstr("No such file"));
}

}  // namespace
}  // namespace oplens::prof::line_source_test
