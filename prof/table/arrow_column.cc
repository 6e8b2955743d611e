#include "prof/table/arrow_column.h"

#include <cstring>
#include <limits>
#include <variant>

#include "base/error.h"
#include "base/hash.h"
#include "base/utf8.h"

namespace oplens::prof {
namespace {

ArrowColumn::Kind KindOf(FieldType type) {
  using Kind = ArrowColumn::Kind;
  switch (type) {
    case FieldType::kInteger:
      return Kind::kIntegers;
    case FieldType::kDecimal:
      return Kind::kDecimals;
    case FieldType::kIntegerList:
      return Kind::kIntegerLists;
    case FieldType::kTextList:
    case FieldType::kFileList:
      return Kind::kTextLists;
    case FieldType::kExtent:
      return Kind::kExtents;
    case FieldType::kText:
    case FieldType::kName:
      break;
  }
  return Kind::kTexts;
}

}  // namespace

std::string_view ArrowTexts::At(size_t number) const {
  const auto begin = static_cast<size_t>(ends_[number]);
  return std::string_view(chars_).substr(begin, static_cast<size_t>(ends_[number + 1]) - begin);
}

int32_t ArrowTexts::NumberOf(std::string_view text) {
  const auto address = static_cast<size_t>(reinterpret_cast<uintptr_t>(text.data()));
  Seen& seen = seen_[SpreadBits(address) % kSeen];
  // The address may hold another text by now.
  if (seen.from == text.data() && seen.size == text.size() &&
      At(static_cast<size_t>(seen.number)) == text) {
    return seen.number;
  }
  const size_t hash = TextHash{}(text);
  std::string clean;
  AppendUtf8(text, Utf8Hidden::kNothing, &clean);
  const auto [begin, end] = numbers_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (At(static_cast<size_t>(at->second)) != clean) continue;
    seen = {text.data(), text.size(), at->second};
    return at->second;
  }
  if (chars_.size() + clean.size() > std::numeric_limits<int32_t>::max()) {
    throw Error("the texts of a column exceed 2 GB; ask for fewer columns or rows");
  }
  const auto number = static_cast<int32_t>(size());
  chars_ += clean;
  ends_.push_back(static_cast<int32_t>(chars_.size()));
  numbers_.emplace(hash, number);
  seen = {text.data(), text.size(), number};
  return number;
}

void ArrowTexts::Finish() {
  numbers_ = {};
  seen_ = {};
}

ArrowColumn::ArrowColumn(const Field& field) : field_(field), kind_(KindOf(field.type)) {}

void ArrowColumn::SetKnown(bool known) {
  if (!known && valid_.empty()) {
    // All rows so far are known.
    valid_.assign(rows_ / 8 + 1, 0xff);
    valid_.back() = static_cast<uint8_t>((1U << (rows_ % 8)) - 1);
  }
  if (!valid_.empty()) {
    if (rows_ / 8 == valid_.size()) valid_.push_back(0);
    if (known) {
      valid_.back() = static_cast<uint8_t>(valid_.back() | (1U << (rows_ % 8)));
    } else {
      ++unknown_;
    }
  }
  ++rows_;
}

void ArrowColumn::EndList() {
  const size_t items = kind_ == Kind::kTextLists ? codes_.size() : integers_.size();
  offsets_.push_back(static_cast<int64_t>(items));
}

void ArrowColumn::AddUnknown() {
  switch (kind_) {
    case Kind::kIntegers:
      integers_.push_back(0);
      break;
    case Kind::kDecimals:
      decimals_.push_back(0);
      break;
    case Kind::kTexts:
      codes_.push_back(0);
      break;
    case Kind::kIntegerLists:
    case Kind::kTextLists:
      EndList();
      break;
    case Kind::kExtents:
      integers_.resize(integers_.size() + 3);
      break;
  }
  SetKnown(false);
}

void ArrowColumn::Add(const Cell& cell) {
  if (IsUnknown(cell)) return AddUnknown();
  AddValue(cell);
  SetKnown(true);
}

