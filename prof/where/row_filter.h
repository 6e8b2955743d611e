#ifndef OPLENS_PROF_WHERE_ROW_FILTER_H_
#define OPLENS_PROF_WHERE_ROW_FILTER_H_

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prof/table/columns.h"
#include "prof/table/sink.h"
#include "prof/where/condition.h"

namespace oplens::prof {

/// Counts rows tested and rows that match.
struct MatchCount {
  int64_t rows = 0;
  int64_t matching = 0;

  bool Count(bool matches) {
    ++rows;
    matching += matches ? 1 : 0;
    return matches;
  }
  /// "12 of 160 kernels match --where"
  std::string Sentence(std::string_view what) const {
    return fmt::format("{} of {} {} match --where", matching, rows, what);
  }
};

/// Filters items by a condition; only computes the columns that it names.
template <typename Item>
class ItemFilter {
 public:
  /// `columns`: those that the condition was read with.
  ItemFilter(Columns<Item> columns, std::shared_ptr<const Condition> condition)
      : columns_(std::move(columns)), condition_(std::move(condition)) {}

  /// Without counting.
  bool Matches(const Item& item) const { return condition_->Keeps(Cells(columns_, item)); }
  bool Keeps(const Item& item) { return count_.Count(Matches(item)); }

  const MatchCount& count() const { return count_; }

 private:
  class Cells : public RowCells {
   public:
    Cells(const Columns<Item>& columns, const Item& item) : columns_(columns), item_(item) {}
    Cell At(size_t field) const override { return columns_[field]->get(item_); }

   private:
    const Columns<Item>& columns_;
    const Item& item_;
  };

  Columns<Item> columns_;
  std::shared_ptr<const Condition> condition_;
  MatchCount count_;
};

/// The cells of an existing row.
class GivenCells : public RowCells {
 public:
  /// `places`: index of the cell of each field; empty: cells are in field order.
  explicit GivenCells(std::span<const Cell> cells, std::span<const size_t> places = {})
      : cells_(cells), places_(places) {}
  Cell At(size_t field) const override { return cells_[places_.empty() ? field : places_[field]]; }

 private:
  std::span<const Cell> cells_;
  std::span<const size_t> places_;
};

/// Forwards the rows that match.
class FilteringSink : public Sink {
 public:
  /// `condition`: on fields with cells at `places`, as in GivenCells. `sink` must outlive this.
  FilteringSink(std::shared_ptr<const Condition> condition, std::vector<size_t> places, Sink* sink)
      : condition_(std::move(condition)), places_(std::move(places)), sink_(sink) {}

  void Begin(std::string_view table, std::vector<Field> fields) override {
    sink_->Begin(table, std::move(fields));
  }
  void Row(std::span<const Cell> cells) override {
    if (count_.Count(condition_->Keeps(GivenCells(cells, places_)))) sink_->Row(cells);
  }
  void End() override { sink_->End(); }

  const MatchCount& count() const { return count_; }

 private:
  std::shared_ptr<const Condition> condition_;
  std::vector<size_t> places_;
  Sink* sink_;
  MatchCount count_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_WHERE_ROW_FILTER_H_
