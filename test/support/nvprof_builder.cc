#include "test/support/nvprof_builder.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "record/nvprof_tables.h"

namespace oplens::test {
namespace {

namespace fs = std::filesystem;

using record::ColumnSpec;
using record::NvprofTableName;
using record::NvprofTables;
using record::TableSpec;

bool Names(const std::string& entry, const TableSpec& table) {
  return entry == table.name || NvprofTableName(entry) == table.name;
}

// The tables of the file: those of the version with the options' changes.
std::vector<TableSpec> TablesOf(const NvprofOptions& options) {
  std::vector<TableSpec> tables;
  for (TableSpec& table : NvprofTables(options.version)) {
    const auto is_this = [&](const std::string& entry) { return Names(entry, table); };
    if (std::any_of(options.drop_tables.begin(), options.drop_tables.end(), is_this)) continue;
    for (const auto& [kind, column] : options.drop_columns) {
      if (!Names(kind, table)) continue;
      std::erase_if(table.columns,
                    [&, &name = column](const ColumnSpec& c) { return c.name == name; });
      if (table.indexed_column == column) table.indexed_column.clear();
    }
    for (const auto& [kind, column] : options.extra_columns) {
      if (Names(kind, table)) table.columns.insert(table.columns.begin(), {column, false});
    }
    if (options.reverse_columns) std::reverse(table.columns.begin(), table.columns.end());
    tables.push_back(std::move(table));
  }
  return tables;
}

std::string CreateTable(const TableSpec& table, const NvprofOptions& options) {
  const char* constraint = options.not_null ? " NOT NULL" : "";
  std::string columns;
  for (const ColumnSpec& column : table.columns) {
    columns += fmt::format(", \"{}\" {}{}", column.name, column.blob ? "BLOB" : "INT", constraint);
  }
  const char* id = "_id_ INTEGER PRIMARY KEY AUTOINCREMENT";
  return fmt::format("CREATE TABLE {}({}{})", table.name, id, columns);
}

std::string InsertInto(const TableSpec& table) {
  std::string names = "_id_";
  std::string marks = "?";
  for (const ColumnSpec& column : table.columns) {
    names += fmt::format(", \"{}\"", column.name);
    marks += ", ?";
  }
  return fmt::format("INSERT INTO {}({}) VALUES ({})", table.name, names, marks);
}

void BindValue(SQLite::Statement& statement, int index, const Value& value) {
  struct Binder {
    SQLite::Statement& statement;
    int index;
    void operator()(std::monostate) const { statement.bind(index); }
    void operator()(int64_t number) const { statement.bind(index, number); }
    void operator()(double number) const { statement.bind(index, number); }
    void operator()(const std::string& text) const { statement.bind(index, text); }
    void operator()(const Blob& blob) const {
      statement.bind(index, blob.bytes.data(), static_cast<int>(blob.bytes.size()));
    }
  };
  std::visit(Binder{statement, index}, value);
}

void InsertRows(SQLite::Database& db, const TableSpec& table, const std::deque<Row>& rows,
                const std::optional<uint32_t>& shuffle_seed) {
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (shuffle_seed) std::shuffle(order.begin(), order.end(), std::mt19937(*shuffle_seed));

  SQLite::Statement insert(db, InsertInto(table));
  int64_t id = 0;
  for (const size_t i : order) {
    insert.bind(1, ++id);
    int parameter = 1;
    for (const ColumnSpec& column : table.columns) {
      const auto value = rows[i].find(column.name);
      const Value fallback = column.blob ? Value(Blob{}) : Value(int64_t{0});
      BindValue(insert, ++parameter, value == rows[i].end() ? fallback : value->second);
    }
    insert.exec();
    insert.reset();
  }
}

void WriteNvprofStrings(SQLite::Database& db,
                        const std::vector<std::pair<int64_t, Value>>& strings) {
  db.exec(
      "CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY AUTOINCREMENT, "
      "value TEXT NOT NULL UNIQUE)");
  SQLite::Statement insert(db, "INSERT INTO StringTable(_id_, value) VALUES (?, ?)");
  for (const auto& [id, value] : strings) {
    insert.bind(1, id);
    BindValue(insert, 2, value);
    insert.exec();
    insert.reset();
  }
}

void RemoveDatabase(const fs::path& path) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    fs::remove(path.string() + suffix);
  }
}

}  // namespace

NvprofBuilder::NvprofBuilder() { AddString(0, "-- null --"); }

int64_t NvprofBuilder::Intern(std::string_view text) {
  const auto [entry, is_new] =
      string_ids_.try_emplace(std::string(text), static_cast<int64_t>(string_ids_.size()) + 1);
  if (is_new) AddString(entry->second, std::string(text));
  return entry->second;
}

void NvprofBuilder::AddString(int64_t id, Value value) {
  strings_.emplace_back(id, std::move(value));
}

Row& NvprofBuilder::Add(const std::string& kind, Row row) {
  return rows_[kind].emplace_back(std::move(row));
}

