#ifndef OPLENS_OPLENS_COST_LINES_H_
#define OPLENS_OPLENS_COST_LINES_H_

#include <cstddef>
#include <string_view>

#include "oplens/lines.h"
#include "oplens/screen.h"

namespace oplens::screen {

/// The layout of a table of costs.
struct CostTable {
  std::string_view title;
  size_t columns = 0;  ///< Characters per line.
  size_t most = 0;     ///< Maximum number of rows.
  bool paths = false;  ///< Cost::largest is a path; that of the first row gets its own line.
};

/// A header line, then one line per row. Omits columns without known values; narrow lines drop
/// further columns, the least important first.
Section CostLines(const CostTable& table, const Costs& costs);

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_COST_LINES_H_
