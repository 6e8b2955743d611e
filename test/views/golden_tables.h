#ifndef OPLENS_TEST_VIEWS_GOLDEN_TABLES_H_
#define OPLENS_TEST_VIEWS_GOLDEN_TABLES_H_

#include <string>
#include <vector>

#include "test/support/view_rows.h"

namespace oplens::test {

/// What a reference system found out of one trace of the corpus.
struct GoldenTrace {
  std::string name;    ///< "h100/bert_small", the folder of its tables.
  std::string path;    ///< Of the trace, or of the folder of its ranks.
  std::string folder;  ///< Path of its tables.
};

/// All traces of the corpus for which there is a table of that name ("tb_operators.csv").
std::vector<GoldenTrace> GoldenTracesWith(const std::string& table);

/// A table in CSV as texts by the words of its header.
std::vector<ViewRow> ReadGoldenTable(const std::string& path);

/// Whether a number is what the reference printed, rounded to `digits` behind the point; `slack`:
/// what its floating point may have lost.
bool IsPrinted(double ours, const std::string& printed, int digits, double slack);

}  // namespace oplens::test

#endif  // OPLENS_TEST_VIEWS_GOLDEN_TABLES_H_
