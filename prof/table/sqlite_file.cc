#include "prof/table/sqlite_file.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/utf8.h"

namespace oplens::prof {
namespace {

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

/// Binds a cell to a parameter, one function a kind of value.
struct Bind {
  SQLite::Statement& statement;
  int parameter;

  void operator()(std::monostate) const { statement.bind(parameter); }
  void operator()(int64_t value) const { statement.bind(parameter, value); }
  void operator()(double value) const { statement.bind(parameter, value); }
  void operator()(std::string_view text) const {
    // Readers refuse a TEXT that is not UTF-8.
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

/// `path`. Throws Error for what is no regular file: a database cannot be written into a device or
/// a pipe.
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
      definitions += fmt::format("{}\"{}\" {}", comma, field.key, SqlType(field.type));
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
    // The file has no name until it is whole, so nothing is lost with a crash.
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
