#ifndef OPLENS_REPORT_DATA_COLUMN_H_
#define OPLENS_REPORT_DATA_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/path_cutter.h"

namespace oplens::report {

/// Appends a JSON integer; beyond 2^53 as a string, because JavaScript would round it.
void AppendJsonInteger(int64_t value, std::string* out);
/// Significant digits of a decimal: more than any measurement has, and half the size of all 17.
inline constexpr int kDecimalDigits = 10;
/// Appends a decimal, rounded to kDecimalDigits unless it is whole; null for NaN and infinities.
void AppendJsonDecimal(double value, std::string* out);

/// A column of a page's table, as JSON (docs/report_format.md): numbers in place, other values as
/// indices into a list of distinct values.
class Column {
 public:
  Column(bool numbers, const PathCutter* cutter) : numbers_(numbers), cutter_(cutter) {}

  void AddUnknown();
  void AddInteger(int64_t value);
  void AddDecimal(double value);
  void AddText(std::string_view text);
  void AddTexts(std::span<const std::string_view> texts);
  /// A value given as JSON.
  void AddJson(std::string_view json);

  size_t rows() const { return rows_; }
  /// Approximate memory use.
  size_t bytes() const { return values_.size() + 3 * entries_.size() + 4 * places_.size(); }
  void Write(size_t rows, std::string* out) const;

 private:
  static constexpr int32_t kUnknown = -1;

  std::string* NextValue();
  int32_t NewEntry(std::string_view json);
  /// A text as the page shows it: valid UTF-8 with shortened paths.
  std::string Shown(std::string_view text) const;

  bool numbers_;
  const PathCutter* cutter_;
  size_t rows_ = 0;
  std::string values_;           // Numbers: comma-separated JSON.
  std::vector<int32_t> places_;  // Other values: indices of entries.
  std::string entries_;          // Comma-separated JSON.
  std::vector<size_t> ends_;     // End of each entry.
  using Places = TextMap<int32_t>;
  Places texts_;  // Place by text, both as given and as shown.
  Places json_;   // Place of other values by their JSON.
  std::string scratch_;
};

void WriteColumns(const std::vector<Column>& columns, size_t rows, std::string* out);

/// Deflates the JSON of all rows; consumes the columns.
std::string PackColumns(std::vector<Column> columns);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_DATA_COLUMN_H_
