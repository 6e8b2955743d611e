#ifndef OPLENS_PARSE_MODEL_TRACE_H_
#define OPLENS_PARSE_MODEL_TRACE_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parse/model/cuda_kinds.h"
#include "parse/model/family.h"
#include "parse/model/reason.h"
#include "parse/model/run_place.h"
#include "parse/model/string_pool.h"
#include "parse/model/time_spans.h"

namespace oplens {

// The neutral model of a profile: what every reader fills and every later stage reads. It knows no
// database and no file format. All times are ns on the file's own clock, whose origin means nothing
// but where Trace::clock_offset_ns says what it is.
//
// Some parts are there only for those who ask for them: TracePart.

/// Index of a Thread in Trace::threads.
using ThreadIndex = uint32_t;
/// Of what is on no thread, or on one that the file does not tell.
inline constexpr ThreadIndex kNoThread = UINT32_MAX;
/// Index of a LaunchCall in Trace::launches; kNoLaunch when there is none.
using LaunchIndex = uint32_t;
inline constexpr LaunchIndex kNoLaunch = UINT32_MAX;
/// Index into one of the Trace's vectors of details; kNoItem when there is none.
using ItemIndex = uint32_t;
inline constexpr ItemIndex kNoItem = UINT32_MAX;
/// Stands for an id that could not be read; CUPTI's ids are not negative.
inline constexpr int64_t kUnknownId = -1;
/// Of a wait for no event; CUPTI's ids of events are numbers of 32 bits, this one stands for none.
inline constexpr uint32_t kNoEvent = UINT32_MAX;
/// End time of a range that was never closed.
inline constexpr int64_t kNeverClosed = std::numeric_limits<int64_t>::max();

/// A host thread.
struct Thread {
  int64_t process_id = 0;
  int64_t thread_id = 0;  ///< Unique within the process only.
  StringId name = 0;      ///< 0 when unknown.
};

/// What a range of a host thread is, and so what its text means.
enum class RangeKind : uint8_t {
  kMarker,      ///< An NVTX range: its text says what it is, see ClassifyMarker.
  kOperator,    ///< A call of the framework's operator; `item` indexes Trace::operators.
  kFrame,       ///< A call of a Python function: "train.py:10", or its name without a file.
  kModule,      ///< A call of a module (layer) of the network: its name, e.g. "Linear_3".
  kAnnotation,  ///< A label of the user or a library, never an op. `item` indexes Trace::labels
                ///< where the label has more than a text.
  kStep,        ///< An iteration of the training loop: "ProfilerStep#6".
};

/// Something that a host thread was inside of for a while.
struct Range {
  int64_t start_ns = 0;
  int64_t end_ns = kNeverClosed;
  StringId text = 0;
  ThreadIndex thread = 0;
  ItemIndex item = kNoItem;  ///< Details, by kind.
  RangeKind kind = RangeKind::kMarker;
  // The low 24 bits of the file's own id, or of the place in the file, which ascends in order of
  // opening: decides between ranges with equal times.
  uint8_t order_high = 0;
  uint16_t order_low = 0;

  bool open() const { return end_ns == kNeverClosed; }
  uint32_t order() const { return uint32_t{order_high} << 16 | order_low; }
  void set_order(int64_t id) {
    order_high = static_cast<uint8_t>(id >> 16 & 0xFF);
    order_low = static_cast<uint16_t>(id & 0xFFFF);
  }
};
// There are several for each kernel, so that they are most of what a trace takes.
static_assert(sizeof(Range) == 32);

/// What a profiler recorded of one operator call besides its time.
struct Operator {
  /// Its arguments: the canonical text of the call (AppendOpCall), which one text stands for
  /// however often it is called. Without recorded arguments the list in it is empty. 0: no call
  /// (a node of the backward pass).
  StringId call = 0;
  StringId stack = 0;  ///< Call stack as the text of a trace marker, when recorded with the call.
  int32_t forward_thread = 0;  ///< The framework's own number of the forward thread; 0: unknown.
  bool backward = false;       ///< A node of the backward pass, or what runs one.
  char direction = 0;          ///< One of markers::Direction, where it is told; 0: it is not.
  bool stream = false;         ///< The profiler tells a stream of it: a call of a Triton kernel.
  int64_t sequence = -1;       ///< Links a forward op with its backward node; -1: none.
  // As nvtx_annotate tells them; 0: it does not.
  int64_t thread = 0;          ///< Number of its own thread, as `forward_thread` counts.
  int64_t handle = 0;          ///< The framework's number of the call.
  int64_t forward_handle = 0;  ///< Of a node: that of its forward op.
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

/// What only some families tell of a kernel.
struct KernelDetails {
  /// Static and dynamic shared memory together, where only that is known; negative: it is not.
  int32_t shared_memory_bytes = -1;
  ItemIndex communication = kNoItem;  ///< Of a collective: into Trace::communications.
  // What the profiler computed; negative when it did not.
  float blocks_per_multiprocessor = -1;
  float warps_per_multiprocessor = -1;
  float achieved_occupancy_pct = -1;     ///< Estimated: of the warps that the grid fills.
  float theoretical_occupancy_pct = -1;  ///< Of the warps that fit by registers and memory.

