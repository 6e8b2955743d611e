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

/// Forwards some fields, in the requested order.
class SelectingSink : public Sink {
 public:
  /// `places`: indices of the fields. `sink` must outlive this object.
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

/// Sort order of printed rows.
struct RowOrder {
  size_t field = 0;  ///< Its index.
  bool ascending = false;
};

/// Parses "COL", "-COL", "COL:asc" or "COL:desc". Figures are sorted largest first, keys
/// (Fold::kKey) ascending; '-' reverses that. Throws UsageError.
RowOrder ParseOrder(std::string_view text, std::span<const Field> fields);

/// Whether a row is a total or mean of others (Field::whole).
bool StandsForOthers(std::span<const Field> fields, std::span<const Cell> row);

/// Stores all rows of a table and forwards the first N in another order; the rest becomes one row,
/// "(N more)", folded as Field::fold says.
class SortingSink : public Sink {
 public:
  /// `order`: nullopt keeps the order. `top` 0: all rows. `shown`: the fields that are shown, one
  /// of which names the row of the rest; empty: all. `sink` must outlive this object.
  SortingSink(std::optional<RowOrder> order, size_t top, Sink* sink, std::vector<size_t> shown = {})
      : order_(order), top_(top), sink_(sink), shown_(std::move(shown)) {}

  void Begin(std::string_view table, std::vector<Field> fields) override;
  void Row(std::span<const Cell> cells) override;
  void End() override;

 private:
  using Cells = std::vector<Cell>;

  void Sort();
  /// The rows from `first` on, folded.
  Cells Folded(size_t first);

  std::optional<RowOrder> order_;
  size_t top_;
  Sink* sink_;
  std::vector<size_t> shown_;
  std::vector<Field> fields_;
  std::vector<Cells> rows_;
  std::vector<std::unique_ptr<std::string>> texts_;  // Texts that rows_ point to.
  std::string more_;
};

/// Appends a field with the kind of each row (prof/table/row_kind.h).
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
