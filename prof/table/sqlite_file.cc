#include "prof/table/sqlite_file.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/utf8.h"

namespace oplens::prof {
namespace {

/// SQLite's handle of the open file; must start with SQLite's base struct.
struct DescriptorFile {
  sqlite3_file base;
  int fd;
};

int FdOf(sqlite3_file* file) { return reinterpret_cast<DescriptorFile*>(file)->fd; }

int CloseNothing(sqlite3_file*) { return SQLITE_OK; }

int ReadFd(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  auto* bytes = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t n = ::pread(FdOf(file), bytes, static_cast<size_t>(size), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SQLITE_IOERR_READ;
    if (n == 0) {
      std::memset(bytes, 0, static_cast<size_t>(size));  // Required by SQLite.
      return SQLITE_IOERR_SHORT_READ;
    }
    bytes += n;
    offset += n;
    size -= static_cast<int>(n);
  }
  return SQLITE_OK;
}

int WriteFd(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  const auto* bytes = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t n = ::pwrite(FdOf(file), bytes, static_cast<size_t>(size), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    bytes += n;
    offset += n;
    size -= static_cast<int>(n);
  }
  return SQLITE_OK;
}

int TruncateFd(sqlite3_file* file, sqlite3_int64 size) {
  return ::ftruncate(FdOf(file), size) == 0 ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

int SyncNothing(sqlite3_file*, int) { return SQLITE_OK; }

int SizeOfFd(sqlite3_file* file, sqlite3_int64* size) {
  struct stat info {};
  if (::fstat(FdOf(file), &info) != 0) return SQLITE_IOERR_FSTAT;
  *size = info.st_size;
  return SQLITE_OK;
}

// Nobody else can open a nameless file.
int LockNothing(sqlite3_file*, int) { return SQLITE_OK; }

int SayUnlocked(sqlite3_file*, int* locked) {
  *locked = 0;
  return SQLITE_OK;
}

int KnowNoControl(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }

int SectorBytes(sqlite3_file*) { return 4096; }

int NoCharacteristics(sqlite3_file*) { return 0; }

constexpr sqlite3_io_methods kFdMethods = {
    .iVersion = 1,
    .xClose = CloseNothing,
    .xRead = ReadFd,
    .xWrite = WriteFd,
    .xTruncate = TruncateFd,
    .xSync = SyncNothing,
    .xFileSize = SizeOfFd,
    .xLock = LockNothing,
    .xUnlock = LockNothing,
    .xCheckReservedLock = SayUnlocked,
    .xFileControl = KnowNoControl,
    .xSectorSize = SectorBytes,
    .xDeviceCharacteristics = NoCharacteristics,
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int KeepPath(sqlite3_vfs*, const char* path, int size, char* full) {
  if (std::strlen(path) >= static_cast<size_t>(size)) return SQLITE_CANTOPEN;
  std::strcpy(full, path);  // NOLINT: it fits.
  return SQLITE_OK;
}

/// There is no journal.
int FindNothing(sqlite3_vfs*, const char*, int, int* found) {
  *found = 0;
  return SQLITE_OK;
}

namespace fs = std::filesystem;

std::string_view SqlType(FieldType type) {
  switch (type) {
    case FieldType::kInteger:
      return "INTEGER";
    case FieldType::kDecimal:
      return "REAL";
    default:
      return "TEXT";
  }
}

std::string Dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Binds a cell to a parameter; one function per kind of value.
struct Bind {
  SQLite::Statement& statement;
  int parameter;

  void operator()(std::monostate) const { statement.bind(parameter); }
  void operator()(int64_t value) const { statement.bind(parameter, value); }
  void operator()(double value) const { statement.bind(parameter, value); }
  void operator()(std::string_view text) const {
    // Readers reject TEXT that is not UTF-8.
    std::string valid;
    AppendUtf8(text, Utf8Hidden::kNothing, &valid);
    statement.bind(parameter, valid);
  }
  void operator()(std::span<const int64_t> values) const {
    statement.bind(parameter, Dump(std::vector<int64_t>(values.begin(), values.end())));
  }
  void operator()(const Cell::Texts& list) const {
    statement.bind(parameter, Dump(std::vector<std::string>(list.texts.begin(), list.texts.end())));
  }
  void operator()(const Dim3& extent) const {
    statement.bind(parameter, Dump({extent.x, extent.y, extent.z}));
  }
  void operator()(ReasonSet reasons) const {
    auto words = nlohmann::json::array();
    reasons.ForEach([&](Reason reason) { words.push_back(std::string(ReasonWord(reason))); });
    statement.bind(parameter, Dump(words));
  }
};

/// Returns `path`. Throws Error unless it is new or a regular file, as databases need.
const std::string& RegularOrNew(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw Error(path, "is not a regular file, so no database can take its place",
                "give --sqlite the name of a file");
  }
  return path;
}

[[noreturn]] void FailToWrite(const std::string& path, const SQLite::Exception& error) {
  throw Error(path, fmt::format("cannot be written: {}", error.what()), "is the disk full?");
}

}  // namespace

/// Must start with SQLite's base struct.
struct DescriptorVfs::System {
  sqlite3_vfs base;
  sqlite3_vfs* others;  // For files other than the database.
  int fd;
};

DescriptorVfs::DescriptorVfs(int fd) : name_(fmt::format("oplens-fd-{}", fd)) {
  sqlite3_vfs* const others = sqlite3_vfs_find(nullptr);
  system_ = std::make_unique<System>(System{*others, others, fd});
  sqlite3_vfs& own = system_->base;
  own.iVersion = 1;
  own.szOsFile = std::max(others->szOsFile, static_cast<int>(sizeof(DescriptorFile)));
  own.zName = name_.c_str();
  own.pNext = nullptr;
  own.xOpen = Open;
  own.xAccess = FindNothing;
  own.xFullPathname = KeepPath;
  sqlite3_vfs_register(&own, 0);
}

DescriptorVfs::~DescriptorVfs() { sqlite3_vfs_unregister(&system_->base); }

int DescriptorVfs::Open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags,
                        int* flags_out) {
  const auto* system = reinterpret_cast<System*>(vfs);
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) {
    return system->others->xOpen(system->others, path, file, flags, flags_out);
  }
  auto* own = reinterpret_cast<DescriptorFile*>(file);
  own->base.pMethods = &kFdMethods;
  own->fd = system->fd;
  if (flags_out != nullptr) *flags_out = flags;
  return SQLITE_OK;
}