  friend bool operator==(const KernelDetails&, const KernelDetails&) = default;
};

/// One execution of a kernel. Files hold millions of them: what only some families tell stands
/// apart.
struct Kernel {
  int64_t start_ns = 0;  ///< 0 with end_ns 0: not timed.
  int64_t end_ns = 0;
  int64_t correlation_id = 0;  ///< kUnknownId when the file does not say.
  int64_t row_id = 0;          ///< Where it stands in the file; last resort for a stable order.
  StringId name = 0;           ///< As in the file, mangled or not; 0 when unknown.
  LaunchIndex launch = kNoLaunch;
  /// Of a kernel that a CUDA graph replays: the call that put it into the graph, whose ranges tell
  /// its op. kNoLaunch when it is no such kernel, or the file does not say.
  LaunchIndex capture = kNoLaunch;
  ItemIndex details = kNoItem;  ///< Into Trace::kernel_details; see Trace::DetailsOf.
  int32_t process_id = -1;      ///< Where the file says it apart from the launch; -1: it does
                                ///< not.
  int32_t device_id = 0;
  int32_t context_id = 0;
  int32_t stream_id = 0;
  int32_t grid[3] = {};   ///< blocks
  int32_t block[3] = {};  ///< threads
  // Negative: the file does not say.
  int32_t registers_per_thread = 0;
  int32_t static_shared_memory_bytes = 0;
  int32_t dynamic_shared_memory_bytes = 0;
  bool graph = false;    ///< Replayed by a CUDA graph.
  bool bad_row = false;  ///< The reader could not read all of its row.

