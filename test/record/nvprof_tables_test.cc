#include "record/nvprof_tables.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <string_view>

#include "test/support/test_files.h"

namespace oplens::record::nvprof_tables_test {
namespace {

/// Name -> SQL of all activity tables and of their indices, blanks and AUTOINCREMENT aside.
using Schema = std::map<std::string, std::string>;

std::string Plain(std::string sql) {
  constexpr std::string_view kWord = " AUTOINCREMENT";
  if (const size_t at = sql.find(kWord); at != std::string::npos) sql.erase(at, kWord.size());
  std::erase(sql, ' ');
  return sql;
}

bool IsOfActivity(const std::string& name) {
  return name.find(NvprofTableName("")) != std::string::npos;
}

Schema ReadSchema(const SQLite::Database& database) {
  Schema schema;
  SQLite::Statement query(database, "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL");
  while (query.executeStep()) {
    const std::string name = query.getColumn(0).getString();
    if (IsOfActivity(name)) schema[name] = Plain(query.getColumn(1).getString());
  }
  return schema;
}

Schema MakeSchema(int version) {
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  for (const TableSpec& table : NvprofTables(version)) {
    database.exec(CreateTableSql(table));
    const std::string index = CreateIndexSql(table);
    if (!index.empty()) database.exec(index);
  }
  return ReadSchema(database);
}

struct RealFile {
  const char* name;
  int version;
};

void PrintTo(const RealFile& file, std::ostream* out) { *out << file.name; }

class RealSchema : public testing::TestWithParam<RealFile> {};

TEST_P(RealSchema, IsWhatWeMake) {
  OPLENS_NEED_CORPUS();
  const SQLite::Database database(test::CorpusFile(GetParam().name).string(),
                                  SQLite::OPEN_READONLY);
  const Schema real = ReadSchema(database);
  const Schema made = MakeSchema(GetParam().version);
  ASSERT_GT(real.size(), 40u);
  for (const auto& [name, sql] : real) {
    const auto found = made.find(name);
    EXPECT_EQ(found == made.end() ? "" : found->second, sql) << name;
  }
  for (const auto& [name, sql] : made) EXPECT_EQ(real.count(name), 1u) << name;
}

INSTANTIATE_TEST_SUITE_P(Version, RealSchema,
                         testing::Values(RealFile{"nvprof/lm.sql", 12},
                                         RealFile{"nvprof/empty.sql", 12},
                                         RealFile{"nvprof/thesis.nvprof", 17},
                                         RealFile{"nvprof/empty_v22.prof", 22}));

TEST(NvprofTables, Version12HasFortySevenActivityTables) {
  // 50 with StringTable, Version and sqlite_sequence.
  EXPECT_EQ(NvprofTables(12).size(), 47u);
}

TEST(NvprofTables, MakesIndicesOnlyWhereNvprofHasThem) {
  for (const TableSpec& table : NvprofTables(12)) {
    EXPECT_EQ(CreateIndexSql(table).empty(), table.indexed_column.empty()) << table.name;
  }
  EXPECT_EQ(CreateIndexSql({"T", {{"a", false}, {"b", true}}, "a"}),
            "CREATE INDEX INDEX_T ON T(a)");
  EXPECT_EQ(CreateTableSql({"T", {{"a", false}, {"b", true}}, ""}),
            "CREATE TABLE T(_id_ INTEGER PRIMARY KEY, a INT NOT NULL, b BLOB NOT NULL)");
}

}  // namespace
}  // namespace oplens::record::nvprof_tables_test
