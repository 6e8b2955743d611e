#include "prof/where/quantity.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <system_error>

#include "base/shown_text.h"

namespace oplens::prof {
namespace {

struct Unit {
  std::string_view word;
  std::string_view of;  // Unit of the fields that accept it; "": any.
  int64_t factor;
};
constexpr Unit kUnits[] = {
    {"ns", "ns", 1},
    {"us", "ns", 1'000},
    {"ms", "ns", 1'000'000},
    {"s", "ns", 1'000'000'000},
    {"B", "B", 1},
    {"kB", "B", 1'000},
    {"MB", "B", 1'000'000},
    {"GB", "B", 1'000'000'000},
    {"KiB", "B", int64_t{1} << 10},
    {"MiB", "B", int64_t{1} << 20},
    {"GiB", "B", int64_t{1} << 30},
    {"%", "%", 1},
    {"k", "", 1'000},
    {"M", "", 1'000'000},
    {"G", "", 1'000'000'000},
    {"T", "", 1'000'000'000'000},
};

std::string UnitsOf(std::string_view unit) {
  std::string words;
  for (const Unit& known : kUnits) {
    if (known.of.empty() || known.of == unit) {
      words.append(words.empty() ? "" : " ").append(known.word);
    }
  }
  return words;
}

/// Rounds a product that is whole up to rounding errors: 2.3us are 2300 ns.
std::optional<int64_t> QuantityWholeOf(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  const double nearest = std::nearbyint(value);
  if (!(std::abs(nearest) <= kExact) || std::abs(value - nearest) > 1e-12 * std::abs(nearest)) {
    return std::nullopt;
  }
  return static_cast<int64_t>(nearest);
}

}  // namespace

std::partial_ordering Quantity::Compare(int64_t number) const {
  if (whole) return number <=> *whole;
  return static_cast<double>(number) <=> value;
}

std::partial_ordering Quantity::Compare(double number) const { return number <=> value; }

std::optional<Quantity> ReadQuantity(std::string_view text, std::string_view unit,
                                     std::string* wrong) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const bool starts = !text.empty() && (text[0] == '-' || text[0] == '.' ||
                                        std::isdigit(static_cast<unsigned char>(text[0])) != 0);
  Quantity read;
  const auto [stop, problem] = std::from_chars(begin, end, read.value);
  // from_chars accepts "-inf" and "-nan".
  if (!starts || problem != std::errc() || !std::isfinite(read.value)) {
    *wrong = fmt::format("'{}' is no number", ShownText(text));
    return std::nullopt;
  }
  int64_t digits = 0;
  const auto whole = std::from_chars(begin, end, digits);
  const bool exact = whole.ec == std::errc() && whole.ptr == stop;
  const std::string_view word(stop, static_cast<size_t>(end - stop));
  int64_t factor = 1;
  if (!word.empty()) {
    const Unit* known = nullptr;
    for (const Unit& entry : kUnits) {
      if (entry.word == word && (entry.of.empty() || entry.of == unit)) known = &entry;
    }
    if (known == nullptr) {
      *wrong = fmt::format("'{}' is no unit of it: give one of {}, or none for its own{}",
                           ShownText(word), UnitsOf(unit),
                           unit.empty() ? "" : fmt::format(" ({})", unit));
      return std::nullopt;
    }
    factor = known->factor;
  }
  int64_t product = 0;
  if (exact && !__builtin_mul_overflow(digits, factor, &product)) {
    read.whole = product;
    read.value = static_cast<double>(product);
    return read;
  }
  read.value *= static_cast<double>(factor);
  read.whole = QuantityWholeOf(read.value);
  if (read.whole) read.value = static_cast<double>(*read.whole);
  return read;
}

}  // namespace oplens::prof
