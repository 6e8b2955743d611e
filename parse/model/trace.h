#ifndef OPLENS_PARSE_MODEL_TRACE_H_
#define OPLENS_PARSE_MODEL_TRACE_H_

#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parse/model/cuda_kinds.h"
#include "parse/model/family.h"
#include "parse/model/kernel_shapes.h"
#include "parse/model/reason.h"
#include "parse/model/run_place.h"
#include "parse/model/string_pool.h"
#include "parse/model/time_spans.h"
#include "parse/model/torch_function.h"

namespace oplens {

// The neutral model of a profile, filled by every reader and read by every later stage. It knows no
// database and no file format. Times are ns on the file's own clock, whose origin is unknown unless
// Trace::clock_offset_ns is set. Some parts are filled on request only: TracePart.

/// Index into Trace::threads; kNoThread: on no thread, or on an unknown one.
using ThreadIndex = uint32_t;
inline constexpr ThreadIndex kNoThread = UINT32_MAX;
using LaunchIndex = uint32_t;  ///< Index into Trace::launches; kNoLaunch: none.
inline constexpr LaunchIndex kNoLaunch = UINT32_MAX;
using ItemIndex = uint32_t;  ///< Index into one of the Trace's vectors of details; kNoItem: none.
inline constexpr ItemIndex kNoItem = UINT32_MAX;
/// An id that could not be read; CUPTI's ids are not negative.
inline constexpr int64_t kUnknownId = -1;
/// A wait for no event; CUPTI's event ids have 32 bits, and this value means none.
inline constexpr uint32_t kNoEvent = UINT32_MAX;
/// End time of a range that was never closed.
inline constexpr int64_t kNeverClosed = std::numeric_limits<int64_t>::max();

struct Thread {
  int64_t process_id = 0;
  int64_t thread_id = 0;  ///< Unique only within the process.
  StringId name = 0;      ///< 0 when unknown.
};

/// What a range of a host thread is, and so what its text means.
enum class RangeKind : uint8_t {
  kMarker,      ///< An NVTX range; ClassifyMarker tells what its text is.
  kOperator,    ///< A call of the framework's operator; its item indexes Trace::operators.
  kFrame,       ///< A call of a Python function: "train.py:10", or its name without a file.
  kModule,      ///< A call of a module (layer) of the network: its name, e.g. "Linear_3".
  kAnnotation,  ///< A label of the user or a library, never an op. Its item indexes Trace::labels
                ///< if the label has more than a text.
  kStep,        ///< An iteration of the training loop: "ProfilerStep#6".
};

/// Something that a host thread was inside for a while.
struct Range {
  int64_t start_ns = 0;
  int64_t end_ns = kNeverClosed;
  StringId text = 0;
  RangeKind kind : 3 = RangeKind::kMarker;
  bool has_item : 1 = false;
  /// Its thread; with has_item, into Trace::range_items. See Trace::ThreadOf and ItemOf.
  uint32_t place : 28 = 0;

  static constexpr uint32_t kMaxPlace = (uint32_t{1} << 28) - 1;

