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

/// Lets SQLite write a new database into an open file, which need have no name, so that nothing of
/// it is left however the program ends. For one connection at a time, without a journal: what
/// SQLite writes besides the database goes where it always does.
class DescriptorVfs {
 public:
  /// `fd` is open for reading and writing, empty, and stays open as long as this object, which must
  /// outlive the connection.
  explicit DescriptorVfs(int fd);
  ~DescriptorVfs();
  DescriptorVfs(const DescriptorVfs&) = delete;
  DescriptorVfs& operator=(const DescriptorVfs&) = delete;

  /// What sqlite3_open_v2() takes to open it; any file name will do.
  const std::string& name() const { return name_; }

 private:
  struct System;
  static int Open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags,
                  int* flags_out);

  std::string name_;
  std::unique_ptr<System> system_;
};

/// Tables in a SQLite database ('-' in their names as '_'): each with a column a field, INTEGER,
/// REAL or TEXT; unknown is NULL, lists are JSON texts. The table `meta` (key, value) says what
/// made it.
class SqliteFile : public Destination {
 public:
  /// Rows go into a file without a name, as those of Output. Throws Error when that cannot be
  /// written, or `path` is there and no regular file.
  SqliteFile(std::string path, const std::vector<std::pair<std::string, std::string>>& meta);
  /// Nothing is left, unless Commit() put it in its place.
  ~SqliteFile() override;

  std::unique_ptr<Sink> NewTable() override;
  void Commit() override;

 private:
  class Table;
  struct Database;
  std::string path_;  // As the user wrote it.
  Output output_;
  DescriptorVfs vfs_;  // Of the output.
  std::unique_ptr<Database> database_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_SQLITE_FILE_H_
