#include "prof/views/kernels/raw_tables.h"

#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "parse/join/joined.h"
#include "parse/model/cuda_kinds.h"
#include "parse/model/trace.h"
#include "parse/records/kernel_records.h"

namespace oplens::prof {
namespace {

using enum FieldType;

/// How many rows of earlier inputs each table that others refer to has.
struct RowsBefore {
  int64_t runs = 0;
  int64_t threads = 0;
  int64_t api_calls = 0;
  int64_t collectives = 0;
};

/// A row of a trace's vector.
template <typename Item>
struct RawRow {
  const Trace& trace;
  const RowsBefore& before;
  const Item& item;
  int64_t id = 0;

  int64_t run() const { return before.runs + 1; }
  Cell TextOf(StringId text) const { return Text(trace.strings.View(text)); }
  Cell ThreadOf(ThreadIndex thread) const {
    return thread < trace.threads.size() ? Integer(before.threads + thread + 1) : Cell{};
  }
  Cell CallOf(LaunchIndex call) const {
    return call < trace.launches.size() ? Integer(before.api_calls + call + 1) : Cell{};
  }
};

/// A number that is unknown if it is negative.
Cell NotNegative(int64_t value) { return value < 0 ? Cell{} : Integer(value); }

template <typename Item>
using RawColumn = Column<RawRow<Item>>;

template <typename Item>
constexpr RawColumn<Item> kIdColumn = {
    {"id", "Id", "", kInteger, 0, "number of the row, from 1", Fold::kKey},
    [](const RawRow<Item>& row) { return Integer(row.id); }};
template <typename Item>
constexpr RawColumn<Item> kRunColumn = {{"run", "Run", "", kInteger, 0, "runs.id"},
                                        [](const RawRow<Item>& row) { return Integer(row.run()); }};
constexpr Field kThreadField = {"thread", "Thread", "", kInteger, 0, "threads.id"};
template <typename Item>
constexpr RawColumn<Item> kThreadColumn = {
    kThreadField, [](const RawRow<Item>& row) { return row.ThreadOf(row.item.thread); }};
template <typename Item>
constexpr RawColumn<Item> kCallColumn = {
    {"api_call", "Call", "", kInteger, 0, "api_calls.id of the call that asked for it"},
    [](const RawRow<Item>& row) { return row.CallOf(row.item.launch); }};
template <typename Item>
constexpr RawColumn<Item> kStartColumn = {
    {"start_ns", "Start", "ns", kInteger, 0, "on the file's own clock"},
    [](const RawRow<Item>& row) { return Integer(row.item.start_ns); }};
template <typename Item>
constexpr RawColumn<Item> kEndColumn = {
    {"end_ns", "End", "ns", kInteger, 0, "on the same clock"},
    [](const RawRow<Item>& row) { return Integer(row.item.end_ns); }};
template <typename Item>
constexpr RawColumn<Item> kDeviceColumn = {
    {"device", "Device", "", kInteger, 0, "number of the GPU"},
    [](const RawRow<Item>& row) { return NotNegative(row.item.device_id); }};
template <typename Item>
constexpr RawColumn<Item> kStreamColumn = {
    {"stream", "Stream", "", kInteger, 0, "number of the stream"},
    [](const RawRow<Item>& row) { return NotNegative(row.item.stream_id); }};
template <typename Item>
constexpr RawColumn<Item> kBytesColumn = {
    {"bytes", "Bytes", "B", kInteger, 0, "size"},
    [](const RawRow<Item>& row) { return Integer(row.item.size_bytes); }};
template <typename Item>
constexpr RawColumn<Item> kNameColumn = {
    {"name", "Name", "", kText, 0, "name"},
    [](const RawRow<Item>& row) { return row.TextOf(row.item.name); }};

constexpr RawColumn<Trace> kRunColumns[] = {
    kIdColumn<Trace>,
    {{"rank", "Rank", "", kText, 0, "rank of the process, or its file"},
     [](const RawRow<Trace>& row) { return row.TextOf(row.item.rank_name); }},
    {{"world_size", "World", "", kInteger, 0, "ranks of the run"},
     [](const RawRow<Trace>& row) { return NotNegative(row.item.world_size); }},
    {{"producer", "Producer", "", kText, 0, "version of what wrote the file"},
     [](const RawRow<Trace>& row) { return Text(row.item.producer); }},
    {{"clock_offset_ns", "Offset", "ns", kInteger, 0, "add it to a time for ns since 1970"},
     [](const RawRow<Trace>& row) { return Integer(row.item.clock_offset_ns); }},
};
constexpr RawColumn<Process> kProcessColumns[] = {
    kIdColumn<Process>,
    kRunColumn<Process>,
    {{"pid", "Pid", "", kInteger, 0, "the system's number"},
     [](const RawRow<Process>& row) { return Integer(row.item.id); }},
    kNameColumn<Process>,
};
constexpr RawColumn<Thread> kThreadColumns[] = {
    kIdColumn<Thread>,
    kRunColumn<Thread>,
    {{"pid", "Pid", "", kInteger, 0, "processes.pid"},
     [](const RawRow<Thread>& row) { return Integer(row.item.process_id); }},
    {{"tid", "Tid", "", kInteger, 0, "the system's number"},
     [](const RawRow<Thread>& row) { return Integer(row.item.thread_id); }},
    kNameColumn<Thread>,
};
constexpr RawColumn<Device> kDeviceColumns[] = {
    kIdColumn<Device>,
    kRunColumn<Device>,
    {{"device", "Device", "", kInteger, 0, "number of the GPU in other tables"},
     [](const RawRow<Device>& row) { return NotNegative(row.item.id); }},
    kNameColumn<Device>,
    {{"multiprocessors", "SMs", "", kInteger, 0, "their number"},
     [](const RawRow<Device>& row) {
       return row.item.multiprocessors > 0 ? Integer(row.item.multiprocessors) : Cell{};
     }},
    {{"memory_bytes", "Memory", "B", kInteger, 0, "its memory"},
     [](const RawRow<Device>& row) {
       return row.item.memory_bytes > 0 ? Integer(row.item.memory_bytes) : Cell{};
     }},
};

std::string_view WordOfRange(RangeKind kind) {
  switch (kind) {
    case RangeKind::kMarker:
      return "marker";
    case RangeKind::kOperator:
      return "operator";
    case RangeKind::kFrame:
      return "frame";
    case RangeKind::kModule:
      return "module";
    case RangeKind::kAnnotation:
      return "annotation";
    case RangeKind::kStep:
      return "step";
  }
  return {};
}

constexpr RawColumn<Range> kRangeColumns[] = {
    kIdColumn<Range>,
    kRunColumn<Range>,
    {kThreadField,
     [](const RawRow<Range>& row) { return row.ThreadOf(row.trace.ThreadOf(row.item)); }},
    {{"kind", "Kind", "", kText, 0, "marker, operator, frame, module, annotation or step"},
     [](const RawRow<Range>& row) { return Text(WordOfRange(row.item.kind)); }},
    {{"text", "Text", "", kText, 0, "its name, or what was annotated"},
     [](const RawRow<Range>& row) { return row.TextOf(row.item.text); }},
    kStartColumn<Range>,
    {{"end_ns", "End", "ns", kInteger, 0, "NULL: it was never closed"},
     [](const RawRow<Range>& row) { return row.item.open() ? Cell{} : Integer(row.item.end_ns); }},
    {{"sequence", "Seq", "", kInteger, 0, "of an operator: links it with its backward node"},
     [](const RawRow<Range>& row) {
       const Operator* const op = row.trace.OperatorOf(row.item);
       return op == nullptr ? Cell{} : NotNegative(op->sequence);
     }},
    {{"backward", "Backward", "", kInteger, 0, "of an operator: 1 for a node of the backward pass"},
     [](const RawRow<Range>& row) {
       const Operator* const op = row.trace.OperatorOf(row.item);
       return op == nullptr ? Cell{} : Integer(op->backward ? 1 : 0);
     }},
};
constexpr RawColumn<LaunchCall> kApiColumns[] = {
    kIdColumn<LaunchCall>,
    kRunColumn<LaunchCall>,
    kThreadColumn<LaunchCall>,
    {{"name", "Name", "", kText, 0, "cudaLaunchKernel"},
     [](const RawRow<LaunchCall>& row) { return row.TextOf(row.item.api); }},
    kStartColumn<LaunchCall>,
    kEndColumn<LaunchCall>,
    {{"correlation", "Corr", "", kInteger, 0, "the profiler's number of the call"},
     [](const RawRow<LaunchCall>& row) { return NotNegative(row.item.correlation_id); }},
};
constexpr RawColumn<MemoryCopy> kCopyTableColumns[] = {
    kIdColumn<MemoryCopy>,
    kRunColumn<MemoryCopy>,
    kCallColumn<MemoryCopy>,
    {{"kind", "Kind", "", kText, 0, "HtoD, DtoH, ..."},
     [](const RawRow<MemoryCopy>& row) { return Text(CopyKindWord(row.item.copy_kind)); }},
    {{"source", "Source", "", kText, 0, "kind of memory that is read"},
     [](const RawRow<MemoryCopy>& row) { return Text(MemoryKindWord(row.item.source_kind)); }},
    {{"target", "Target", "", kText, 0, "kind of memory that is written"},
     [](const RawRow<MemoryCopy>& row) { return Text(MemoryKindWord(row.item.target_kind)); }},
    kBytesColumn<MemoryCopy>,
    kDeviceColumn<MemoryCopy>,
    kStreamColumn<MemoryCopy>,
    kStartColumn<MemoryCopy>,
    kEndColumn<MemoryCopy>,
};
constexpr RawColumn<MemorySet> kFillColumns[] = {
    kIdColumn<MemorySet>,    kRunColumn<MemorySet>,    kCallColumn<MemorySet>,
    kBytesColumn<MemorySet>, kDeviceColumn<MemorySet>, kStreamColumn<MemorySet>,
    kStartColumn<MemorySet>, kEndColumn<MemorySet>,
};
constexpr RawColumn<GraphReplay> kReplayColumns[] = {
    kIdColumn<GraphReplay>,     kRunColumn<GraphReplay>,    kCallColumn<GraphReplay>,
    kDeviceColumn<GraphReplay>, kStreamColumn<GraphReplay>, kStartColumn<GraphReplay>,
    kEndColumn<GraphReplay>,
};
constexpr RawColumn<Synchronization> kWaitColumns[] = {
    kIdColumn<Synchronization>,
    kRunColumn<Synchronization>,
    kCallColumn<Synchronization>,
    {{"kind", "Kind", "", kText, 0, "what waits for what"},
     [](const RawRow<Synchronization>& row) { return Text(WaitKindWord(row.item.kind)); }},
    kStreamColumn<Synchronization>,
    kStartColumn<Synchronization>,
    kEndColumn<Synchronization>,
};
constexpr RawColumn<MemoryEvent> kMemoryColumns[] = {
    kIdColumn<MemoryEvent>,
    kRunColumn<MemoryEvent>,
    kThreadColumn<MemoryEvent>,
    kCallColumn<MemoryEvent>,
    {{"source", "Source", "", kText, 0, "framework or driver: never add the two up"},
     [](const RawRow<MemoryEvent>& row) {
       return Text(row.item.source == MemorySource::kDriver ? "driver" : "framework");
     }},
    {{"time_ns", "Time", "ns", kInteger, 0, "on the file's own clock"},
     [](const RawRow<MemoryEvent>& row) { return Integer(row.item.time_ns); }},
    {{"address", "Address", "", kInteger, 0, "of the block"},
     [](const RawRow<MemoryEvent>& row) { return Integer(row.item.address); }},
    {{"bytes", "Bytes", "B", kInteger, 0, "its size, negative if it is freed"},
     [](const RawRow<MemoryEvent>& row) { return Integer(row.item.size_bytes); }},
    {{"allocated_bytes", "Allocated", "B", kInteger, 0, "of the device after it"},
     [](const RawRow<MemoryEvent>& row) { return NotNegative(row.item.total_allocated_bytes); }},
    {{"reserved_bytes", "Reserved", "B", kInteger, 0, "of the device after it"},
     [](const RawRow<MemoryEvent>& row) { return NotNegative(row.item.total_reserved_bytes); }},
    {{"device", "Device", "", kInteger, 0, "number of the GPU; NULL: memory of the host"},
     [](const RawRow<MemoryEvent>& row) { return NotNegative(row.item.device_id); }},
};
constexpr RawColumn<Communication> kCollectiveColumns[] = {
    kIdColumn<Communication>,
    kRunColumn<Communication>,
    {{"thread", "Thread", "", kInteger, 0,
      "threads.id; NULL: what a kernel says of its collective"},
     [](const RawRow<Communication>& row) { return row.ThreadOf(row.item.thread); }},
    kNameColumn<Communication>,
    {{"dtype", "DType", "", kText, 0, "as written"},
     [](const RawRow<Communication>& row) { return row.TextOf(row.item.dtype); }},
    {{"process_group", "Group", "", kText, 0, "name of the process group"},
     [](const RawRow<Communication>& row) { return row.TextOf(row.item.group); }},
    {{"group_size", "Size", "", kInteger, 0, "its ranks"},
     [](const RawRow<Communication>& row) { return NotNegative(row.item.group_size); }},
    {{"input_elements", "In", "", kInteger, 0, "elements that each rank gives"},
     [](const RawRow<Communication>& row) { return NotNegative(row.item.input_elements); }},
    {{"output_elements", "Out", "", kInteger, 0, "elements that each rank gets"},
     [](const RawRow<Communication>& row) { return NotNegative(row.item.output_elements); }},
    {{"sequence", "Seq", "", kInteger, 0, "number of the collective in its group"},
     [](const RawRow<Communication>& row) { return NotNegative(row.item.sequence); }},
    kStartColumn<Communication>,
    kEndColumn<Communication>,
};

/// A kernel: the keys, then columns of prof.
constexpr Field kKernelKeys[] = {
    {"id", "Id", "", kInteger, 0, "number of the row, from 1", Fold::kKey},
    {"run", "Run", "", kInteger, 0, "runs.id"},
    {"thread", "Thread", "", kInteger, 0, "threads.id of the call"},
    {"api_call", "Call", "", kInteger, 0, "api_calls.id of the call that launched it"},
    {"collective", "Collective", "", kInteger, 0, "collectives.id"},
    {"end_ns", "End", "ns", kInteger, 0, "start + sil"},
};

// The work of GPUs, and when each that worked did nothing between its first work and its last.
constexpr const char* kSqlViews[] = {
    "CREATE VIEW gpu_work AS "
    "SELECT 'kernel' AS kind, id, run, device, stream, start AS start_ns, end_ns FROM kernels "
    "WHERE end_ns IS NOT NULL "
    "UNION ALL SELECT 'copy', id, run, device, stream, start_ns, end_ns FROM copies "
    "UNION ALL SELECT 'fill', id, run, device, stream, start_ns, end_ns FROM fills "
    "UNION ALL SELECT 'replay', id, run, device, stream, start_ns, end_ns FROM graph_replays",
    "CREATE VIEW gpu_gaps AS SELECT run, device, busy_ns AS start_ns, start_ns AS end_ns FROM "
    "(SELECT run, device, start_ns, MAX(end_ns) OVER (PARTITION BY run, device ORDER BY start_ns, "
    "end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS busy_ns FROM gpu_work) "
    "WHERE busy_ns < start_ns",
};

// What queries look up, besides ids.
constexpr const char* kSqlIndexes[] = {
    "CREATE INDEX kernels_by_call ON kernels (api_call)",
    "CREATE INDEX api_calls_by_start ON api_calls (run, start_ns)",
    "CREATE INDEX ranges_by_start ON ranges (thread, start_ns)",
};

}  // namespace

class RawTables::Writer {
 public:
  Writer(Columns<PricedKernel> columns, SqliteFile* file)
      : file_(*file),
        runs_("runs", kRunColumns, file),
        processes_("processes", kProcessColumns, file),
        threads_("threads", kThreadColumns, file),
        devices_("devices", kDeviceColumns, file),
        ranges_("ranges", kRangeColumns, file),
        api_calls_("api_calls", kApiColumns, file),
        copies_("copies", kCopyTableColumns, file),
        fills_("fills", kFillColumns, file),
        replays_("graph_replays", kReplayColumns, file),
        waits_("waits", kWaitColumns, file),
        memory_("memory_events", kMemoryColumns, file),
        collectives_("collectives", kCollectiveColumns, file),
        columns_(std::move(columns)),
        kernels_(file->NewTable()) {
    std::vector<Field> fields(std::begin(kKernelKeys), std::end(kKernelKeys));
    for (const Field& field : FieldsOf(columns_)) fields.push_back(field);
    kernels_->Begin("kernels", std::move(fields));
  }

