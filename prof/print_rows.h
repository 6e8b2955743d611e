#ifndef OPLENS_PROF_PRINT_ROWS_H_
#define OPLENS_PROF_PRINT_ROWS_H_

#include "base/output.h"
#include "parse/model/reason.h"
#include "prof/op_resolver.h"
#include "prof/record_source.h"
#include "prof/writer.h"

namespace oplens::prof {

/// Takes all records of a source, prices them, and writes one row each to `output` in the same
/// order. Nothing of one input or rank has an effect on another's. Reasons of rows are counted in
/// `diagnostics`; what became of them all is said in its notes. Does not Commit(). `rules`: of the
/// user, null for none.
void PrintRows(RecordSource* records, OpChoice op_choice, RowWriter* writer, Output* output,
               Diagnostics* diagnostics, const ops::Rules* rules = nullptr);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRINT_ROWS_H_