  bool timed() const { return start_ns != 0 || end_ns != 0; }
};

/// What was put into a graph by a call that the file holds, and not run by it: a kernel without
/// times (TracePart::kCaptures). Its stream_id counts the captures of the file from 0; the name is
/// 0 where the file does not tell it.
inline bool IsCaptured(const Kernel& kernel) {
  return kernel.capture != kNoLaunch && kernel.capture == kernel.launch && !kernel.timed();
}

/// A copy between memories.
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

/// A fill of device memory.
struct MemorySet {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t size_bytes = 0;
  LaunchIndex launch = kNoLaunch;
  int32_t value = 0;  ///< The fill value, not a size.
  int32_t device_id = 0;
  int32_t context_id = 0;
  int32_t stream_id = 0;
};

/// A point in the work of a stream that others wait for: a call of cudaEventRecord.
struct EventRecord {
  LaunchIndex launch = kNoLaunch;  ///< That call.
  uint32_t event_id = kNoEvent;    ///< Of its context; an event is recorded again and again.
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
  int32_t stream_id = 0;  ///< That is waited for, or that waits for an event; -1: none.
  uint32_t event_id = kNoEvent;
  /// What the event stood for when it was waited for: into Trace::event_records. kNoItem when the
  /// file does not hold it.
  ItemIndex event_record = kNoItem;
  WaitKind kind = WaitKind::kUnknown;
};

/// Time that the profiler itself or the driver's compiler took.
struct Overhead {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  ThreadIndex thread = kNoThread;  ///< That lost the time.
  OverheadKind kind = OverheadKind::kUnknown;
};

/// One replay of a whole CUDA graph, whose kernels the file does not list.
struct GraphReplay {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t graph_id = 0;
  LaunchIndex launch = kNoLaunch;
  int32_t device_id = 0;
  int32_t context_id = 0;
  int32_t stream_id = 0;
};

/// Who gave memory out.
enum class MemorySource : uint8_t {
  kFramework,  ///< The framework's allocator, out of blocks that it has from the driver.
  kDriver,     ///< The driver: cudaMalloc, cudaHostAlloc, cuMemAllocAsync, ...
};

/// Memory was taken or given back. The two sources overlap: they are never added up.
struct MemoryEvent {
  int64_t time_ns = 0;
  int64_t address = 0;
  int64_t size_bytes = 0;  ///< Negative when freed.
  // Of the device, after the event.
  int64_t total_allocated_bytes = kUnknownId;
  int64_t total_reserved_bytes = kUnknownId;
  LaunchIndex launch = kNoLaunch;  ///< The API call, where the driver gave it out.
  ThreadIndex thread = 0;
  int32_t device_id = -1;  ///< -1: host memory.
  MemoryKind kind = MemoryKind::kUnknown;
  MemorySource source = MemorySource::kFramework;
};

/// What is known of a collective, as an op or annotation of a host thread or as a kernel.
struct Communication {
  int64_t start_ns = 0;  ///< Of the op or of the kernel.
  int64_t end_ns = 0;
  StringId name = 0;   ///< "allreduce"; of an annotation what follows its library: "all_reduce".
  StringId dtype = 0;  ///< As written: "Float", of an annotation "c10::Half".
  StringId group = 0;  ///< Name of the process group.
  StringId ranks = 0;  ///< "[0, 1]"
  int64_t input_elements = kUnknownId;
  int64_t output_elements = kUnknownId;
  int64_t group_size = kUnknownId;
  int64_t sequence = kUnknownId;
  ThreadIndex thread = kNoThread;  ///< Of the op or annotation; kNoThread of a kernel.
};

/// A forward op and the node of the backward pass that belongs to it, as moments inside them.
struct ForwardBackwardLink {
  int64_t forward_ns = 0;
  int64_t backward_ns = 0;
  ThreadIndex forward_thread = 0;
  ThreadIndex backward_thread = 0;
};

/// A host annotation as seen on the GPU: the time of the work launched inside it.
struct DeviceAnnotation {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  StringId text = 0;
  int32_t device_id = 0;
  int32_t stream_id = 0;
};

/// An event of PyTorch's profiler with the numbers by which it says itself what belongs to what.
/// Ranges and calls are read without these: what they say is wrong in many files. For those who
/// must find what others make of them.
struct TorchEvent {
  enum class Kind : uint8_t {
    kOperator,          ///< Category cpu_op.
    kAnnotation,        ///< user_annotation.
    kDeviceAnnotation,  ///< gpu_user_annotation.
    kModule,            ///< A Python call that has a module's number.
    kApiCall,           ///< Of the runtime, not of the driver.
    kKernel,
    kCopy,
    kFill,
    kDriverCall,  ///< Of the driver.
  };
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::min();

