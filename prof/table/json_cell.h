#ifndef OPLENS_PROF_TABLE_JSON_CELL_H_
#define OPLENS_PROF_TABLE_JSON_CELL_H_

#include <string>

#include "prof/table/cell.h"

namespace oplens::prof {

/// Appends a cell as a JSON value; unknown is null. A truncated list has only its present part.
/// Invalid UTF-8 is replaced.
void AppendJsonCell(const Cell& cell, std::string* out);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_JSON_CELL_H_
