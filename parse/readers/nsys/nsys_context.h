#ifndef OPLENS_PARSE_READERS_NSYS_NSYS_CONTEXT_H_
#define OPLENS_PARSE_READERS_NSYS_NSYS_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/id_numbers.h"
#include "base/id_pages.h"
#include "parse/model/reason.h"
#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"
#include "parse/readers/common/bad_row.h"
#include "parse/readers/nsys/nsys_schema.h"
#include "parse/source/sqlite_database.h"

namespace oplens::parse {

/// Shared by the Nsight Systems reader: tables of any version, strings, threads, processes, bad
/// rows.
class NsysContext {
 public:
  /// `only`: nsys::ProcessKey of the only process to read; nullopt: all.
  NsysContext(SqliteDatabase* source, std::optional<int64_t> only, TraceNeeds wanted,
              Diagnostics* sink)
      : database(*source), diagnostics(*sink), needs(wanted), only_(only) {}
  NsysContext(const NsysContext&) = delete;
  NsysContext& operator=(const NsysContext&) = delete;

  /// Returns the table's name in this file: `table`, or "<table>_V<n>" with the largest n, or "".
  std::string_view Find(std::string_view table) const;
  bool HasColumn(std::string_view table, std::string_view column);

  /// Calls f(row id, cells) for each row. A missing column is NULL, a missing table has no rows.
  template <typename F>
  void ForEachRow(std::string_view table, std::span<const std::string_view> columns, F f) {
    const std::string_view found = Find(table);
    if (found.empty()) return;
    database.Scan(found, columns, [&f](const RowBatch& batch) {
      for (size_t i = 0; i < batch.row_count(); ++i) f(batch.row_ids[i], batch.Row(i));
    });
  }
  /// Like ForEachRow; if one of the first `needed` columns is missing, notes that and reads no row.
  template <typename F>
  void ForEachWholeRow(std::string_view table, std::span<const std::string_view> columns,
                       size_t needed, F f) {
    ForEachWholeRow(table, columns, needed, &diagnostics, f);
  }
  /// As above, with a thread's own diagnostics.
  template <typename F>
  void ForEachWholeRow(std::string_view table, std::span<const std::string_view> columns,
                       size_t needed, Diagnostics* sink, F f) {
    if (HasAll(table, columns.first(needed), sink)) ForEachRow(table, columns, f);
  }

  /// Upper bound of the rows of a table that are of the processes to read; 0: unknown.
  size_t RowsToReserve(std::string_view table) {
    return reads_part() ? 0 : static_cast<size_t>(database.MaxRowCount(Find(table)));
  }

  void CountBadRow(Reason reason, std::string_view table, int64_t row_id) {
    CountRow(&diagnostics, reason, table, row_id);
  }

  void ReadStrings();
  /// Returns the text of a string id or of a text cell; 0 for anything else and unknown ids.
  StringId TextOf(const Cell& cell);
  /// Returns the text of a string id; 0 for anything else. For a thread beside others, with a
  /// `last` of its own.
  StringId TextOfId(const Cell& cell, IdPages::Last* last) const;

  ThreadIndex ThreadOf(int64_t global_tid);
  /// Returns the number, from 1, of the process of a global thread or process id; 0 means unknown.
  uint32_t ProcessOf(int64_t global_id) { return ProcessOfKey(nsys::ProcessKey(global_id)); }
  uint32_t ProcessOfKey(int64_t process_key) { return processes_.Of(process_key) + 1; }
  /// Whether a row's cell of a global thread or process id is of a process that is not read.
  bool IsForeign(const Cell& global_id) const;
  bool reads_part() const { return only_.has_value(); }  ///< Whether only one process is read.
  /// Whether rows of this global thread or process id's process were read.
  bool KnowsProcess(int64_t global_id) const;
  /// All processes of which rows were read: nsys::ProcessKey by number - 1.
  const std::vector<int64_t>& process_keys() const { return processes_.ids(); }
  /// Per thread in Trace::threads.
  const std::vector<int64_t>& global_tids() const { return threads_.ids(); }
  /// Returns the thread's index if rows of it were read, else IdMap::kNone.
  uint32_t FindThread(int64_t global_tid) const { return threads_.Find(global_tid); }

  SqliteDatabase& database;
  Diagnostics& diagnostics;
  TraceNeeds needs;
  Trace trace;

 private:
  bool HasAll(std::string_view table, std::span<const std::string_view> columns, Diagnostics* sink);

  const std::optional<int64_t> only_;
  IdPages string_ids_;
  IdPages::Last last_string_;
  IdNumbers threads_;
  IdNumbers processes_;  // nsys::ProcessKey
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NSYS_NSYS_CONTEXT_H_
