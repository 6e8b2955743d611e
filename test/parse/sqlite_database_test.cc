#include "parse/source/sqlite_database.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "test/support/test_files.h"

namespace oplens::parse::sqlite_database_test {
namespace {

using test::TestDir;

void MakeDatabase(const std::filesystem::path& path, const std::string& sql) {
  SQLite::Database db(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  db.exec(sql);
}

std::vector<std::string> Texts(SqliteDatabase* database, std::string_view table,
                               std::string_view column) {
  std::vector<std::string> texts;
  const std::string_view columns[] = {column};
  database->Scan(table, columns, [&](const RowBatch& batch) {
    for (size_t i = 0; i < batch.row_count(); ++i) {
      const Cell& cell = *batch.Row(i);
      texts.push_back(cell.type() == Cell::Type::kText ? std::string(cell.bytes()) : "?");
    }
  });
  return texts;
}

TEST(SqliteDatabase, EveryKindOfTable) {
  const std::filesystem::path path = TestDir() / "kinds.db";
  MakeDatabase(
      path,
      "CREATE TABLE plain(x TEXT); INSERT INTO plain VALUES('a'), ('b');"
      "CREATE TABLE keyed(x TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO keyed VALUES('c');"
      "CREATE TABLE made(y TEXT, x TEXT GENERATED ALWAYS AS (y || '!') STORED);"
      "INSERT INTO made(y) VALUES('d');"
      "CREATE TABLE \"odd\"\"name\"(x TEXT); INSERT INTO \"odd\"\"name\" VALUES('e');"
      "CREATE TABLE grown(y INT); INSERT INTO grown VALUES(1);"
      "ALTER TABLE grown ADD COLUMN x TEXT DEFAULT 'f';");
  SqliteDatabase database(path.string());
  EXPECT_EQ(Texts(&database, "plain", "x"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(Texts(&database, "keyed", "x"), std::vector<std::string>{"c"});
  EXPECT_EQ(Texts(&database, "made", "x"), std::vector<std::string>{"d!"});
  EXPECT_EQ(Texts(&database, "odd\"name", "x"), std::vector<std::string>{"e"});
  EXPECT_EQ(Texts(&database, "grown", "x"), std::vector<std::string>{"f"});
  EXPECT_EQ(Texts(&database, "plain", "missing"), (std::vector<std::string>{"?", "?"}));
  EXPECT_TRUE(Texts(&database, "missing", "x").empty());
  EXPECT_TRUE(database.HasColumn("plain", "x"));
  EXPECT_FALSE(database.HasColumn("plain", "y"));
  EXPECT_EQ(database.MaxRowCount("plain"), 2);
  EXPECT_EQ(database.MaxRowCount("made"), 0) << "its pages are not read";
}

TEST(SqliteDatabase, RowIdAliasIsReadFromTheKey) {
  const std::filesystem::path path = TestDir() / "alias.db";
  MakeDatabase(path,
               "CREATE TABLE t(v TEXT, _id_ INTEGER PRIMARY KEY); INSERT INTO t VALUES('x', 42);");
  SqliteDatabase database(path.string());
  constexpr std::string_view kColumns[] = {"_id_", "v"};
  int64_t id = 0;
  database.Scan("t", kColumns, [&](const RowBatch& batch) { id = batch.Row(0)[0].integer(); });
  EXPECT_EQ(id, 42);
  EXPECT_EQ(database.MaxRowCount("t"), 42);
}

TEST(SqliteDatabase, SparseRowIdsDoNotPromiseRows) {
  const std::filesystem::path path = TestDir() / "sparse.db";
  MakeDatabase(path,
               "CREATE TABLE t(_id_ INTEGER PRIMARY KEY, v TEXT);"
               "INSERT INTO t VALUES(9000000000000000000, 'x');");
  SqliteDatabase database(path.string());
  EXPECT_LE(database.MaxRowCount("t"), 2 * 4096 / 8);
}

TEST(SqliteDatabase, IntegerKeysWithoutRowIds) {
  const std::filesystem::path path = TestDir() / "keys.db";
  MakeDatabase(path,
               "CREATE TABLE t(_id_ INTEGER PRIMARY KEY, x TEXT) WITHOUT ROWID;"
               "INSERT INTO t VALUES(7, 'x');");
  SqliteDatabase database(path.string());
  EXPECT_EQ(Texts(&database, "t", "x"), std::vector<std::string>{"x"});
}

TEST(SqliteDatabase, OtherEncodingsAndLogs) {
  const std::filesystem::path dir = TestDir();
  const std::filesystem::path utf16 = dir / "utf16.db";
  MakeDatabase(
      utf16,
      "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t(x TEXT); INSERT INTO t VALUES('gr\xC3\xBC');");
  SqliteDatabase wide(utf16.string());
  EXPECT_EQ(Texts(&wide, "t", "x"), std::vector<std::string>{"gr\xC3\xBC"});

  const std::filesystem::path wal = dir / "wal.db";
  SQLite::Database writer(wal.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  writer.exec("PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0;");
  writer.exec("CREATE TABLE t(x TEXT); INSERT INTO t VALUES('in the log');");
  SqliteDatabase reader(wal.string());
  EXPECT_EQ(Texts(&reader, "t", "x"), std::vector<std::string>{"in the log"});
}

TEST(SqliteDatabase, PathsWithUriCharacters) {
  const std::filesystem::path path = TestDir() / "a?b#c%20d.db";
  MakeDatabase(path, "CREATE TABLE t(x TEXT); INSERT INTO t VALUES('a');");
  SqliteDatabase database(path.string());
  EXPECT_EQ(Texts(&database, "t", "x"), std::vector<std::string>{"a"});
}

TEST(SqliteDatabase, LeavesNothingBesideTheFile) {
  const std::filesystem::path dir = TestDir();
  const std::filesystem::path path = dir / "only.db";
  MakeDatabase(path, "CREATE TABLE t(x TEXT); INSERT INTO t VALUES('a');");
  SqliteDatabase database(path.string());
  EXPECT_EQ(Texts(&database, "t", "x"), std::vector<std::string>{"a"});
  const std::filesystem::directory_iterator entries(dir);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

}  // namespace
}  // namespace oplens::parse::sqlite_database_test