  bool open() const { return end_ns == kNeverClosed; }
  /// Of one without an item.
  void SetThread(ThreadIndex thread) { place = thread & kMaxPlace; }
};
// A trace has several ranges per kernel; they take most of its memory.
static_assert(sizeof(Range) == 24);

/// Of a range with details.
struct RangeItem {
  ThreadIndex thread = 0;
  ItemIndex item = kNoItem;  ///< The details, by kind.
};

/// Gives details to a range, whose RangeItem enters `items` unless it has one. Throws
/// std::bad_alloc beyond the 2^28 that ranges can name, as AddThread does.
inline void SetItem(ItemIndex item, std::vector<RangeItem>* items, Range* range) {
  if (range->has_item) {
    (*items)[range->place].item = item;
    return;
  }
  if (items->size() > Range::kMaxPlace) throw std::bad_alloc();
  items->push_back({range->place, item});
  range->place = static_cast<uint32_t>(items->size() - 1) & Range::kMaxPlace;
  range->has_item = true;
}

/// What a profiler recorded about an operator call besides its time.
struct Operator {
  /// The canonical text of the call (AppendOpCall), with an empty argument list if none were
  /// recorded. 0: no call (a node of the backward pass).
  StringId call = 0;
  StringId stack = 0;  ///< Call stack as the text of a trace marker, if recorded with the call.
  int32_t forward_thread = 0;  ///< The framework's own number of the forward thread; 0: unknown.
  bool backward = false;       ///< A node of the backward pass, or something that runs one.
  char direction = 0;          ///< One of markers::Direction; 0: unknown.
  bool stream = false;         ///< Has a recorded stream: a call of a Triton kernel.
  int64_t sequence = -1;       ///< Links a forward op with its backward node; -1: none.
  // Recorded by nvtx_annotate; 0: unknown.
  int64_t thread = 0;          ///< Its own thread, numbered as in `forward_thread`.
  int64_t handle = 0;          ///< The framework's number of the call.
  int64_t forward_handle = 0;  ///< For a node: `handle` of its forward op.
};

/// What a label has besides its text (NVTX event attributes).
struct Label {
  StringId domain = 0;     ///< 0: the default domain.
  StringId category = 0;   ///< Name of the category, or its number; 0: none.
  StringId payload = 0;    ///< The payload as text; 0: none.
  bool start_end = false;  ///< Opened with a start call: it may end on another thread.
};

/// A moment that a host thread marked.
struct Instant {
  int64_t time_ns = 0;
  StringId text = 0;
  ThreadIndex thread = 0;
};

/// A CUDA API call.
struct LaunchCall {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t correlation_id = 0;  ///< kUnknownId when the file does not say.
  ThreadIndex thread = 0;
  StringId api = 0;  ///< e.g. "cudaLaunchKernel"
};

/// Kernel facts that only some profiler families record.
struct KernelDetails {
  /// Static plus dynamic shared memory, if only the sum is known; else negative.
  int32_t shared_memory_bytes = -1;
  ItemIndex communication = kNoItem;  ///< For a collective: into Trace::communications.
  // Computed by the profiler; negative: not recorded.
  float blocks_per_multiprocessor = -1;
  float warps_per_multiprocessor = -1;
  float achieved_occupancy_pct = -1;     ///< Estimate: of the warps that the grid fills.
  float theoretical_occupancy_pct = -1;  ///< Of the warps that fit by registers and memory.

  friend bool operator==(const KernelDetails&, const KernelDetails&) = default;
};

/// One execution of a kernel. Files hold millions, so rarely recorded facts are in KernelDetails,
/// and what many share is in KernelShape.
struct Kernel {
  int64_t start_ns = 0;  ///< 0 with end_ns 0: not timed.
  int64_t end_ns = 0;
  int64_t correlation_id = 0;  ///< kUnknownId: not recorded.
  int64_t row_id = 0;          ///< Position in the file; last resort for a stable order.
  StringId name = 0;           ///< As in the file, mangled or not; 0 when unknown.
  LaunchIndex launch = kNoLaunch;
  /// For a kernel that a CUDA graph replays: the call that captured it into the graph, whose ranges
  /// identify its op. kNoLaunch if it is no such kernel, or the file does not say.
  LaunchIndex capture = kNoLaunch;
  ItemIndex details = kNoItem;  ///< Into Trace::kernel_details; see Trace::DetailsOf.
  int32_t process_id = -1;      ///< If recorded apart from the launch; else -1.
  int32_t device_id = 0;
  int32_t context_id = 0;
  int32_t stream_id = 0;
  uint32_t shape = 0;    ///< Of Trace::shapes; see Trace::ShapeOf.
  bool graph = false;    ///< Replayed by a CUDA graph.
  bool bad_row = false;  ///< Part of its row could not be read.

