#include "parse/readers/nvprof/nvprof_events.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "parse/readers/common/event_records.h"
#include "parse/readers/nvprof/nvprof_schema.h"

namespace oplens::parse {
namespace {

/// Takes the common columns of both forms of tables, the first four in their lists.
bool TakeMemory(const Cell* row, MemoryEvent* event) {
  if (!AllInts(row, 3) || row[2].integer() < 0 || !TakeInt32(row[3], &event->device_id)) {
    return false;
  }
  event->kind = MemoryKindOfNumber(row[0].integer());
  event->address = row[1].integer();
  event->size_bytes = row[2].integer();
  event->source = MemorySource::kDriver;
  const bool host = event->kind == MemoryKind::kPageable || event->kind == MemoryKind::kPinned;
  if (host) event->device_id = -1;
  return true;
}

/// 32 bits, signed or unsigned: kNoEvent is -1 or 2^32 - 1. Invalid ids count as no event.
uint32_t NvprofEventsEventIdOf(const Cell& cell) {
  constexpr int64_t kLeast = std::numeric_limits<int32_t>::min();
  const bool good = cell.is_int() && cell.integer() >= kLeast && cell.integer() <= UINT32_MAX;
  return good ? static_cast<uint32_t>(cell.integer()) : kNoEvent;
}

/// Returns the index of a row among ascending ones; kNoItem if it is not there.
ItemIndex PlaceOf(const Cell& row, const std::vector<int64_t>& rows) {
  if (!row.is_int()) return kNoItem;
  const auto found = std::lower_bound(rows.begin(), rows.end(), row.integer());
  if (found == rows.end() || *found != row.integer()) return kNoItem;
  return static_cast<ItemIndex>(found - rows.begin());
}

}  // namespace

void NvprofMemory::Read() {
  ReadOperations(nvprof::kMemoryOperationTable);
  ReadOperations(nvprof::kRecordedMemoryTable);
  ReadLifetimes();
}

void NvprofMemory::ReadOperations(std::string_view table) {
  constexpr std::string_view kColumns[] = {
      "memoryKind",          "address",   "bytes",         "deviceId",
      "memoryOperationType", "timestamp", "correlationId", "processId"};
  context_.ForEachWholeRow(table, kColumns, [&](int64_t row_id, const Cell* row) {
    MemoryEvent event;
    const bool good = TakeMemory(row, &event) && AllInts(row + 4, 4) &&
                      (row[4].integer() == nvprof::kMemoryAllocation ||
                       row[4].integer() == nvprof::kMemoryRelease);
    if (!good) {
      context_.CountBadRow(Reason::kBadOtherRow, table, row_id);
      return;
    }
    if (row[4].integer() == nvprof::kMemoryRelease) event.size_bytes = -event.size_bytes;
    event.time_ns = row[5].integer();
    calls_.Want(row[6].integer());
    owners_.push_back({row[6].integer(), row[7].integer()});
    trace_.memory_events.push_back(event);
  });
}

void NvprofMemory::ReadLifetimes() {
  constexpr std::string_view kColumns[] = {"memoryKind", "address", "bytes",    "deviceId",
                                           "start",      "end",     "processId"};
  context_.ForEachWholeRow(
      nvprof::kMemoryLifetimeTable, kColumns, [&](int64_t row_id, const Cell* row) {
        MemoryEvent event;
        if (!TakeMemory(row, &event) || !AllInts(row + 4, 3)) {
          context_.CountBadRow(Reason::kBadOtherRow, nvprof::kMemoryLifetimeTable, row_id);
          return;
        }
        event.time_ns = row[4].integer();
        const Owner owner = {kUnknownId, row[6].integer()};
        owners_.push_back(owner);
        trace_.memory_events.push_back(event);
        // 0: never freed.
        if (row[5].integer() < event.time_ns) return;
        event.time_ns = row[5].integer();
        event.size_bytes = -event.size_bytes;
        owners_.push_back(owner);
        trace_.memory_events.push_back(event);
      });
}

void NvprofMemory::Join() {
  for (size_t i = 0; i < owners_.size(); ++i) {
    MemoryEvent& event = trace_.memory_events[i];
    event.launch = calls_.Find(owners_[i].correlation_id);
    // Without its call, the event is attributed to the process: a thread without a number.
    event.thread = event.launch != kNoLaunch ? trace_.launches[event.launch].thread
                                             : context_.ThreadOf(owners_[i].process_id, 0);
  }
}

void NvprofEvents::TakeWait(int64_t row_id, const Cell& event_id) {
  trace_.synchronizations.back().event_id = NvprofEventsEventIdOf(event_id);
  wait_rows_.push_back(row_id);
}

void NvprofEvents::Read() {
  constexpr std::string_view kColumns[] = {"correlationId", "contextId", "streamId", "eventId"};
  context_.ForEachWholeRow(nvprof::kEventTable, kColumns, [&](int64_t row_id, const Cell* row) {
    EventRecord record;
    record.event_id = NvprofEventsEventIdOf(row[3]);
    if (!row[0].is_int() || !TakeInt32(row[1], &record.context_id) ||
        !TakeInt32(row[2], &record.stream_id) || record.event_id == kNoEvent) {
      context_.CountBadRow(Reason::kBadOtherRow, nvprof::kEventTable, row_id);
      return;
    }
    calls_.Want(row[0].integer());
    record_correlations_.push_back(row[0].integer());
    record_rows_.push_back(row_id);
    trace_.event_records.push_back(record);
  });
}

void NvprofEvents::Join() {
  for (size_t i = 0; i < trace_.event_records.size(); ++i) {
    trace_.event_records[i].launch = calls_.Find(record_correlations_[i]);
  }
  ReadSyncIds();
  LinkEventRecords(&trace_);
}

/// Finds the record of a wait by CUPTI's numbers of records, if there are any (0: none).
void NvprofEvents::ReadSyncIds() {
  constexpr std::string_view kRecordColumns[] = {"row", "deviceId", "cudaEventSyncId"};
  constexpr std::string_view kWaitColumns[] = {"row", "cudaEventSyncId"};
  const auto known = [](const Cell& id) { return id.is_int() && id.integer() != 0; };
  IdMap records;  // sync id -> index into Trace::event_records
  context_.ForEachRow(nvprof::kEventExtraTable, kRecordColumns, [&](int64_t id, const Cell* row) {
    const ItemIndex record = PlaceOf(row[0], record_rows_);
    if (record == kNoItem) {
      context_.CountBadRow(Reason::kBadOtherRow, nvprof::kEventExtraTable, id);
      return;
    }
    TakeInt32(row[1], &trace_.event_records[record].device_id);
    if (known(row[2])) records.FindOrInsert(row[2].integer(), record);
  });
  context_.ForEachRow(nvprof::kWaitExtraTable, kWaitColumns, [&](int64_t id, const Cell* row) {
    const ItemIndex wait = PlaceOf(row[0], wait_rows_);
    if (wait == kNoItem) {
      context_.CountBadRow(Reason::kBadOtherRow, nvprof::kWaitExtraTable, id);
      return;
    }
    if (!known(row[1])) return;
    const uint32_t record = records.Find(row[1].integer());
    if (record != IdMap::kNone) trace_.synchronizations[wait].event_record = record;
  });
}

}  // namespace oplens::parse
