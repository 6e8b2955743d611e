#include "prof/table/top_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

namespace oplens::prof {

/// A row whose cells point to nothing but itself.
struct TopRows::Kept {
  std::vector<Cell> cells;
  int64_t number = 0;
  std::string bytes;
  std::vector<std::string_view> texts;  // Of lists.
  std::vector<int64_t> numbers;         // Of lists.

  /// Takes a row over; what was kept before is forgotten, and its memory used again.
  void Take(std::span<const Cell> row, int64_t row_number) {
    number = row_number;
    cells.assign(row.begin(), row.end());
    Reserve();
    for (Cell& cell : cells) {
      if (auto* text = std::get_if<std::string_view>(&cell.value)) {
        *text = Own(*text);
      } else if (auto* list = std::get_if<Cell::Texts>(&cell.value)) {
        const size_t begin = texts.size();
        for (const std::string_view item : list->texts) texts.push_back(Own(item));
        list->texts = std::span(texts).subspan(begin);
      } else if (auto* integers = std::get_if<std::span<const int64_t>>(&cell.value)) {
        const size_t begin = numbers.size();
        numbers.insert(numbers.end(), integers->begin(), integers->end());
        *integers = std::span<const int64_t>(numbers).subspan(begin);
      }
    }
  }

 private:
  /// So that nothing moves while the row is taken.
  void Reserve() {
    size_t byte_count = 0;
    size_t text_count = 0;
    size_t number_count = 0;
    for (const Cell& cell : cells) {
      if (const auto* text = std::get_if<std::string_view>(&cell.value)) {
        byte_count += text->size();
      } else if (const auto* list = std::get_if<Cell::Texts>(&cell.value)) {
        text_count += list->texts.size();
        for (const std::string_view item : list->texts) byte_count += item.size();
      } else if (const auto* integers = std::get_if<std::span<const int64_t>>(&cell.value)) {
        number_count += integers->size();
      }
    }
    bytes.clear();
    texts.clear();
    numbers.clear();
    bytes.reserve(byte_count);
    texts.reserve(text_count);
    numbers.reserve(number_count);
  }

  std::string_view Own(std::string_view text) {
    const size_t begin = bytes.size();
    bytes.append(text);
    return std::string_view(bytes).substr(begin);
  }
};

TopRows::TopRows(std::optional<RowOrder> order, size_t top, Sink* sink)
    : order_(order), top_(top), sink_(sink) {}

TopRows::~TopRows() = default;

bool TopRows::Before(const Cell& a, int64_t number_a, const Cell& b, int64_t number_b) const {
  const bool unknown_a = IsUnknown(a);
  const bool unknown_b = IsUnknown(b);
  if (unknown_a != unknown_b) return unknown_b;
  if (CellBefore(a, b)) return order_->ascending;
  if (CellBefore(b, a)) return !order_->ascending;
  return number_a < number_b;
}

bool TopRows::KeptBefore(const Kept& a, const Kept& b) const {
  return Before(a.cells[order_->field], a.number, b.cells[order_->field], b.number);
}

void TopRows::Row(std::span<const Cell> cells) {
  const int64_t number = rows_++;
  if (!order_) {
    if (top_ == 0 || static_cast<size_t>(number) < top_) sink_->Row(cells);
    return;
  }
  const auto before = [this](const auto& a, const auto& b) { return KeptBefore(*a, *b); };
  if (top_ > 0 && kept_.size() == top_) {
    const Kept& last = *kept_.front();
    const size_t field = order_->field;
    if (!Before(cells[field], number, last.cells[field], last.number)) return;
    std::pop_heap(kept_.begin(), kept_.end(), before);
  } else {
    kept_.push_back(std::make_unique<Kept>());
  }
  kept_.back()->Take(cells, number);
  if (top_ > 0) std::push_heap(kept_.begin(), kept_.end(), before);
}

void TopRows::Flush() {
  const auto before = [this](const auto& a, const auto& b) { return KeptBefore(*a, *b); };
  if (order_) std::sort(kept_.begin(), kept_.end(), before);
  for (const auto& row : kept_) sink_->Row(row->cells);
  kept_.clear();
}

std::string TopRows::Sentence(std::string_view what) const {
  if (top_ == 0 || static_cast<size_t>(rows_) <= top_) return {};
  return fmt::format("shown are the first {} of {} {}: --top {}", top_, rows_, what, top_);
}

}  // namespace oplens::prof
