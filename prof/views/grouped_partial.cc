#include "prof/views/grouped_partial.h"

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

bool ByWords::Has(std::string_view word) const {
  return std::find(words_.begin(), words_.end(), word) != words_.end();
}

}  // namespace oplens::prof
