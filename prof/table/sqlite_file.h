#ifndef OPLENS_PROF_TABLE_SQLITE_FILE_H_
#define OPLENS_PROF_TABLE_SQLITE_FILE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/output.h"
#include "prof/table/descriptor_vfs.h"
#include "prof/table/sink.h"

namespace oplens::prof {

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
