#include "record/nvprof_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <sstream>

#include "base/utf8.h"
#include "parse/readers/nvprof/nvprof_schema.h"
#include "record/durable_file.h"

namespace oplens::record {
namespace {

namespace nvprof = parse::nvprof;

constexpr const char* kOwnTables[] = {
    "OPLENS_META(key TEXT PRIMARY KEY, value)",
    "OPLENS_NOTE(_id_ INTEGER PRIMARY KEY, text TEXT)",
    "OPLENS_CATEGORY(_id_ INTEGER PRIMARY KEY, domain INT, category INT, name INT)",
    "OPLENS_SCHEMA(_id_ INTEGER PRIMARY KEY, schemaId INT, domain INT, name INT)",
    "OPLENS_PAYLOAD(_id_ INTEGER PRIMARY KEY, marker INT, schemaId INT, data BLOB)",
    "OPLENS_CALL(marker INTEGER PRIMARY KEY, seq INT, tid INT, ftid INT, h INT, fh INT, dir TEXT)",
    "OPLENS_THREAD(_id_ INTEGER PRIMARY KEY, threadId INT, osThreadId INT, name INT)",
    ("OPLENS_ALLOCATION(_id_ INTEGER PRIMARY KEY, timestamp INT, processId INT, threadId INT, "
     "address "
     "INT, bytes INT, totalAllocated INT, totalReserved INT, deviceType INT, deviceId INT)"),
};

std::string CreateExtraTable(const ActivityTable& table) {
  std::string columns =
      table.kind == nullptr ? "_id_ INTEGER PRIMARY KEY" : "row INTEGER PRIMARY KEY";
  std::istringstream names(table.extra_columns);
  for (std::string name; names >> name;) {
    if (name.back() == '\'') name.pop_back();
    columns += fmt::format(", {} INT", name);
  }
  return fmt::format("CREATE TABLE {}({})", table.extra_table, columns);
}

/// Creates an empty file, after removing what has the name.
void MakeFile(const std::filesystem::path& path) {
  ::unlink(path.c_str());
  constexpr mode_t kAsSqlite = 0644;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kAsSqlite);
  if (file < 0) throw SQLite::Exception(std::strerror(errno), SQLITE_CANTOPEN);
  ::close(file);
}

}  // namespace

/// SQLite's default functions, except for files without a name.
struct TemporaryFolder::Vfs : sqlite3_vfs {
  explicit Vfs(const std::filesystem::path& folder_path)
      : sqlite3_vfs(*sqlite3_vfs_find(nullptr)),
        base(sqlite3_vfs_find(nullptr)),
        folder(folder_path.string()),
        name(fmt::format("oplens-{}", fmt::ptr(this))) {
    zName = name.c_str();
    mxPathname = PATH_MAX;  // SQLite's own limit is 512 bytes.
    xOpen = Open;
  }

  static int Open(sqlite3_vfs* self, sqlite3_filename file_name, sqlite3_file* file, int flags,
                  int* out_flags) {
    auto* const vfs = static_cast<Vfs*>(self);
    if (file_name == nullptr) {
      // It is deleted right after opening. The name must stay valid; an extra zero byte ends its
      // URI options.
      vfs->temporaries.push_back(
          fmt::format("{}/temporary.{}{}", vfs->folder, vfs->temporaries.size(), '\0'));
      file_name = vfs->temporaries.back().c_str();
    }
    return vfs->base->xOpen(vfs->base, file_name, file, flags, out_flags);
  }

  sqlite3_vfs* const base;
  const std::string folder;
  const std::string name;
  std::deque<std::string> temporaries;
};

TemporaryFolder::TemporaryFolder(const std::filesystem::path& folder) {
  sqlite3_initialize();
  vfs_ = std::make_unique<Vfs>(folder);
  sqlite3_vfs_register(vfs_.get(), 0);
}

TemporaryFolder::~TemporaryFolder() { sqlite3_vfs_unregister(vfs_.get()); }

const char* TemporaryFolder::vfs_name() const { return vfs_->zName; }

const TableSpec& NvprofTable(std::string_view kind) {
  static const std::vector<TableSpec> kTables = NvprofTables(kSchemaVersion);
  const std::string name = NvprofTableName(std::string(kind));
  const auto found = std::find_if(kTables.begin(), kTables.end(),
                                  [&](const TableSpec& table) { return table.name == name; });
  if (found == kTables.end()) std::abort();  // A bug in kActivityTables.
  return *found;
}

NvprofWriter::NvprofWriter(const std::filesystem::path& path, Pages pages)
    : path_(path), temporary_files_(path.parent_path()) {
  MakeFile(path);
  database_.emplace(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX, 0,
                    temporary_files_.vfs_name());
  // The spool is kept until the database is complete, so no crash safety is needed here.
  database_->exec(pages == Pages::kLarge ? "PRAGMA page_size = 16384" : "PRAGMA page_size = 4096");
  database_->exec(
      "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -4096; BEGIN");
  CreateTables();
}

