#include "parse/source/sqlite_pages.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/threads.h"
#include "parse/source/sqlite_database.h"
#include "test/support/test_files.h"

namespace oplens::parse::sqlite_pages_test {
namespace {

using test::TestDir;

constexpr std::string_view kColumns[] = {"_id_", "a", "b", "c", "late"};

/// Integers of every stored width, reals, NULLs, texts and blobs from empty to many pages long.
void WriteSampleDatabase(const std::filesystem::path& path, int page_size, int rows) {
  std::filesystem::remove(path);
  SQLite::Database db(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  db.exec(fmt::format("PRAGMA page_size = {}", page_size));
  db.exec("CREATE TABLE t(_id_ INTEGER PRIMARY KEY AUTOINCREMENT, a INT, b TEXT, c BLOB)");
  SQLite::Transaction transaction(db);
  SQLite::Statement insert(db, "INSERT INTO t(_id_, a, b, c) VALUES(?, ?, ?, ?)");
  std::mt19937_64 random(static_cast<uint64_t>(page_size));
  for (int i = 0; i < rows; ++i) {
    insert.reset();
    insert.bind(1, static_cast<int64_t>(i * 3 - 50));
    const auto bits = static_cast<int>(random() % 65);
    const uint64_t value = bits == 0 ? 0 : random() >> (64 - bits);
    if (i % 11 == 0) {
      insert.bind(2);
    } else if (i % 11 == 1) {
      insert.bind(2, 0.5 * i);
    } else {
      insert.bind(2, static_cast<int64_t>(i % 2 == 0 ? value : ~value));
    }
    const size_t length = i % 50 == 49 ? random() % 70000 : random() % 40;
    insert.bind(3, std::string(length, static_cast<char>('a' + i % 26)));
    const std::string blob(random() % 9, '\0');
    insert.bind(4, blob.data(), static_cast<int>(blob.size()));
    insert.exec();
  }
  // Rows written before a column came lack it: it must read as NULL.
  db.exec("ALTER TABLE t ADD COLUMN late INT");
  transaction.commit();
}

std::string Show(const Cell& cell) {
  switch (cell.type()) {
    case Cell::Type::kNull:
      return "null";
    case Cell::Type::kInt:
      return std::to_string(cell.integer());
    case Cell::Type::kReal:
      return "real";
    case Cell::Type::kText:
      return fmt::format("text:{}", cell.bytes());
    case Cell::Type::kBlob:
      return fmt::format("blob:{}", cell.bytes().size());
  }
  return {};
}

std::string Show(const SQLite::Column& column) {
  if (column.isNull()) return "null";
  if (column.isInteger()) return std::to_string(column.getInt64());
  if (column.isFloat()) return "real";
  if (column.isText()) return fmt::format("text:{}", column.getString());
  return fmt::format("blob:{}", column.getBytes());
}

std::vector<std::string> ReadWithPages(const std::filesystem::path& path) {
  SqliteDatabase database(path.string());
  std::vector<std::string> rows;
  database.Scan("t", kColumns, [&](const RowBatch& batch) {
    for (size_t i = 0; i < batch.row_count(); ++i) {
      std::string row = std::to_string(batch.row_ids[i]);
      for (size_t c = 0; c < std::size(kColumns); ++c)
        row.append("|").append(Show(batch.Row(i)[c]));
      rows.push_back(std::move(row));
    }
  });
  return rows;
}

std::vector<std::string> ReadWithSqlite(const std::filesystem::path& path) {
  SQLite::Database db(path.string());
  SQLite::Statement query(db, "SELECT rowid, _id_, a, b, c, late FROM t ORDER BY rowid");
  std::vector<std::string> rows;
  while (query.executeStep()) {
    std::string row = query.getColumn(0).getString();
    for (int c = 1; c < 6; ++c) row.append("|").append(Show(query.getColumn(c)));
    rows.push_back(std::move(row));
  }
  return rows;
}

class SqlitePagesTest : public testing::TestWithParam<int> {};

TEST_P(SqlitePagesTest, ReadsWhatSqliteReads) {
  const std::filesystem::path path = TestDir() / "sample.db";
  for (const int rows : {0, 1, 40, 3000}) {
    WriteSampleDatabase(path, GetParam(), rows);
    const std::vector<std::string> expected = ReadWithSqlite(path);
    ASSERT_EQ(expected.size(), static_cast<size_t>(rows));
    EXPECT_EQ(ReadWithPages(path), expected) << rows << " rows";
  }
}

INSTANTIATE_TEST_SUITE_P(PageSizes, SqlitePagesTest,
                         testing::Values(512, 1024, 4096, 16384, 65536));

TEST(SqlitePages, DamagedPagesNeverCrash) {
  const std::filesystem::path dir = TestDir();
  const std::filesystem::path path = dir / "sample.db";
  const std::filesystem::path damaged = dir / "damaged.db";
  WriteSampleDatabase(path, 1024, 400);
  const std::string good = test::ReadFile(path);
  std::mt19937_64 random(7);
  int refused = 0;
  int read = 0;
  for (int round = 0; round < 400; ++round) {
    std::string bad = good;
    const size_t changes = 1 + random() % 4;
    for (size_t i = 0; i < changes; ++i) {
      // Page heads hold the structure: aim half of the changes at them.
      size_t at = random() % bad.size();
      if (random() % 2 == 0) at = at / 1024 * 1024 + random() % 24;
      bad[at] = static_cast<char>(random());
    }
    test::WriteFile(damaged, bad);
    try {
      ReadWithPages(damaged);
      ++read;
    } catch (const Error& e) {
      ++refused;
      EXPECT_NE(std::string(e.what()).find("damaged.db: "), std::string::npos) << e.what();
    }
  }
  // Both happen: a changed text byte cannot be noticed, a changed page head must be.
  EXPECT_GT(refused, 25);
  EXPECT_GT(read, 25);
}

TEST(SqlitePages, TruncatedFilesAreRefused) {
  const std::filesystem::path path = TestDir() / "sample.db";
  WriteSampleDatabase(path, 1024, 400);
  const std::string good = test::ReadFile(path);
  for (const size_t keep :
       {size_t{99}, size_t{100}, size_t{1024}, good.size() - 1024, good.size() - 1}) {
    test::WriteFile(path, good.substr(0, keep));
    EXPECT_THROW(ReadWithPages(path), Error) << keep << " bytes";
  }
}

/// What a scan gives: its rows' number, a hash of their cells, and its error.
std::string WithThreads(int threads, const std::filesystem::path& path) {
  const int before = ThreadLimit();
  SetThreadLimit(threads);
  uint64_t rows = 0;
  uint64_t hash = 0;
  std::string error;
  try {
    SqliteDatabase database(path.string());
    database.Scan("t", kColumns, [&](const RowBatch& batch) {
      for (size_t i = 0; i < batch.row_count(); ++i, ++rows) {
        for (size_t c = 0; c < std::size(kColumns); ++c) {
          const Cell& cell = batch.Row(i)[c];
          hash = hash * 31 + (cell.type() == Cell::Type::kText
                                  ? std::hash<std::string_view>()(cell.bytes())
                                  : static_cast<uint64_t>(cell.is_int() ? cell.integer() : 7));
        }
      }
    });
  } catch (const Error& e) {
    error = e.what();
  }
  SetThreadLimit(before);
  return fmt::format("{} rows, {}, {}", rows, hash, error);
}

/// Large enough for threads to be started: more than 2 MB of pages.
void WriteLargeDatabase(const std::filesystem::path& path) {
  WriteSampleDatabase(path, 4096, 400);
  SQLite::Database db(path.string(), SQLite::OPEN_READWRITE);
  db.exec(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) "
      "INSERT INTO t(_id_, a, b, c) SELECT 10000 + i, i * i, 'name of row ' || i, x'0102' FROM n");
}

TEST(SqlitePagesWithThreads, RowsAndErrorsAreTheSame) {
  const std::filesystem::path dir = TestDir();
  const std::filesystem::path path = dir / "large.db";
  const std::filesystem::path damaged = dir / "damaged.db";
  WriteLargeDatabase(path);
  const std::string whole = WithThreads(1, path);
  EXPECT_TRUE(whole.starts_with("60400 rows")) << whole;
  for (const int threads : {2, 3, 8}) EXPECT_EQ(WithThreads(threads, path), whole);

  const std::string good = test::ReadFile(path);
  std::mt19937_64 random(11);
  int refused = 0;
  for (int round = 0; round < 40; ++round) {
    std::string bad = good;
    const size_t at = 4096 + random() % (bad.size() - 4096);
    bad[at / 4096 * 4096 + random() % 24] = static_cast<char>(random());
    test::WriteFile(damaged, bad);
    const std::string one = WithThreads(1, damaged);
    EXPECT_EQ(WithThreads(4, damaged), one) << round;
    refused += one.ends_with(", ") ? 0 : 1;
  }
  EXPECT_GT(refused, 10);
}

TEST(SqlitePagesWithThreads, WhatTheTakerThrowsEndsTheScan) {
  const std::filesystem::path path = TestDir() / "large.db";
  WriteLargeDatabase(path);
  const int before = ThreadLimit();
  SetThreadLimit(4);
  SqliteDatabase database(path.string());
  size_t rows = 0;
  const auto take = [&](const RowBatch& batch) {
    rows += batch.row_count();
    if (rows > 58000) throw Error("taker", "had enough", "stop");
  };
  EXPECT_THROW(database.Scan("t", kColumns, take), Error);
  EXPECT_LT(rows, 60400U);
  SetThreadLimit(before);
}

}  // namespace
}  // namespace oplens::parse::sqlite_pages_test
