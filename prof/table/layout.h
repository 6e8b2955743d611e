#ifndef OPLENS_PROF_TABLE_LAYOUT_H_
#define OPLENS_PROF_TABLE_LAYOUT_H_

#include <cstddef>
#include <span>
#include <vector>

namespace oplens::prof {

/// Width requirements of a table's column, in characters.
struct ColumnWidths {
  size_t least = 0;  ///< Useless below this.
  size_t wish = 0;   ///< No use for more.
  int rank = 0;      ///< Of two columns, the one with larger rank is dropped first.
};

/// Widths of the columns in a line of `total` characters with one blank between columns; 0:
/// dropped. Columns first shrink to `least`, then are dropped, largest rank first (of equal ranks
/// the last), so a wider line has all columns of a narrower one. The first in rank is always shown,
/// cut to `total` if necessary. Remaining width goes to the narrowest columns below their `wish`.
std::vector<size_t> LayOut(std::span<const ColumnWidths> columns, size_t total);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_LAYOUT_H_
