#include "prof/table/kept_rows.h"

#include <fmt/format.h>

namespace oplens::prof {
const std::string* KeptRows::Keep(std::string_view text) {
  const auto at = texts_.find(text);
  return at != texts_.end() ? &at->first : &texts_.emplace(std::string(text), true).first->first;
}

void KeptRows::Begin(std::string_view name, const std::vector<Field>& fields) {
  name_ = name;
  fields_ = fields;
  values_.clear();
  for (Field& field : fields_) {
    for (std::string_view* text :
         {&field.key, &field.header, &field.unit, &field.help, &field.separator, &field.unknown,
          &field.whole, &field.ratio.of, &field.ratio.over}) {
      *text = *Keep(*text);
    }
  }
}

void KeptRows::Add(std::span<const Cell> cells) {
  for (size_t i = 0; i < fields_.size(); ++i) {
    Value& value = values_.emplace_back();
    value.integer = 0;
    if (i >= cells.size() || IsUnknown(cells[i])) continue;
    if (const auto* const whole = std::get_if<int64_t>(&cells[i].value)) {
      value.type = Type::kInteger;
      value.integer = *whole;
    } else if (const auto* const decimal = std::get_if<double>(&cells[i].value)) {
      value.type = Type::kDecimal;
      value.decimal = *decimal;
    } else if (const auto* const text = std::get_if<std::string_view>(&cells[i].value)) {
      value.type = Type::kText;
      value.text = Keep(*text);
    } else {
      value.type = Type::kText;
      value.text = Keep(CellText(fields_[i], cells[i], &scratch_));
    }
  }
}

std::optional<size_t> KeptRows::ColumnOf(std::string_view key) const {
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].key == key) return i;
  }
  return std::nullopt;
}

std::string_view KeptRows::Text(size_t row, size_t column) const {
  const Value& value = At(row, column);
  return value.type == Type::kText ? std::string_view(*value.text) : std::string_view();
}

std::optional<double> KeptRows::Number(size_t row, size_t column) const {
  const Value& value = At(row, column);
  if (value.type == Type::kInteger) return static_cast<double>(value.integer);
  if (value.type == Type::kDecimal) return value.decimal;
  return std::nullopt;
}

std::optional<int64_t> KeptRows::Integer(size_t row, size_t column) const {
  const Value& value = At(row, column);
  return value.type == Type::kInteger ? std::optional(value.integer) : std::nullopt;
}

std::string KeptRows::Printed(size_t row, size_t column) const {
  const Value& value = At(row, column);
  switch (value.type) {
    case Type::kUnknown:
      return {};
    case Type::kInteger:
      return std::to_string(value.integer);
    case Type::kDecimal:
      return fmt::format("{:.3f}", value.decimal);
    case Type::kText:
      return *value.text;
  }
  return {};
}

std::string_view KeptRows::Text(size_t row, std::string_view key) const {
  const std::optional<size_t> column = ColumnOf(key);
  return column && row < size() ? Text(row, *column) : std::string_view();
}

std::optional<double> KeptRows::Number(size_t row, std::string_view key) const {
  const std::optional<size_t> column = ColumnOf(key);
  return column && row < size() ? Number(row, *column) : std::nullopt;
}

int64_t KeptRows::Count(size_t row, std::string_view key) const {
  const std::optional<size_t> column = ColumnOf(key);
  return column && row < size() ? Integer(row, *column).value_or(0) : 0;
}

std::unique_ptr<Sink> KeptTables::NewTable() {
  return std::make_unique<KeepingSink>(tables_.emplace_back(std::make_unique<KeptRows>()).get());
}

}  // namespace oplens::prof
