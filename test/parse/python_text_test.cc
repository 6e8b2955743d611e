#include "parse/model/python_text.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace oplens {
namespace {

/// By both of its forms, which must write the same.
std::string Repr(std::string_view text) {
  std::string out = "before";
  AppendPythonString(text, &out);
  std::string large = "before";
  {
    TextEnd end(&large, 3);
    AppendPythonString(text, &end);
  }
  EXPECT_EQ(large, out);
  return out.substr(6);
}

// As Python's repr(), except that a byte that is no UTF-8 becomes a surrogate.
TEST(AppendPythonString, EscapesOneCharacterWhereverItIs) {
  struct {
    std::string_view character, escaped, quote;
  } const kCases[] = {{"b", "b", "'"},
                      {"\"", "\"", "'"},
                      {"'", "'", "\""},
                      {"\\", "\\\\", "'"},
                      {"\n", "\\n", "'"},
                      {"\x01", "\\x01", "'"},
                      {"\x7F", "\\x7f", "'"},
                      {"\xC3\xA4", "\xC3\xA4", "'"},
                      {"\xC2\x85", "\\x85", "'"},
                      {"\xE2\x80\xA8", "\\u2028", "'"},
                      {"\xFF", "\\udcff", "'"}};
  for (const auto& [character, escaped, quote] : kCases) {
    for (size_t size = 0; size < 40; ++size) {
      for (size_t at = 0; at <= size; ++at) {
        std::string text(size, 'a');
        text.insert(at, character);
        std::string expected(size, 'a');
        expected.insert(at, escaped);
        EXPECT_EQ(Repr(text), std::string(quote) + expected + std::string(quote));
      }
    }
  }
}

TEST(AppendPythonString, Quotes) {
  EXPECT_EQ(Repr(""), "''");
  EXPECT_EQ(Repr("it's"), "\"it's\"");
  EXPECT_EQ(Repr("\"it's\""), "'\"it\\'s\"'");
}

TEST(AppendPythonInt, WritesAllNumbersWhateverRoomIsThere) {
  for (const int64_t value : {int64_t{0}, int64_t{-7}, INT64_MAX, INT64_MIN}) {
    for (size_t room = 0; room < 24; ++room) {
      std::string out = "=";
      {
        TextEnd end(&out, room);
        AppendPythonInt(value, &end);
        end.push_back(';');
        end.append("");
        EXPECT_EQ(end.size(), 2 + std::to_string(value).size());
      }
      EXPECT_EQ(out, "=" + std::to_string(value) + ";");
    }
  }
}

}  // namespace
}  // namespace oplens
