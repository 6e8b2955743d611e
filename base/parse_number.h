#ifndef OPLENS_BASE_PARSE_NUMBER_H_
#define OPLENS_BASE_PARSE_NUMBER_H_

#include <charconv>
#include <string_view>
#include <system_error>

namespace oplens {

/// Sets `*number` to the number that `text` is, from its first character to its last, as
/// std::from_chars reads it. False, and `*number` as it was, where `text` is none or does not fit.
template <typename Number>
bool ParseNumber(std::string_view text, Number* number) {
  Number parsed{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, parsed);
  if (error != std::errc() || stop != end) return false;
  *number = parsed;
  return true;
}

}  // namespace oplens

#endif  // OPLENS_BASE_PARSE_NUMBER_H_
