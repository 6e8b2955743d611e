#ifndef OPLENS_OPLENS_COST_LINES_H_
#define OPLENS_OPLENS_COST_LINES_H_

#include <cstddef>
#include <string_view>

#include "oplens/lines.h"
#include "oplens/screen.h"

namespace oplens::screen {

/// How a table of costs is written.
struct CostTable {
  std::string_view title;
  size_t columns = 0;  ///< Characters of a line.
  size_t most = 0;     ///< Rows.
  bool paths = false;  ///< Cost::largest is a path: that of the first row has a line of its own.
};

/// A line with the headers, then a line a row. Columns of which nothing is known are left out; the
/// others give way where the lines are narrow, the least important first.
Section CostLines(const CostTable& table, const Costs& costs);

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_COST_LINES_H_
