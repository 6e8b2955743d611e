#include "parse/chrome/chrome_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/append_format.h"
#include "base/json_text.h"
#include "parse/chrome/chrome_counters.h"
#include "parse/chrome/chrome_order.h"
#include "parse/join/collectives.h"
#include "parse/join/for_each_op.h"
#include "parse/join/forward_backward.h"
#include "parse/join/gpu_work.h"
#include "parse/join/joined.h"
#include "parse/join/surroundings.h"
#include "parse/model/cuda_kinds.h"
#include "parse/model/marker_text.h"
#include "parse/model/phase.h"

namespace oplens::parse {
namespace {

constexpr std::string_view kLaunchArrow = "ac2g";
constexpr std::string_view kBackwardArrow = "fwdbwd";
constexpr std::string_view kPathArrow = "critical_path";

/// Indexed by RangeKind.
constexpr std::string_view kCategories[] = {
    "nvtx",             // kMarker
    "cpu_op",           // kOperator
    "python_function",  // kFrame
    "python_function",  // kModule
    "user_annotation",  // kAnnotation
    "user_annotation",  // kStep
};

std::string_view Or(std::string_view word, std::string_view otherwise) {
  return word.empty() ? otherwise : word;
}

bool IsDriverCall(std::string_view api) {
  return api.size() > 2 && api.starts_with("cu") && api[2] >= 'A' && api[2] <= 'Z';
}

/// What to subtract so that doubles keep times exact to the ns: nothing, unless times are years
/// from 0; then whole hours, leaving at least one for traces that begin earlier.
int64_t BaseOf(const Trace& trace) {
  constexpr int64_t kHour = int64_t{3'600'000'000'000};
  constexpr int64_t kFar = int64_t{24} * 365 * kHour;
  int64_t first = INT64_MAX;
  const auto see = [&](int64_t ns) { first = std::min(first, ns); };
  for (const Range& range : trace.ranges) see(range.start_ns);
  for (const LaunchCall& call : trace.launches) see(call.start_ns);
  for (const Kernel& kernel : trace.kernels) {
    if (kernel.timed()) see(kernel.start_ns);
  }
  for (const MemoryCopy& copy : trace.copies) see(copy.start_ns);
  return first == INT64_MAX || first < kFar ? 0 : (first / kHour - 1) * kHour;
}

}  // namespace

class ChromeWriter::Body {
 public:
  Body(ChromeWriter* writer, const Joined& joined, const KernelNames& names,
       const ChromeOverlay& overlay)
      : writer_(*writer),
        trace_(joined.trace()),
        joined_(joined),
        names_(names),
        overlay_(overlay),
        events_(&writer->events_),
        tracks_(writer->tracks_),
        order_(joined.trace()),
        counters_(joined.trace(), &writer->events_, &writer->tracks_),
        arrows_(joined.trace().launches.size(), 0),
        correlation_ids_(joined.trace().launches.size(), 0) {}

  void Run() {
    FindEnd();
    for (const uint32_t i : order_.Ranges()) WriteRange(trace_.ranges[i]);
    for (const uint32_t i : order_.Instants()) WriteInstant(trace_.instants[i]);
    for (const uint32_t i : order_.Launches()) WriteLaunch(i);
    for (const uint32_t i : order_.Waits()) WriteWait(trace_.synchronizations[i]);
    for (size_t i = 0; i < trace_.kernels.size(); ++i) WriteKernel(i);
    for (const uint32_t i : order_.Copies()) WriteCopy(trace_.copies[i]);
    for (const uint32_t i : order_.Sets()) WriteSet(trace_.sets[i]);
    for (const GraphReplay& replay : trace_.graph_replays) WriteReplay(replay);
    for (const uint32_t i : order_.DeviceLabels()) WriteDeviceLabel(trace_.device_annotations[i]);
    WriteBackwardArrows();
    WritePath();
    counters_.Write();
    for (const ChromeOverlay::Counter& counter : overlay_.counters) WriteCounter(counter);
  }

