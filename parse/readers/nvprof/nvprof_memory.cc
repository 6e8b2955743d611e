#include "parse/readers/nvprof/nvprof_memory.h"

#include "parse/readers/nvprof/nvprof_schema.h"

namespace oplens::parse {
namespace {

/// The columns that both forms of tables have, as the first four of their lists.
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
        // 0: it was never given back.
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
    // Without its call, the event belongs to the process: a thread without a number stands for it.
    event.thread = event.launch != kNoLaunch ? trace_.launches[event.launch].thread
                                             : context_.ThreadOf(owners_[i].process_id, 0);
  }
}

}  // namespace oplens::parse
