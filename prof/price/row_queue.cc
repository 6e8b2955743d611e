#include "prof/price/row_queue.h"

#include <utility>

namespace oplens::prof {
namespace {

constexpr size_t kKeptLineBytes = size_t{64} << 10;

}  // namespace

std::unique_ptr<WaitingRow> RowQueue::NewRow() {
  if (free_rows_.empty()) return std::make_unique<WaitingRow>();
  std::unique_ptr<WaitingRow> row = std::move(free_rows_.back());
  free_rows_.pop_back();
  return row;
}

void RowQueue::Recycle(std::unique_ptr<WaitingRow> row) {
  // A huge line must not keep its memory for the rest of the run.
  if (row->line.capacity() > kKeptLineBytes) return;
  row->resolution = {};  // Releases the pin.
  free_rows_.push_back(std::move(row));
}

void RowQueue::Push(std::unique_ptr<WaitingRow> row) {
  waiting_bytes_ += row->line.size();
  instances_.Enter(row.get());
  row->resolution.outer = {};  // No longer valid.
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
