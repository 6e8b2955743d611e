#ifndef OPLENS_PARSE_COUNTERS_COUNTER_NUMBERS_H_
#define OPLENS_PARSE_COUNTERS_COUNTER_NUMBERS_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace oplens::parse {

/// How a machine's locale writes numbers: "1,234.5" or "1.234,5".
enum class NumberStyle : unsigned char { kPoint, kComma };

/// Learns the style of a file from its cells. A single separator in front of three digits (1.234)
/// tells nothing; without evidence the decimal sign is a point.
class NumberStyleFinder {
 public:
  void Look(std::string_view cell);
  NumberStyle style() const { return comma_ > point_ ? NumberStyle::kComma : NumberStyle::kPoint; }

 private:
  int64_t point_ = 0;
  int64_t comma_ = 0;
};

/// A number in this style, digits grouped by three or not; groups may also be split by blanks and
/// apostrophes. nullopt for anything else.
std::optional<double> ParseLocalNumber(std::string_view cell, NumberStyle style);

/// The factor from a unit of ncu to its base unit: bytes, nanoseconds, plain counts ("Mbyte" 1e6,
/// "us" 1e3, "Kinst" 1e3, "%" 1). nullopt if the unit is not known.
std::optional<double> UnitFactor(std::string_view unit);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_COUNTERS_COUNTER_NUMBERS_H_
