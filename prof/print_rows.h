#ifndef OPLENS_PROF_PRINT_ROWS_H_
#define OPLENS_PROF_PRINT_ROWS_H_

#include "base/output.h"
#include "prof/price_all.h"
#include "prof/table/writer.h"

namespace oplens::prof {

using RowOptions = PriceOptions;

int64_t PrintRows(RecordSource* records, const RowOptions& options, RowWriter* writer,
                  Output* output, Diagnostics* diagnostics);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRINT_ROWS_H_
