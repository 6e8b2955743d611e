#ifndef OPLENS_PARSE_COUNTERS_CSV_SCANNER_H_
#define OPLENS_PARSE_COUNTERS_CSV_SCANNER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::parse {

/// A cell of a table, and where it begins.
struct CsvCell {
  std::string_view text;
  int64_t line = 0;    ///< From 1.
  int64_t column = 0;  ///< In bytes, from 1.
};

/// Reads the rows of a CSV text in which other lines stand. Pointees live until the next row.
class CsvScanner {
 public:
  explicit CsvScanner(std::string_view text) : rest_(text) {}

  /// The rest of the current line, without its end. False at the end of the text.
  bool PeekLine(std::string_view* line) const;
  void SkipLine();
  /// Reads a row, whose cells may hold line breaks. On damage returns false; see problem().
  bool ReadRow(std::vector<CsvCell>* cells);

  int64_t line() const { return line_; }
  const CsvCell& problem_at() const { return problem_at_; }
  std::string_view problem() const { return problem_; }

 private:
  bool ReadQuoted(CsvCell* cell);
  void Advance(size_t bytes);

  std::string_view rest_;
  int64_t line_ = 1;
  int64_t column_ = 1;
  std::deque<std::string> unquoted_;  // Cells with doubled quotes; they do not move.
  size_t unquoted_count_ = 0;
  CsvCell problem_at_;
  std::string_view problem_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_COUNTERS_CSV_SCANNER_H_
