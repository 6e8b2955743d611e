#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace oplens::utf8_test {
namespace {

std::string Appended(std::string_view text, Utf8Hidden hidden = Utf8Hidden::kNothing) {
  std::string out = ">";
  AppendUtf8(text, hidden, &out);
  return out.substr(1);
}

TEST(Utf8Test, LengthOfSequences) {
  EXPECT_EQ(Utf8Length("a", 0), 1u);
  EXPECT_EQ(Utf8Length("a\xc3\xa9", 1), 2u);
  EXPECT_EQ(Utf8Length("\xe2\x82\xac", 0), 3u);
  EXPECT_EQ(Utf8Length("\xf0\x9f\x98\x80", 0), 4u);
  EXPECT_EQ(Utf8Length("\xf4\x8f\xbf\xbf", 0), 4u);
  for (const char* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xe0\x9f\xbf", "\xed\xa0\x80",
                          "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    EXPECT_EQ(Utf8Length(bad, 0), 0u);
  }
}

TEST(Utf8Test, WhatIsNoUtf8IsReplaced) {
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(Appended("plain \t\x7f"), "plain \t\x7f");
  EXPECT_EQ(Appended("\xc3\xa9\xff"
                     "a"),
            "\xc3\xa9" + bad + "a");
  EXPECT_EQ(Appended("\xe2\x82"
                     "a"),
            bad + "a")
      << "one for the beginning of a sequence";
  EXPECT_EQ(Appended("\xed\xa0\x80"), bad + bad + bad) << "a surrogate begins nothing";
  EXPECT_EQ(Appended("\xf0\x9f\x98"), bad);
}

TEST(Utf8Test, HidesControlsAndBlanks) {
  const std::string_view text(
      "a \n\0\x7f\xc2\x80\xc2\x9f\xc2\xa0\xe2\x80\x80\xe2\x80\x8a\xe2\x80\x8b", 20);
  EXPECT_EQ(Appended(text, Utf8Hidden::kControls),
            "a _____\xc2\xa0\xe2\x80\x80\xe2\x80\x8a\xe2\x80\x8b");
  EXPECT_EQ(Appended(text, Utf8Hidden::kControlsAndBlanks), "a_________\xe2\x80\x8b");
  EXPECT_EQ(Appended("a b", Utf8Hidden::kControlsAndBlanks), "a_b");
}

TEST(Utf8Test, HidesWhatTurnsTheDirectionOfWriting) {
  const std::string text = "a\u061c\u200e\u200f\u202a\u202e\u2066\u2069b\u2067";
  EXPECT_EQ(Appended(text, Utf8Hidden::kControls), "a_______b_");
  EXPECT_EQ(Appended(text), text);
  EXPECT_EQ(Appended("\u0647\u05d0", Utf8Hidden::kControls), "\u0647\u05d0");
}

TEST(Utf8Test, AnyByteAtAnyPlace) {
  for (const auto hidden :
       {Utf8Hidden::kNothing, Utf8Hidden::kControls, Utf8Hidden::kControlsAndBlanks}) {
    for (size_t size = 1; size < 20; ++size) {
      for (size_t place = 0; place < size; ++place) {
        for (int byte = 0; byte < 256; ++byte) {
          std::string text(size, 'x');
          text[place] = static_cast<char>(byte);
          const bool control = byte < 0x20 || byte == 0x7F;
          const bool shows = hidden == Utf8Hidden::kNothing || !control;
          const bool hides = !shows || (byte == ' ' && hidden == Utf8Hidden::kControlsAndBlanks);
          const std::string expected = text.substr(0, place) +
                                       (byte > 0x7F ? "\xEF\xBF\xBD"
                                        : hides     ? "_"
                                                    : text.substr(place, 1)) +
                                       text.substr(place + 1);
          std::string out;
          AppendUtf8(text, hidden, &out);
          ASSERT_EQ(out, expected) << size << " " << place << " " << byte;
        }
      }
    }
  }
}

TEST(Utf8Test, LineTextIsOneLine) {
  EXPECT_EQ(LineText("a\nb\r\x1b[2J\u202e\u009b\xff\u00e9"), "a_b__[2J__\ufffd\u00e9");
}

}  // namespace
}  // namespace oplens::utf8_test
