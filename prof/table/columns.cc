#include "prof/table/columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/append_format.h"
#include "base/error.h"

namespace oplens::prof {
namespace {

const Column* FindColumn(std::string_view key, std::span<const Column> all) {
  const auto place =
      std::find_if(all.begin(), all.end(), [&](const Column& column) { return column.key == key; });
  return place == all.end() ? nullptr : &*place;
}

std::string ValidKeys(std::span<const Column> all) {
  std::string keys;
  for (const Column& column : all) {
    keys += column.key;
    keys += ',';
  }
  return keys + "all";
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

void AppendInteger(int64_t value, std::string* out) {
  const fmt::format_int digits(value);
  out->append(digits.data(), digits.size());
}

/// Appends the texts of a cell to `out`, one function a kind of value.
struct TextOf {
  const Column& column;
  std::string* out;

  void Separate(size_t i) const {
    if (i > 0) out->append(column.separator);
  }
  void operator()(std::monostate) const {}
  void operator()(int64_t value) const { AppendInteger(value, out); }
  void operator()(double value) const { AppendFormat(out, "{:.3f}", value); }
  void operator()(std::string_view text) const {
    out->append(text);
    if (column.type == ColumnType::kName) std::replace(out->begin(), out->end(), ' ', '_');
  }
  void operator()(std::span<const int64_t> values) const {
    for (size_t i = 0; i < values.size(); ++i) {
      Separate(i);
      AppendInteger(values[i], out);
    }
  }
  void operator()(const Cell::Texts& list) const {
    for (size_t i = 0; i < list.texts.size(); ++i) {
      Separate(i);
      out->append(list.texts[i]);
    }
    if (list.more <= 0) return;
    Separate(list.texts.size());
    AppendFormat(out, "... {} more", list.more);
  }
  void operator()(const Dim3& extent) const {
    AppendInteger(extent.x, out);
    out->append(column.separator);
    AppendInteger(extent.y, out);
    out->append(column.separator);
    AppendInteger(extent.z, out);
  }
  void operator()(ReasonSet reasons) const {
    reasons.ForEach([&](Reason reason) {
      Separate(out->size());
      out->append(ReasonWord(reason));
    });
  }
};

}  // namespace

std::vector<const Column*> SelectColumns(std::string_view list, std::span<const Column> all) {
  std::vector<const Column*> columns;
  const auto add = [&](const Column& column) {
    if (std::find(columns.begin(), columns.end(), &column) == columns.end()) {
      columns.push_back(&column);
    }
  };
  for (bool more = true; more;) {
    const size_t comma = list.find(',');
    const std::string_view key = Trim(list.substr(0, comma));
    more = comma != std::string_view::npos;
    if (more) list.remove_prefix(comma + 1);
    if (key == "all") {
      for (const Column& column : all) add(column);
      continue;
    }
    const Column* column = FindColumn(key, all);
    if (column == nullptr) {
      throw UsageError(
          fmt::format("-c: there is no column '{}'; the columns are {}", key, ValidKeys(all)));
    }
    add(*column);
  }
  return columns;
}

std::string_view CellText(const Column& column, const Cell& cell, std::string* scratch) {
  if (const auto* text = std::get_if<std::string_view>(&cell.value);
      text != nullptr && column.type != ColumnType::kName) {
    return *text;
  }
  if (std::holds_alternative<std::monostate>(cell.value)) return column.unknown;
  scratch->clear();
  std::visit(TextOf{column, scratch}, cell.value);
  return *scratch;
}

}  // namespace oplens::prof
