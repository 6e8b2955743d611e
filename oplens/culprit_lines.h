#ifndef OPLENS_OPLENS_CULPRIT_LINES_H_
#define OPLENS_OPLENS_CULPRIT_LINES_H_

#include <cstddef>
#include <vector>

#include "oplens/lines.h"
#include "oplens/screen.h"
#include "prof/table/kept_rows.h"

namespace oplens::screen {

/// The rows of the view `culprits`, with its columns who, cause, what, often, cost_ns, cost_pct and
/// test.
std::vector<CulpritFact> CulpritsOf(const prof::KeptRows& rows);

/// A title, and a line per culprit, at most `most`; the last then counts the others. Empty without
/// culprits.
Section CulpritLines(const std::vector<CulpritFact>& culprits, size_t columns, size_t most);

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_CULPRIT_LINES_H_