 private:
  std::string_view View(StringId id) const { return trace_.strings.View(id); }

  void FindEnd() {
    const auto see = [this](int64_t ns) { last_ns_ = std::max(last_ns_, ns); };
    for (const Range& range : trace_.ranges) see(range.open() ? range.start_ns : range.end_ns);
    for (const LaunchCall& call : trace_.launches) see(call.end_ns);
    for (const Kernel& kernel : trace_.kernels) see(kernel.end_ns);
    for (const MemoryCopy& copy : trace_.copies) see(copy.end_ns);
    for (const MemorySet& set : trace_.sets) see(set.end_ns);
    for (const Synchronization& wait : trace_.synchronizations) see(wait.end_ns);
    for (const GraphReplay& replay : trace_.graph_replays) see(replay.end_ns);
  }

  void WriteRange(const Range& range) {
    const std::string_view category = kCategories[static_cast<size_t>(range.kind)];
    const bool module = range.kind == RangeKind::kModule;
    const std::string name = module ? fmt::format("nn.Module: {}", View(range.text)) : "";
    ChromeEvent event('X', category, module ? name : View(range.text),
                      tracks_.OfThread(trace_.ThreadOf(range)), events_);
    event.From(range.start_ns, range.open() ? last_ns_ : range.end_ns);
    if (range.open()) event.Flag("open");
    if (module) event.Arg("Python module id", NumberOfModule(range.text));
    if (const Operator* op = trace_.OperatorOf(range)) AddOperator(*op, &event);
    if (const Label* label = trace_.LabelOf(range)) AddLabel(*label, &event);
    AddPlaceAmongEqual(range, &event);
    event.End();
  }

  /// Readers order ranges of equal times by this number; the range without it encloses the others.
  void AddPlaceAmongEqual(const Range& range, ChromeEvent* event) {
    const auto times = [this](const Range& r) {
      return std::tuple(trace_.ThreadOf(r), r.start_ns, r.end_ns);
    };
    const bool equal = before_ != nullptr && times(*before_) == times(range);
    before_ = &range;
    equal_before_ = equal ? equal_before_ + 1 : 0;
    if (equal) event->Arg("Ev Idx", equal_before_);
  }

  /// Numbers modules in the order in which they first ran; StringIds depend on all earlier texts.
  int64_t NumberOfModule(StringId name) {
    return modules_.try_emplace(name, static_cast<int64_t>(modules_.size())).first->second;
  }

  void AddOperator(const Operator& op, ChromeEvent* event) {
    event->ArgIfKnown("Sequence number", op.sequence);
    if (op.backward && op.forward_thread != 0) {
      event->Arg("Fwd thread id", int64_t{op.forward_thread});
    }
    event->ArgIfKnown("call", View(op.call));
    if (op.stack != 0) event->ArgIfKnown("Call stack", StackOf(op.stack));
  }

  /// Returns a call stack in the form of PyTorch's profiler: "innermost;...;outermost".
  std::string_view StackOf(StringId marker) {
    const auto [place, is_new] = stacks_.try_emplace(marker);
    if (!is_new) return place->second;
    const MarkerText text = ClassifyMarker(View(marker));
    for (auto frame = text.frames.rbegin(); frame != text.frames.rend(); ++frame) {
      if (!place->second.empty()) place->second += ';';
      place->second += *frame;
    }
    return place->second;
  }

  void AddLabel(const Label& label, ChromeEvent* event) const {
    event->ArgIfKnown("domain", View(label.domain));
    event->ArgIfKnown("category", View(label.category));
    event->ArgIfKnown("payload", View(label.payload));
    if (label.start_end) event->Flag("start/end");
  }

  void WriteInstant(const Instant& instant) {
    ChromeEvent('i', "nvtx", View(instant.text), tracks_.OfThread(instant.thread), events_)
        .At(instant.time_ns)
        .Member("s", "t")
        .End();
  }