  void BeginInput(const parse::KernelRecords* profile) {
    if (profile == nullptr) {
      throw Error("standard input", "holds records, not what the profile has besides kernels",
                  "give the profile itself to --raw");
    }
    trace_ = &profile->joined().trace();
    const Trace& trace = *trace_;
    runs_.Add(trace, before_, std::span(&trace, 1));
    std::vector<Process> processes = trace.processes;
    std::set<int64_t> known;
    for (const Process& process : processes) known.insert(process.id);
    for (const Thread& thread : trace.threads) {
      if (known.insert(thread.process_id).second) processes.push_back({thread.process_id, 0});
    }
    processes_.Add(trace, before_, std::span<const Process>(processes));
    threads_.Add(trace, before_, std::span(trace.threads));
    devices_.Add(trace, before_, std::span(trace.devices));
    ranges_.Add(trace, before_, std::span(trace.ranges));
    api_calls_.Add(trace, before_, std::span(trace.launches));
    copies_.Add(trace, before_, std::span(trace.copies));
    fills_.Add(trace, before_, std::span(trace.sets));
    replays_.Add(trace, before_, std::span(trace.graph_replays));
    waits_.Add(trace, before_, std::span(trace.synchronizations));
    memory_.Add(trace, before_, std::span(trace.memory_events));
    collectives_.Add(trace, before_, std::span(trace.communications));
  }

