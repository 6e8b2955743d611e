#include "base/text_scanner.h"

#include <gtest/gtest.h>

#include <string>

#include "base/ascii.h"

namespace oplens::text_scanner_test {
namespace {

TEST(TextScannerTest, TakesWordsAndCharacters) {
  TextScanner scan(" \t\n\rname_1 >= 5");
  scan.SkipBlanks();
  EXPECT_EQ(scan.place(), 4u);
  EXPECT_EQ(scan.TakeWhile(IsNameCharacter), "name_1");
  EXPECT_FALSE(scan.Take('>')) << "a blank is next";
  scan.SkipBlanks();
  EXPECT_FALSE(scan.Take("=="));
  EXPECT_TRUE(scan.Take(">="));
  scan.SkipBlanks();
  EXPECT_EQ(scan.rest(), "5");
  EXPECT_EQ(scan.Next(), '5');
  EXPECT_TRUE(scan.AtEnd());
}

TEST(TextScannerTest, NothingIsTakenAtTheEnd) {
  TextScanner scan("a");
  scan.MoveTo(1);
  EXPECT_EQ(scan.Peek(), '\0');
  EXPECT_FALSE(scan.Take('\0'));
  EXPECT_FALSE(scan.Take('a'));
  EXPECT_TRUE(scan.TakeWhile(IsLetter).empty());
  EXPECT_TRUE(TextScanner().AtEnd());
}

TEST(TextScannerTest, ANulIsACharacter) {
  const std::string text("\0b", 2);
  TextScanner scan(text);
  EXPECT_FALSE(scan.AtEnd());
  EXPECT_TRUE(scan.Take('\0'));
  EXPECT_TRUE(scan.Take('b'));
}

TEST(AsciiTest, BytesBeyondAreNone) {
  for (int i = 0; i < 256; ++i) {
    const char c = static_cast<char>(i);
    const bool ascii = i < 128;
    EXPECT_EQ(IsLetter(c), ascii && ((i >= 65 && i <= 90) || (i >= 97 && i <= 122))) << i;
    EXPECT_EQ(IsDigit(c), i >= 48 && i <= 57) << i;
    EXPECT_EQ(IsBlank(c), i == 32 || i == 9 || i == 10 || i == 13) << i;
    EXPECT_EQ(IsNameCharacter(c), IsLetter(c) || IsDigit(c) || i == 95) << i;
  }
  EXPECT_EQ(ToLowerText("aZ_09\xC4"), "az_09\xC4");
}

}  // namespace
}  // namespace oplens::text_scanner_test
