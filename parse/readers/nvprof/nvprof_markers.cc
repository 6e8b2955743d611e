#include "parse/readers/nvprof/nvprof_markers.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <string_view>
#include <utility>

#include "base/free_memory.h"
#include "base/team.h"
#include "parse/readers/common/equal_ranges.h"
#include "parse/readers/common/scan_beside.h"
#include "parse/readers/nvprof/nvprof_schema.h"
#include "parse/readers/nvprof/recorded_tables.h"

namespace oplens::parse {
namespace {

using nvprof::kMarkerTable;

constexpr std::string_view kMarkerColumns[] = {"flags",      "timestamp", "id",
                                               "objectKind", "objectId",  "name"};

/// Ranges that are worth a thread.
constexpr size_t kRowsOfPart = size_t{32} << 10;

bool IsReversed(const Range& range) { return range.end_ns < range.start_ns; }

}  // namespace

NvprofMarkers::NvprofMarkers(NvprofContext* context) : context_(*context) {
  SqliteDatabase& database = context_.database;
  for (const std::string_view column : kMarkerColumns) {
    has_columns_ = has_columns_ && database.HasColumn(kMarkerTable, column);
  }
  rows_ = context_.RowsToReserve(kMarkerTable);
  scans_beside_ = has_columns_ && ScanBeside::Pays(&database, kMarkerTable);
  texts_later_ = scans_beside_;
}

void NvprofMarkers::Scan() {
  if (!has_columns_) return;
  found_.ranges.reserve(rows_ / 2);
  found_.marker_ids.reserve(rows_ / 2);
  context_.ForEachRow(kMarkerTable, kMarkerColumns,
                      [this](int64_t row_id, const Cell* row) { TakeRow(row_id, row); });
}

void NvprofMarkers::Place() {
  context_.MissingColumns(kMarkerTable, kMarkerColumns);  // Notes them.
  if (texts_later_) TakeTexts();
  context_.diagnostics.Merge(found_.diagnostics);
  std::vector<ThreadIndex> threads;
  for (const int64_t key : found_.threads.ids()) threads.push_back(context_.ThreadOf(key));
  Trace& trace = context_.trace;
  const StringId unknown = found_.has_no_text ? trace.strings.Intern("<unknown>") : 0;
  std::vector<Range>& ranges = found_.ranges;
  std::atomic<bool> reversed = false;
  InParts(ranges.size(), CountParts(ranges.size(), kRowsOfPart),
          [&](size_t, size_t begin, size_t end) {
            bool any = false;
            for (size_t i = begin; i < end; ++i) {
              ranges[i].SetThread(threads[ranges[i].place]);
              if (ranges[i].text == kNoText) ranges[i].text = unknown;
              any |= IsReversed(ranges[i]);
            }
            if (any) reversed = true;
          });
  for (Instant& instant : found_.instants) {
    instant.thread = threads[instant.thread];
    if (instant.text == kNoText) instant.text = unknown;
  }
  trace.ranges = std::move(ranges);
  trace.instants = std::move(found_.instants);
  const int64_t unmatched =
      static_cast<int64_t>(found_.early_ends.size()) - static_cast<int64_t>(found_.early_ends_used);
  if (unmatched > 0) context_.diagnostics.CountMany(Reason::kUnmatchedEnd, unmatched);
  if (HasRecordedCalls(&context_.database)) {
    PlaceRecordedCalls(&context_.database, &found_.marker_ids, &trace, &context_.diagnostics);
  } else if (!std::is_sorted(found_.marker_ids.begin(), found_.marker_ids.end())) {
    OrderEqualRanges(
        [this](uint32_t a, uint32_t b) { return found_.marker_ids[a] < found_.marker_ids[b]; },
        &trace);
  }
  FreeMemory(&found_.marker_ids);
  if (reversed) DropReversed();
  if (found_.process_markers > 0) {
    context_.diagnostics.Note(fmt::format("{}: {} range rows belong to no thread; left out",
                                          context_.database.path(), found_.process_markers));
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
  if (texts_later_ && name.is_int()) {
    // Any other id of the file is looked up when it is read again.
    const bool fits = name.integer() >= 0 && name.integer() < kNoText;
    lacks_a_text_ = lacks_a_text_ || !fits;
    return fits ? static_cast<StringId>(name.integer()) : kNoText;
  }
  const StringId text = context_.TextOf(name, &last_string_);
  if (text != 0) return text;
  // A NULL text is stored as string 0; any other unknown id is damage.
  if (!name.is_int() || name.integer() != 0) CountBadRow(Reason::kBadMarkerRow, row_id);
  found_.has_no_text = true;
  return kNoText;
}

void NvprofMarkers::TakeTexts() {
  texts_later_ = false;
  std::atomic<bool> has_no_text = false;
  std::atomic<bool> lacks_a_text = lacks_a_text_;
  const auto take = [&](StringId* text, IdPages::Last* last) {
    if (*text == kNoText) return;
    const StringId found = context_.TextOf(Cell::Int(*text), last);
    if (found == 0) (*text == 0 ? has_no_text : lacks_a_text) = true;
    *text = found == 0 ? kNoText : found;
  };
  std::vector<Range>& ranges = found_.ranges;
  InParts(ranges.size(), CountParts(ranges.size(), kRowsOfPart),
          [&](size_t, size_t begin, size_t end) {
            IdPages::Last last;
            for (size_t i = begin; i < end; ++i) take(&ranges[i].text, &last);
          });
  for (Instant& instant : found_.instants) take(&instant.text, &last_string_);
  found_.has_no_text = found_.has_no_text || has_no_text;
  if (!lacks_a_text) return;
  found_ = Found();
  Scan();
}

ThreadIndex NvprofMarkers::ThreadOf(const ThreadObject& object) {
  return found_.threads.Of(NvprofContext::ThreadKey(object.process_id, object.thread_id));
}

void NvprofMarkers::CountBadRow(Reason reason, int64_t row_id) {
  CountRow(&found_.diagnostics, reason, kMarkerTable, row_id);
}

void NvprofMarkers::TakeInstant(int64_t row_id, const Cell* row) {
  ThreadObject object;
  if (row[3].is_int() && !IsOfThread(row[3])) return;  // Not of a thread.
  if (!row[3].is_int() || !object.Take(row[4])) {
    return CountBadRow(Reason::kBadMarkerRow, row_id);
  }
  const StringId text = TextOf(row_id, row[5]);
  found_.instants.push_back({row[1].integer(), text, ThreadOf(object)});
}

void NvprofMarkers::OpenRange(int64_t row_id, const Cell* row) {
  if (row[3].is_int() && !IsOfThread(row[3])) {
    ++found_.process_markers;
    return;
  }
  ThreadObject object;
  if (!row[3].is_int() || !object.Take(row[4]) || !row[5].is_int()) {
    return CountBadRow(Reason::kBadMarkerRow, row_id);
  }
  const int64_t id = row[2].integer();
  const auto index = static_cast<uint32_t>(found_.ranges.size());
  const uint32_t pending = found_.pending.FindOrInsert(id, index);
  if (pending != index && (pending & kEarlyEnd) == 0) {
    return CountBadRow(Reason::kDuplicateMarker, row_id);
  }
  Range& range = found_.ranges.emplace_back();
  range.start_ns = row[1].integer();
  found_.marker_ids.push_back(id);
  range.text = TextOf(row_id, row[5]);
  range.SetThread(ThreadOf(object));
  if (pending != index) {
    range.end_ns = found_.early_ends[pending & ~kEarlyEnd];
    ++found_.early_ends_used;
    found_.pending.Erase(id);
  }
}

/// An end needs only its id and time: thread and text are those of the start.
void NvprofMarkers::CloseRange(int64_t row_id, const Cell* row) {
  const int64_t id = row[2].integer();
  const uint32_t pending = found_.pending.Find(id);
  if (pending == IdMap::kNone) {
    if (!IsOfThread(row[3])) {
      ++found_.process_markers;
      return;
    }
    // Its start row may still come.
    found_.pending.FindOrInsert(id, kEarlyEnd | static_cast<uint32_t>(found_.early_ends.size()));
    found_.early_ends.push_back(row[1].integer());
  } else if ((pending & kEarlyEnd) != 0) {
    CountBadRow(Reason::kDuplicateMarker, row_id);
  } else {
    found_.ranges[pending].end_ns = row[1].integer();
    found_.pending.Erase(id);
  }
}

void NvprofMarkers::DropReversed() {
  std::vector<Range>& ranges = context_.trace.ranges;
  const auto kept = std::remove_if(ranges.begin(), ranges.end(), IsReversed);
  context_.diagnostics.CountMany(Reason::kReversedRange, ranges.end() - kept);
  ranges.erase(kept, ranges.end());
}

}  // namespace oplens::parse
