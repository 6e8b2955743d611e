#include "parse/counters/csv_scanner.h"

#include <algorithm>

namespace oplens::parse {

bool CsvScanner::PeekLine(std::string_view* line) const {
  if (rest_.empty()) return false;
  *line = rest_.substr(0, rest_.find('\n'));
  if (line->ends_with('\r')) line->remove_suffix(1);
  return true;
}

void CsvScanner::SkipLine() { Advance(std::min(rest_.find('\n'), rest_.size() - 1) + 1); }

void CsvScanner::Advance(size_t bytes) {
  const std::string_view passed = rest_.substr(0, bytes);
  const size_t last = passed.rfind('\n');
  if (last == std::string_view::npos) {
    column_ += static_cast<int64_t>(bytes);
  } else {
    line_ += static_cast<int64_t>(std::count(passed.begin(), passed.end(), '\n'));
    column_ = static_cast<int64_t>(bytes - last);
  }
  rest_.remove_prefix(bytes);
}

bool CsvScanner::ReadQuoted(CsvCell* cell) {
  const std::string_view all = rest_.substr(1);
  size_t end = 0;
  bool doubled = false;
  while (true) {
    end = all.find('"', end);
    if (end == std::string_view::npos) {
      problem_ = "a quote that opens here is never closed";
      problem_at_ = *cell;
      return false;
    }
    if (end + 1 == all.size() || all[end + 1] != '"') break;
    doubled = true;
    end += 2;
  }
  cell->text = all.substr(0, end);
  Advance(end + 2);
  if (!doubled) return true;
  if (unquoted_count_ == unquoted_.size()) unquoted_.emplace_back();
  std::string& text = unquoted_[unquoted_count_++];
  text.clear();
  for (size_t i = 0; i < cell->text.size(); ++i) {
    text.push_back(cell->text[i]);
    if (cell->text[i] == '"') ++i;
  }
  cell->text = text;
  return true;
}

bool CsvScanner::ReadRow(std::vector<CsvCell>* cells) {
  cells->clear();
  unquoted_count_ = 0;
  if (rest_.empty()) return false;
  while (true) {
    CsvCell cell{{}, line_, column_};
    if (rest_.starts_with('"')) {
      if (!ReadQuoted(&cell)) return false;
    } else {
      const size_t end = std::min(rest_.find_first_of(",\r\n"), rest_.size());
      cell.text = rest_.substr(0, end);
      Advance(end);
    }
    cells->push_back(cell);
    if (rest_.starts_with(',')) {
      Advance(1);
      continue;
    }
    if (rest_.starts_with("\r\n")) {
      Advance(2);
    } else if (rest_.starts_with('\n')) {
      Advance(1);
    } else if (!rest_.empty()) {
      problem_ = "a comma or the end of the line is missing";
      problem_at_ = {{}, line_, column_};
      return false;
    }
    return true;
  }
}

}  // namespace oplens::parse