void NvprofBuilder::Write(const fs::path& path, const NvprofOptions& options) const {
  const bool pending = options.journal == NvprofOptions::Journal::kWalPending;
  const fs::path target = pending ? fs::path(path.string() + ".build") : path;
  RemoveDatabase(path);
  RemoveDatabase(target);

  SQLite::Database db(target.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  db.exec(fmt::format("PRAGMA page_size = {}", options.page_size));
  db.exec(fmt::format("PRAGMA encoding = '{}'", options.encoding));
  if (options.journal != NvprofOptions::Journal::kDelete) {
    db.exec("PRAGMA journal_mode = WAL");
    db.exec("PRAGMA wal_autocheckpoint = 0");
  }

  SQLite::Transaction transaction(db);
  if (!options.without_string_table) WriteNvprofStrings(db, strings_);
  db.exec("CREATE TABLE Version(version INTEGER)");
  db.exec(fmt::format("INSERT INTO Version VALUES ({})", options.version));
  for (const TableSpec& table : TablesOf(options)) {
    db.exec(CreateTable(table, options));
    const bool indexed = options.indices && !table.indexed_column.empty();
    if (indexed) {
      db.exec(fmt::format("CREATE INDEX INDEX_{0} ON {0}({1})", table.name, table.indexed_column));
    }
    for (const auto& [kind, rows] : rows_) {
      if (Names(kind, table)) InsertRows(db, table, rows, options.shuffle_seed);
    }
  }
  transaction.commit();

  if (pending) {
    // Copied while the connection is open: closing it would move the rows into the database.
    fs::copy_file(target, path);
    fs::copy_file(target.string() + "-wal", path.string() + "-wal");
  }
}

Blob ThreadObject(int64_t process_id, int64_t thread_id) {
  Blob blob;
  for (const int64_t word : {process_id, thread_id, int64_t{0}}) {
    for (int shift = 0; shift < 32; shift += 8) {
      blob.bytes.push_back(static_cast<char>((word >> shift) & 0xFF));
    }
  }
  return blob;
}

int64_t SignedThreadId(int64_t thread_id) {
  return static_cast<int32_t>(static_cast<uint32_t>(thread_id & 0xFFFFFFFF));
}

void ExecSql(const fs::path& path, const std::string& sql) {
  SQLite::Database db(path.string(), SQLite::OPEN_READWRITE);
  db.exec(sql);
}

namespace {

std::vector<std::string> Column(SQLite::Database& db, const std::string& sql) {
  std::vector<std::string> values;
  SQLite::Statement query(db, sql);
  while (query.executeStep()) values.push_back(query.getColumn(0).getString());
  return values;
}

}  // namespace

int RootPage(const fs::path& path, const std::string& table) {
  SQLite::Database db(path.string(), SQLite::OPEN_READONLY);
  SQLite::Statement query(db, "SELECT rootpage FROM sqlite_master WHERE name = ?");
  query.bind(1, table);
  query.executeStep();
  return query.getColumn(0).getInt();
}

void ShuffleRows(const fs::path& path, uint32_t seed) {
  SQLite::Database db(path.string(), SQLite::OPEN_READWRITE);
  std::mt19937 random(seed);
  SQLite::Transaction transaction(db);
  for (const std::string& table :
       Column(db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'CUPTI%'")) {
    std::vector<std::string> ids = Column(db, fmt::format("SELECT _id_ FROM {}", table));
    std::shuffle(ids.begin(), ids.end(), random);
    // First out of the way, then to the new place, since row ids are unique.
    db.exec(fmt::format("UPDATE {} SET _id_ = -_id_ - 1", table));
    SQLite::Statement move(db, fmt::format("UPDATE {} SET _id_ = ? WHERE _id_ = ?", table));
    int64_t next = 0;
    for (const std::string& id : ids) {
      move.bind(1, ++next);
      move.bind(2, int64_t{-std::stoll(id) - 1});
      move.exec();
      move.reset();
    }
  }
  transaction.commit();
}

std::map<std::string, std::set<std::string>> ColumnsOf(const fs::path& path) {
  SQLite::Database db(path.string(), SQLite::OPEN_READONLY);
  std::map<std::string, std::set<std::string>> columns;
  for (const std::string& table : Column(
           db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")) {
    const std::string sql = fmt::format("SELECT name FROM pragma_table_info('{}')", table);
    for (std::string& column : Column(db, sql)) columns[table].insert(std::move(column));
  }
  return columns;
}

std::string DumpSql(const fs::path& path) {
  SQLite::Database db(path.string(), SQLite::OPEN_READONLY);
  std::string text;
  for (const std::string& sql :
       Column(db, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name")) {
    text += sql + ";\n";
  }
  for (const std::string& table :
       Column(db,
              "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' "
              "ORDER BY name")) {
    std::string quoted;
    for (const std::string& column :
         Column(db, fmt::format("SELECT name FROM pragma_table_info('{}')", table))) {
      quoted += fmt::format("{}quote(\"{}\")", quoted.empty() ? "" : " || ',' || ", column);
    }
    for (const std::string& row :
         Column(db, fmt::format("SELECT {} FROM {} ORDER BY rowid", quoted, table))) {
      text += fmt::format("{}: {}\n", table, row);
    }
  }
  return text;
}

}  // namespace oplens::test
