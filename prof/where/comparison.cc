#include "prof/where/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "base/parse_number.h"

namespace oplens::prof {
namespace {

/// Whether `value` is the text as printed, with '_' for blanks.
bool IsPrintedAs(std::string_view text, std::string_view value) {
  return text.size() == value.size() &&
         std::equal(text.begin(), text.end(), value.begin(),
                    [](char a, char b) { return a == b || (a == ' ' && b == '_'); });
}

}  // namespace

Comparison::Comparison(const Field& field, Relation relation, std::string value, bool quoted)
    : field_(field), relation_(relation), value_(std::move(value)) {
  if (relation == Relation::kNotEqual || relation == Relation::kNoMatch) {
    negated_ = true;
    relation_ = relation == Relation::kNotEqual ? Relation::kEqual : Relation::kMatch;
  }
  const bool unknown = value_ == "unknown" || (!field.unknown.empty() && value_ == field.unknown);
  is_unknown_test_ = !quoted && unknown && relation_ == Relation::kEqual;
  if (is_unknown_test_) return;
  if (relation_ == Relation::kMatch) {
    if (IsNumber(field)) {
      throw UsageError(fmt::format("'{}' is a number: compare it with = != < <= > >=", field.key));
    }
    pattern_.emplace(value_, "~");
    return;
  }
  if (IsNumber(field) && quoted) {
    throw UsageError(fmt::format("'{}' is a number: write its value without quotes", field.key));
  }
  ReadNumber();
}

bool Comparison::IsOrder() const {
  return relation_ != Relation::kEqual && relation_ != Relation::kMatch;
}

void Comparison::ReadNumber() {
  // "blocks" and "threads" of an extent are counts.
  const bool extent = field_.type == FieldType::kExtent;
  std::string wrong;
  number_ = ReadQuantity(value_, extent ? std::string_view() : field_.unit, &wrong);
  if (number_) return;
  if (IsNumber(field_)) throw UsageError(fmt::format("'{}' is a number: {}", field_.key, wrong));
  if (IsOrder()) {
    throw UsageError(
        fmt::format("'{}' is no number: compare it with = != ~ !~, or with a number", field_.key));
  }
}

bool Comparison::Holds(std::partial_ordering order) const {
  switch (relation_) {
    case Relation::kLess:
      return order < 0;
    case Relation::kLessOrEqual:
      return order <= 0;
    case Relation::kMore:
      return order > 0;
    case Relation::kMoreOrEqual:
      return order >= 0;
    default:
      return order == 0;
  }
}

template <typename Number>
std::optional<bool> Comparison::TestNumber(Number number) const {
  if (number != number) return std::nullopt;
  if (IsNumber(field_) || IsOrder()) return Holds(number_->Compare(number));
  // A number in a field that also has texts, such as 1, 0 and "?".
  return TestText(CellText(field_, Cell{number}, &scratch_));
}

std::optional<bool> Comparison::TestText(std::string_view text) const {
  if (text.empty()) return std::nullopt;
  if (relation_ == Relation::kMatch) return pattern_->Matches(text);
  if (relation_ == Relation::kEqual) {
    return text == value_ || (field_.type == FieldType::kName && IsPrintedAs(text, value_));
  }
  double number = 0;
  return ParseNumber(text, &number) ? Holds(number_->Compare(number)) : false;
}

std::optional<bool> Comparison::TestExtent(const Dim3& extent, const Cell& cell) const {
  if (!extent.known()) return std::nullopt;
  if (!number_) return TestText(CellText(field_, cell, &scratch_));
  const Checked product = Checked(extent.x) * Checked(extent.y) * Checked(extent.z);
  if (const auto exact = product.Value()) return Holds(number_->Compare(*exact));
  const auto about = product.Approximate();
  return about ? std::optional<bool>(Holds(number_->Compare(*about))) : std::nullopt;
}

template <typename ForEach>
std::optional<bool> Comparison::TestItems(const Cell& cell, ForEach for_each) const {
  size_t items = 0;
  bool holds = false;
  for_each([&](std::string_view item) {
    ++items;
    if (!holds) holds = TestText(item).value_or(false);
  });
  if (items == 0) return std::nullopt;
  if (holds || items == 1 || IsOrder()) return holds;
  return TestText(CellText(field_, cell, &scratch_));
}

std::optional<bool> Comparison::TestKnown(const Cell& cell) const {
  if (const auto* integer = std::get_if<int64_t>(&cell.value)) return TestNumber(*integer);
  if (const auto* decimal = std::get_if<double>(&cell.value)) return TestNumber(*decimal);
  if (const auto* text = std::get_if<std::string_view>(&cell.value)) return TestText(*text);
  if (const auto* extent = std::get_if<Dim3>(&cell.value)) return TestExtent(*extent, cell);
  if (const auto* list = std::get_if<Cell::Texts>(&cell.value)) {
    return TestItems(cell, [list](auto take) {
      for (const std::string_view text : list->texts) take(text);
    });
  }
  if (const auto* list = std::get_if<std::span<const int64_t>>(&cell.value)) {
    return TestItems(cell, [list](auto take) {
      for (const int64_t value : *list) take(std::string_view(fmt::format_int(value).c_str()));
    });
  }
  if (const auto* reasons = std::get_if<ReasonSet>(&cell.value)) {
    return TestItems(cell, [reasons](auto take) {
      reasons->ForEach([&](Reason reason) { take(ReasonWord(reason)); });
    });
  }
  return std::nullopt;
}

Truth Comparison::Test(const Cell& cell) const {
  if (is_unknown_test_) {
    const bool known = !CellText(field_, cell, &scratch_).empty() && !IsUnknown(cell);
    return known == negated_ ? Truth::kYes : Truth::kNo;
  }
  const std::optional<bool> holds = TestKnown(cell);
  if (!holds) return Truth::kUnknown;
  return *holds != negated_ ? Truth::kYes : Truth::kNo;
}

}  // namespace oplens::prof
