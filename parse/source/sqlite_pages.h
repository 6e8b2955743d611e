#ifndef OPLENS_PARSE_SOURCE_SQLITE_PAGES_H_
#define OPLENS_PARSE_SOURCE_SQLITE_PAGES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status_line.h"
#include "parse/source/sqlite_cell.h"

namespace oplens::parse {

/// What a reader of pages needs from the first 100 bytes of a database file
/// (https://www.sqlite.org/fileformat2.html, section 1.3).
struct SqliteHeader {
  uint32_t page_size = 0;    ///< bytes
  uint32_t usable_size = 0;  ///< page_size less the reserved bytes at the end of each page
  uint32_t page_count = 0;   ///< as in the header, else file size / page size
  bool has_page_count = false;
  bool utf8 = false;
};

/// Reads the header of the file open at `fd`, of `file_bytes` bytes. Throws Error if the file is
/// not a whole SQLite database: no magic, impossible page size, or fewer pages than stated.
SqliteHeader ReadSqliteHeader(int fd, int64_t file_bytes, const std::string& path);

/// Returns the size of a database by its header, i.e. its first 100 bytes; 0 if it has none (before
/// SQLite 3.7), or there is no header.
int64_t PromisedBytes(std::string_view head);

/// Walks the b-tree of an ordinary table straight from the file's pages, about eight times as fast
/// as stepping a prepared statement: no virtual machine, no page cache, no copy of unread columns.
///
/// Reads with pread(), so that a file that shrinks meanwhile causes an error, not a signal, and
/// resident memory does not grow with the file. Checks every offset, length and row id; throws
/// Error with the table and the last good row for an impossible page. Only for UTF-8 databases
/// without write-ahead log or hot journal, and for tables with a row id.
class SqlitePages {
 public:
  /// `meter`, which may be null, counts the bytes that are read.
  SqlitePages(int fd, const SqliteHeader& header, std::string path, WorkMeter* meter = nullptr);
  ~SqlitePages();

  /// Calls `callback` for all rows of the table whose b-tree starts at page `root`, some leaf pages
  /// at a time, on the calling thread. Up to ThreadLimit() threads read large tables; each holds
  /// 64 kB of pages and their cells twice. `slot_of_column[c]`: index of column c in a batch row,
  /// or -1 to skip it. `row_id_slot`: index of the row id (the alias column of INTEGER PRIMARY KEY,
  /// which is stored as NULL), or -1. Missing columns of a row are NULL.
  void Scan(std::string_view table, uint32_t root, const std::vector<int>& slot_of_column,
            int row_id_slot, size_t slot_count, const BatchCallback& callback);

 private:
  int fd_;
  SqliteHeader header_;
  std::string path_;
  WorkMeter* meter_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_SQLITE_PAGES_H_
