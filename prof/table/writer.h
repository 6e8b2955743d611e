#ifndef OPLENS_PROF_TABLE_WRITER_H_
#define OPLENS_PROF_TABLE_WRITER_H_

#include <memory>
#include <string>
#include <vector>

#include "prof/price/priced_kernel.h"
#include "prof/table/columns.h"

namespace oplens::prof {

/// Formats rows. Only formats: each writer appends to `out`, which its caller empties.
class RowWriter {
 public:
  virtual ~RowWriter() = default;
  /// What comes before the first row.
  virtual void AppendHeader(std::string* out) = 0;
  virtual void AppendRow(const PricedKernel& row, std::string* out) = 0;
  /// A graph replay whose kernels the file hides, between the kernels of its time: no row of a
  /// table of kernels. Answers whether it is shown.
  virtual bool AddReplay(const PricedKernel&) { return false; }
};

using Columns = std::vector<const Column*>;

/// RFC 4180 with every field quoted and "\n" line ends; unknown is an empty field.
std::unique_ptr<RowWriter> MakeCsvWriter(Columns columns);

/// Columns of fixed width for a terminal: lines of at most `width` characters, but for integers,
/// which are never cut. Unknown is "-". Throws UsageError with the least width when `width` is too
/// narrow, and when it is more than 10000.
std::unique_ptr<RowWriter> MakeTableWriter(Columns columns, int width);

/// Fields without blanks, separated by one blank; unknown is "-".
std::unique_ptr<RowWriter> MakeSpaceWriter(Columns columns);

/// One JSON object a line: {"schema": kJsonSchema, then the columns by key}; unknown is null. No
/// header.
std::unique_ptr<RowWriter> MakeJsonWriter(Columns columns);

/// Raised when a key changes its meaning or type or goes away; new keys do not raise it.
inline constexpr int kJsonSchema = 1;

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_WRITER_H_
