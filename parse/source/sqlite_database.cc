#include "parse/source/sqlite_database.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <new>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/shortage.h"
#include "parse/source/byte_source.h"
#include "parse/source/file_kind.h"
#include "parse/source/sqlite_pages.h"

namespace oplens::parse {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

int Duplicate(int fd, const std::string& path) {
  const int duplicate = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (duplicate < 0) throw SystemError(path, "cannot be opened", errno, "try again");
  return duplicate;
}

int OpenForReading(const std::string& path, int64_t* file_bytes) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // A pipe must not block.
  if (fd < 0) {
    throw SystemError(path, "cannot be opened", errno, "check the name and its permissions");
  }
  struct stat info {};
  if (::fstat(fd, &info) != 0 || S_ISDIR(info.st_mode)) {
    ::close(fd);
    throw Error(path, "is a folder", "give the database file itself");
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(fd);
    throw Error(path, "is not a regular file", "a database cannot be read from a pipe or device");
  }
  *file_bytes = info.st_size;
  return fd;
}

void RefuseForeignFile(int fd, int64_t file_bytes, const std::string& path) {
  if (file_bytes == 0) {
    throw Error(path, "is empty", "record the profile again; was the disk full?");
  }
  std::array<char, kHeadBytes> head{};
  const ssize_t n = ::pread(fd, head.data(), head.size(), 0);
  const std::string_view start(head.data(), n > 0 ? static_cast<size_t>(n) : 0);
  const FileKind kind = KindOfBytes(start);
  if (kind == FileKind::kDatabase) return;
  for (const ForeignKind& foreign : {ForeignWords(KindOfName(path)), ForeignWords(kind)}) {
    if (!foreign.problem.empty()) throw Error(path, foreign.problem, foreign.advice);
  }
}

/// Returns the bytes of a file behind its pages, 0 if they are padding.
int64_t TrailingBytes(int fd, const SqliteHeader& header, int64_t file_bytes) {
  const int64_t end = int64_t{header.page_count} * header.page_size;
  std::array<char, size_t{64} << 10> block{};
  for (int64_t at = end; at < file_bytes;) {
    const ssize_t size = ::pread(fd, block.data(), block.size(), at);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    if (!IsPadding({block.data(), static_cast<size_t>(size)})) return file_bytes - end;
    at += size;
  }
  return 0;
}

bool HasBytes(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && info.st_size > 0;
}

/// A file: URI; percent-encodes the characters that SQLite would interpret.
std::string UriOf(const std::string& path, std::string_view query) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      uri += c;
    }
  }
  return fmt::format("{}?{}", uri, query);
}

std::string Quoted(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    quoted += c;
    if (c == '"') quoted += '"';
  }
  return quoted + '"';
}

/// A mapped in-memory database, not read up front; changes to it are private.
class Mapping {
 public:
  Mapping(int fd, int64_t size, const std::string& path) : size_(static_cast<size_t>(size)) {
    void* const at = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED) {
      throw SystemError(path, "cannot be mapped", errno, "unpack it to a file yourself");
    }
    bytes_ = static_cast<unsigned char*>(at);
    // A write-ahead log that the header names is not there: all pages are in the file
    // (https://www.sqlite.org/fileformat2.html, section 1.3.3).
    constexpr size_t kWriteVersion = 18;
    for (const size_t place : {kWriteVersion, kWriteVersion + 1}) {
      if (bytes_[place] == 2) bytes_[place] = 1;
    }
  }
  ~Mapping() { ::munmap(bytes_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  unsigned char* bytes() const { return bytes_; }

 private:
  size_t size_;
  unsigned char* bytes_ = nullptr;
};

}  // namespace

struct SqliteDatabase::Table {
  std::string name;
  uint32_t root_page = 0;
  bool loaded = false;
  bool plain = false;  // Rows can be read from the pages.
  std::vector<std::string> columns;
  int row_id_column = -1;
};