  void AddKernel(const PricedKernel& row) {
    if (trace_ == nullptr || row.work >= trace_->kernels.size()) return;
    const Kernel& kernel = trace_->kernels[row.work];
    const RawRow<Kernel> raw = {*trace_, before_, kernel, ++kernels_rows_};
    const bool launched = kernel.launch < trace_->launches.size();
    const ItemIndex collective = trace_->DetailsOf(kernel).communication;
    cells_.assign({Integer(raw.id), Integer(raw.run()),
                   launched ? raw.ThreadOf(trace_->launches[kernel.launch].thread) : Cell{},
                   raw.CallOf(kernel.launch),
                   collective < trace_->communications.size()
                       ? Integer(before_.collectives + collective + 1)
                       : Cell{},
                   kernel.timed() ? Integer(kernel.end_ns) : Cell{}});
    for (const Column<PricedKernel>* column : columns_) cells_.push_back(column->get(row));
    kernels_->Row(cells_);
  }

  void EndInput() {
    if (trace_ == nullptr) return;
    const auto count = [](const auto& items) { return static_cast<int64_t>(items.size()); };
    ++before_.runs;
    before_.threads += count(trace_->threads);
    before_.api_calls += count(trace_->launches);
    before_.collectives += count(trace_->communications);
    trace_ = nullptr;
  }

