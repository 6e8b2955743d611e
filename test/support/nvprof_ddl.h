#ifndef OPLENS_TEST_SUPPORT_NVPROF_DDL_H_
#define OPLENS_TEST_SUPPORT_NVPROF_DDL_H_

#include <string>
#include <vector>

namespace oplens::test {

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
std::string ActivityTable(const std::string& kind);

/// All activity tables of an nvprof schema version (8 to 22), in nvprof's order. StringTable and
/// Version are not among them: they have their own shape. Written from the profiler's files by hand
/// and apart from the reader's own table, so that one checks the other.
std::vector<TableSpec> NvprofTables(int version);

}  // namespace oplens::test

#endif  // OPLENS_TEST_SUPPORT_NVPROF_DDL_H_
