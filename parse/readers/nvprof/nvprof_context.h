#ifndef OPLENS_PARSE_READERS_NVPROF_NVPROF_CONTEXT_H_
#define OPLENS_PARSE_READERS_NVPROF_NVPROF_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/id_map.h"
#include "base/id_pages.h"
#include "parse/model/reason.h"
#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"
#include "parse/readers/common/bad_row.h"
#include "parse/source/sqlite_database.h"

namespace oplens::parse {

/// Whether an objectKind says that the objectId names a thread.
bool IsOfThread(const Cell& object_kind);

/// An objectId that names a thread.
struct ThreadObject {
  uint32_t process_id = 0;
  uint32_t thread_id = 0;

  /// False if the cell is too short.
  bool Take(const Cell& cell);
};

/// Shared by the parts of the nvprof reader: tables, strings, threads, bad rows.
class NvprofContext {
 public:
  NvprofContext(SqliteDatabase* source, TraceNeeds wanted, Diagnostics* sink)
      : database(*source), diagnostics(*sink), needs(wanted) {}
  NvprofContext(const NvprofContext&) = delete;
  NvprofContext& operator=(const NvprofContext&) = delete;

  /// Calls f(row id, cells) for each row. A missing column is NULL, a missing table has no rows.
  template <typename F>
  void ForEachRow(std::string_view table, std::span<const std::string_view> columns, F f) {
    database.Scan(table, columns, [&f](const RowBatch& batch) {
      for (size_t i = 0; i < batch.row_count(); ++i) f(batch.row_ids[i], batch.Row(i));
    });
  }
  /// Like ForEachRow, but the first `needed` columns are required: if one is missing, reads no row.
  template <typename F>
  void ForEachWholeRow(std::string_view table, std::span<const std::string_view> columns,
                       size_t needed, F f) {
    if (HasAll(table, columns.first(needed))) ForEachRow(table, columns, f);
  }
  template <typename F>
  void ForEachWholeRow(std::string_view table, std::span<const std::string_view> columns, F f) {
    ForEachWholeRow(table, columns, columns.size(), f);
  }

  size_t RowsToReserve(std::string_view table) {
    return static_cast<size_t>(database.MaxRowCount(table));
  }

  /// Returns which of `columns` are missing, and notes them, so that rows do not count as damaged.
  std::vector<bool> MissingColumns(std::string_view table,
                                   std::span<const std::string_view> columns);

  void CountBadRow(Reason reason, std::string_view table, int64_t row_id) {
    CountRow(&diagnostics, reason, table, row_id);
  }

  void ReadStrings();
  /// Returns the text of a string id; 0 (empty) if it is unknown or means NULL.
  StringId TextOf(const Cell& cell) { return TextOf(cell, &last_string_); }
  /// For a thread beside others, with a `last` of its own.
  StringId TextOf(const Cell& cell, IdPages::Last* last) const {
    if (!cell.is_int()) return 0;
    const uint32_t found = string_ids_.Find(cell.integer(), last);
    return found == IdMap::kNone ? 0 : found;
  }

  /// A unique key of a thread, whose rows have it signed (API) or unsigned (ranges), 32 bits:
  /// masked.
  static int64_t ThreadKey(int64_t process_id, int64_t thread_id) {
    return process_id << 32 | (thread_id & kLow32Bits);
  }
  ThreadIndex ThreadOf(int64_t key);
  ThreadIndex ThreadOf(int64_t process_id, int64_t thread_id) {
    return ThreadOf(ThreadKey(process_id, thread_id));
  }

  static constexpr int64_t kLow32Bits = 0xFFFFFFFF;

  SqliteDatabase& database;
  Diagnostics& diagnostics;
  TraceNeeds needs;
  Trace trace;

 private:
  bool HasAll(std::string_view table, std::span<const std::string_view> columns);

  IdPages string_ids_;
  IdPages::Last last_string_;
  IdMap threads_;
  int64_t last_thread_key_ = 0;
  ThreadIndex last_thread_ = 0;
};

/// For TracePart::kNames, once all threads are known: lists and names processes, and names threads.
/// Keeps only the program of a command line, whose arguments may hold passwords.
void ReadNvprofNames(NvprofContext* context);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NVPROF_NVPROF_CONTEXT_H_
