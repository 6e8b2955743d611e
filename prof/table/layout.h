#ifndef OPLENS_PROF_TABLE_LAYOUT_H_
#define OPLENS_PROF_TABLE_LAYOUT_H_

#include <cstddef>
#include <span>
#include <vector>

namespace oplens::prof {

/// How much room a column of a table needs, in characters.
struct ColumnRoom {
  size_t least = 0;  ///< With less it is of no use.
  size_t wish = 0;   ///< More than that it does not need.
  int rank = 0;      ///< Of two columns the one with the larger rank gives way first.
};

/// The width of each column in lines of `total` characters with a blank between columns; 0: it is
/// left out. First columns shrink down to what they need at least, then they give way, those with
/// the largest rank first (of equal ones the last): a wider line never lacks what a narrower one
/// has. The first in rank is always there, cut down to `total` if it must be. What is left of the
/// line goes to the narrowest of those that wish for more.
std::vector<size_t> LayOut(std::span<const ColumnRoom> columns, size_t total);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_LAYOUT_H_
