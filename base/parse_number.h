#ifndef OPLENS_BASE_PARSE_NUMBER_H_
#define OPLENS_BASE_PARSE_NUMBER_H_

#include <charconv>
#include <string_view>
#include <system_error>

namespace oplens {

/// Parses the whole of `text` as std::from_chars does. Returns false and leaves `*number` unchanged
/// if `text` is not a number or does not fit.
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