struct SqliteDatabase::Impl {
  Impl(const std::string& path, int fd_to_own, int64_t file_bytes)
      : fd(fd_to_own), header(ReadSqliteHeader(fd_to_own, file_bytes, path)) {}

  FileDescriptor fd;
  SqliteHeader header;
  bool pages_are_current = false;    // No log or journal has newer or older pages.
  std::unique_ptr<Mapping> mapping;  // For an unpacked database; outlives `database`.
  std::unique_ptr<SQLite::Database> database;
  std::unique_ptr<SqlitePages> pages;
  std::vector<Table> tables;

  /// Runs f and converts SQLite's exceptions into an Error about `table` ("": the whole file).
  template <typename F>
  auto Guard(const std::string& path, std::string_view table, F f) {
    try {
      return f();
    } catch (const SQLite::Exception& e) {
      const int code = e.getErrorCode();
      if (code == SQLITE_NOMEM) throw std::bad_alloc();
      // SQLite does not say why it could not open a file.
      if (code == SQLITE_CANTOPEN) FileDescriptor spare(Duplicate(fd.get(), path));
      if (!pages_are_current && (code == SQLITE_READONLY || code == SQLITE_CANTOPEN)) {
        throw Error(path, fmt::format("was not closed properly ({})", e.what()),
                    "copy it with its -journal or -wal file into a folder that you can write, "
                    "and run there: sqlite3 FILE .tables");
      }
      constexpr std::string_view kCopyAgain = "record or copy the profile again";
      const std::string problem = fmt::format("cannot be read: {}", e.what());
      if (table.empty()) throw Error(path, problem, kCopyAgain);
      throw Error(path, table, -1, problem, kCopyAgain);
    }
  }
};

SqliteDatabase::SqliteDatabase(std::string path, WorkMeter* meter) : path_(std::move(path)) {
  int64_t file_bytes = 0;
  FileDescriptor fd(OpenForReading(path_, &file_bytes));
  RefuseForeignFile(fd.get(), file_bytes, path_);
  if (meter != nullptr) meter->Start(file_bytes);
  impl_ = std::make_unique<Impl>(path_, Duplicate(fd.get(), path_), file_bytes);
  impl_->pages_are_current = !HasBytes(path_ + "-wal") && !HasBytes(path_ + "-journal");
  impl_->pages = std::make_unique<SqlitePages>(impl_->fd.get(), impl_->header, path_, meter);
  impl_->Guard(path_, "", [&] {
    // "immutable" needs no lock or file beside the database; it requires that there is no log or
    // journal.
    const std::string uri = UriOf(path_, impl_->pages_are_current ? "immutable=1" : "mode=ro");
    impl_->database =
        std::make_unique<SQLite::Database>(uri, SQLite::OPEN_READONLY | SQLite::OPEN_URI);
  });
  // With a log or a journal the header may be outdated.
  if (impl_->pages_are_current && impl_->header.has_page_count) {
    trailing_bytes_ = TrailingBytes(impl_->fd.get(), impl_->header, file_bytes);
  }
  ListTables();
}

SqliteDatabase::SqliteDatabase(std::string path, std::unique_ptr<NamelessFile> unpacked,
                               int64_t trailing_bytes, WorkMeter* meter)
    : path_(std::move(path)), trailing_bytes_(trailing_bytes) {
  if (meter != nullptr) meter->Start(unpacked->bytes());
  impl_ = std::make_unique<Impl>(path_, Duplicate(unpacked->fd(), path_), unpacked->bytes());
  impl_->pages_are_current = true;
  impl_->pages = std::make_unique<SqlitePages>(impl_->fd.get(), impl_->header, path_, meter);
  impl_->Guard(path_, "", [&] {
    // SQLite opens names only, and this file has none.
    impl_->mapping = std::make_unique<Mapping>(impl_->fd.get(), unpacked->bytes(), path_);
    impl_->database = std::make_unique<SQLite::Database>(":memory:", SQLite::OPEN_READWRITE);
    const int code =
        sqlite3_deserialize(impl_->database->getHandle(), "main", impl_->mapping->bytes(),
                            unpacked->bytes(), unpacked->bytes(), SQLITE_DESERIALIZE_READONLY);
    if (code != SQLITE_OK) throw SQLite::Exception(impl_->database->getHandle(), code);
  });
  ListTables();
}

