#include "prof/price/row_queue.h"

#include <utility>

namespace oplens::prof {

void RowQueue::Push(std::unique_ptr<WaitingRow> row) {
  waiting_bytes_ += row->line.size();
  instances_.Enter(row.get());
  waiting_.push_back(std::move(row));
}

void RowQueue::PushReplay(std::unique_ptr<WaitingRow> row) {
  row->instance = nullptr;
  row->resolution = {};
  waiting_bytes_ += row->line.size();
  const uint32_t work = row->row.work;
  row->row = {};
  row->row.work = work;
  row->row.record = &row->record;
  row->row.layer = row->record.layer;
  row->row.replay = true;
  waiting_.push_back(std::move(row));
}

std::unique_ptr<WaitingRow> RowQueue::PopReady() {
  if (waiting_.empty()) return nullptr;
  const bool full = waiting_.size() > kMaxRows || waiting_bytes_ > kMaxBytes;
  return instances_.IsOpen(*waiting_.front()) && !full ? nullptr : PopFirst();
}

std::unique_ptr<WaitingRow> RowQueue::PopFirst() {
  if (waiting_.empty()) return nullptr;
  std::unique_ptr<WaitingRow> row = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= row->line.size();
  instances_.Leave(*row);
  return row;
}

}  // namespace oplens::prof
