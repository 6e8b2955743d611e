#include "prof/views/common/grouped_partial.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"

namespace oplens::prof {

Cell RatioCell(int64_t part, int64_t whole, int times) {
  if (whole <= 0) return {};
  return {times * (static_cast<double>(part) / static_cast<double>(whole))};
}

ByWords::ByWords(std::string_view view, const ViewOptions& options,
                 std::span<const std::string_view> known)
    : words_(options.by) {
  for (const std::string& word : words_) {
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    throw UsageError(
        fmt::format("--by {}: the view {} takes {}", word, view, fmt::join(known, ", ")));
  }
}

std::vector<size_t> ByWords::PlacesIn(std::span<const std::string_view> known) const {
  std::vector<size_t> places;
  for (const std::string& word : words_) {
    const auto place =
        static_cast<size_t>(std::find(known.begin(), known.end(), word) - known.begin());
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
  }
  return places;
}

bool ByWords::Has(std::string_view word) const {
  return std::find(words_.begin(), words_.end(), word) != words_.end();
}

}  // namespace oplens::prof
