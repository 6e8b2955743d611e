// Hostile texts in Markdown: what a cell, a heading or a list item makes of them.

#include "base/markdown.h"

#include <gtest/gtest.h>

#include <string>

namespace oplens::markdown_test {
namespace {

std::string Code(std::string_view name) {
  std::string out;
  AppendMarkdownCode(name, &out);
  return out;
}

std::string Text(std::string_view text) {
  std::string out;
  AppendMarkdownText(text, &out);
  return out;
}

TEST(MarkdownTest, CodeEndsWhereTheNameEnds) {
  EXPECT_EQ(Code("gemm<float, 4>"), "`gemm<float, 4>`");
  EXPECT_EQ(Code("a`b"), "``a`b``");
  EXPECT_EQ(Code("`"), "`` ` ``");
  EXPECT_EQ(Code("a```"), "```` a``` ````");
  EXPECT_EQ(Code(" x "), "`  x  `");
  EXPECT_EQ(Code(""), "");
}

TEST(MarkdownTest, CodeEndsNoCellAndNoLine) {
  EXPECT_EQ(Code("a|b"), "`a\\|b`");
  EXPECT_EQ(Code("a\\|b"), "`a\\\\|b`");
  EXPECT_EQ(Code("a\nb\r\x1b[1m"), "`a_b__[1m`");
  EXPECT_EQ(Code("a\xff"), "`a\xEF\xBF\xBD`");
}

TEST(MarkdownTest, TextIsNoMarkup) {
  EXPECT_EQ(Text("conv 92.4 %, layer_norm"), "conv 92.4 %, layer_norm");
  EXPECT_EQ(Text("<img src=x>"), "\\<img src=x\\>");
  EXPECT_EQ(Text("[a](b) *c* _d_ `e` ~f~ &lt; $g$ |h|"),
            "\\[a\\](b) \\*c\\* \\_d\\_ \\`e\\` \\~f\\~ \\&lt; \\$g\\$ \\|h\\|");
  EXPECT_EQ(Text("a\\"), "a\\\\");
  EXPECT_EQ(Text("a\nb"), "a_b");
}

TEST(MarkdownTest, TextStartsNoBlock) {
  EXPECT_EQ(Text("# a"), "\\#<!-- --> a");
  EXPECT_EQ(Text("- a"), "\\- a");
  EXPECT_EQ(Text("+ a - b"), "\\+ a - b");
  EXPECT_EQ(Text("12. a"), "12\\. a");
  EXPECT_EQ(Text("12.5"), "12.5");
  EXPECT_EQ(Text("> a"), "\\> a");
  EXPECT_EQ(Text("==="), "\\===");
}

TEST(MarkdownTest, TextIsNoLinkAndNoMention) {
  EXPECT_EQ(Text("ask @someone"), "ask @<!-- -->someone");
  EXPECT_EQ(Text("a@b.com"), "a@<!-- -->b.com");
  EXPECT_EQ(Text("fixes #12"), "fixes \\#<!-- -->12");
  EXPECT_EQ(Text("GH-12"), "GH-<!-- -->12");
  EXPECT_EQ(Text("http://a.b"), "http:<!-- -->//a.b");
  EXPECT_EQ(Text("WWW.a.b"), "W<!-- -->WW.a.b");
  EXPECT_EQ(Text("at::native"), "at::native");
}

TEST(MarkdownTest, BlockIsLongerThanWhatItHolds) {
  std::string out;
  AppendMarkdownBlock("a\n```\nb\x1b", &out);
  EXPECT_EQ(out, "````text\na\n```\nb_\n````\n");
}

}  // namespace
}  // namespace oplens::markdown_test