void SqliteDatabase::ListTables() {
  impl_->Guard(path_, "", [&] {
    SQLite::Statement query(*impl_->database,
                            "SELECT name, rootpage FROM sqlite_master WHERE type = 'table'");
    while (query.executeStep()) {
      Table& table = impl_->tables.emplace_back();
      table.name = query.getColumn(0).getString();
      table.root_page = query.getColumn(1).getUInt();
      table_names_.push_back(table.name);
    }
  });
}

SqliteDatabase::~SqliteDatabase() = default;

bool SqliteDatabase::HasTable(std::string_view table) const {
  return std::find(table_names_.begin(), table_names_.end(), table) != table_names_.end();
}

const SqliteDatabase::Table* SqliteDatabase::Find(std::string_view table) {
  for (Table& candidate : impl_->tables) {
    if (candidate.name != table) continue;
    if (!candidate.loaded) LoadColumns(&candidate);
    return &candidate;
  }
  return nullptr;
}

void SqliteDatabase::LoadColumns(Table* table) {
  impl_->Guard(path_, table->name, [&] {
    bool plain = impl_->pages_are_current && impl_->header.utf8 && table->root_page > 0;
    int primary_keys = 0;
    SQLite::Statement query(*impl_->database,
                            fmt::format("PRAGMA table_xinfo({})", Quoted(table->name)));
    while (query.executeStep()) {
      // cid, name, type, notnull, dflt_value, pk, hidden
      if (query.getColumn(6).getInt() != 0 || !query.getColumn(4).isNull()) plain = false;
      if (query.getColumn(5).getInt() > 0) {
        ++primary_keys;
        if (sqlite3_stricmp(query.getColumn(2).getText(), "INTEGER") == 0) {
          table->row_id_column = static_cast<int>(table->columns.size());
        }
      }
      table->columns.push_back(query.getColumn(1).getString());
    }
    if (primary_keys != 1) table->row_id_column = -1;
    SQLite::Statement list(*impl_->database,
                           fmt::format("PRAGMA table_list({})", Quoted(table->name)));
    // schema, name, type, ncol, wr, strict
    const bool listed = list.executeStep();
    const bool has_row_ids =
        listed && list.getColumn(2).getString() == "table" && list.getColumn(4).getInt() == 0;
    if (!has_row_ids) {
      plain = false;
      table->row_id_column = -1;
    }
    // INTEGER PRIMARY KEY DESC is the only spelling that is no alias of the row id.
    if (plain && table->row_id_column >= 0) {
      SQLite::Statement sql(*impl_->database, "SELECT sql FROM sqlite_master WHERE name = ?");
      sql.bind(1, table->name);
      if (!sql.executeStep() || sqlite3_strlike("%DESC%", sql.getColumn(0).getText(), 0) == 0) {
        plain = false;
      }
    }
    table->plain = plain;
    table->loaded = true;
  });
}

bool SqliteDatabase::HasColumn(std::string_view table, std::string_view column) {
  const Table* found = Find(table);
  return found != nullptr &&
         std::find(found->columns.begin(), found->columns.end(), column) != found->columns.end();
}

bool SqliteDatabase::ReadsPagesOf(std::string_view table) {
  const Table* found = Find(table);
  return found != nullptr && found->plain;
}

