#include "prof/run/selection.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/parse_number.h"
#include "base/shown_text.h"

namespace oplens::prof {
namespace {

/// Parses a whole text as a number >= 0; otherwise nullopt.
template <typename Number>
std::optional<Number> SelectionNumberIn(std::string_view text) {
  Number number = 0;
  if (!ParseNumber(text, &number) || !(number >= 0)) return std::nullopt;
  return number;
}

/// The two sides of "A-B"; without a dash the text twice.
std::pair<std::string_view, std::string_view> SidesOf(std::string_view text) {
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos) return {text, text};
  return {text.substr(0, dash), text.substr(dash + 1)};
}

}  // namespace

Selection::StepRange ReadStepRange(std::string_view text) {
  const auto [first, last] = SidesOf(text);
  const auto from = SelectionNumberIn<int64_t>(first);
  const auto to = SelectionNumberIn<int64_t>(last);
  if (!from || !to || *from > *to) {
    throw UsageError(
        fmt::format("--step-range: '{}' is no range of steps such as 3-7 or 3", ShownText(text)));
  }
  return {*from, *to};
}

Interval ReadTimeRange(std::string_view text) {
  constexpr double kNsPerMs = 1e6;
  constexpr double kMostMs = 9e12;  // Largest that fits into 64 bits of ns.
  const auto [first, last] = SidesOf(text);
  const auto from = SelectionNumberIn<double>(first);
  const auto to = SelectionNumberIn<double>(last);
  if (!from || !to || !(*from < *to) || !(*to <= kMostMs)) {
    throw UsageError(fmt::format("--time-range: '{}' is no stretch of milliseconds such as 0-12.5",
                                 ShownText(text)));
  }
  return {std::llround(*from * kNsPerMs), std::llround(*to * kNsPerMs)};
}

}  // namespace oplens::prof
