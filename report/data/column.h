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

/// Appends an integer as JSON: as a text beyond 2^53, which readers in JavaScript would round.
void AppendJsonInteger(int64_t value, std::string* out);
/// Appends the shortest number that reads back the same; null for what is no number.
void AppendJsonDecimal(double value, std::string* out);

/// One column of a table of the page, as JSON (docs/report_format.md): numbers as they are,
/// anything else by its place in a list of what is distinct.
class Column {
 public:
  /// `cutter` must outlive this object.
  Column(bool numbers, const PathCutter* cutter) : numbers_(numbers), cutter_(cutter) {}

  void AddUnknown();
  void AddInteger(int64_t value);
  void AddDecimal(double value);
  void AddText(std::string_view text);
  /// A list of texts.
  void AddTexts(std::span<const std::string_view> texts);
  /// A value that is JSON already.
  void AddJson(std::string_view json);

  size_t rows() const { return rows_; }
  /// About what it takes in memory.
  size_t bytes() const { return values_.size() + 3 * entries_.size() + 4 * places_.size(); }
  /// Appends {"v": [...]} or {"d": [...], "i": [...]} with the first `rows` rows.
  void Write(size_t rows, std::string* out) const;

 private:
  static constexpr int32_t kUnknown = -1;

  std::string* NextValue();
  int32_t NewEntry(std::string_view json);
  /// What the page shows of a text: valid UTF-8, with paths cut.
  std::string Shown(std::string_view text) const;

  bool numbers_;
  const PathCutter* cutter_;
  size_t rows_ = 0;
  std::string values_;           // With commas between them; of numbers.
  std::vector<int32_t> places_;  // Of others: into the entries.
  std::string entries_;          // As JSON, with commas between them.
  std::vector<size_t> ends_;     // Of the entries.
  using Places = TextMap<int32_t>;
  Places texts_;  // By text as it came and as it is shown;
  Places json_;   // of other values by their JSON.
  std::string scratch_;
};

/// Appends {"columns": [...]} with the first `rows` rows of columns.
void WriteColumns(const std::vector<Column>& columns, size_t rows, std::string* out);

/// The same deflated. The columns are gone.
std::string PackColumns(std::vector<Column> columns);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_DATA_COLUMN_H_