  bool timed() const { return start_ns != 0 || end_ns != 0; }
};
static_assert(sizeof(Kernel) == 72);

struct MemoryCopy {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t size_bytes = 0;
  LaunchIndex launch = kNoLaunch;
  CopyKind copy_kind = CopyKind::kUnknown;
  MemoryKind source_kind = MemoryKind::kUnknown;
  MemoryKind target_kind = MemoryKind::kUnknown;
  int32_t device_id = 0;
  int32_t context_id = 0;
  int32_t stream_id = 0;
};

/// A memset of device memory.
struct MemorySet {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t size_bytes = 0;
  LaunchIndex launch = kNoLaunch;
  int32_t value = 0;  ///< The value written, not a size.
  int32_t device_id = 0;
  int32_t context_id = 0;
  int32_t stream_id = 0;
};

/// A call of cudaEventRecord: a point in a stream's work that others wait for.
struct EventRecord {
  LaunchIndex launch = kNoLaunch;
  uint32_t event_id = kNoEvent;  ///< Unique in its context; one event is recorded many times.
  int32_t device_id = static_cast<int32_t>(kUnknownId);
  int32_t context_id = 0;
  int32_t stream_id = static_cast<int32_t>(kUnknownId);  ///< The stream whose work is waited for.
};

/// A wait of the host or of a stream.
struct Synchronization {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  LaunchIndex launch = kNoLaunch;
  int32_t context_id = 0;
  int32_t stream_id = 0;  ///< Waited for, or waiting for an event; -1: none.
  uint32_t event_id = kNoEvent;
  /// The waited-for record of the event: into Trace::event_records; kNoItem: not in the file.
  ItemIndex event_record = kNoItem;
  WaitKind kind = WaitKind::kUnknown;
  bool of_all_streams = false;  ///< The file has 2^32 - 1 for its stream; later ones have -1.
};

/// Time spent by the profiler itself or the driver's compiler.
struct Overhead {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  ThreadIndex thread = kNoThread;  ///< The thread that lost the time.
  OverheadKind kind = OverheadKind::kUnknown;
};

/// One replay of a whole CUDA graph whose kernels the file does not list.
struct GraphReplay {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t graph_id = 0;
  LaunchIndex launch = kNoLaunch;
  int32_t device_id = 0;
  int32_t context_id = 0;
  int32_t stream_id = 0;
};

enum class MemorySource : uint8_t {
  kFramework,  ///< The framework's allocator, from blocks that the driver gave it.
  kDriver,     ///< The driver: cudaMalloc, cudaHostAlloc, cuMemAllocAsync, ...
};

/// An allocation or a free. The two sources overlap: never add them up.
struct MemoryEvent {
  int64_t time_ns = 0;
  int64_t address = 0;
  int64_t size_bytes = 0;  ///< Negative when freed.
  // Totals of the device after the event.
  int64_t total_allocated_bytes = kUnknownId;
  int64_t total_reserved_bytes = kUnknownId;
  LaunchIndex launch = kNoLaunch;  ///< The API call, for MemorySource::kDriver.
  ThreadIndex thread = 0;
  int32_t device_id = -1;  ///< -1: host memory.
  MemoryKind kind = MemoryKind::kUnknown;
  MemorySource source = MemorySource::kFramework;
};

/// What is known about a collective: an op or annotation of a host thread, or a kernel.
struct Communication {
  int64_t start_ns = 0;  ///< Of the op or of the kernel.
  int64_t end_ns = 0;
  StringId name = 0;   ///< "allreduce"; for an annotation, what follows its library: "all_reduce".
  StringId dtype = 0;  ///< As written: "Float", in an annotation "c10::Half".
  StringId group = 0;  ///< Name of the process group.
  StringId ranks = 0;  ///< "[0, 1]"
  int64_t input_elements = kUnknownId;
  int64_t output_elements = kUnknownId;
  int64_t group_size = kUnknownId;
  int64_t sequence = kUnknownId;
  int64_t peer = kUnknownId;       ///< Of a send or receive: the other's rank in the run.
  ThreadIndex thread = kNoThread;  ///< Of the op or annotation; kNoThread for a kernel.
};

/// A forward op and its node of the backward pass, as moments inside them.
struct ForwardBackwardLink {
  int64_t forward_ns = 0;
  int64_t backward_ns = 0;
  ThreadIndex forward_thread = 0;
  ThreadIndex backward_thread = 0;
};

/// A hardware counter of a whole GPU, from a moment to the next sample of that GPU.
struct CounterSample {
  int64_t start_ns = 0;
  double value = 0;
  StringId metric = 0;  ///< "dram__bytes_read.sum"
  int32_t device_id = 0;
};

/// A host annotation as seen on the GPU: the time span of the work launched inside it.
struct DeviceAnnotation {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  StringId text = 0;
  int32_t device_id = 0;
  int32_t stream_id = 0;
};

/// An event of PyTorch's profiler with its own ids. Ranges and calls are read without these, which
/// are wrong in many files; they serve to find what other tools make of them.
struct TorchEvent {
  enum class Kind : uint8_t {
    kOperator,          ///< Category cpu_op.
    kAnnotation,        ///< user_annotation.
    kDeviceAnnotation,  ///< gpu_user_annotation.
    kModule,            ///< A Python call with a module's number.
    kApiCall,           ///< Of the runtime API.
    kKernel,
    kCopy,
    kFill,
    kDriverCall,   ///< Of the driver API.
    kAccelerator,  ///< Work of an accelerator that is no GPU: category mtia_ccp_events.
    kOther,        ///< Any other event with a duration.
  };
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::min();

