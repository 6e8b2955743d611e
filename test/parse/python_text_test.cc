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

void ExpectInt(int64_t value) {
  std::string out;
  AppendPythonInt(value, &out);
  ASSERT_EQ(out, std::to_string(value));
}

TEST(AppendPythonInt, WritesNumbersOfAllSizes) {
  for (int64_t value = -20'000; value <= 20'000; ++value) ExpectInt(value);
  for (int64_t power = 1; power <= INT64_MAX / 10; power *= 10) {
    for (int64_t by = -3; by <= 3; ++by) {
      ExpectInt(power * 10 + by);
      ExpectInt(-power * 10 + by);
    }
    // All digits alike, and rising.
    for (int64_t digit = 1; digit <= 9; ++digit) ExpectInt((power - 1) / 9 * digit);
    ExpectInt(1'234'567'890'123'456'789 / power);
  }
  uint64_t bits = 1;
  for (int i = 0; i < 100'000; ++i) {
    bits = bits * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
    ExpectInt(static_cast<int64_t>(bits) >> bits % 64);
  }
}

TEST(AppendPythonInt, WritesAllNumbersWhateverRoomIsThere) {
  for (const int64_t value : {int64_t{0}, int64_t{-7}, INT64_MAX, INT64_MIN}) {
    for (size_t room = 0; room < 30; ++room) {
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