  // Microseconds as the file says them, rounded as Python rounds: the end is the sum of two
  // doubles.
  double start_us = 0;
  double end_us = 0;
  int64_t external_id = kNone;     ///< Of an operator; the same of a call that it made.
  int64_t correlation_id = kNone;  ///< Of a module its own number.
  int64_t thread_id = 0;           ///< As in the file; of what a device did its stream.
  double gbps = 0;                 ///< Of a copy or fill: its bandwidth as recorded; 0: it is not.
  StringId name = 0;
  StringId dims = 0;    ///< Extents of an operator's arguments, as Python prints the list; of a
                        ///< collective's annotation too.
  StringId types = 0;   ///< Their types, the same of a collective ("nccl:all_reduce") alone.
  uint32_t number = 0;  ///< Which event of the file it is, from 1: of a kernel its row_id.
  Kind kind = Kind::kOperator;
  bool text_thread = false;  ///< The number of the thread is a text in the file.
  bool has_extents = false;  ///< Of a kernel: its event has a grid, which others have of the call.
};

/// A host process.
struct Process {
  int64_t id = 0;
  StringId name = 0;
};

/// A GPU.
struct Device {
  int64_t id = 0;  ///< What deviceId of other rows means.
  StringId name = 0;
  int32_t compute_capability_major = 0;
  int32_t compute_capability_minor = 0;
  int32_t multiprocessors = 0;
  int64_t core_clock_hz = 0;
  int64_t memory_bandwidth_bytes_per_s = 0;
  int64_t memory_bytes = 0;
  int64_t l2_cache_bytes = 0;
  int32_t warp_threads = 0;  ///< 64 on most of AMD's; 0: the file does not say.
};

/// A group of processes that communicate, as the file lists it.
struct ProcessGroup {
  StringId name = 0;         ///< As Communication::group has it.
  StringId description = 0;  ///< What the program calls it: "TENSOR_MODEL_PARALLEL_GROUP"; 0: none.
  int64_t size = kUnknownId;
  std::vector<int64_t> ranks;  ///< In their order in the group; empty where they are not listed.
};

/// What the recorder itself says that it could not keep.
struct RecorderLosses {
  int64_t records = 0;              ///< Of the GPU and of API calls.
  int64_t ranges = 0;               ///< Calls that open, close or mark.
  int64_t unfinished_launches = 0;  ///< Of kernels that had not ended when the recording did.
  bool file_cut = false;            ///< The file ends early: anything may be missing.
};

/// One profile. Rows are in file order until Correlate sorts them.
struct Trace {
  Family family = Family::kUnknown;
  int64_t schema_version = 0;  ///< 0 when the file does not say.
  std::string producer;        ///< What wrote the file, e.g. "2024.2.1"; "" when unknown.
  /// Of libraries and drivers, as the file has them: name and value.
  std::vector<std::pair<StringId, StringId>> versions;
  int64_t rank = kUnknownId;  ///< Number of the process in a distributed run, if the file says it.
  int64_t world_size = kUnknownId;
  int64_t local_rank = kUnknownId;  ///< Among the processes of its node.
  int64_t node = kUnknownId;        ///< Number of the node.
  std::string host;                 ///< Name of the node, which nothing shows; "": not told.
  RunPlace environment;             ///< What its environment said, whatever else the file says.
  /// Ranks of every process group that has several, where all such have as many.
  int64_t group_size = kUnknownId;
  std::vector<ProcessGroup> process_groups;  ///< That the process is in, if the file lists them.
  StringId rank_name = 0;  ///< What `rank` of the records says; set by whoever opened the file.
  /// Times are cut to multiples of this: 1000 for files that hold whole microseconds.
  int64_t clock_resolution_ns = 1;
  /// What a time of this trace is less than the ns since 1970 (UTC) that the clock of the machine
  /// showed at that moment: times of several files can be compared once it is added to each, as far
  /// as the clocks of their machines agree. nullopt where the file does not say.
  std::optional<int64_t> clock_offset_ns;
  RecorderLosses lost;
  StringPool strings;
  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<Range> ranges;
  std::vector<Operator> operators;
  std::vector<Label> labels;
  std::vector<Instant> instants;
  /// The calls that something of the trace refers to: GPU work, a wait, a graph, a memory event,
  /// the recording of an event. With TracePart::kApiCalls behind them all others, in the order of
  /// their starts; with TracePart::kWaitCalls those that wait for a GPU (IsWaitingCall), with
  /// kLongCalls the long ones.
  std::vector<LaunchCall> launches;
  /// When there were API calls that `launches` does not hold.
  TimeSpans api_times;
  std::vector<Kernel> kernels;
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
  std::vector<Overhead> overheads;
  std::vector<TorchEvent> torch_events;
  std::vector<Device> devices;

  KernelDetails DetailsOf(const Kernel& kernel) const {
    return kernel.details < kernel_details.size() ? kernel_details[kernel.details]
                                                  : KernelDetails();
  }
  /// Keeps details unless they say nothing.
  void SetDetails(const KernelDetails& details, Kernel* kernel) {
    if (kernel->details < kernel_details.size()) {
      kernel_details[kernel->details] = details;
    } else if (details != KernelDetails()) {
      kernel->details = static_cast<ItemIndex>(kernel_details.size());
      kernel_details.push_back(details);
    }
  }
};

/// Makes a range that of an operator or a node of that name. Answers its details, which have
/// nothing but their defaults; the reference lives until the next one is made.
inline Operator& MakeOperator(StringId name, Range* range, Trace* trace) {
  range->kind = RangeKind::kOperator;
  range->text = name;
  range->item = static_cast<ItemIndex>(trace->operators.size());
  return trace->operators.emplace_back();
}

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_TRACE_H_
