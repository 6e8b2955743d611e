#ifndef OPLENS_PROF_TABLE_TOP_ROWS_H_
#define OPLENS_PROF_TABLE_TOP_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "prof/table/sink.h"
#include "prof/table/sink_chain.h"

namespace oplens::prof {

/// Forwards unchanged the first N rows, or the N first ones in an order. Unlike SortingSink it does
/// not fold the others, and lists stay lists.
///
/// Without an order nothing is stored. With one, the N best so far are: O(rows x log N) time, 32
/// bytes per cell of a stored row plus texts. Without a limit all rows are stored.
class TopRows : public Sink {
 public:
  /// `order`: nullopt keeps the order; the sort is stable, unknown cells come last. `top` 0: all
  /// rows. `sink` must outlive this object.
  TopRows(std::optional<RowOrder> order, size_t top, Sink* sink);
  ~TopRows() override;

  void Begin(std::string_view table, std::vector<Field> fields) override {
    sink_->Begin(table, std::move(fields));
  }
  void Row(std::span<const Cell> cells) override;
  /// Forwards what is stored, as End() does, without ending the table.
  void Flush();
  void End() override {
    Flush();
    sink_->End();
  }

  /// "shown are the first 10 of 160 kernels: --top 10"; empty if all rows were forwarded.
  std::string Sentence(std::string_view what) const;

 private:
  struct Kept;

  /// Whether a row precedes another.
  bool Before(const Cell& a, int64_t number_a, const Cell& b, int64_t number_b) const;
  bool KeptBefore(const Kept& a, const Kept& b) const;

  std::optional<RowOrder> order_;
  size_t top_;
  Sink* sink_;
  int64_t rows_ = 0;
  std::vector<std::unique_ptr<Kept>> kept_;  // With a limit a heap with the last row in front.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_TOP_ROWS_H_