  // Microseconds as in the file, rounded as Python rounds: the end is the sum of two doubles.
  double start_us = 0;
  double end_us = 0;
  int64_t external_id = kNone;     ///< Of an operator, and of the calls that it made.
  int64_t correlation_id = kNone;  ///< For a module, its own number.
  int64_t thread_id = 0;           ///< As in the file; for device work, its stream. Of those in
                                   ///< other_events: their stream; -1: they name none.
  double gbps = 0;                 ///< Recorded bandwidth of a copy or memset; 0: not recorded.
  StringId name = 0;
  StringId dims = 0;    ///< Extents of a kernel's grid, of an operator's or collective's inputs, as
                        ///< in Python.
  StringId types = 0;   ///< Their types; only for collectives ("nccl:all_reduce").
  uint32_t number = 0;  ///< Number of the event in the file, from 1; the row_id of a kernel.
  Kind kind = Kind::kOperator;
  bool text_thread = false;        ///< The file has the thread number as a text.
  bool has_extents = false;        ///< For a kernel: the grid is in its own event, not its call's.
  bool has_shared_memory = false;  ///< For a kernel: so is its shared memory.
  bool has_stream = false;  ///< For an operator: it names a stream; it is in other_events too.
};

struct Process {
  int64_t id = 0;
  StringId name = 0;
};

/// A GPU.
struct Device {
  int64_t id = 0;  ///< deviceId in other rows.
  StringId name = 0;
  int32_t compute_capability_major = 0;
  int32_t compute_capability_minor = 0;
  int32_t multiprocessors = 0;
  int64_t core_clock_hz = 0;
  int64_t memory_bandwidth_bytes_per_s = 0;
  int64_t memory_bytes = 0;
  int64_t l2_cache_bytes = 0;
  int32_t warp_threads = 0;  ///< 64 on most of AMD's; 0: not recorded.
};

/// A group of processes that communicate, as the file lists it.
struct ProcessGroup {
  StringId name = 0;         ///< As in Communication::group.
  StringId description = 0;  ///< The program's name for it: "TENSOR_MODEL_PARALLEL_GROUP"; 0: none.
  int64_t size = kUnknownId;
  std::vector<int64_t> ranks;  ///< In group order; empty if not listed.
};

/// What the recorder itself reports as lost.
struct RecorderLosses {
  int64_t records = 0;              ///< GPU and API records.
  int64_t ranges = 0;               ///< Calls that open, close or mark ranges.
  int64_t unfinished_launches = 0;  ///< Of kernels still running when the recording ended.
  bool file_cut = false;            ///< The file ends early: anything may be missing.
};

/// One profile. Rows are in file order until the join sorts them.
struct Trace {
  Family family = Family::kUnknown;
  int64_t schema_version = 0;  ///< 0 if not recorded.
  std::string producer;        ///< What wrote the file, e.g. "2024.2.1"; "" if unknown.
  /// Library and driver versions as in the file: name and value.
  std::vector<std::pair<StringId, StringId>> versions;
  int64_t rank = kUnknownId;  ///< Number of the process in a distributed run, if recorded.
  int64_t world_size = kUnknownId;
  int64_t local_rank = kUnknownId;  ///< Among the processes of its node.
  int64_t node = kUnknownId;        ///< Number of the node.
  std::string host;                 ///< Name of the node, never displayed; "": unknown.
  RunPlace environment;             ///< From the process environment, whatever the file says.
  /// Number of ranks of the process groups with several ranks, if all have the same.
  int64_t group_size = kUnknownId;
  std::vector<ProcessGroup> process_groups;  ///< Those of the process, if the file lists them.
  StringId rank_name = 0;  ///< `rank` of the records; set by whoever opened the file.
  /// Times are truncated to multiples of this: 1000 for files with whole microseconds.
  int64_t clock_resolution_ns = 1;
  /// Add this to a time of the trace to get ns since 1970 (UTC) on the machine's clock. It makes
  /// times of several files comparable, as far as their machines' clocks agree. nullopt: unknown.
  std::optional<int64_t> clock_offset_ns;
  RecorderLosses lost;
  /// There are calls that launch kernels, and no number tells which: they are not in `launches`
  /// unless those of TracePart::kApiCalls are.
  bool unnumbered_calls = false;
  StringPool strings;
  std::vector<Process> processes;
  std::vector<Thread> threads;
  /// Of ranges of a thread with equal times, the one that was opened first precedes.
  std::vector<Range> ranges;
  std::vector<RangeItem> range_items;  ///< See ThreadOf and ItemOf.
  std::vector<Operator> operators;
  std::vector<Label> labels;
  std::vector<Instant> instants;
  /// The calls that something of the trace refers to: GPU work, a wait, a graph, a memory event, an
  /// event record, what was captured. Behind them, in order of start: with TracePart::kApiCalls all
  /// others; else with kWaitCalls those that wait for a GPU (IsWaitingCall), with kLongCalls the
  /// long ones.
  std::vector<LaunchCall> launches;
  TimeSpans api_times;  ///< Times of API calls that are not in `launches`.
  std::vector<Kernel> kernels;
  /// With TracePart::kCaptures or kOwnCaptures: what recorded calls put into graphs, which did not
  /// run then. No times; launch and capture are the call; stream_id numbers the captures of the
  /// file from 0; name may be 0.
  std::vector<Kernel> captured;
  KernelShapes shapes;
  std::vector<KernelDetails> kernel_details;
  std::vector<MemoryCopy> copies;
  std::vector<MemorySet> sets;
  std::vector<Synchronization> synchronizations;
  std::vector<EventRecord> event_records;
  std::vector<GraphReplay> graph_replays;
  std::vector<MemoryEvent> memory_events;
  std::vector<Communication> communications;
  std::vector<ForwardBackwardLink> forward_backward_links;
  std::vector<DeviceAnnotation> device_annotations;
  std::vector<CounterSample> counter_samples;
  std::vector<Overhead> overheads;
  std::vector<TorchEvent> torch_events;
  std::vector<TorchEvent> accelerator_events;
  std::vector<TorchEvent> other_events;
  std::vector<TorchFunction> torch_functions;
  TorchRecording torch_recording;  ///< With TracePart::kTorchFunctions.
  std::vector<Device> devices;

