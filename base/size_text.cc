#include "base/size_text.h"

#include <charconv>
#include <cmath>

#include "base/words.h"

namespace oplens {

std::optional<int64_t> ReadSizeText(std::string_view text) {
  const std::string_view trimmed = Trim(text);
  double number = 0;
  const auto [end, error] = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), number,
                                            std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  std::string_view unit = Trim(trimmed.substr(static_cast<size_t>(end - trimmed.data())));
  if (unit.size() > 1 && (unit.back() == 'B' || unit.back() == 'b')) unit.remove_suffix(1);
  double factor = 0;
  if (unit.empty() || unit == "B") factor = 1;
  if (unit == "k" || unit == "K") factor = 1e3;
  if (unit == "M" || unit == "m") factor = 1e6;
  if (unit == "G" || unit == "g") factor = 1e9;
  constexpr double kMost = 1e15;
  const double bytes = number * factor;
  if (factor == 0 || bytes < 1 || bytes > kMost) return std::nullopt;
  return static_cast<int64_t>(bytes);
}

}  // namespace oplens