int64_t SqliteDatabase::MaxRowCount(std::string_view table) {
  const Table* found = Find(table);
  if (found == nullptr || !found->plain) return 0;
  const std::string key = found->row_id_column < 0
                              ? "rowid"
                              : found->columns[static_cast<size_t>(found->row_id_column)];
  const int64_t largest = impl_->Guard(path_, table, [&] {
    SQLite::Statement query(*impl_->database,
                            fmt::format("SELECT max({}) FROM {}", Quoted(key), Quoted(table)));
    return query.executeStep() ? query.getColumn(0).getInt64() : int64_t{0};
  });
  // Row ids may be sparse; a row takes more than 8 bytes.
  const int64_t fit = int64_t{impl_->header.page_count} * impl_->header.page_size / 8;
  return std::clamp<int64_t>(largest, 0, fit);
}

void SqliteDatabase::Scan(std::string_view table, std::span<const std::string_view> columns,
                          const BatchCallback& callback) {
  const Table* found = Find(table);
  if (found == nullptr) return;
  if (found->plain) {
    ScanPages(*found, columns, callback);
  } else {
    ScanStatement(*found, columns, callback);
  }
}

void SqliteDatabase::ScanPages(const Table& table, std::span<const std::string_view> columns,
                               const BatchCallback& callback) {
  std::vector<int> slot_of_column(table.columns.size(), -1);
  int row_id_slot = -1;
  for (size_t slot = 0; slot < columns.size(); ++slot) {
    const auto it = std::find(table.columns.begin(), table.columns.end(), columns[slot]);
    if (it == table.columns.end()) continue;
    const auto index = it - table.columns.begin();
    if (index == table.row_id_column) {
      row_id_slot = static_cast<int>(slot);
    } else {
      slot_of_column[static_cast<size_t>(index)] = static_cast<int>(slot);
    }
  }
  impl_->pages->Scan(table.name, table.root_page, slot_of_column, row_id_slot, columns.size(),
                     callback);
}

void SqliteDatabase::ScanStatement(const Table& table, std::span<const std::string_view> columns,
                                   const BatchCallback& callback) {
  constexpr size_t kRowsPerBatch = 256;
  std::string select;
  for (const std::string_view column : columns) {
    const bool there =
        std::find(table.columns.begin(), table.columns.end(), column) != table.columns.end();
    select += there ? ", " + Quoted(column) : std::string(", NULL");
  }
  impl_->Guard(path_, table.name, [&] {
    SQLite::Statement query(
        *impl_->database,
        table.row_id_column >= 0
            ? fmt::format("SELECT rowid{} FROM {} ORDER BY rowid", select, Quoted(table.name))
            : fmt::format("SELECT 0{} FROM {}", select, Quoted(table.name)));
    RowBatch batch;
    batch.column_count = columns.size();
    std::deque<std::string> texts;
    const auto flush = [&] {
      if (batch.row_count() > 0) callback(batch);
      batch.row_ids.clear();
      batch.cells.clear();
      texts.clear();
    };
    while (query.executeStep()) {
      batch.row_ids.push_back(query.getColumn(0).getInt64());
      for (size_t i = 0; i < columns.size(); ++i) {
        const SQLite::Column value = query.getColumn(static_cast<int>(i) + 1);
        if (value.isInteger()) {
          batch.cells.push_back(Cell::Int(value.getInt64()));
        } else if (value.isFloat()) {
          batch.cells.push_back(Cell::Real(value.getDouble()));
        } else if (value.isNull()) {
          batch.cells.emplace_back();
        } else {
          const bool text = value.isText();
          // Getting the text first converts it to UTF-8; the size is that of the result.
          const char* bytes = text ? value.getText() : static_cast<const char*>(value.getBlob());
          const auto size = static_cast<size_t>(value.getBytes());
          const std::string& kept = texts.emplace_back(bytes == nullptr ? "" : bytes, size);
          batch.cells.push_back(text ? Cell::Text(kept.data(), kept.size())
                                     : Cell::Blob(kept.data(), kept.size()));
        }
      }
      if (batch.row_count() == kRowsPerBatch) flush();
    }
    flush();
  });
}

}  // namespace oplens::parse