  /// Throws std::bad_alloc beyond the 2^28 threads that a range can name.
  ThreadIndex AddThread(const Thread& thread) {
    if (threads.size() > Range::kMaxPlace) throw std::bad_alloc();
    threads.push_back(thread);
    return static_cast<ThreadIndex>(threads.size() - 1);
  }
  ThreadIndex ThreadOf(const Range& range) const {
    return range.has_item ? range_items[range.place].thread : range.place;
  }
  /// kNoItem: it has none.
  ItemIndex ItemOf(const Range& range) const {
    return range.has_item ? range_items[range.place].item : kNoItem;
  }
  /// The details of an operator; null if it is none.
  const Operator* OperatorOf(const Range& range) const {
    if (!range.has_item || range.kind != RangeKind::kOperator) return nullptr;
    const ItemIndex item = range_items[range.place].item;
    return item < operators.size() ? &operators[item] : nullptr;
  }
  /// What a label has besides its text; null: nothing.
  const Label* LabelOf(const Range& range) const {
    if (!range.has_item || range.kind == RangeKind::kOperator) return nullptr;
    const ItemIndex item = range_items[range.place].item;
    return item < labels.size() ? &labels[item] : nullptr;
  }
  const KernelShape& ShapeOf(const Kernel& kernel) const { return shapes[kernel.shape]; }
  KernelDetails DetailsOf(const Kernel& kernel) const {
    return kernel.details < kernel_details.size() ? kernel_details[kernel.details]
                                                  : KernelDetails();
  }
  /// Stores the details unless they are all defaults.
  void SetDetails(const KernelDetails& details, Kernel* kernel) {
    if (kernel->details < kernel_details.size()) {
      kernel_details[kernel->details] = details;
    } else if (details != KernelDetails()) {
      kernel->details = static_cast<ItemIndex>(kernel_details.size());
      kernel_details.push_back(details);
    }
  }
};

/// Turns `range` into an operator or node of that name. Returns its details, all defaults; the
/// reference is valid until the next one is made.
inline Operator& MakeOperator(StringId name, Range* range, Trace* trace) {
  range->kind = RangeKind::kOperator;
  range->text = name;
  SetItem(static_cast<ItemIndex>(trace->operators.size()), &trace->range_items, range);
  return trace->operators.emplace_back();
}

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_TRACE_H_
