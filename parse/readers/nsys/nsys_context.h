#ifndef OPLENS_PARSE_READERS_NSYS_NSYS_CONTEXT_H_
#define OPLENS_PARSE_READERS_NSYS_NSYS_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/id_map.h"
#include "base/id_pages.h"
#include "parse/model/reason.h"
#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"
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
    if (HasAll(table, columns.first(needed))) ForEachRow(table, columns, f);
  }

  void CountBadRow(Reason reason, std::string_view table, int64_t row_id);

  void ReadStrings();
  /// Returns the text of a string id or of a text cell; 0 for anything else and unknown ids.
  StringId TextOf(const Cell& cell);

  ThreadIndex ThreadOf(int64_t global_tid);
  /// Returns the number, from 1, of the process of a global thread or process id; 0 means unknown.
  uint32_t ProcessOf(int64_t global_id);
  /// Whether a row's cell of a global thread or process id is of a process that is not read.
  bool IsForeign(const Cell& global_id) const;
  bool reads_part() const { return only_.has_value(); }  ///< Whether only one process is read.
  /// Whether rows of this global thread or process id's process were read.
  bool KnowsProcess(int64_t global_id) const;
  /// All processes of which rows were read: nsys::ProcessKey by number - 1.
  const std::vector<int64_t>& process_keys() const { return process_keys_; }
  /// Per thread in Trace::threads.
  const std::vector<int64_t>& global_tids() const { return global_tids_; }
  /// Returns the thread's index if rows of it were read, else IdMap::kNone.
  uint32_t FindThread(int64_t global_tid) const { return threads_.Find(global_tid); }

  SqliteDatabase& database;
  Diagnostics& diagnostics;
  TraceNeeds needs;
  Trace trace;

 private:
  bool HasAll(std::string_view table, std::span<const std::string_view> columns);

  const std::optional<int64_t> only_;
  IdPages string_ids_;
  IdMap threads_;
  std::vector<int64_t> global_tids_;
  ThreadIndex last_thread_ = 0;
  IdMap processes_;
  std::vector<int64_t> process_keys_;
  uint32_t last_process_ = 0;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NSYS_NSYS_CONTEXT_H_
