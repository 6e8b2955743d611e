#ifndef OPLENS_PROF_DIFF_PRINT_DIFF_H_
#define OPLENS_PROF_DIFF_PRINT_DIFF_H_

#include <cstdint>
#include <string>

#include "prof/diff/diff.h"
#include "prof/table/sink.h"

namespace oplens::prof {

/// What of a comparison is printed.
struct DiffPrint {
  bool all = false;   ///< Rows of class `same` too.
  bool many = false;  ///< The destination takes several tables; else it is for a reader.
  size_t top = 0;     ///< Rows of a table; 0: all.
  /// Of the tables of the diff, from the first: the others are there for conditions.
  size_t tables = SIZE_MAX;
};

/// Prints a comparison: for a reader what is said of the runs, then a table a view; else the tables
/// `diff` (the total), `diff_setup`, `diff_causes` and `diff_VIEW` for each view. Of lines that
/// take no text between them, such as CSV, only the tables of views. Answers how many rows of views
/// were printed.
int64_t PrintDiff(const Diff& diff, const DiffPrint& print, Destination* destination);

/// What is said of two runs: their steps, in what they differ, the causes, and the verdict.
std::string DiffText(const Diff& diff);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_PRINT_DIFF_H_
