#include "parse/readers/nvprof/nvprof_markers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/free_memory.h"
#include "parse/readers/common/equal_ranges.h"
#include "parse/readers/common/scan_beside.h"
#include "parse/readers/nvprof/nvprof_schema.h"
#include "parse/readers/nvprof/recorded_tables.h"

namespace oplens::parse {
namespace {

using nvprof::kMarkerTable;

constexpr std::string_view kMarkerColumns[] = {"flags",      "timestamp", "id",
                                               "objectKind", "objectId",  "name"};

}  // namespace

NvprofMarkers::NvprofMarkers(NvprofContext* context) : context_(*context) {
  SqliteDatabase& database = context_.database;
  for (const std::string_view column : kMarkerColumns) {
    has_columns_ = has_columns_ && database.HasColumn(kMarkerTable, column);
  }
  rows_ = context_.RowsToReserve(kMarkerTable);
  scans_beside_ = has_columns_ && ScanBeside::Pays(&database, kMarkerTable);
}

void NvprofMarkers::Scan() {
  if (!has_columns_) return;
  ranges_.reserve(rows_ / 2);
  marker_ids_.reserve(rows_ / 2);
  context_.ForEachRow(kMarkerTable, kMarkerColumns,
                      [this](int64_t row_id, const Cell* row) { TakeRow(row_id, row); });
}

void NvprofMarkers::Place() {
  context_.MissingColumns(kMarkerTable, kMarkerColumns);  // Notes them.
  context_.diagnostics.Merge(diagnostics_);
  std::vector<ThreadIndex> threads;
  for (const int64_t key : threads_.ids()) threads.push_back(context_.ThreadOf(key));
  Trace& trace = context_.trace;
  const StringId unknown = has_no_text_ ? trace.strings.Intern("<unknown>") : 0;
  for (Range& range : ranges_) {
    range.SetThread(threads[range.place]);
    if (range.text == kNoText) range.text = unknown;
  }
  for (Instant& instant : instants_) {
    instant.thread = threads[instant.thread];
    if (instant.text == kNoText) instant.text = unknown;
  }
  trace.ranges = std::move(ranges_);
  trace.instants = std::move(instants_);
  const int64_t unmatched =
      static_cast<int64_t>(early_ends_.size()) - static_cast<int64_t>(early_ends_used_);
  if (unmatched > 0) context_.diagnostics.CountMany(Reason::kUnmatchedEnd, unmatched);
  if (HasRecordedCalls(&context_.database)) {
    PlaceRecordedCalls(&context_.database, &marker_ids_, &trace, &context_.diagnostics);
  } else if (!std::is_sorted(marker_ids_.begin(), marker_ids_.end())) {
    OrderEqualRanges([this](uint32_t a, uint32_t b) { return marker_ids_[a] < marker_ids_[b]; },
                     &trace);
  }
  FreeMemory(&marker_ids_);
  DropReversed();
  if (process_markers_ > 0) {
    context_.diagnostics.Note(fmt::format("{}: {} range rows belong to no thread; left out",
                                          context_.database.path(), process_markers_));
  }
}

void NvprofMarkers::TakeRow(int64_t row_id, const Cell* row) {
  if (!AllInts(row, 3)) return CountBadRow(Reason::kBadMarkerRow, row_id);
  const int64_t flags = row[0].integer();
  const bool start = (flags & nvprof::kMarkerStart) != 0;
  const bool end = (flags & nvprof::kMarkerEnd) != 0;
  const bool instant = (flags & nvprof::kMarkerInstant) != 0;
  if (start == end || instant) {
    if (start) CountBadRow(Reason::kBadMarkerRow, row_id);
    if (instant && !start && !end && context_.needs.Has(TracePart::kInstants)) {
      TakeInstant(row_id, row);
    }
    return;  // An instant, or a synchronisation mark.
  }
  if (start) {
    OpenRange(row_id, row);
  } else {
    CloseRange(row_id, row);
  }
}

StringId NvprofMarkers::TextOf(int64_t row_id, const Cell& name) {
  const StringId text = context_.TextOf(name, &last_string_);
  if (text != 0) return text;
  // A NULL text is stored as string 0; any other unknown id is damage.
  if (!name.is_int() || name.integer() != 0) CountBadRow(Reason::kBadMarkerRow, row_id);
  has_no_text_ = true;
  return kNoText;
}

ThreadIndex NvprofMarkers::ThreadOf(const ThreadObject& object) {
  return threads_.Of(NvprofContext::ThreadKey(object.process_id, object.thread_id));
}

void NvprofMarkers::CountBadRow(Reason reason, int64_t row_id) {
  CountRow(&diagnostics_, reason, kMarkerTable, row_id);
}

void NvprofMarkers::TakeInstant(int64_t row_id, const Cell* row) {
  ThreadObject object;
  if (row[3].is_int() && !IsOfThread(row[3])) return;  // Not of a thread.
  if (!row[3].is_int() || !object.Take(row[4])) {
    return CountBadRow(Reason::kBadMarkerRow, row_id);
  }
  const StringId text = TextOf(row_id, row[5]);
  instants_.push_back({row[1].integer(), text, ThreadOf(object)});
}

void NvprofMarkers::OpenRange(int64_t row_id, const Cell* row) {
  if (row[3].is_int() && !IsOfThread(row[3])) {
    ++process_markers_;
    return;
  }
  ThreadObject object;
  if (!row[3].is_int() || !object.Take(row[4]) || !row[5].is_int()) {
    return CountBadRow(Reason::kBadMarkerRow, row_id);
  }
  const int64_t id = row[2].integer();
  const auto index = static_cast<uint32_t>(ranges_.size());
  const uint32_t pending = pending_.FindOrInsert(id, index);
  if (pending != index && (pending & kEarlyEnd) == 0) {
    return CountBadRow(Reason::kDuplicateMarker, row_id);
  }
  Range& range = ranges_.emplace_back();
  range.start_ns = row[1].integer();
  marker_ids_.push_back(id);
  range.text = TextOf(row_id, row[5]);
  range.SetThread(ThreadOf(object));
  if (pending != index) {
    range.end_ns = early_ends_[pending & ~kEarlyEnd];
    ++early_ends_used_;
    pending_.Erase(id);
  }
}

/// An end needs only its id and time: thread and text are those of the start.
void NvprofMarkers::CloseRange(int64_t row_id, const Cell* row) {
  const int64_t id = row[2].integer();
  const uint32_t pending = pending_.Find(id);
  if (pending == IdMap::kNone) {
    if (!IsOfThread(row[3])) {
      ++process_markers_;
      return;
    }
    // Its start row may still come.
    pending_.FindOrInsert(id, kEarlyEnd | static_cast<uint32_t>(early_ends_.size()));
    early_ends_.push_back(row[1].integer());
  } else if ((pending & kEarlyEnd) != 0) {
    CountBadRow(Reason::kDuplicateMarker, row_id);
  } else {
    ranges_[pending].end_ns = row[1].integer();
    pending_.Erase(id);
  }
}

void NvprofMarkers::DropReversed() {
  std::vector<Range>& ranges = context_.trace.ranges;
  const auto reversed = [](const Range& range) { return range.end_ns < range.start_ns; };
  const auto kept = std::remove_if(ranges.begin(), ranges.end(), reversed);
  const int64_t dropped = ranges.end() - kept;
  if (dropped > 0) context_.diagnostics.CountMany(Reason::kReversedRange, dropped);
  ranges.erase(kept, ranges.end());
}

}  // namespace oplens::parse
