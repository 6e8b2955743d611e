#include "test/ops/csv_rows.h"

#include <cstddef>
#include <utility>

namespace oplens::ops::test {
namespace {

// Reads the cell at *pos and stops at the comma or newline behind it.
std::string ReadCell(std::string_view text, size_t* pos) {
  std::string cell;
  bool quoted = *pos < text.size() && text[*pos] == '"';
  if (quoted) ++*pos;
  for (; *pos < text.size(); ++*pos) {
    const char c = text[*pos];
    if (quoted && c == '"') {
      if (text.substr(*pos + 1, 1) != "\"") {
        quoted = false;
        continue;
      }
      ++*pos;
    } else if (!quoted && (c == ',' || c == '\n')) {
      break;
    } else if (!quoted && c == '\r') {
      continue;
    }
    cell += c;
  }
  return cell;
}

std::vector<std::string> ReadRow(std::string_view text, size_t* pos) {
  std::vector<std::string> row{ReadCell(text, pos)};
  while (*pos < text.size() && text[*pos] == ',') {
    ++*pos;
    row.push_back(ReadCell(text, pos));
  }
  ++*pos;
  return row;
}

}  // namespace

std::vector<std::map<std::string, std::string>> ParseCsv(std::string_view text) {
  std::vector<std::map<std::string, std::string>> rows;
  size_t pos = 0;
  const std::vector<std::string> names = ReadRow(text, &pos);
  while (pos < text.size()) {
    std::vector<std::string> cells = ReadRow(text, &pos);
    cells.resize(names.size());
    std::map<std::string, std::string> row;
    for (size_t i = 0; i < names.size(); ++i) row[names[i]] = std::move(cells[i]);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace oplens::ops::test
