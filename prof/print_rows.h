#ifndef OPLENS_PROF_PRINT_ROWS_H_
#define OPLENS_PROF_PRINT_ROWS_H_

#include "base/output.h"
#include "ops/rules/rules.h"
#include "parse/model/reason.h"
#include "prof/input/record_source.h"
#include "prof/price/nested_calls.h"
#include "prof/range_patterns.h"
#include "prof/table/writer.h"

namespace oplens::prof {

/// What to do with the kernels besides printing them.
struct RowOptions {
  OpChoice op_choice = OpChoice::kInner;
  RangeFilter* filter = nullptr;  ///< Null: every kernel has its row.
  StepFinder* steps = nullptr;    ///< Null: steps are those of the records.
  /// That all kernels ran on, whatever their records say; null: what each record says.
  const ops::Gpu* gpu = nullptr;
  const ops::Rules* rules = nullptr;  ///< Of the user; null for none.
  /// The peak rate (FLOP/s, dense) of the GPU of a row for the data type of its product, 0 where it
  /// is not known: for the model FLOPs utilisation. Null: that is not told.
  double (*peak_of)(const PricedKernel& row) = nullptr;
};

/// Takes all records of a source, prices them, and writes one row each to `output` in the same
/// order, but for those that the filter does not keep. Nothing of one input or rank has an effect
/// on another's. Reasons of rows are counted in `diagnostics`; what became of them all is said in
/// its notes. Does not Commit(). Answers the number of rows.
int64_t PrintRows(RecordSource* records, const RowOptions& options, RowWriter* writer,
                  Output* output, Diagnostics* diagnostics);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRINT_ROWS_H_
