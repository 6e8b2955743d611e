#ifndef OPLENS_PROF_DIFF_PRINT_DIFF_H_
#define OPLENS_PROF_DIFF_PRINT_DIFF_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prof/diff/diff.h"
#include "prof/table/sink.h"

namespace oplens::prof {

struct DiffPrint {
  bool all = false;   ///< Include rows of class `same`.
  bool many = false;  ///< The destination takes several tables; otherwise it is for a reader.
  size_t top = 0;     ///< Rows per table; 0: all.
  /// Number of leading tables to print; the others are for conditions.
  size_t tables = SIZE_MAX;
  /// One line a row, by DiffTable::main, instead of one a figure; only without `many`.
  bool wide = false;
  /// Words of --by. Rows of `operators` are summed by those that are its keys.
  std::vector<std::string> by = {};
};

/// Takes the words of --by; `for_reader`: wide, unless one of them is `figure`.
void TakeByWords(std::string_view words, bool for_reader, DiffPrint* print);

/// Prints a comparison. For a reader: text about the runs, then a table per view. Otherwise: the
/// tables `diff` (the total), `diff_setup`, `diff_causes` and `diff_VIEW` per view; in formats
/// without text between tables, such as CSV, only the tables of views. Returns the number of rows
/// of views printed.
int64_t PrintDiff(const Diff& diff, const DiffPrint& print, Destination* destination);

/// The tables about whole runs that programs get, with their fields,
std::vector<std::pair<std::string_view, std::vector<Field>>> DiffSchemas();
/// and what they get of a row of a view besides its keys.
std::vector<Field> DiffRowFields();

/// Text about two runs: their steps, differences, causes, and the verdict.
std::string DiffText(const Diff& diff);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_PRINT_DIFF_H_
