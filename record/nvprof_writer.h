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

/// Where SQLite keeps the temporary files of one database, in the place of TMPDIR: on the disk of
/// the database, and where nobody else can write. (sqlite3_temp_directory is one for all databases
/// of a process, and not to be changed while one is open.)
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& folder);
  /// No database may be open with it.
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// To be given to sqlite3_open_v2.
  const char* vfs_name() const;

 private:
  struct Vfs;
  std::unique_ptr<Vfs> vfs_;
};

/// The version of nvprof's schema that is written: the oldest that has every table needed.
inline constexpr int kSchemaVersion = 12;
/// Of the tables OPLENS_*.
inline constexpr int kOwnVersion = 1;

/// Longer texts and BLOBs are cut.
inline constexpr size_t kMostBytes = size_t{1} << 26;

/// nvprof's tables, by name without the prefix.
const TableSpec& NvprofTable(std::string_view kind);

/// A database of nvprof's schema that is being written: all tables, and the string table. All
/// functions throw SQLite::Exception when it cannot be written.
class NvprofWriter {
 public:
  /// Makes the file anew, in a folder that nobody else writes: temporary files stand beside it. An
  /// empty database has a page for each table and index.
  enum class Pages { kLarge, kSmall };
  explicit NvprofWriter(const std::filesystem::path& path, Pages pages = Pages::kLarge);

  /// An INSERT, for good as long as this.
  SQLite::Statement Prepare(const std::string& sql);
  /// "INSERT INTO table(columns) VALUES (?, ...)"; `columns` are separated by ", ".
  SQLite::Statement PrepareInsert(const std::string& table, const std::string& columns);

  int64_t last_row() const { return database_->getLastInsertRowid(); }

  /// The number of a text in StringTable. What is not UTF-8 is replaced, a text ends at a zero.
  int64_t Intern(std::string_view text);

  void AddMeta(const std::string& key, int64_t value);
  void AddMeta(const std::string& key, const std::string& value);
  void AddNote(const std::string& text);

  /// Makes what has come so far lasting.
  void Commit();

  void Execute(const std::string& sql);

  /// Closes the file as it is, without indices. No statement may be left, and nothing but the
  /// destructor be called after it.
  void Close();

  /// Another database, closed before, as `name` in statements; and no more. Intern must not be used
  /// where texts come from there.
  void Attach(const std::filesystem::path& other, const std::string& name);
  void Detach(const std::string& name);

  /// Makes the indices and closes the file, telling after each which part is done, 0 to 1; the file
  /// is on the disk then, or Error is thrown. No statement may be left.
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