void ArrowColumn::AddValue(const Cell& cell) {
  const auto* const integer = std::get_if<int64_t>(&cell.value);
  const auto* const decimal = std::get_if<double>(&cell.value);
  if (kind_ == Kind::kTexts && unknown_ == rows_ && (integer != nullptr || decimal != nullptr)) {
    MakeNumbers();
  }
  if (kind_ == Kind::kIntegers && decimal != nullptr) MakeDecimals();
  switch (kind_) {
    case Kind::kIntegers:
      if (integer == nullptr) break;
      integers_.push_back(*integer);
      return;
    case Kind::kDecimals:
      if (integer == nullptr && decimal == nullptr) break;
      decimals_.push_back(integer != nullptr ? static_cast<double>(*integer) : *decimal);
      return;
    case Kind::kTexts:
      break;
    case Kind::kIntegerLists:
      if (const auto* const list = std::get_if<std::span<const int64_t>>(&cell.value)) {
        integers_.insert(integers_.end(), list->begin(), list->end());
        return EndList();
      }
      break;
    case Kind::kTextLists:
      if (const auto* const list = std::get_if<Cell::Texts>(&cell.value)) {
        for (const std::string_view text : list->texts) codes_.push_back(texts_.NumberOf(text));
        return EndList();
      }
      if (const auto* const reasons = std::get_if<ReasonSet>(&cell.value)) {
        reasons->ForEach(
            [this](Reason reason) { codes_.push_back(texts_.NumberOf(ReasonWord(reason))); });
        return EndList();
      }
      if (const auto* const text = std::get_if<std::string_view>(&cell.value)) {
        codes_.push_back(texts_.NumberOf(*text));
        return EndList();
      }
      break;
    case Kind::kExtents:
      if (const auto* const extent = std::get_if<Dim3>(&cell.value)) {
        integers_.insert(integers_.end(), {extent->x, extent->y, extent->z});
        return;
      }
      break;
  }
  if (kind_ != Kind::kTexts) MakeTexts();
  // Without what formats for people make of it.
  const auto* const text = std::get_if<std::string_view>(&cell.value);
  codes_.push_back(texts_.NumberOf(text != nullptr ? *text : CellText(field_, cell, &scratch_)));
}

/// Of a column of texts without any so far: its cells are numbers, with a word for the unknown.
void ArrowColumn::MakeNumbers() {
  integers_.assign(rows_, 0);
  codes_ = {};
  kind_ = Kind::kIntegers;
}

void ArrowColumn::MakeDecimals() {
  decimals_.assign(integers_.begin(), integers_.end());
  integers_ = {};
  kind_ = Kind::kDecimals;
}

/// Rare: no view has such a column.
void ArrowColumn::MakeTexts() {
  std::vector<int32_t> codes;
  ArrowTexts texts;
  for (size_t row = 0; row < rows_; ++row) {
    Cell cell;
    std::vector<std::string_view> list;
    const auto items = [&](const auto& all) {
      const auto first = all.begin() + offsets_[row];
      return std::span(first, all.begin() + offsets_[row + 1]);
    };
    switch (kind_) {
      case Kind::kIntegers:
        cell.value = integers_[row];
        break;
      case Kind::kDecimals:
        cell.value = decimals_[row];
        break;
      case Kind::kIntegerLists:
        cell.value = std::span<const int64_t>(items(integers_));
        break;
      case Kind::kTextLists:
        for (const int32_t code : items(codes_))
          list.push_back(texts_.At(static_cast<size_t>(code)));
        cell.value = Cell::Texts{list};
        break;
      case Kind::kExtents:
        cell.value = std::span<const int64_t>(integers_).subspan(3 * row, 3);
        break;
      case Kind::kTexts:
        break;
    }
    const bool known = IsKnown(row);
    codes.push_back(known ? texts.NumberOf(CellText(field_, cell, &scratch_)) : 0);
  }
  integers_ = {};
  decimals_ = {};
  offsets_ = {0};
  codes_ = std::move(codes);
  texts_ = std::move(texts);
  kind_ = Kind::kTexts;
}

void ArrowColumn::Finish() {
  texts_.Finish();
  field_ = {};
  integers_.shrink_to_fit();
  decimals_.shrink_to_fit();
  codes_.shrink_to_fit();
}

size_t ArrowColumn::bytes() const {
  return valid_.capacity() + integers_.capacity() * sizeof(int64_t) +
         decimals_.capacity() * sizeof(double) + codes_.capacity() * sizeof(int32_t) +
         offsets_.capacity() * sizeof(int64_t) + texts_.bytes();
}

}  // namespace oplens::prof
