#ifndef OPLENS_PROF_VIEWS_STREAM_KEYS_H_
#define OPLENS_PROF_VIEWS_STREAM_KEYS_H_

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "prof/views/view.h"

namespace oplens::prof {

inline constexpr Field kDeviceField = {
    "device", "Device", "", FieldType::kInteger, 6, "number of the GPU", Fold::kKey};
inline constexpr Field kStreamField = {
    "stream", "Stream", "", FieldType::kInteger, 6, "number of the stream", Fold::kKey};

/// Whether --by has a word. Throws UsageError for one that is none of `known`.
inline bool HasKey(const ViewOptions& options, std::string_view word, std::string_view view,
                   std::span<const std::string_view> known) {
  for (const std::string& given : options.by) {
    if (std::find(known.begin(), known.end(), given) != known.end()) continue;
    throw UsageError(
        fmt::format("--by {}: the view {} takes {}", given, view, fmt::join(known, ", ")));
  }
  return std::find(options.by.begin(), options.by.end(), word) != options.by.end();
}

/// 100 x part / whole; unknown of nothing.
inline Cell PercentCell(int64_t part, int64_t whole) {
  if (whole <= 0) return {};
  return {100.0 * (static_cast<double>(part) / static_cast<double>(whole))};
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_STREAM_KEYS_H_
