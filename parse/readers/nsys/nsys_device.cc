#include "parse/readers/nsys/nsys_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <vector>

#include "parse/model/demangle.h"
#include "parse/readers/common/event_records.h"
#include "parse/readers/common/kernel_row.h"
#include "parse/readers/nsys/nsys_calls.h"
#include "parse/readers/nsys/nsys_schema.h"

namespace oplens::parse {
namespace {

constexpr int64_t kLow32Bits = 0xFFFFFFFF;

// Columns of the kernel table: CUPTI's, then those of Nsight Systems.
enum KernelColumn : size_t {
  kDeviceStart,
  kDeviceEnd,
  kDeviceCorrelation,
  kDeviceGlobalPid = kKernelColumnCount,
  kDeviceMangledName,
  kDeviceDemangledName,
  kDeviceShortName,
  kDeviceGraphNode,
};
constexpr std::string_view kOwnKernelColumns[] = {"globalPid", "mangledName", "demangledName",
                                                  "shortName", "graphNodeId"};

bool TakeMemoryKind(const Cell& cell, MemoryKind* kind) {
  int32_t number = 0;
  if (!TakeInt32(cell, &number)) return false;
  *kind = number >= 0 && number < nsys::kMemoryUnknown ? MemoryKindOfNumber(number + 1)
                                                       : MemoryKind::kUnknown;
  return true;
}

/// Returns kNoEvent for 2^32 - 1, which means none, and for invalid ids.
uint32_t NsysDeviceEventIdOf(const Cell& cell) {
  const bool good = cell.is_int() && cell.integer() >= 0 && cell.integer() < int64_t{kNoEvent};
  return good ? static_cast<uint32_t>(cell.integer()) : kNoEvent;
}

WaitKind WaitKindOf(bool stream, bool event) {
  if (stream) return event ? WaitKind::kStreamWaitEvent : WaitKind::kStream;
  return event ? WaitKind::kEvent : WaitKind::kContext;
}

/// Takes the common columns of GPU work, the first six in the list of each table.
template <typename T>
bool TakePlace(const Cell* row, T* work) {
  if (!AllInts(row, 2) || !TakeInt32(row[3], &work->context_id) || !row[4].is_int()) return false;
  work->start_ns = row[0].integer();
  work->end_ns = row[1].integer();
  // "No stream" is stored as 2^32 - 1.
  work->stream_id = static_cast<int32_t>(row[4].integer() & kLow32Bits);
  return true;
}

bool StartsGraph(std::string_view api) {
  return api.starts_with("cudaGraphLaunch") || api.starts_with("cuGraphLaunch");
}

}  // namespace

void NsysGraphNodes::Want(size_t kernel, int64_t node, const Cell& global_pid) {
  nodes_.Want(kernel, node, global_pid.is_int() ? context_.ProcessOf(global_pid.integer()) : 0);
}

void NsysGraphNodes::Place() {
  if (nodes_.empty()) return;
  ReadEvents();
  Trace& trace = context_.trace;
  nodes_.Place(&trace, [&](const GraphNodes::Event& event) {
    LaunchCall call;
    call.start_ns = event.start_ns;
    call.end_ns = event.end_ns;
    call.correlation_id = kUnknownId;
    call.thread = context_.ThreadOf(event.thread);
    call.api = trace.strings.Intern(StripAbiSuffix(trace.strings.View(event.api)));
    return call;
  });
}

std::string_view NsysGraphNodes::Table() {
  return context_.Find(nsys::kGraphNodeTable).empty() ? nsys::kGraphTable : nsys::kGraphNodeTable;
}

void NsysGraphNodes::ReadEvents() {
  constexpr std::string_view kColumns[] = {"start", "globalTid", "graphNodeId",
                                           "end",   "nameId",    "originalGraphNodeId"};
  const std::string_view table = Table();
  // In later schemas, the table of whole graphs has this one's former name.
  if (!context_.HasColumn(table, kColumns[2])) return;
  context_.ForEachWholeRow(table, kColumns, 3,
                           [&](int64_t row_id, const Cell* row) { TakeEvent(row_id, row); });
}

void NsysGraphNodes::TakeEvent(int64_t row_id, const Cell* row) {
  if (context_.IsForeign(row[1])) return;
  if (!AllInts(row, 3)) {
    context_.CountBadRow(Reason::kBadOtherRow, Table(), row_id);
    return;
  }
  GraphNodes::Event event;
  event.start_ns = row[0].integer();
  event.thread = row[1].integer();
  const int64_t node = row[2].integer();
  event.end_ns =
      row[3].is_int() && row[3].integer() >= event.start_ns ? row[3].integer() : event.start_ns;
  event.api = context_.TextOf(row[4]);
  if (row[5].is_int() && row[5].integer() != node) event.original = row[5].integer();
  nodes_.Add(context_.ProcessOf(event.thread), node, event);
}

void NsysDevice::Read() {
  ReadKernels();
  ReadCopies();
  ReadSets();
  ReadSynchronizations();
  if (context_.needs.Has(TracePart::kWaitEvents)) ReadEventRecords();
  ReadGraphReplays();
  ReadMemoryEvents();
  calls_.Read();
  Join();
  nodes_.Place();
}

void NsysDevice::ReadKernels() {
  std::vector<std::string_view> columns(std::begin(kKernelColumns), std::end(kKernelColumns));
  columns.insert(columns.end(), std::begin(kOwnKernelColumns), std::end(kOwnKernelColumns));
  for (const std::string_view column : columns) {
    missing_.push_back(!context_.HasColumn(nsys::kKernelTable, column));
  }
  for (const KernelColumn column : {kDeviceStart, kDeviceEnd, kDeviceCorrelation}) {
    if (!missing_[column] || context_.Find(nsys::kKernelTable).empty()) continue;
    context_.diagnostics.Note(fmt::format("{}: table {} has no column {}", context_.database.path(),
                                          context_.Find(nsys::kKernelTable), columns[column]));
  }
  trace_.kernels.reserve(context_.RowsToReserve(nsys::kKernelTable));
  kernel_calls_.reserve(trace_.kernels.capacity());
  context_.ForEachRow(nsys::kKernelTable, columns,
                      [&](int64_t row_id, const Cell* row) { TakeKernel(row_id, row); });
}

void NsysDevice::TakeKernel(int64_t row_id, const Cell* row) {
  if (context_.IsForeign(row[kDeviceGlobalPid])) return;
  Kernel& kernel = trace_.kernels.emplace_back();
  kernel.row_id = row_id;
  kernel.correlation_id = kUnknownId;
  KernelShape shape;
  shape.registers_per_thread = -1;
  shape.static_shared_memory_bytes = -1;
  shape.dynamic_shared_memory_bytes = -1;
  bool good = TakeKernelColumns(row, missing_, &kernel, &shape);
  kernel.shape = trace_.shapes.Add(shape);
  const NsysCalls::Key call = calls_.Want(row[kDeviceCorrelation], row[kDeviceGlobalPid]);
  if (call == NsysCalls::kNone) {
    kernel.correlation_id = kUnknownId;
    good &= missing_[kDeviceCorrelation];
  }
  kernel_calls_.push_back(call);
  if (row[kDeviceGlobalPid].is_int()) {
    // 24 bits.
    kernel.process_id =
        static_cast<int32_t>(nsys::ProcessIdOf(nsys::ProcessKey(row[kDeviceGlobalPid].integer())));
  } else {
    good &= missing_[kDeviceGlobalPid];
  }
  if (!good) {
    kernel.bad_row = true;
    context_.CountBadRow(Reason::kBadKernelRow, nsys::kKernelTable, row_id);
  }
  TakeKernelName(row_id, row, &kernel);
  // NULL for a kernel outside graphs; node ids are not 0.
  if (row[kDeviceGraphNode].is_int() && row[kDeviceGraphNode].integer() != 0) {
    kernel.graph = true;
    nodes_.Want(trace_.kernels.size() - 1, row[kDeviceGraphNode].integer(), row[kDeviceGlobalPid]);
  }
}

void NsysDevice::TakeKernelName(int64_t row_id, const Cell* row, Kernel* kernel) {
  for (const KernelColumn column : {kDeviceMangledName, kDeviceDemangledName, kDeviceShortName}) {
    kernel->name = context_.TextOf(row[column]);
    if (kernel->name == 0) continue;
    if (column != kDeviceMangledName || IsReadable(kernel->name)) return;
  }
  if (kernel->name == 0) kernel->name = context_.TextOf(row[kDeviceMangledName]);
  if (kernel->name != 0) return;
  context_.CountBadRow(Reason::kUnknownKernelName, nsys::kKernelTable, row_id);
}

/// The C++ runtime cannot demangle some names of nvcc that Nsight Systems can.
bool NsysDevice::IsReadable(StringId mangled) {
  constexpr uint8_t kUnknown = 0;
  constexpr uint8_t kReadable = 1;
  constexpr uint8_t kUnreadable = 2;
  if (readable_.size() <= mangled) readable_.resize(size_t{mangled} + 1, kUnknown);
  uint8_t& known = readable_[mangled];
  if (known == kUnknown) {
    const std::string_view name = trace_.strings.View(mangled);
    known = !name.starts_with("_Z") || Demangle(name) != name ? kReadable : kUnreadable;
  }
  return known == kReadable;
}

void NsysDevice::ReadCopies() {
  constexpr std::string_view kColumns[] = {"start",     "end",     "deviceId", "contextId",
                                           "streamId",  "bytes",   "copyKind", "correlationId",
                                           "globalPid", "srcKind", "dstKind"};
  const bool kinds = context_.HasColumn(nsys::kMemcpyTable, "srcKind") &&
                     context_.HasColumn(nsys::kMemcpyTable, "dstKind");
  context_.ForEachWholeRow(nsys::kMemcpyTable, kColumns, 8, [&](int64_t row_id, const Cell* row) {
    if (context_.IsForeign(row[8])) return;
    MemoryCopy copy;
    int32_t kind = 0;
    bool good = TakePlace(row, &copy) && TakeInt32(row[2], &copy.device_id) &&
                TakeInt64(row[5], &copy.size_bytes) && TakeInt32(row[6], &kind) && row[7].is_int();
    good &= !kinds || (TakeMemoryKind(row[9], &copy.source_kind) &&
                       TakeMemoryKind(row[10], &copy.target_kind));
    if (!good) {
      context_.CountBadRow(Reason::kBadOtherRow, nsys::kMemcpyTable, row_id);
      return;
    }
    copy.copy_kind = CopyKindOfNumber(kind);
    copy_calls_.push_back(calls_.Want(row[7], row[8]));
    trace_.copies.push_back(copy);
  });
}

void NsysDevice::ReadSets() {
  constexpr std::string_view kColumns[] = {"start",     "end",           "deviceId",
                                           "contextId", "streamId",      "bytes",
                                           "value",     "correlationId", "globalPid"};
  context_.ForEachWholeRow(nsys::kMemsetTable, kColumns, 8, [&](int64_t row_id, const Cell* row) {
    if (context_.IsForeign(row[8])) return;
    MemorySet set;
    const bool good = TakePlace(row, &set) && TakeInt32(row[2], &set.device_id) &&
                      TakeInt64(row[5], &set.size_bytes) && row[6].is_int() && row[7].is_int();
    if (!good) {
      context_.CountBadRow(Reason::kBadOtherRow, nsys::kMemsetTable, row_id);
      return;
    }
    // The value is a 32-bit pattern, stored unsigned.
    set.value = static_cast<int32_t>(row[6].integer() & kLow32Bits);
    set_calls_.push_back(calls_.Want(row[7], row[8]));
    trace_.sets.push_back(set);
  });
}

void NsysDevice::ReadSynchronizations() {
  const bool renamed = !context_.HasColumn(nsys::kSynchronizationTable, "syncType") &&
                       context_.HasColumn(nsys::kSynchronizationTable, "deprecatedSyncType");
  const std::string_view kind = renamed ? "deprecatedSyncType" : "syncType";
  const std::string_view columns[] = {"start",         "end",       "deviceId",
                                      "contextId",     "streamId",  kind,
                                      "correlationId", "globalPid", "eventId"};
  const bool has_event_column = context_.HasColumn(nsys::kSynchronizationTable, "eventId");
  const bool keep_event = context_.needs.Has(TracePart::kWaitEvents);
  context_.ForEachWholeRow(
      nsys::kSynchronizationTable, columns, 7, [&](int64_t row_id, const Cell* row) {
        if (context_.IsForeign(row[7])) return;
        Synchronization wait;
        int32_t number = 0;
        if (!TakePlace(row, &wait) || !TakeInt32(row[5], &number) || !row[6].is_int()) {
          context_.CountBadRow(Reason::kBadOtherRow, nsys::kSynchronizationTable, row_id);
          return;
        }
        const uint32_t event = NsysDeviceEventIdOf(row[8]);
        if (has_event_column) wait.kind = WaitKindOf(wait.stream_id != -1, event != kNoEvent);
        if (keep_event) wait.event_id = event;
        wait_calls_.push_back(calls_.Want(row[6], row[7]));
        trace_.synchronizations.push_back(wait);
      });
}

void NsysDevice::ReadEventRecords() {
  constexpr std::string_view kColumns[] = {"deviceId",      "contextId", "streamId",
                                           "correlationId", "eventId",   "globalPid"};
  context_.ForEachWholeRow(nsys::kEventTable, kColumns, 5, [&](int64_t row_id, const Cell* row) {
    if (context_.IsForeign(row[5])) return;
    EventRecord record;
    record.event_id = NsysDeviceEventIdOf(row[4]);
    if (!TakeInt32(row[0], &record.device_id) || !TakeInt32(row[1], &record.context_id) ||
        !TakeInt32(row[2], &record.stream_id) || !row[3].is_int() || record.event_id == kNoEvent) {
      context_.CountBadRow(Reason::kBadOtherRow, nsys::kEventTable, row_id);
      return;
    }
    record_calls_.push_back(calls_.Want(row[3], row[5]));
    trace_.event_records.push_back(record);
  });
}

void NsysDevice::ReadGraphReplays() {
  constexpr std::string_view kColumns[] = {"start",    "end",     "deviceId",      "contextId",
                                           "streamId", "graphId", "correlationId", "globalPid"};
  context_.ForEachWholeRow(
      nsys::kGraphTraceTable, kColumns, 7, [&](int64_t row_id, const Cell* row) {
        if (context_.IsForeign(row[7])) return;
        GraphReplay replay;
        if (!TakePlace(row, &replay) || !TakeInt32(row[2], &replay.device_id) ||
            !TakeInt64(row[5], &replay.graph_id) || !row[6].is_int()) {
          context_.CountBadRow(Reason::kBadOtherRow, nsys::kGraphTraceTable, row_id);
          return;
        }
        replay_calls_.push_back(calls_.Want(row[6], row[7]));
        trace_.graph_replays.push_back(replay);
      });
  if (trace_.graph_replays.empty()) return;
  context_.diagnostics.Note(
      fmt::format("{}: {} graph replays hide their kernels; record with --cuda-graph-trace=node",
                  context_.database.path(), trace_.graph_replays.size()));
}

void NsysDevice::ReadMemoryEvents() {
  constexpr std::string_view kColumns[] = {
      "start",     "address", "bytes",        "deviceId", "memoryOperationType",
      "globalPid", "memKind", "correlationId"};
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  context_.ForEachWholeRow(
      nsys::kMemoryUsageTable, kColumns, 6, [&](int64_t row_id, const Cell* row) {
        if (context_.IsForeign(row[5])) return;
        MemoryEvent event;
        if (!AllInts(row, 3) || !TakeInt32(row[3], &event.device_id) || !AllInts(row + 4, 2) ||
            row[2].integer() == kLeast || row[4].integer() < nsys::kAllocation ||
            row[4].integer() > nsys::kDeallocation) {
          context_.CountBadRow(Reason::kBadOtherRow, nsys::kMemoryUsageTable, row_id);
          return;
        }
        event.time_ns = row[0].integer();
        event.address = row[1].integer();
        const bool freed = row[4].integer() == nsys::kDeallocation;
        event.size_bytes = freed ? -row[2].integer() : row[2].integer();
        event.source = MemorySource::kDriver;
        TakeMemoryKind(row[6], &event.kind);
        const bool host = event.kind == MemoryKind::kPageable || event.kind == MemoryKind::kPinned;
        if (host) event.device_id = -1;
        memory_owners_.push_back({calls_.Want(row[7], row[5]), row[5].integer()});
        trace_.memory_events.push_back(event);
      });
}

void NsysDevice::Join() {
  const auto join = [this](const std::vector<NsysCalls::Key>& keys, auto* rows) {
    for (size_t i = 0; i < rows->size(); ++i) (*rows)[i].launch = calls_.Find(keys[i]);
  };
  join(kernel_calls_, &trace_.kernels);
  join(copy_calls_, &trace_.copies);
  join(set_calls_, &trace_.sets);
  join(wait_calls_, &trace_.synchronizations);
  join(record_calls_, &trace_.event_records);
  join(replay_calls_, &trace_.graph_replays);
  if (context_.needs.Has(TracePart::kWaitEvents)) LinkEventRecords(&trace_);
  for (Kernel& kernel : trace_.kernels) {
    if (kernel.launch == kNoLaunch) continue;
    const LaunchCall& call = trace_.launches[kernel.launch];
    kernel.graph |= StartsGraph(trace_.strings.View(call.api));
    if (kernel.process_id == kUnknownId) {
      kernel.process_id = static_cast<int32_t>(trace_.threads[call.thread].process_id);
    }
  }
  JoinMemoryEvents();
}

void NsysDevice::JoinMemoryEvents() {
  std::vector<MemoryEvent>& events = trace_.memory_events;
  for (size_t i = 0; i < events.size(); ++i) {
    events[i].launch = calls_.Find(memory_owners_[i].call);
    // Without its call, the event is attributed to the process: a thread without a number.
    events[i].thread = events[i].launch != kNoLaunch
                           ? trace_.launches[events[i].launch].thread
                           : context_.ThreadOf(memory_owners_[i].global_pid);
  }
  if (!context_.needs.Has(TracePart::kMemoryEvents)) {
    std::vector<MemoryEvent>().swap(events);
    return;
  }
  std::stable_sort(events.begin(), events.end(), [](const MemoryEvent& a, const MemoryEvent& b) {
    return a.time_ns < b.time_ns;
  });
}

}  // namespace oplens::parse