  void WriteLaunch(size_t i) {
    const LaunchCall& call = trace_.launches[i];
    const std::string_view api = View(call.api);
    correlation_ids_[i] = writer_.CorrelationId(call.correlation_id);
    ChromeEvent('X', IsDriverCall(api) ? "cuda_driver" : "cuda_runtime", api,
                tracks_.OfThread(call.thread), events_)
        .From(call.start_ns, call.end_ns)
        .ArgIfKnown("correlation", correlation_ids_[i])
        .End();
  }

  /// Waits are drawn on the waiting thread: on a stream they would cross its kernels.
  void WriteWait(const Synchronization& wait) {
    const bool known = wait.launch < trace_.launches.size();
    const ChromeTrack track =
        known ? tracks_.OfThread(trace_.launches[wait.launch].thread) : tracks_.OfWaits();
    ChromeEvent event('X', "cuda_sync", Or(WaitKindWord(wait.kind), "Synchronization"), track,
                      events_);
    event.From(wait.start_ns, wait.end_ns)
        .Arg("stream", int64_t{wait.stream_id})
        .Arg("context", int64_t{wait.context_id});
    if (known) event.ArgIfKnown("correlation", correlation_ids_[wait.launch]);
    event.End();
  }

  void WriteKernel(size_t i) {
    const Kernel& kernel = trace_.kernels[i];
    if (!kernel.timed()) {
      ++writer_.untimed_kernels_;
      return;
    }
    const int64_t process = ProcessOf(kernel.launch, kernel.process_id);
    const ChromeTrack track = tracks_.OfStream(process, kernel.device_id, kernel.stream_id);
    ChromeEvent event('X', "kernel", names_.Of(kernel).full, track, events_);
    event.From(kernel.start_ns, kernel.end_ns);
    AddPlace(kernel, &event);
    const KernelShape& shape = trace_.ShapeOf(kernel);
    if (shape.grid[0] >= 0) event.List("grid", shape.grid);
    if (shape.block[0] >= 0) event.List("block", shape.block);
    event.ArgIfKnown("registers per thread", int64_t{shape.registers_per_thread});
    const KernelDetails details = trace_.DetailsOf(kernel);
    event.ArgIfKnown("shared memory", SharedMemory(shape, details));
    if (details.blocks_per_multiprocessor >= 0) {
      event.Arg("blocks per SM", double{details.blocks_per_multiprocessor});
    }
    if (details.warps_per_multiprocessor >= 0) {
      event.Arg("warps per SM", double{details.warps_per_multiprocessor});
    }
    if (details.achieved_occupancy_pct >= 0) {
      event.Arg("est. achieved occupancy %", double{details.achieved_occupancy_pct});
    }
    if (details.theoretical_occupancy_pct >= 0) {
      event.Arg("theoretical occupancy %", double{details.theoretical_occupancy_pct});
    }
    AddOp(i, &event);
    event.Args(overlay_.kernel_members.Of(i));
    AddCorrelation(kernel.launch, kernel.correlation_id, &event);
    event.End();
    WriteLaunchArrow(kernel.launch, track, kernel.start_ns);
    counters_.CountKernel(process, kernel);
  }

  void AddOp(size_t kernel, ChromeEvent* event) {
    const Surroundings* around = joined_.SurroundingsOf(static_cast<WorkIndex>(kernel));
    const Collectives::Call* collective = joined_.collectives().Of(trace_, kernel);
    const auto count = [&](Around list) { return joined_.RangesOf(*around, list).size(); };
    words_.clear();
    const bool by_op = around != nullptr && (collective == nullptr || count(Around::kOps) > 0);
    if (by_op) {
      ForEachOp(joined_, *around, [this](StringId op, StringId) { words_.push_back(View(op)); });
    }
    if (collective != nullptr) words_.push_back(View(collective->op));
    if (!words_.empty()) event->List("op", words_);
    if (!words_.empty() || (around != nullptr && count(Around::kSequences) > 0)) {
      const bool backward =
          around != nullptr && (around->backward || IsBackwardPhase(around->phase));
      event->ArgIfKnown("dir",
                        DirectionWord(backward ? Direction::kBackward : Direction::kForward));
    }
    if (around == nullptr) return;
    AddList("layer", joined_.LayersOf(*around), &Joined::LayerOf, event);
    AddList("range", joined_.RangesOf(*around, Around::kPaths), &Joined::PathTextOf, event);
  }

