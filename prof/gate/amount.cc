#include "prof/gate/amount.h"

#include <fmt/format.h>

#include <cmath>

namespace oplens::prof {
namespace {

struct Scale {
  std::string_view unit;  // Of the figure.
  double from;            // So large a value is printed in
  std::string_view word;  // this unit,
  double factor;          // which is so much of the figure's.
};
constexpr Scale kScales[] = {
    {"ns", 1e9, "s", 1e9},          {"ns", 1e6, "ms", 1e6},
    {"ns", 1e3, "us", 1e3},         {"B", 1073741824, "GiB", 1073741824},
    {"B", 1048576, "MiB", 1048576}, {"B", 1024, "KiB", 1024},
};

/// At most three decimals, without zeros at the end.
std::string Digits(double value) {
  std::string text = fmt::format("{:.3f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace

std::string AmountText(double value, std::string_view unit) {
  for (const Scale& scale : kScales) {
    if (scale.unit == unit && std::abs(value) >= scale.from) {
      return fmt::format("{:.3f} {}", value / scale.factor, scale.word);
    }
  }
  return unit.empty() ? Digits(value) : fmt::format("{} {}", Digits(value), unit);
}

std::string ChangeText(double value, std::string_view unit) {
  const std::string text = AmountText(value, unit);
  return value > 0 ? "+" + text : text;
}

}  // namespace oplens::prof