  void Finish() {
    runs_.End();
    processes_.End();
    threads_.End();
    devices_.End();
    ranges_.End();
    api_calls_.End();
    copies_.End();
    fills_.End();
    replays_.End();
    waits_.End();
    memory_.End();
    collectives_.End();
    kernels_->End();
    for (const char* sql : kSqlViews) file_.Run(sql);
    for (const char* sql : kSqlIndexes) file_.Run(sql);
  }

 private:
  /// A table of all items of one kind.
  template <typename Item>
  class Table {
   public:
    Table(std::string_view name, std::span<const RawColumn<Item>> columns, SqliteFile* file)
        : sink_(file->NewTable()), columns_(columns), cells_(columns.size()) {
      sink_->Begin(name, FieldsOf(columns));
    }
    void Add(const Trace& trace, const RowsBefore& before, std::span<const Item> items) {
      for (const Item& item : items) {
        const RawRow<Item> row = {trace, before, item, ++rows_};
        for (size_t i = 0; i < columns_.size(); ++i) cells_[i] = columns_[i].get(row);
        sink_->Row(cells_);
      }
    }

    void End() { sink_->End(); }

   private:
    std::unique_ptr<Sink> sink_;
    std::span<const RawColumn<Item>> columns_;
    std::vector<Cell> cells_;
    int64_t rows_ = 0;
  };