void NvprofWriter::CreateTables() {
  database_->exec("CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT NOT NULL)");
  database_->exec("CREATE TABLE Version(version INTEGER)");
  database_->exec(fmt::format("INSERT INTO Version VALUES ({})", kSchemaVersion));
  for (const TableSpec& table : NvprofTables(kSchemaVersion)) {
    database_->exec(CreateTableSql(table));
  }
  for (const char* const table : kOwnTables) database_->exec(fmt::format("CREATE TABLE {}", table));
  for (const ActivityTable& table : kActivityTables) {
    if (table.extra_table != nullptr) database_->exec(CreateExtraTable(table));
  }
  add_text_.emplace(Prepare("INSERT INTO StringTable(_id_, value) VALUES (?, ?)"));
  texts_ = -1;
  AddText(nvprof::kNullString);
  bool is_new = false;
  text_ids_.Get(nvprof::kNullString, &is_new) = 0;
}

SQLite::Statement NvprofWriter::Prepare(const std::string& sql) { return {*database_, sql}; }

SQLite::Statement NvprofWriter::PrepareInsert(const std::string& table,
                                              const std::string& columns) {
  std::string marks = "?";
  for (const char c : columns) {
    if (c == ',') marks += ", ?";
  }
  return Prepare(fmt::format("INSERT INTO {}({}) VALUES ({})", table, columns, marks));
}

int64_t NvprofWriter::AddText(std::string_view text) {
  scratch_ = text;
  add_text_->bind(1, ++texts_);
  add_text_->bindNoCopy(2, scratch_);
  add_text_->exec();
  add_text_->reset();
  return texts_;
}

int64_t NvprofWriter::Intern(std::string_view text) {
  text = text.substr(0, kMostBytes);
  bool is_new = false;
  if (int64_t& id = text_ids_.Get(text, &is_new); !is_new) return id;
  std::string valid;
  AppendUtf8(text.substr(0, text.find('\0')), Utf8Hidden::kNothing, &valid);
  // Two texts may become equal when made valid; each has its own entry.
  const int64_t id = valid == text ? AddText(valid) : Intern(valid);
  text_ids_.Get(text, &is_new) = id;
  return id;
}

void NvprofWriter::AddMeta(const std::string& key, int64_t value) {
  SQLite::Statement add = PrepareInsert("OPLENS_META", "key, value");
  add.bind(1, key);
  add.bind(2, value);
  add.exec();
}

void NvprofWriter::AddMeta(const std::string& key, const std::string& value) {
  std::string valid;
  AppendUtf8(value, Utf8Hidden::kNothing, &valid);
  SQLite::Statement add = PrepareInsert("OPLENS_META", "key, value");
  add.bind(1, key);
  add.bind(2, valid);
  add.exec();
}

void NvprofWriter::AddNote(const std::string& text) {
  std::string valid;
  AppendUtf8(text, Utf8Hidden::kNothing, &valid);
  SQLite::Statement add = PrepareInsert("OPLENS_NOTE", "text");
  add.bind(1, valid);
  add.exec();
}

void NvprofWriter::Commit() { database_->exec("COMMIT; BEGIN"); }

void NvprofWriter::Execute(const std::string& sql) { database_->exec(sql); }

void NvprofWriter::Close() {
  add_text_.reset();
  database_->exec("COMMIT");
  database_.reset();
}

void NvprofWriter::Attach(const std::filesystem::path& other, const std::string& name) {
  database_->exec("COMMIT");
  SQLite::Statement attach = Prepare(fmt::format("ATTACH ? AS {}", name));
  attach.bind(1, other.string());
  attach.exec();
  database_->exec("BEGIN");
}

void NvprofWriter::Detach(const std::string& name) {
  database_->exec(fmt::format("COMMIT; DETACH {}; BEGIN", name));
}

void NvprofWriter::Finish(const std::function<void(double)>& progress) {
  add_text_.reset();
  std::vector<std::string> indices = {
      "CREATE UNIQUE INDEX INDEX_StringTable ON StringTable(value)"};
  for (const TableSpec& table : NvprofTables(kSchemaVersion)) {
    const std::string sql = CreateIndexSql(table);
    if (!sql.empty()) indices.push_back(sql);
  }
  database_->exec("PRAGMA cache_size = -65536");
  for (size_t i = 0; i < indices.size(); ++i) {
    database_->exec(indices[i]);
    if (progress) progress(static_cast<double>(i + 1) / static_cast<double>(indices.size()));
  }
  database_->exec("COMMIT");
  database_.reset();
  SyncPath(path_);  // Before the spool is removed.
}

}  // namespace oplens::record
