#ifndef OPLENS_PROF_PRICE_ROW_POOL_H_
#define OPLENS_PROF_PRICE_ROW_POOL_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "prof/price/waiting_row.h"

namespace oplens::prof {

/// Rows whose buffers are used again.
class RowPool {
 public:
  /// A row to fill.
  std::unique_ptr<WaitingRow> New() {
    if (rows_.empty()) return std::make_unique<WaitingRow>();
    std::unique_ptr<WaitingRow> row = std::move(rows_.back());
    rows_.pop_back();
    return row;
  }

  /// Takes a row back, and lets go of what it pins.
  void Recycle(std::unique_ptr<WaitingRow> row) {
    // A huge line must not keep its memory for the rest of the run.
    if (row->line.capacity() > kKeptLineBytes || rows_.size() >= kKeptRows) return;
    row->resolution = {};
    row->estimate_pin = {};
    rows_.push_back(std::move(row));
  }

  /// Empties `rows`.
  void RecycleAll(std::vector<std::unique_ptr<WaitingRow>>* rows) {
    for (std::unique_ptr<WaitingRow>& row : *rows) Recycle(std::move(row));
    rows->clear();
  }

 private:
  static constexpr size_t kKeptLineBytes = size_t{64} << 10;
  static constexpr size_t kKeptRows = 1024;

  std::vector<std::unique_ptr<WaitingRow>> rows_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_ROW_POOL_H_