  SqliteFile& file_;
  Table<Trace> runs_;
  Table<Process> processes_;
  Table<Thread> threads_;
  Table<Device> devices_;
  Table<Range> ranges_;
  Table<LaunchCall> api_calls_;
  Table<MemoryCopy> copies_;
  Table<MemorySet> fills_;
  Table<GraphReplay> replays_;
  Table<Synchronization> waits_;
  Table<MemoryEvent> memory_;
  Table<Communication> collectives_;
  Columns<PricedKernel> columns_;
  std::unique_ptr<Sink> kernels_;
  int64_t kernels_rows_ = 0;
  std::vector<Cell> cells_;
  RowsBefore before_;
  const Trace* trace_ = nullptr;  // Of the current input.
};

TraceNeeds NeedsOfRawTables() {
  return {TracePart::kApiCalls, TracePart::kMemoryEvents, TracePart::kNames};
}

RawTables::RawTables(Columns<PricedKernel> columns, SqliteFile* file)
    : writer_(std::make_unique<Writer>(std::move(columns), file)) {}
RawTables::~RawTables() = default;

void RawTables::BeginInput(const parse::KernelRecords* profile) { writer_->BeginInput(profile); }
void RawTables::Add(const PricedKernel& kernel) { writer_->AddKernel(kernel); }
void RawTables::EndInput() { writer_->EndInput(); }
void RawTables::Finish() { writer_->Finish(); }

}  // namespace oplens::prof
