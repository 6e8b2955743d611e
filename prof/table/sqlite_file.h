#ifndef OPLENS_PROF_TABLE_SQLITE_FILE_H_
#define OPLENS_PROF_TABLE_SQLITE_FILE_H_

#include <sqlite3.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/output.h"
#include "prof/table/sink.h"

namespace oplens::prof {

/// Lets SQLite write a new database to an open, possibly nameless file: nothing is left however the
/// program ends. One connection, no journal; SQLite's temporary files go to their usual place.
class DescriptorVfs {
 public:
  /// `fd`: empty, readable, writable, open while this object lives, which must outlive the
  /// connection.
  explicit DescriptorVfs(int fd);
  ~DescriptorVfs();
  DescriptorVfs(const DescriptorVfs&) = delete;
  DescriptorVfs& operator=(const DescriptorVfs&) = delete;

  /// The VFS name for sqlite3_open_v2(), with any file name.
  const std::string& name() const { return name_; }

 private:
  struct System;
  static int Open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags,
                  int* flags_out);

  std::string name_;
  std::unique_ptr<System> system_;
};

/// Tables in an SQLite database ('-' in names becomes '_'): a column per field, INTEGER, REAL or
/// TEXT; unknown is NULL, lists are JSON texts. A key field "id" is the primary key. Table `meta`
/// (key, value): how it was made.
class SqliteFile : public Destination {
 public:
  /// Writes to a nameless file, as Output. Throws Error if that fails or `path` is not a regular
  /// file.
  SqliteFile(std::string path, const std::vector<std::pair<std::string, std::string>>& meta);
  /// Nothing is left unless Commit() published it.
  ~SqliteFile() override;

  std::unique_ptr<Sink> NewTable() override;
  void Commit() override;
  /// Runs a statement, such as one that makes a view. Throws Error if the file cannot be written.
  void Run(const char* sql);

 private:
  class Table;
  struct Database;
  std::string path_;  // As the user wrote it.
  Output output_;
  DescriptorVfs vfs_;  // For output_.
  std::unique_ptr<Database> database_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_SQLITE_FILE_H_
