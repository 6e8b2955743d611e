#include "prof/views/memory/memory_op_run.h"

#include "base/saturating.h"
#include "prof/run/memory_life.h"
#include "prof/run/run.h"

namespace oplens::prof {
namespace {

using parse::CallTree;

// Groups of the rows without a call.
constexpr int64_t kNoCallGroup = -1;
constexpr int64_t kUntoldGroup = -2;

}  // namespace

void MemoryChange::Add(const MemoryEvent& event) {
  increase_bytes += event.size_bytes;
  if (event.size_bytes <= 0) return;
  ++allocations;
  allocated_bytes += event.size_bytes;
}

MemoryOpRun::MemoryOpRun(const Run& run, const std::vector<OperatorKey>& by)
    : run_(run),
      places_(run.joined(), run.calls()),
      groups_(run, by, &places_),
      by_step_(std::find(by.begin(), by.end(), OperatorKey::kStep) != by.end()) {
  FindRows();
  outermost_ = OutermostCalls(run, call_rows_, rows_.size());
}

uint32_t MemoryOpRun::RowOf(int64_t group, size_t step, const Row& like) {
  // Steps count from 1; 0: outside of steps, or not split by step. Ranges, calls and steps fit in
  // 32 bits.
  const int64_t number = by_step_ && step != Steps::kNone ? static_cast<int64_t>(step) + 1 : 0;
  const auto next = static_cast<uint32_t>(rows_.size());
  const uint32_t row = row_of_.FindOrInsert(group * (int64_t{1} << 32) + number, next);
  if (row == next) {
    rows_.push_back(like);
    rows_.back().step = by_step_ ? step : Steps::kNone;
  }
  return row;
}

void MemoryOpRun::FindRows() {
  const std::span<const CallTree::Call> all = run_.calls().all();
  call_rows_.resize(all.size());
  for (size_t call = 0; call < all.size(); ++call) {
    const int64_t start_ns = run_.trace().ranges[all[call].range].start_ns;
    Row like;
    like.group = groups_.Of(call);
    const size_t step = by_step_ ? run_.steps().OfHost(start_ns) : Steps::kNone;
    call_rows_[call] = RowOf(like.group, step, like);
    if (run_.SelectsHost(start_ns)) ++rows_[call_rows_[call]].calls;
  }
}

std::vector<std::string_view> MemoryOpRun::TextsOf(const Row& row) const {
  if (row.kind == Row::Kind::kCalls) return groups_.TextsOf(row.group);
  return std::vector<std::string_view>(groups_.text_count());
}

uint32_t MemoryOpRun::RowAt(uint32_t call, int64_t time_ns) {
  if (call != CallTree::kNone) return call_rows_[call];
  Row like;
  like.kind = Row::Kind::kNoCall;
  return RowOf(kNoCallGroup, by_step_ ? run_.steps().OfHost(time_ns) : Steps::kNone, like);
}

MemoryOpSums& MemoryOpRun::Touch(uint32_t row) {
  sums_.resize(rows_.size());
  touched_.resize(rows_.size(), false);
  touched_[row] = true;
  MemoryOpSums& sums = sums_[row];
  sums.calls = rows_[row].calls;
  sums.peak_known = {pairs_};
  sums.leaks_known = {pairs_ && run_.steps().source() != StepSource::kNone};
  return sums;
}

void MemoryOpRun::SumPool(const MemoryLife::Pool& pool) {
  sums_.assign(rows_.size(), {});
  touched_.assign(rows_.size(), false);
  inside_.assign(call_rows_.size(), {});
  changed_.assign(call_rows_.size(), false);
  pairs_ = pool.counts.without_address == 0;
  SumEvents(pool);
  SumInside();
  SumPieces(pool);
}

void MemoryOpRun::SumEvents(const MemoryLife::Pool& pool) {
  const MemoryLife& memory = run_.memory();
  for (uint32_t place = pool.begin; place < pool.end; ++place) {
    const MemoryEvent& event = memory.EventAt(place);
    if (!run_.SelectsHost(event.time_ns)) continue;
    const uint32_t call = run_.memory_owners()[memory.IndexAt(place)];
    MemoryOpSums& sums = Touch(RowAt(call, event.time_ns));
    sums.self.Add(event);
    if (call == CallTree::kNone) {
      sums.total.Add(event);
    } else {
      inside_[call].Add(event);
      changed_[call] = true;
    }
  }
}

void MemoryOpRun::SumInside() {
  const CallTree& tree = run_.calls();
  for (ThreadIndex thread = 0; thread < run_.trace().threads.size(); ++thread) {
    const size_t first = tree.BeginOf(thread);
    const std::span<const CallTree::Call> calls = tree.Of(thread);
    for (size_t i = calls.size(); i-- > 0;) {
      const size_t call = first + i;
      if (!changed_[call]) continue;
      if (outermost_[call]) Touch(call_rows_[call]).total.Add(inside_[call]);
      if (calls[i].parent == CallTree::kNone) continue;
      inside_[first + calls[i].parent].Add(inside_[call]);
      changed_[first + calls[i].parent] = true;
    }
  }
}

// Counts the blocks alive at the peak for their owners; the rest was allocated before the
// recording.
void MemoryOpRun::SumPieces(const MemoryLife::Pool& pool) {
  const MemoryLife& memory = run_.memory();
  const MemoryLeaks leaks(memory, run_.steps());
  const int64_t peak = memory.PeakOf(pool, run_.windows());
  const bool looks = peak != MemoryLife::kNowhere;
  int64_t rest = looks ? memory.AllocatedBehind(pool, peak) : 0;
  for (const MemoryLife::Piece& piece : memory.PiecesOf(pool)) {
    if (piece.begin == MemoryLife::kNone) continue;
    const MemoryEvent& event = memory.EventAt(piece.begin);
    const bool at_peak = looks && piece.state != MemoryState::kUnknown && piece.LivesAt(peak);
    const bool selected = run_.SelectsHost(event.time_ns);
    if (!at_peak && !selected) continue;
    const uint32_t call = run_.memory_owners()[memory.IndexAt(piece.begin)];
    MemoryOpSums& sums = Touch(RowAt(call, event.time_ns));
    if (at_peak) {
      sums.peak_bytes += event.size_bytes;
      rest = SaturatingDifference(rest, event.size_bytes);
    }
    if (selected && leaks.IsLeak(piece).value_or(false)) sums.leaked_bytes += event.size_bytes;
  }
  if (rest == 0) return;
  Row like;
  like.kind = Row::Kind::kTypesWithoutValue;
  MemoryOpSums& sums = Touch(RowOf(kUntoldGroup, Steps::kNone, like));
  sums.peak_bytes = rest;
  sums.peak_known = {true};
  sums.leaks_known = {false};
}

}  // namespace oplens::prof
