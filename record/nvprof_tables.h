#ifndef OPLENS_RECORD_NVPROF_TABLES_H_
#define OPLENS_RECORD_NVPROF_TABLES_H_

#include <string>
#include <vector>

namespace oplens::record {

// The tables of the databases that nvprof writes, for whoever writes one. Readers look columns up
// by name: parse/readers/nvprof/nvprof_schema.h.

/// One column of an nvprof table. Scalars are declared INT, unions and uuids BLOB.
struct ColumnSpec {
  std::string name;
  bool blob = false;
};

/// One CUPTI_ACTIVITY_KIND_* table as a given schema version has it, without its row id `_id_`.
struct TableSpec {
  std::string name;  ///< Full name, with the prefix.
  std::vector<ColumnSpec> columns;
  std::string indexed_column;  ///< "" when the table has no index.
};

/// "CUPTI_ACTIVITY_KIND_" + kind.
std::string NvprofTableName(const std::string& kind);

/// All activity tables of an nvprof schema version (8 to 22), in nvprof's order. StringTable and
/// Version are not among them: they have their own shape.
std::vector<TableSpec> NvprofTables(int version);

/// The SQL that makes a table as nvprof does, but that row ids are not AUTOINCREMENT: they are the
/// same, and SQLite need not look them up in a table of its own.
std::string CreateTableSql(const TableSpec& table);

/// The SQL that makes its index; "" when it has none.
std::string CreateIndexSql(const TableSpec& table);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_NVPROF_TABLES_H_
