#ifndef OPLENS_PROF_TABLE_SQLITE_WRITER_H_
#define OPLENS_PROF_TABLE_SQLITE_WRITER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "prof/table/writer.h"

namespace oplens::prof {

/// The rows as a SQLite database: a table with a column a key, INTEGER, REAL or TEXT; unknown is
/// NULL, lists are JSON texts. The table `meta` (key, value) says what made it.
class SqliteWriter : public RowWriter {
 public:
  /// Rows go into a temporary file beside `path`, or beside the file that this links to. `table`:
  /// "kernels" or "copies". Throws Error when that cannot be written, or `path` is there and no
  /// regular file.
  SqliteWriter(std::string path, std::string table, Columns columns,
               const std::vector<std::pair<std::string, std::string>>& meta);
  /// Removes the temporary file, unless Commit() put it in its place.
  ~SqliteWriter() override;

  void AppendHeader(std::string* out) override;
  void AppendRow(const PricedKernel& row, std::string* out) override;
  /// Puts the database in its place. Throws Error when that fails.
  void Commit();

 private:
  struct Impl;
  std::string path_;    // As the user wrote it.
  std::string target_;  // With links followed.
  std::string temp_path_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_SQLITE_WRITER_H_
