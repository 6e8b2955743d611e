#ifndef OPLENS_PROF_TABLE_SINK_CHAIN_H_
#define OPLENS_PROF_TABLE_SINK_CHAIN_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prof/table/row_kind.h"
#include "prof/table/sink.h"

namespace oplens::prof {

/// Passes some fields on, in the order asked for.
class SelectingSink : public Sink {
 public:
  /// `places`: of the fields that are wanted. `sink` must outlive this object.
  SelectingSink(std::vector<size_t> places, Sink* sink)
      : places_(std::move(places)), cells_(places_.size()), sink_(sink) {}

  void Begin(std::string_view table, std::vector<Field> fields) override;
  void Row(std::span<const Cell> cells) override;
  void End() override { sink_->End(); }

 private:
  std::vector<size_t> places_;
  std::vector<Cell> cells_;
  Sink* sink_;
};

/// In which order rows are printed.
struct RowOrder {
  size_t field = 0;  ///< Its place.
  bool ascending = false;
};

/// Reads "COL", "-COL", "COL:asc" or "COL:desc". Figures come largest first, keys (Fold::kKey)
/// smallest first or from A to Z; '-' turns that round. Throws UsageError.
RowOrder ParseOrder(std::string_view text, std::span<const Field> fields);

/// Whether a row is a total or a mean of others (Field::whole).
bool StandsForOthers(std::span<const Field> fields, std::span<const Cell> row);

/// Keeps the rows of a table, and passes them on in another order, the first N of them; those after
/// them are one more row, "(N more)", folded as Field::fold says. Keeps all rows.
class SortingSink : public Sink {
 public:
  /// `order`: nullopt keeps the order. `top` 0: all rows. `sink` must outlive this object.
  SortingSink(std::optional<RowOrder> order, size_t top, Sink* sink)
      : order_(order), top_(top), sink_(sink) {}

  void Begin(std::string_view table, std::vector<Field> fields) override;
  void Row(std::span<const Cell> cells) override;
  void End() override;

 private:
  using Cells = std::vector<Cell>;

  void Sort();
  /// The sum of the rows from `first` on.
  Cells Folded(size_t first);

  std::optional<RowOrder> order_;
  size_t top_;
  Sink* sink_;
  std::vector<Field> fields_;
  std::vector<Cells> rows_;
  std::vector<std::unique_ptr<std::string>> texts_;  // That cells of rows_ point to.
  std::string more_;
};

/// Says of each row what it is, in one more field behind the others (prof/table/row_kind.h).
class RowKindSink : public Sink {
 public:
  /// `sink` must outlive this object.
  explicit RowKindSink(Sink* sink) : sink_(sink) {}

  void Begin(std::string_view table, std::vector<Field> fields) override {
    fields_ = fields;
    fields.push_back(kRowKindField);
    sink_->Begin(table, std::move(fields));
  }
  void Row(std::span<const Cell> cells) override {
    cells_.assign(cells.begin(), cells.end());
    const bool total = StandsForOthers(fields_, cells);
    cells_.push_back(Text(RowKindWord(total ? RowKind::kTotal : RowKind::kRow)));
    sink_->Row(cells_);
  }
  void End() override { sink_->End(); }

 private:
  std::vector<Field> fields_;
  std::vector<Cell> cells_;
  Sink* sink_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_SINK_CHAIN_H_