  void AddList(std::string_view key, std::span<const uint32_t> ranges,
               StringId (Joined::*text_of)(uint32_t) const, ChromeEvent* event) {
    words_.clear();
    for (const uint32_t range : ranges) words_.push_back(View((joined_.*text_of)(range)));
    if (!words_.empty()) event->List(key, words_);
  }

  static int64_t SharedMemory(const KernelShape& shape, const KernelDetails& details) {
    if (details.shared_memory_bytes >= 0) return details.shared_memory_bytes;
    if (shape.static_shared_memory_bytes < 0 || shape.dynamic_shared_memory_bytes < 0) return -1;
    return int64_t{shape.static_shared_memory_bytes} + shape.dynamic_shared_memory_bytes;
  }

  void WriteCopy(const MemoryCopy& copy) {
    const std::string name =
        fmt::format("Memcpy {} ({} -> {})", Or(CopyKindWord(copy.copy_kind), "?"),
                    Or(MemoryKindTitle(copy.source_kind), "Unknown"),
                    Or(MemoryKindTitle(copy.target_kind), "Unknown"));
    WriteTransfer("gpu_memcpy", name, copy, [&](ChromeEvent* event) {
      event->ArgIfKnown("bytes", copy.size_bytes);
      if (copy.size_bytes < 0 || copy.end_ns <= copy.start_ns) return;
      const double ns = static_cast<double>(copy.end_ns) - static_cast<double>(copy.start_ns);
      event->Arg("memory bandwidth (GB/s)", static_cast<double>(copy.size_bytes) / ns);
    });
  }

  void WriteSet(const MemorySet& set) {
    WriteTransfer("gpu_memset", "Memset (Device)", set, [&](ChromeEvent* event) {
      event->ArgIfKnown("bytes", set.size_bytes);
      event->Arg("value", int64_t{set.value});
    });
  }

  void WriteReplay(const GraphReplay& replay) {
    WriteTransfer("gpu_graph", fmt::format("CUDA graph {}", replay.graph_id), replay,
                  [](ChromeEvent*) {});
  }

  template <typename Work, typename AddArguments>
  void WriteTransfer(std::string_view category, std::string_view name, const Work& work,
                     AddArguments add_arguments) {
    const ChromeTrack track =
        tracks_.OfStream(ProcessOf(work.launch, kUnknownId), work.device_id, work.stream_id);
    ChromeEvent event('X', category, name, track, events_);
    event.From(work.start_ns, work.end_ns);
    AddPlace(work, &event);
    add_arguments(&event);
    AddCorrelation(work.launch, kUnknownId, &event);
    event.End();
    WriteLaunchArrow(work.launch, track, work.start_ns);
  }

  template <typename Work>
  static void AddPlace(const Work& work, ChromeEvent* event) {
    event->Arg("device", int64_t{work.device_id})
        .ArgIfKnown("context", int64_t{work.context_id})
        .Arg("stream", int64_t{work.stream_id});
  }

  void AddCorrelation(LaunchIndex launch, int64_t own, ChromeEvent* event) {
    if (launch < correlation_ids_.size()) {
      event->ArgIfKnown("correlation", correlation_ids_[launch]);
    } else if (own != kUnknownId) {
      event->Arg("correlation", writer_.CorrelationId(own));
    }
  }

