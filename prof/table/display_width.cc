#include "prof/table/display_width.h"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

namespace oplens::prof {
namespace {

constexpr std::string_view kMark = "...";
constexpr size_t kLeastMarked = 8;
constexpr size_t kLeastLeftMarked = 5;

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

/// Code points drawn as one.
struct Cluster {
  size_t begin = 0;  // Offset in the text.
  size_t width = 0;
};

/// Calls `visit` with each code point's offset, width and whether it starts a cluster.
template <typename Visit>
void ForEachCodePoint(std::string_view text, Visit visit) {
  utf8proc_int32_t before = 0;
  utf8proc_int32_t state = 0;
  for (size_t at = 0; at < text.size();) {
    utf8proc_int32_t code = 0;
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
    const utf8proc_ssize_t length =
        utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &code);
    if (length <= 0) {
      // Callers pass valid text; an invalid byte is one cluster.
      visit(at++, size_t{1}, true);
      before = 0;
      continue;
    }
    const bool begins =
        at == 0 || before == 0 || utf8proc_grapheme_break_stateful(before, code, &state);
    // Terminals add up the widths within a cluster; some newer ones draw less.
    visit(at, static_cast<size_t>(std::max(utf8proc_charwidth(code), 0)), begins);
    before = code;
    at += static_cast<size_t>(length);
  }
}

std::vector<Cluster> ClustersOf(std::string_view text) {
  std::vector<Cluster> clusters;
  ForEachCodePoint(text, [&](size_t at, size_t width, bool begins) {
    if (begins) clusters.push_back({at, 0});
    clusters.back().width += width;
  });
  return clusters;
}

/// How many leading clusters fit, and their width.
std::pair<size_t, size_t> Fitting(auto first, auto last, size_t width) {
  size_t count = 0;
  size_t taken = 0;
  for (; first != last && taken + first->width <= width; ++first, ++count) taken += first->width;
  return {count, taken};
}

size_t AppendClusters(std::string_view text, size_t width, Cut cut, std::string* out) {
  const std::vector<Cluster> clusters = ClustersOf(text);
  const auto place = [&](size_t cluster) {
    return cluster < clusters.size() ? clusters[cluster].begin : text.size();
  };
  if (width < kLeastMarked) cut = cut == Cut::kMiddle ? Cut::kRight : cut;
  const size_t least = cut == Cut::kLeft ? kLeastLeftMarked : kLeastMarked;
  const std::string_view mark = width < least ? std::string_view() : kMark;
  const size_t room = width - mark.size();
  // Keeps more of the end, where kernel names differ.
  const size_t room_left = cut == Cut::kRight ? room : cut == Cut::kLeft ? 0 : room - room / 2;
  const auto [left, left_width] = Fitting(clusters.begin(), clusters.end(), room_left);
  const auto [right, right_width] =
      Fitting(clusters.rbegin(), clusters.rend(), cut == Cut::kRight ? 0 : room - left_width);
  // Clusters of width 0 stay with what they belong to.
  out->append(text.substr(0, place(left))).append(mark);
  if (cut != Cut::kRight) out->append(text.substr(place(clusters.size() - right)));
  return left_width + mark.size() + (cut == Cut::kRight ? 0 : right_width);
}

}  // namespace

size_t DisplayWidth(std::string_view text) {
  if (IsAscii(text)) return text.size();
  size_t width = 0;
  ForEachCodePoint(text, [&](size_t, size_t of, bool) { width += of; });
  return width;
}

size_t AppendCut(std::string_view text, size_t width, Cut cut, std::string* out) {
  const size_t whole = DisplayWidth(text);
  if (whole <= width) {
    out->append(text);
    return whole;
  }
  return AppendClusters(text, width, cut, out);
}

}  // namespace oplens::prof
