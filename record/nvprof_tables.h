#ifndef OPLENS_RECORD_NVPROF_TABLES_H_
#define OPLENS_RECORD_NVPROF_TABLES_H_

#include <string>
#include <vector>

namespace oplens::record {

// The tables of databases written by nvprof. Readers look columns up by name:
// parse/readers/nvprof/nvprof_schema.h.

/// A column of an nvprof table. Scalars are declared INT, unions and UUIDs BLOB.
struct ColumnSpec {
  std::string name;
  bool blob = false;
};

/// A CUPTI_ACTIVITY_KIND_* table in a schema version, without its row id `_id_`.
struct TableSpec {
  std::string name;  ///< With the prefix.
  std::vector<ColumnSpec> columns;
  std::string indexed_column;  ///< "": no index.
};

std::string NvprofTableName(const std::string& kind);

/// All activity tables of an nvprof schema version (8 to 22), in nvprof's order. Without
/// StringTable and Version, which have a different form.
std::vector<TableSpec> NvprofTables(int version);

/// The SQL that creates a table like nvprof's, except that row ids are not AUTOINCREMENT: they are
/// the same, but SQLite need not maintain a separate table for them.
std::string CreateTableSql(const TableSpec& table);

/// The SQL that creates its index; "" if it has none.
std::string CreateIndexSql(const TableSpec& table);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_NVPROF_TABLES_H_
