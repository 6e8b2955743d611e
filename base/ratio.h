#ifndef OPLENS_BASE_RATIO_H_
#define OPLENS_BASE_RATIO_H_

#include <cstdint>
#include <optional>

namespace oplens {

/// scale * part / whole; nullopt unless `whole` > 0.
constexpr std::optional<double> Ratio(double part, double whole, double scale = 1) {
  if (!(whole > 0)) return std::nullopt;
  return scale * part / whole;
}
constexpr std::optional<double> Ratio(int64_t part, int64_t whole, double scale = 1) {
  return Ratio(static_cast<double>(part), static_cast<double>(whole), scale);
}

/// 100 * part / whole; nullopt unless `whole` > 0.
template <typename Number>
constexpr std::optional<double> Percent(Number part, Number whole) {
  return Ratio(part, whole, 100);
}

}  // namespace oplens

#endif  // OPLENS_BASE_RATIO_H_
