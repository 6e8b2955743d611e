#ifndef OPLENS_BASE_APPEND_FORMAT_H_
#define OPLENS_BASE_APPEND_FORMAT_H_

#include <fmt/core.h>

#include <cstdint>
#include <string>

namespace oplens {

/// The non-template part of AppendFormat, with the format string already checked.
void AppendFormatted(std::string* out, fmt::string_view format, fmt::format_args args);

/// Appends like fmt::format_to, but does not compile all of fmt's formatting into the calling file,
/// which takes about two seconds.
template <typename... T>
void AppendFormat(std::string* out, fmt::format_string<T...> format, T&&... args) {
  AppendFormatted(out, format, fmt::make_format_args(args...));
}

void AppendInteger(int64_t value, std::string* out);

}  // namespace oplens

#endif  // OPLENS_BASE_APPEND_FORMAT_H_
