#include "base/append_format.h"

#include <fmt/format.h>

#include <iterator>

namespace oplens {

void AppendFormatted(std::string* out, fmt::string_view format, fmt::format_args args) {
  fmt::vformat_to(std::back_inserter(*out), format, args);
}

void AppendInteger(int64_t value, std::string* out) {
  const fmt::format_int digits(value);
  out->append(digits.data(), digits.size());
}

}  // namespace oplens
