#ifndef OPLENS_PARSE_SOURCE_SQLITE_DATABASE_H_
#define OPLENS_PARSE_SOURCE_SQLITE_DATABASE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status_line.h"
#include "parse/source/nameless_file.h"
#include "parse/source/sqlite_cell.h"

namespace oplens::parse {

/// A profile database, opened read-only, in read-only folders too, without files beside it. Rows
/// are read from the pages if that is safe, else through SQLite (other text encodings, a
/// write-ahead log, a hot journal, tables without row ids, generated columns).
class SqliteDatabase {
 public:
  /// `meter`, which may be null, counts the bytes of the pages that are read. Throws Error, with
  /// what the file is and what to do, if it cannot be read.
  explicit SqliteDatabase(std::string path, WorkMeter* meter = nullptr);
  /// Opens the database in `unpacked`; errors name `path`. `trailing_bytes`: by CopyDatabase().
  SqliteDatabase(std::string path, std::unique_ptr<NamelessFile> unpacked, int64_t trailing_bytes,
                 WorkMeter* meter = nullptr);
  ~SqliteDatabase();
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  const std::string& path() const { return path_; }
  /// Bytes of the file behind the last page, 0 if they are padding.
  int64_t trailing_bytes() const { return trailing_bytes_; }
  const std::vector<std::string>& table_names() const { return table_names_; }
  bool HasTable(std::string_view table) const;
  bool HasColumn(std::string_view table, std::string_view column);

  /// Whether Scan() of a table reads its pages, without SQLite: then several tables may be scanned
  /// at once, after each was looked up. False if there is no such table.
  bool ReadsPagesOf(std::string_view table);
  /// Upper bound of the number of rows (largest row id), 0 if none; for reserving memory.
  int64_t MaxRowCount(std::string_view table);

  /// Calls `callback` with all rows in ascending row id, with the values of `columns` in that
  /// order. Missing columns are NULL, a missing table has no rows. Throws Error if the database is
  /// corrupt.
  void Scan(std::string_view table, std::span<const std::string_view> columns,
            const BatchCallback& callback);

 private:
  struct Table;
  struct Impl;

  void ListTables();
  const Table* Find(std::string_view table);
  void LoadColumns(Table* table);
  void ScanPages(const Table& table, std::span<const std::string_view> columns,
                 const BatchCallback& callback);
  void ScanStatement(const Table& table, std::span<const std::string_view> columns,
                     const BatchCallback& callback);

  std::string path_;
  std::vector<std::string> table_names_;
  std::unique_ptr<Impl> impl_;
  int64_t trailing_bytes_ = 0;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_SQLITE_DATABASE_H_
