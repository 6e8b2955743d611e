#ifndef OPLENS_PROF_PRINT_ROWS_H_
#define OPLENS_PROF_PRINT_ROWS_H_

#include "base/output.h"
#include "parse/model/reason.h"
#include "prof/line_source.h"
#include "prof/op_resolver.h"
#include "prof/writer.h"

namespace oplens::prof {

/// Reads records from `lines`, prices them, and writes one row each to `output` in the same order.
/// Bad lines are skipped and counted in `diagnostics`, as is every reason of a row. Throws Error,
/// with nothing written, when there are lines but not one of them is a record. Does not Commit().
void PrintRows(LineSource* lines, OpChoice op_choice, RowWriter* writer, Output* output,
               Diagnostics* diagnostics);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRINT_ROWS_H_
