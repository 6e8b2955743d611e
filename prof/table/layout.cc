#include "prof/table/layout.h"

#include <algorithm>
#include <numeric>

namespace oplens::prof {

std::vector<size_t> LayOut(std::span<const ColumnWidths> columns, size_t total) {
  std::vector<size_t> widths(columns.size(), 0);
  std::vector<size_t> order(columns.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return columns[a].rank < columns[b].rank; });
  size_t taken = 0;
  size_t shown = 0;
  for (const size_t column : order) {
    const size_t separator = shown == 0 ? 0 : 1;
    size_t least = std::max<size_t>(columns[column].least, 1);
    if (shown == 0) least = std::min(least, std::max<size_t>(total, 1));
    if (taken + separator + least > total && shown > 0) break;
    widths[column] = least;
    taken += separator + least;
    ++shown;
  }
  order.resize(shown);
  for (size_t left = total - std::min(total, taken); left > 0; --left) {
    size_t narrowest = columns.size();
    for (const size_t column : order) {
      if (widths[column] >= columns[column].wish) continue;
      if (narrowest == columns.size() || widths[column] < widths[narrowest]) narrowest = column;
    }
    if (narrowest == columns.size()) break;
    ++widths[narrowest];
  }
  return widths;
}

}  // namespace oplens::prof
