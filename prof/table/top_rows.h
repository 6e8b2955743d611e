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

/// Passes rows on as they are: the first N of them, or the N that come first in an order. Unlike
/// SortingSink it makes no row of the others, and lists stay lists.
///
/// Without an order nothing is kept. With one the N best so far are: time grows with
/// rows x log N; memory, of each kept row, is 32 bytes a cell and its texts. Without a limit all
/// rows are kept.
class TopRows : public Sink {
 public:
  /// `order`: nullopt keeps the order; equal rows come as they came, unknown ones last. `top` 0:
  /// all rows. `sink` must outlive this object.
  TopRows(std::optional<RowOrder> order, size_t top, Sink* sink);
  ~TopRows() override;

  void Begin(std::string_view table, std::vector<Field> fields) override {
    sink_->Begin(table, std::move(fields));
  }
  void Row(std::span<const Cell> cells) override;
  /// Passes on what is kept, as End() does, without ending the table.
  void Flush();
  void End() override {
    Flush();
    sink_->End();
  }

  /// "shown are the first 10 of 160 kernels: --top 10"; empty where all rows were passed on.
  std::string Sentence(std::string_view what) const;

 private:
  struct Kept;

  /// Whether a row comes before another.
  bool Before(const Cell& a, int64_t number_a, const Cell& b, int64_t number_b) const;
  bool KeptBefore(const Kept& a, const Kept& b) const;

  std::optional<RowOrder> order_;
  size_t top_;
  Sink* sink_;
  int64_t rows_ = 0;
  std::vector<std::unique_ptr<Kept>> kept_;  // With a limit a heap, the last one in front.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_TOP_ROWS_H_