  int64_t ProcessOf(LaunchIndex launch, int64_t own) const {
    if (launch >= trace_.launches.size()) return own;
    const ThreadIndex thread = trace_.launches[launch].thread;
    return thread < trace_.threads.size() ? trace_.threads[thread].process_id : own;
  }

  void WriteDeviceLabel(const DeviceAnnotation& label) {
    const ChromeTrack track = tracks_.OfStream(kUnknownId, label.device_id, label.stream_id);
    ChromeEvent('X', "gpu_user_annotation", View(label.text), track, events_)
        .From(label.start_ns, label.end_ns)
        .Arg("device", int64_t{label.device_id})
        .Arg("stream", int64_t{label.stream_id})
        .End();
  }

  /// One arrow leaves a call, however many kernels it reaches (a graph launch).
  void WriteLaunchArrow(LaunchIndex launch, ChromeTrack to, int64_t time_ns) {
    if (launch >= trace_.launches.size()) return;
    const LaunchCall& call = trace_.launches[launch];
    int64_t& arrow = arrows_[launch];
    if (arrow == 0) {
      arrow = writer_.next_arrow_++;
      WriteArrowStart(kLaunchArrow, arrow, tracks_.OfThread(call.thread), call.start_ns);
    }
    WriteArrowEnd(kLaunchArrow, arrow, to, time_ns);
  }

  void WriteBackwardArrows() {
    const std::vector<ForwardBackwardLink> arrows = joined_.links().Arrows(trace_);
    for (const uint32_t i : order_.Arrows(arrows)) {
      const ForwardBackwardLink& link = arrows[i];
      const int64_t arrow = writer_.next_arrow_++;
      WriteArrowStart(kBackwardArrow, arrow, tracks_.OfThread(link.forward_thread),
                      link.forward_ns);
      WriteArrowEnd(kBackwardArrow, arrow, tracks_.OfThread(link.backward_thread),
                    link.backward_ns);
    }
  }

  /// Writes an arrow per path edge between two tracks; edges within a track show as its events.
  void WritePath() {
    for (const ChromeOverlay::PathEdge& edge : overlay_.path) {
      const ChromeTrack from = TrackOf(edge.from);
      const ChromeTrack to = TrackOf(edge.to);
      const int64_t arrow = writer_.next_arrow_++;
      WriteArrowStart(kPathArrow, arrow, from, edge.from.time_ns, edge.cause);
      WriteArrowEnd(kPathArrow, arrow, to, edge.to.time_ns);
    }
  }

  ChromeTrack TrackOf(const ChromeOverlay::Moment& moment) {
    return moment.thread == kNoThread
               ? tracks_.OfStream(kUnknownId, moment.device_id, moment.stream_id)
               : tracks_.OfThread(moment.thread);
  }

  void WriteCounter(const ChromeOverlay::Counter& counter) {
    const ChromeTrack track = tracks_.OfDevice(kUnknownId, counter.device_id);
    for (const ChromeOverlay::Counter::Point& point : counter.points) {
      ChromeEvent('C', "", counter.name, track, events_)
          .At(point.time_ns)
          .Arg(counter.unit, point.value)
          .End();
    }
  }

  void WriteArrowStart(std::string_view kind, int64_t arrow, ChromeTrack track, int64_t time_ns,
                       std::string_view cause = {}) {
    ChromeEvent('s', kind, kind, track, events_)
        .At(time_ns)
        .Member("id", arrow)
        .ArgIfKnown("cause", cause)
        .End();
  }

  void WriteArrowEnd(std::string_view kind, int64_t arrow, ChromeTrack track, int64_t time_ns) {
    ChromeEvent('f', kind, kind, track, events_)
        .At(time_ns)
        .Member("id", arrow)
        .Member("bp", "e")
        .End();
  }

