#ifndef OPLENS_BASE_APPEND_FORMAT_H_
#define OPLENS_BASE_APPEND_FORMAT_H_

#include <fmt/core.h>

#include <cstdint>
#include <string>

namespace oplens {

/// AppendFormat behind the check of its format string.
void AppendFormatted(std::string* out, fmt::string_view format, fmt::format_args args);

/// fmt::format_to for the end of a string. That one compiles all of fmt's formatting into each file
/// that calls it (some two seconds); this one stands in one.
template <typename... T>
void AppendFormat(std::string* out, fmt::format_string<T...> format, T&&... args) {
  AppendFormatted(out, format, fmt::make_format_args(args...));
}

/// Appends the digits of a number.
void AppendInteger(int64_t value, std::string* out);

}  // namespace oplens

#endif  // OPLENS_BASE_APPEND_FORMAT_H_
