#ifndef OPLENS_RECORD_NVPROF_WRITER_H_
#define OPLENS_RECORD_NVPROF_WRITER_H_

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "record/nvprof_tables.h"
#include "record/spool/activity_columns.h"
#include "record/text_ids.h"

namespace oplens::record {

/// Redirects SQLite's temporary files of one database from TMPDIR to a folder on the same disk
/// where nobody else can write. (sqlite3_temp_directory is global, and must not change while a
/// database is open.)
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& folder);
  /// No database that uses it may be open.
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// For sqlite3_open_v2.
  const char* vfs_name() const;

 private:
  struct Vfs;
  std::unique_ptr<Vfs> vfs_;
};

/// The written version of nvprof's schema: the oldest one with every needed table.
inline constexpr int kSchemaVersion = 12;
/// Version of the tables OPLENS_*.
inline constexpr int kOwnVersion = 1;

/// Longer texts and BLOBs are truncated.
inline constexpr size_t kMostBytes = size_t{1} << 26;

/// An nvprof table by name without the prefix.
const TableSpec& NvprofTable(std::string_view kind);

/// Writes a database of nvprof's schema: all tables and the string table. All functions throw
/// SQLite::Exception if it cannot be written.
class NvprofWriter {
 public:
  /// Creates the file, with temporary files beside it, in a folder that nobody else writes. An
  /// empty database takes one page per table and index.
  enum class Pages { kLarge, kSmall };
  explicit NvprofWriter(const std::filesystem::path& path, Pages pages = Pages::kLarge);

  /// An INSERT; must not outlive this object.
  SQLite::Statement Prepare(const std::string& sql);
  /// "INSERT INTO table(columns) VALUES (?, ...)"; `columns` are separated by ", ".
  SQLite::Statement PrepareInsert(const std::string& table, const std::string& columns);

  int64_t last_row() const { return database_->getLastInsertRowid(); }

  /// The StringTable id of a text. Invalid UTF-8 is replaced; the text ends at a zero byte.
  int64_t Intern(std::string_view text);

  void AddMeta(const std::string& key, int64_t value);
  void AddMeta(const std::string& key, const std::string& value);
  void AddNote(const std::string& text);

  /// Commits what has been written so far.
  void Commit();

  void Execute(const std::string& sql);

  /// Closes the file without creating indices. All statements must be gone; afterwards only the
  /// destructor may be called.
  void Close();

  /// Attaches another, closed database as `name`. Do not use Intern if texts come from it.
  void Attach(const std::filesystem::path& other, const std::string& name);
  void Detach(const std::string& name);

  /// Creates the indices and closes the file, calling `progress` after each with the fraction done,
  /// 0 to 1. Afterwards the file is on disk, or Error is thrown. All statements must be gone.
  void Finish(const std::function<void(double)>& progress);

 private:
  void CreateTables();
  int64_t AddText(std::string_view text);

  const std::filesystem::path path_;
  TemporaryFolder temporary_files_;
  std::optional<SQLite::Database> database_;
  TextIds text_ids_;
  int64_t texts_ = 0;
  std::string scratch_;
  std::optional<SQLite::Statement> add_text_;
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_NVPROF_WRITER_H_
