#ifndef OPLENS_PROF_TABLE_ARROW_FILE_H_
#define OPLENS_PROF_TABLE_ARROW_FILE_H_

#include <memory>
#include <string>

#include "base/output.h"
#include "prof/table/arrow_table.h"
#include "prof/table/sink.h"

namespace oplens::prof {

/// A table as a file of Arrow's IPC format (metadata of version V5, not compressed): the fields of
/// ArrowTable, in one record batch, which is in memory until it is committed.
class ArrowFile : public Destination {
 public:
  /// Throws Error if the file cannot be created.
  explicit ArrowFile(const std::string& path) : output_(path) {}
  /// Only one.
  std::unique_ptr<Sink> NewTable() override { return tables_.NewTable(); }
  void Commit() override;

 private:
  ArrowTables tables_;
  Output output_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_ARROW_FILE_H_
