#ifndef OPLENS_PROF_PRICE_ROW_QUEUE_H_
#define OPLENS_PROF_PRICE_ROW_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "prof/price/group_instances.h"
#include "prof/price/waiting_row.h"

namespace oplens::prof {

/// Keeps rows in order until their op calls are closed and they have costs (InstanceGrouper).
///
/// Memory: at most kMaxRows rows or kMaxBytes of lines wait, whatever calls are open.
class RowQueue {
 public:
  static constexpr size_t kMaxRows = 4096;
  static constexpr size_t kMaxBytes = size_t{8} << 20;

  /// `instances_before`: calls numbered so far.
  explicit RowQueue(int64_t instances_before = 0) : instances_(instances_before) {}

  /// Appends a row with record, row and resolution filled.
  void Push(std::unique_ptr<WaitingRow> row);
  /// Appends a graph replay, which belongs to no op call.
  void PushReplay(std::unique_ptr<WaitingRow> row);
  /// The first row, with its cost, if its call is closed or too much waits; otherwise null.
  std::unique_ptr<WaitingRow> PopReady();
  /// The first row, closed or not, at the end of the input. Null if empty.
  std::unique_ptr<WaitingRow> PopFirst();

  int64_t instance_count() const { return instances_.count(); }

 private:
  std::deque<std::unique_ptr<WaitingRow>> waiting_;
  InstanceGrouper instances_;
  size_t waiting_bytes_ = 0;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_ROW_QUEUE_H_
