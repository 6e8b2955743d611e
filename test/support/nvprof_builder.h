#ifndef OPLENS_TEST_SUPPORT_NVPROF_BUILDER_H_
#define OPLENS_TEST_SUPPORT_NVPROF_BUILDER_H_

#include <cstdint>
#include <deque>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace oplens::test {

/// A BLOB value.
struct Blob {
  std::string bytes;
};

/// What SQLite can hold in a column: NULL, INTEGER, REAL, TEXT, BLOB. The schema's declared types
/// do not bind: a test may put garbage anywhere.
using Value = std::variant<std::monostate, int64_t, double, std::string, Blob>;

/// Values by column name. Columns that are not named become 0, or an empty BLOB.
using Row = std::map<std::string, Value>;

/// How the file deviates from what nvprof of CUDA 10 writes.
struct NvprofOptions {
  int version = 12;  ///< Schema version, 8 to 22: decides tables and columns.
  int page_size = 4096;
  std::string encoding = "UTF-8";  ///< Or "UTF-16le", "UTF-16be".
  enum class Journal {
    kDelete,           ///< As nvprof leaves it.
    kWalCheckpointed,  ///< The header says WAL, no -wal file is there.
    kWalPending,       ///< All rows still stand in the -wal file beside the database.
  } journal = Journal::kDelete;
  bool indices = true;
  bool not_null = true;          ///< False: no NOT NULL constraints, so that NULL can be stored.
  bool reverse_columns = false;  ///< Columns of every activity table in reverse order.
  bool without_string_table = false;
  std::vector<std::string> drop_tables = {};  ///< Kinds ("MARKER") or full names.
  std::vector<std::pair<std::string, std::string>> drop_columns = {};  ///< (kind, column)
  std::vector<std::pair<std::string, std::string>> extra_columns =
      {};  ///< (kind, column), put first.
  std::optional<uint32_t> shuffle_seed =
      {};  ///< Store the rows of activity tables in random order.
};

/// Collects rows of an nvprof profile and writes them as a database with nvprof's schema.
class NvprofBuilder {
 public:
  NvprofBuilder();

  /// The StringTable id of `text`; the same text has the same id. Id 0 is nvprof's "-- null --".
  int64_t Intern(std::string_view text);
  /// Adds a StringTable row by hand: any id, any type.
  void AddString(int64_t id, Value value);

  /// Adds a row to an activity table ("RUNTIME", "MARKER", ...) and returns it for later changes.
  /// The reference stays valid. Row ids are given in the order of adding, from 1.
  Row& Add(const std::string& kind, Row row);
  /// The rows of an activity table so far.
  std::deque<Row>& rows(const std::string& kind) { return rows_[kind]; }

  /// Writes the database, replacing any file at `path`. Throws SQLite::Exception when SQLite does.
  /// Rows of tables and values of columns that the chosen version does not have are left out.
  void Write(const std::filesystem::path& path, const NvprofOptions& options = {}) const;

 private:
  std::vector<std::pair<int64_t, Value>> strings_;
  std::unordered_map<std::string, int64_t> string_ids_;
  std::map<std::string, std::deque<Row>> rows_;
};

/// The 12 bytes that name a thread in MARKER.objectId: pid, tid, 0 as little-endian 32-bit words.
Blob ThreadObject(int64_t process_id, int64_t thread_id);

/// A host thread id as the API tables store it: the low 32 bits, signed.
int64_t SignedThreadId(int64_t thread_id);

/// Runs SQL statements on a database file. Throws SQLite::Exception.
void ExecSql(const std::filesystem::path& path, const std::string& sql);

/// The number of the b-tree page that a table starts at, from 1. Throws SQLite::Exception.
int RootPage(const std::filesystem::path& path, const std::string& table);

/// Rewrites every activity table of a database with its rows in random order and fresh row ids.
void ShuffleRows(const std::filesystem::path& path, uint32_t seed);

/// The column names of every table, SQLite's own tables left out.
std::map<std::string, std::set<std::string>> ColumnsOf(const std::filesystem::path& path);

/// All tables of a database as text, one line a row, in a fixed order: equal texts, equal content.
std::string DumpSql(const std::filesystem::path& path);

}  // namespace oplens::test

#endif  // OPLENS_TEST_SUPPORT_NVPROF_BUILDER_H_
