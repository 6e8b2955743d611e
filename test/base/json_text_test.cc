#include "base/json_text.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace oplens {
namespace {

TEST(AppendJsonString, EscapesOneByteWhereverItIs) {
  struct {
    std::string_view byte, escaped;
  } const kCases[] = {
      {"b", "b"},          {"\"", "\\\""},   {"\\", "\\\\"},           {"\n", "\\n"},
      {"\x1F", "\\u001f"}, {"\x7F", "\x7F"}, {"\xC3\xA4", "\xC3\xA4"}, {"'", "'"}};
  for (const auto& [byte, escaped] : kCases) {
    for (size_t size = 0; size < 40; ++size) {
      for (size_t at = 0; at <= size; ++at) {
        std::string text(size, 'a');
        text.insert(at, byte);
        std::string expected(size, 'a');
        expected.insert(at, escaped);
        std::string found = "before";
        AppendJsonString(text, &found);
        EXPECT_EQ(found, "before\"" + expected + "\"");
      }
    }
  }
}

TEST(AppendJsonString, EmptyText) {
  std::string found;
  AppendJsonString("", &found);
  EXPECT_EQ(found, "\"\"");
}

}  // namespace
}  // namespace oplens
