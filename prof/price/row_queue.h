#ifndef OPLENS_PROF_PRICE_ROW_QUEUE_H_
#define OPLENS_PROF_PRICE_ROW_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "prof/price/group_instances.h"
#include "prof/price/waiting_row.h"

namespace oplens::prof {

/// Keeps rows in their order until the op calls that they are of are closed and they have their
/// costs (InstanceGrouper).
///
/// Memory: at most kMaxRows rows or kMaxBytes of lines wait, whatever calls are open.
class RowQueue {
 public:
  static constexpr size_t kMaxRows = 4096;
  static constexpr size_t kMaxBytes = size_t{8} << 20;

  /// `instances_before`: the number of calls that are numbered already.
  explicit RowQueue(int64_t instances_before = 0) : instances_(instances_before) {}

  /// An empty row to fill. It is the caller's until Push or Recycle.
  std::unique_ptr<WaitingRow> NewRow();
  /// Appends a row whose record, row and resolution are filled.
  void Push(std::unique_ptr<WaitingRow> row);
  /// Appends a graph replay, which is no call of an op.
  void PushReplay(std::unique_ptr<WaitingRow> row);
  /// The first row, with its cost, if its call is closed or too much waits; else null.
  std::unique_ptr<WaitingRow> PopReady();
  /// The first row whether its call is closed or not: at the end of the input. Null when empty.
  std::unique_ptr<WaitingRow> PopFirst();
  /// Takes a row's buffers back.
  void Recycle(std::unique_ptr<WaitingRow> row);

  int64_t instance_count() const { return instances_.count(); }

 private:
  std::deque<std::unique_ptr<WaitingRow>> waiting_;
  std::vector<std::unique_ptr<WaitingRow>> free_rows_;
  InstanceGrouper instances_;
  size_t waiting_bytes_ = 0;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_ROW_QUEUE_H_