  ChromeWriter& writer_;
  const Trace& trace_;
  const Joined& joined_;
  const KernelNames& names_;
  const ChromeOverlay& overlay_;
  ChromeEvents* events_;
  ChromeTracks& tracks_;
  ChromeOrder order_;
  ChromeCounters counters_;
  std::vector<int64_t> arrows_;           // By LaunchIndex; 0: none yet.
  std::vector<int64_t> correlation_ids_;  // By LaunchIndex; document-wide.
  int64_t last_ns_ = INT64_MIN;           // Of the profile.
  const Range* before_ = nullptr;         // The previously written range.
  int64_t equal_before_ = 0;              // Number of ranges just before it with its thread and
                                          // times.
  std::unordered_map<StringId, std::string> stacks_;
  std::unordered_map<StringId, int64_t> modules_;  // Numbers, by name.
  std::vector<std::string_view> words_;            // Scratch.
};

ChromeWriter::ChromeWriter(Output* output) : output_(output), events_(output), tracks_(&events_) {}

void ChromeWriter::Begin(const Trace* first) {
  std::string start = "{\"schemaVersion\":1,\"displayTimeUnit\":\"ms\",";
  if (first != nullptr) events_.set_base_ns(BaseOf(*first));
  if (events_.base_ns() != 0) {
    start += fmt::format("\"baseTimeNanoseconds\":{},", events_.base_ns());
  }
  output_->Write(start + "\"traceEvents\":[\n");
}

void ChromeWriter::Add(const Joined& joined, const KernelNames& names,
                       const ChromeOverlay& overlay) {
  const Trace& trace = joined.trace();
  if (profiles_++ == 0) Begin(&trace);
  NoteProfile(trace);
  NoteDevices(trace);
  tracks_.BeginProfile(trace);
  Body(this, joined, names, overlay).Run();
}

void ChromeWriter::Finish() {
  if (profiles_ == 0) Begin(nullptr);
  std::string end = "\n],\"deviceProperties\":[";
  for (auto it = devices_.begin(); it != devices_.end(); ++it) {
    end += (it == devices_.begin() ? "" : ",") + *it;
  }
  end += "]";
  if (profiles_ == 1 && !distributed_.empty()) end += ",\"distributedInfo\":" + distributed_;
  AppendFormat(&end, ",\"otherData\":{{\"profiles\":[{}],\"kernels without a time\":{}}}}}\n",
               producers_, untimed_kernels_);
  output_->Write(end);
}

int64_t ChromeWriter::CorrelationId(int64_t own) {
  if (own < 0) return own;
  if (correlation_ids_.Find(own) == IdMap::kNone) {
    correlation_ids_.FindOrInsert(own, 0);
    return own;
  }
  while (correlation_ids_.Find(next_correlation_id_) != IdMap::kNone) ++next_correlation_id_;
  correlation_ids_.FindOrInsert(next_correlation_id_, 0);
  return next_correlation_id_;
}

void ChromeWriter::NoteProfile(const Trace& trace) {
  if (profiles_ > 1) producers_ += ",";
  std::string producer(FamilyWord(trace.family));
  if (!trace.producer.empty()) producer += " " + trace.producer;
  AppendJsonString(producer, &producers_);
  if (profiles_ > 1 || trace.rank == kUnknownId) return;
  distributed_ = fmt::format("{{\"rank\":{}", trace.rank);
  if (trace.world_size != kUnknownId)
    distributed_ += fmt::format(",\"world_size\":{}", trace.world_size);
  distributed_ += "}";
}

void ChromeWriter::NoteDevices(const Trace& trace) {
  for (const Device& device : trace.devices) {
    std::string name;
    AppendJsonString(trace.strings.View(device.name), &name);
    devices_.insert(
        fmt::format("{{\"id\":{},\"name\":{},\"computeMajor\":{},\"computeMinor\":{},\"numSms\":{},"
                    "\"totalGlobalMem\":{}}}",
                    device.id, name, device.compute_capability_major,
                    device.compute_capability_minor, device.multiprocessors, device.memory_bytes));
  }
}

}  // namespace oplens::parse
