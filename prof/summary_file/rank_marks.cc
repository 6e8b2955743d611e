#include "prof/summary_file/rank_marks.h"

#include <fmt/format.h>

#include <charconv>

namespace oplens::prof {
namespace {

// No text of a profile begins so: what is not printable stands in none of their names.
constexpr std::string_view kBegin = "\x01rank ";
constexpr char kEnd = '\x02';

}  // namespace

std::string RankMark(size_t place) { return fmt::format("{}{}{}", kBegin, place, kEnd); }

std::string WithRankNames(std::string_view text, std::span<const std::string> names) {
  std::string named;
  for (size_t at = 0; (at = text.find(kBegin)) != text.npos;) {
    const std::string_view behind = text.substr(at + kBegin.size());
    size_t place = names.size();
    const auto [end, error] = std::from_chars(behind.data(), behind.data() + behind.size(), place);
    const auto digits = static_cast<size_t>(end - behind.data());
    const bool known = error == std::errc() && digits < behind.size() && behind[digits] == kEnd &&
                       place < names.size();
    named += text.substr(0, known ? at : at + kBegin.size());
    if (known) named += names[place];
    text = known ? behind.substr(digits + 1) : behind;
  }
  return named.append(text);
}

}  // namespace oplens::prof
