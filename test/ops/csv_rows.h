#ifndef OPLENS_TEST_OPS_CSV_ROWS_H_
#define OPLENS_TEST_OPS_CSV_ROWS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::ops::test {

/// The rows of a CSV text (RFC 4180) by the names of its first row. Cells that a row lacks are
/// empty.
std::vector<std::map<std::string, std::string>> ParseCsv(std::string_view text);

}  // namespace oplens::ops::test

#endif  // OPLENS_TEST_OPS_CSV_ROWS_H_