struct SqliteFile::Database : SQLite::Database {
  using SQLite::Database::Database;
};

/// One table of the database.
class SqliteFile::Table : public Sink {
 public:
  Table(const std::string& path, SQLite::Database* database) : path_(path), database_(database) {}

  void Begin(std::string_view table, std::vector<Field> fields) override {
    std::string name(table);
    std::replace(name.begin(), name.end(), '-', '_');
    std::string definitions;
    std::string parameters;
    for (const Field& field : fields) {
      const char* const comma = definitions.empty() ? "" : ", ";
      const bool is_id = field.key == "id" && field.fold == Fold::kKey;
      definitions += fmt::format("{}\"{}\" {}{}", comma, field.key, SqlType(field.type),
                                 is_id ? " PRIMARY KEY" : "");
      parameters += fmt::format("{}?", comma);
    }
    try {
      database_->exec(fmt::format("CREATE TABLE {} ({})", name, definitions));
      insert_.emplace(*database_, fmt::format("INSERT INTO {} VALUES ({})", name, parameters));
    } catch (const SQLite::Exception& error) {
      FailToWrite(path_, error);
    }
  }

  void Row(std::span<const Cell> cells) override {
    try {
      for (size_t i = 0; i < cells.size(); ++i) {
        std::visit(Bind{*insert_, static_cast<int>(i) + 1}, cells[i].value);
      }
      insert_->exec();
      insert_->reset();
    } catch (const SQLite::Exception& error) {
      FailToWrite(path_, error);
    }
  }

  void End() override { insert_.reset(); }

 private:
  const std::string& path_;
  SQLite::Database* database_;
  std::optional<SQLite::Statement> insert_;
};

SqliteFile::SqliteFile(std::string path,
                       const std::vector<std::pair<std::string, std::string>>& meta)
    : path_(std::move(path)), output_(RegularOrNew(path_)), vfs_(output_.descriptor()) {
  try {
    database_ = std::make_unique<Database>(path_, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 0,
                                           vfs_.name());
    // The file is nameless until complete, so a crash loses nothing.
    database_->exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;");
    database_->exec("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)");
    SQLite::Statement add(*database_, "INSERT INTO meta VALUES (?, ?)");
    for (const auto& [key, value] : meta) {
      add.bind(1, key);
      add.bind(2, value);
      add.exec();
      add.reset();
    }
  } catch (const SQLite::Exception& error) {
    throw Error(path_, fmt::format("cannot be written: {}", error.what()),
                "check the folder and its permissions");
  }
}

SqliteFile::~SqliteFile() = default;

std::unique_ptr<Sink> SqliteFile::NewTable() {
  return std::make_unique<Table>(path_, database_.get());
}

void SqliteFile::Run(const char* sql) {
  try {
    database_->exec(sql);
  } catch (const SQLite::Exception& error) {
    FailToWrite(path_, error);
  }
}

void SqliteFile::Commit() {
  try {
    database_->exec("COMMIT");
    database_.reset();
  } catch (const SQLite::Exception& error) {
    FailToWrite(path_, error);
  }
  output_.Commit();
}

}  // namespace oplens::prof
