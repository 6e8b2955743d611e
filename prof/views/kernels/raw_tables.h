#ifndef OPLENS_PROF_VIEWS_KERNELS_RAW_TABLES_H_
#define OPLENS_PROF_VIEWS_KERNELS_RAW_TABLES_H_

#include <memory>

#include "parse/model/trace_needs.h"
#include "prof/price/kernel_sink.h"
#include "prof/table/sqlite_file.h"
#include "prof/views/kernels/kernel_columns.h"

namespace oplens::prof {

/// What RawTables read of a trace besides kernels.
TraceNeeds NeedsOfRawTables();

/// Writes what profiles hold into tables that refer to each other (docs/sql.md): a row per process,
/// thread, range, API call, kernel, copy, fill, wait, graph replay, memory event, collective, and
/// GPU. Ids are unique over all inputs. Rows go to the file one by one: no more is kept than the
/// current profile.
class RawTables : public KernelSink {
 public:
  /// `columns`: of kernels, behind their ids. `file` must outlive this object.
  RawTables(Columns<PricedKernel> columns, SqliteFile* file);
  ~RawTables() override;

  /// Throws Error for records: they hold kernels only.
  void BeginInput(const parse::KernelRecords* profile) override;
  void Add(const PricedKernel& kernel) override;
  void EndInput() override;
  /// Ends all tables, and adds views of what GPUs do and when they do nothing.
  void Finish();

 private:
  class Writer;
  std::unique_ptr<Writer> writer_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_RAW_TABLES_H_
