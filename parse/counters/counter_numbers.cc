#include "parse/counters/counter_numbers.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/parse_number.h"

namespace oplens::parse {
namespace {

bool IsNumberDigit(char c) { return c >= '0' && c <= '9'; }

/// The digits of a group.
constexpr size_t kGroupDigits = 3;

/// Signs that split groups in some locales, in UTF-8: an apostrophe, a no-break blank, a narrow
/// one.
constexpr std::string_view kOtherGroupSigns[] = {"'", " ", "\xc2\xa0", "\xe2\x80\xaf",
                                                 "\xe2\x80\x99"};

/// Whether three digits follow, and no fourth.
bool BeginsGroup(std::string_view text) {
  const auto digits = std::find_if_not(text.begin(), text.end(), IsNumberDigit);
  return digits - text.begin() == static_cast<ptrdiff_t>(kGroupDigits);
}

std::string WithoutOtherGroups(std::string_view cell) {
  std::string text;
  while (!cell.empty()) {
    const auto* sign =
        std::find_if(std::begin(kOtherGroupSigns), std::end(kOtherGroupSigns),
                     [&](std::string_view candidate) { return cell.starts_with(candidate); });
    if (sign != std::end(kOtherGroupSigns) && !text.empty() && IsNumberDigit(text.back()) &&
        BeginsGroup(cell.substr(sign->size()))) {
      cell.remove_prefix(sign->size());
      continue;
    }
    text.push_back(cell.front());
    cell.remove_prefix(1);
  }
  return text;
}

/// Whether groups of digits are of one to three, then three each.
bool IsGrouped(std::string_view digits, char group) {
  size_t run = 0;
  bool first = true;
  for (const char c : digits) {
    if (c != group) {
      ++run;
      continue;
    }
    if (first ? run < 1 || run > kGroupDigits : run != kGroupDigits) return false;
    first = false;
    run = 0;
  }
  return first || run == kGroupDigits;
}

}  // namespace

void NumberStyleFinder::Look(std::string_view cell) {
  size_t points = 0;
  size_t commas = 0;
  for (const char c : cell) {
    points += c == '.' ? 1 : 0;
    commas += c == ',' ? 1 : 0;
    if (!IsNumberDigit(c) && c != '.' && c != ',' && c != '-') return;
  }
  if (points + commas == 0 || cell.empty()) return;
  const size_t last = cell.find_last_of(".,");
  char decimal = 0;
  if (points > 0 && commas > 0) {
    decimal = cell[last];
  } else if (points + commas > 1) {
    decimal = points > 0 ? ',' : '.';  // Only groups stand several times.
  } else if (cell.size() - last - 1 != kGroupDigits || last > kGroupDigits ||
             cell.starts_with('0')) {
    decimal = cell[last];
  }
  if (decimal == '.') ++point_;
  if (decimal == ',') ++comma_;
}

std::optional<double> ParseLocalNumber(std::string_view cell, NumberStyle style) {
  const char decimal = style == NumberStyle::kPoint ? '.' : ',';
  const char group = style == NumberStyle::kPoint ? ',' : '.';
  std::string text = WithoutOtherGroups(cell);
  const size_t sign = text.starts_with('-') ? 1 : 0;
  const size_t end = std::min(text.find_first_not_of("0123456789.,", sign), text.size());
  const size_t point = std::min(text.find(decimal, sign), end);
  const std::string_view whole = std::string_view(text).substr(sign, point - sign);
  if (whole.find(decimal) != std::string_view::npos || !IsGrouped(whole, group)) {
    return std::nullopt;
  }
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == group) {
      if (i > point) return std::nullopt;
      continue;
    }
    plain.push_back(i == point && i < end ? '.' : text[i]);
  }
  double number = 0;
  if (!ParseNumber(plain, &number) || !(number > -1e300 && number < 1e300)) return std::nullopt;
  return number;
}

std::optional<double> UnitFactor(std::string_view unit) {
  constexpr std::pair<std::string_view, double> kTimes[] = {
      {"nsecond", 1},   {"ns", 1},   {"usecond", 1e3}, {"us", 1e3},
      {"msecond", 1e6}, {"ms", 1e6}, {"second", 1e9},  {"s", 1e9},
  };
  constexpr std::pair<std::string_view, double> kScales[] = {
      {"Ki", 1024}, {"Mi", 1048576}, {"Gi", 1073741824}, {"Ti", 1099511627776},
      {"K", 1e3},   {"M", 1e6},      {"G", 1e9},         {"T", 1e12},
      {"", 1},
  };
  constexpr std::string_view kBases[] = {"byte", "B", "inst", "sector", "%", "", "block", "thread"};
  for (const auto& [word, factor] : kTimes) {
    if (unit == word) return factor;
  }
  for (const auto& [prefix, factor] : kScales) {
    if (!unit.starts_with(prefix)) continue;
    const std::string_view base = unit.substr(prefix.size());
    if (std::find(std::begin(kBases), std::end(kBases), base) != std::end(kBases)) return factor;
  }
  return std::nullopt;
}

}  // namespace oplens::parse
