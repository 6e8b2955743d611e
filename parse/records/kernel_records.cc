#include "parse/records/kernel_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/team.h"
#include "base/threads.h"
#include "parse/join/for_each_op.h"
#include "parse/join/forward_backward.h"
#include "parse/join/gpu_work.h"
#include "parse/join/inference.h"
#include "parse/join/joined.h"
#include "parse/join/op_calls.h"
#include "parse/join/range_texts.h"
#include "parse/join/surroundings.h"
#include "parse/model/op_call.h"
#include "parse/model/string_pool.h"
#include "parse/model/trace.h"
#include "parse/model/trace_devices.h"

namespace oplens::parse {
namespace {

/// From so many on, threads share them.
constexpr size_t kKernelsOfThreads = size_t{8} << 10;

/// Recurrent cells, which PyTorch runs as several kernels of one "forward" call.
bool IsRecurrentCell(std::string_view mod) {
  return mod == "LSTMCell" || mod == "GRUCell" || mod == "RNNCell";
}

/// What is known about a device, for KernelRecord::gpu.
std::string FactsOf(const Device& device) {
  std::string text;
  const auto add = [&text](std::string_view fact) {
    if (!text.empty()) text += ',';
    text += fact;
  };
  if (device.compute_capability_major > 0) {
    add(fmt::format("cc={}.{}", device.compute_capability_major, device.compute_capability_minor));
  }
  if (device.multiprocessors > 0) add(fmt::format("sms={}", device.multiprocessors));
  if (device.core_clock_hz > 0) add(fmt::format("clock={}", device.core_clock_hz));
  if (device.memory_bandwidth_bytes_per_s > 0) {
    add(fmt::format("dram={}", device.memory_bandwidth_bytes_per_s));
  }
  // Then the compute capability is not one of NVIDIA's.
  constexpr int kUsualWarp = 32;
  if (device.warp_threads > 0 && device.warp_threads != kUsualWarp) {
    add(fmt::format("warp={}", device.warp_threads));
  }
  // Without a clock, peaks come from the table of GPUs, where memory distinguishes equal names.
  if (device.memory_bytes > 0 && device.core_clock_hz == 0) {
    add(fmt::format("mem={}", device.memory_bytes));
  }
  return text;
}

int64_t Shifted(int64_t time_ns, int64_t shift_ns) {
  return static_cast<int64_t>(static_cast<uint64_t>(time_ns) + static_cast<uint64_t>(shift_ns));
}

JoinOptions With(const KernelRecords* reference, JoinOptions options) {
  if (reference != nullptr && options.evidence.reference) options.reference = &reference->joined();
  return options;
}

}  // namespace

/// The state that PyProf carries from one kernel of a thread to the next.
class PyProfSequence::Follower {
 public:
  explicit Follower(const Joined& joined) : joined_(joined) {}

  OfKernel Next(const Surroundings& around) {
    NumbersOf(joined_, around, &numbers_);
    if (numbers_.empty()) return {};
    int64_t current = numbers_.front();
    if (!around.backward) {
      const auto later = std::upper_bound(numbers_.begin(), numbers_.end(), number_);
      current = later == numbers_.end() ? number_ : *later;
    }
    ops_.clear();
    ForEachOp(joined_, around, [this](StringId op, StringId) { ops_.push_back(op); });
    const bool same_op = any_ && ops_ == previous_ops_;
    const bool again = same_op && (current == number_ || IsRecurrentForward(around));
    sub_sequence_ = again ? sub_sequence_ + 1 : 0;
    any_ = true;
    number_ = current;
    previous_ops_.swap(ops_);
    const auto chosen = std::lower_bound(numbers_.begin(), numbers_.end(), current);
    const bool is_own = chosen != numbers_.end() && *chosen == current;
    return {is_own ? static_cast<uint32_t>(chosen - numbers_.begin()) : kNone, sub_sequence_};
  }

 private:
  bool IsRecurrentForward(const Surroundings& around) const {
    const auto ops = joined_.RangesOf(around, Around::kOps);
    if (ops.empty()) return false;
    const OpCalls& calls = joined_.calls();
    const StringPool& strings = joined_.trace().strings;
    return strings.View(calls.OpOf(ops.front()).op) == "forward" &&
           IsRecurrentCell(strings.View(calls.ModOf(ops.front())));
  }

  const Joined& joined_;
  bool any_ = false;
  int64_t number_ = -1;
  uint32_t sub_sequence_ = 0;
  std::vector<StringId> previous_ops_;
  std::vector<StringId> ops_;     // Of the current kernel.
  std::vector<int64_t> numbers_;  // Likewise.
};

PyProfSequence::PyProfSequence(const Joined& joined) : kernels_(joined.trace().kernels.size()) {
  Team team(kernels_.size() < kKernelsOfThreads ? 0 : static_cast<size_t>(ThreadLimit() - 1));
  team.Each(joined.trace().threads.size(), [&](size_t thread) {
    Follower follower(joined);
    for (const WorkIndex work : joined.work().Of(static_cast<ThreadIndex>(thread))) {
      if (!joined.work().IsKernel(work)) continue;
      kernels_[work] = follower.Next(*joined.SurroundingsOf(work));
    }
  });
}

void PyProfSequence::NumbersOf(const Joined& joined, const Surroundings& around,
                               std::vector<int64_t>* numbers) {
  numbers->clear();
  for (const uint32_t range : joined.RangesOf(around, Around::kSequences)) {
    numbers->push_back(joined.calls().SequenceOf(range).seq);
  }
  numbers->erase(std::unique(numbers->begin(), numbers->end()), numbers->end());
  if (numbers->size() > 1 && numbers->front() == 0) numbers->erase(numbers->begin());
}

KernelRecords::KernelRecords(Trace* trace, const JoinOptions& options, Diagnostics* diagnostics,
                             const KernelRecords* reference)
    : trace_(*trace), reference_(reference), joined_(trace, With(reference, options), diagnostics) {
  NameDevices();
  MakeBareCalls();
  trace_.strings.FreeIndex();  // These were the last texts.
  sequence_ = PyProfSequence(joined_);
  names_ = KernelNames(*trace);
}

const KernelRecords& KernelRecords::DonorsOf(const Inferred& inferred) const {
  return inferred.evidence == Evidence::kReference ? *reference_ : *this;
}

void KernelRecords::MakeBareCalls() {
  std::string text;
  std::string error;
  for (const Inferred& inferred : joined_.inference().all()) {
    if (inferred.arguments) continue;
    KernelRecord told;
    DonorsOf(inferred).FillInheritable(inferred.donor, &told);
    for (const auto* calls : {&told.markers, &told.forward_markers}) {
      for (const std::string_view call : *calls) {
        if (bare_.contains(call)) continue;
        std::optional<OpCall> bare = ParseOpCall(call, &error);
        text.clear();
        if (bare) {
          bare->args.clear();
          AppendOpCall(*bare, &text);
        } else {
          text = call;  // Nothing can be read of it anyway.
        }
        bare_.emplace(call, trace_.strings.Intern(text));
      }
    }
  }
}

void KernelRecords::NameDevices() {
  for (size_t i = 0; i < trace_.devices.size(); ++i) {
    device_index_.FindOrInsert(trace_.devices[i].id, static_cast<uint32_t>(i));
    device_texts_.push_back(trace_.strings.Intern(FactsOf(trace_.devices[i])));
  }
  if (const Device* const unlisted = UnlistedDevice(trace_)) {
    unlisted_device_ = static_cast<uint32_t>(unlisted - trace_.devices.data());
  }
}

void KernelRecords::RecordOf(size_t i, KernelRecord* record) const {
  const Kernel& kernel = trace_.kernels[i];
  record->Clear();
  record->reasons = joined_.ReasonsOf(i);
  if (trace_.rank_name != 0) record->rank = View(trace_.rank_name);
  FillKernel(kernel, record);
  if (kernel.launch != kNoLaunch) FillLaunch(trace_.launches[kernel.launch], record);
  if (const Surroundings* around = joined_.SurroundingsOf(static_cast<WorkIndex>(i))) {
    FillRanges(*around, record);
    FillSequence(*around, sequence_.ChosenOf(i), sequence_.SubSequenceOf(i), record);
    FillNode(*around, record);
  }
  if (const Collectives::Call* call = joined_.collectives().Of(trace_, i)) {
    FillCollective(kernel, *call, record);
  }
  record->evidence = EvidenceOf(i, *record);
  if (const Inferred* inferred = joined_.inference().Of(i)) FillInferred(*inferred, record);
}

Evidence KernelRecords::EvidenceOf(size_t i, const KernelRecord& record) const {
  const bool captured = trace_.kernels[i].capture != kNoLaunch;
  // A collective is recorded; ranges around the launch of a graph hold for the whole graph.
  const Surroundings* around = joined_.SurroundingsOf(static_cast<WorkIndex>(i));
  const bool named = around != nullptr && around->vocabulary &&
                     joined_.collectives().Of(trace_, i) == nullptr &&
                     (captured || !trace_.kernels[i].graph);
  if (named) return Evidence::kVocabulary;
  return captured && !record.op.empty() ? Evidence::kCapture : Evidence::kNone;
}

void KernelRecords::ReplayOf(size_t i, KernelRecord* record) const {
  const GraphReplay& replay = trace_.graph_replays[i];
  record->Clear();
  if (trace_.rank_name != 0) record->rank = View(trace_.rank_name);
  FillWork(replay, record);
  if (replay.start_ns == 0 && replay.end_ns == 0) {
    record->reasons.Add(Reason::kUntimed);
  } else if (replay.end_ns < replay.start_ns) {
    record->reasons.Add(Reason::kBadTimes);
  }
  if (replay.launch == kNoLaunch) return;
  FillLaunch(trace_.launches[replay.launch], record);
  const auto work = static_cast<WorkIndex>(trace_.kernels.size() + i);
  if (const Surroundings* around = joined_.SurroundingsOf(work)) {
    FillRanges(*around, record);
    FillSequence(*around, std::nullopt, 0, record);
    FillNode(*around, record);
  }
}

void KernelRecords::FillKernel(const Kernel& kernel, KernelRecord* record) const {
  const KernelNames::Name& name = names_.Of(kernel);
  record->short_name = name.base;
  record->long_name = name.full;
  FillWork(kernel, record);
  const KernelShape& shape = trace_.ShapeOf(kernel);
  record->grid = {shape.grid[0], shape.grid[1], shape.grid[2]};
  record->block = {shape.block[0], shape.block[1], shape.block[2]};
  if (kernel.correlation_id != kUnknownId) record->correlation_id = kernel.correlation_id;
  if (kernel.process_id != kUnknownId) record->process_id = kernel.process_id;
  const auto known = [](int32_t value) {
    return value < 0 ? std::nullopt : std::optional<int64_t>(value);
  };
  record->registers_per_thread = known(shape.registers_per_thread);
  record->static_shared_memory_bytes = known(shape.static_shared_memory_bytes);
  record->dynamic_shared_memory_bytes = known(shape.dynamic_shared_memory_bytes);
  record->shared_memory_bytes = known(trace_.DetailsOf(kernel).shared_memory_bytes);
}

template <typename Work>
void KernelRecords::FillWork(const Work& work, KernelRecord* record) const {
  record->start_ns = work.start_ns;
  record->end_ns = work.end_ns;
  // Unsigned subtraction cannot overflow; work that ends before it starts has no duration.
  if (work.end_ns > work.start_ns) {
    const uint64_t duration =
        static_cast<uint64_t>(work.end_ns) - static_cast<uint64_t>(work.start_ns);
    record->duration_ns = static_cast<int64_t>(std::min<uint64_t>(duration, INT64_MAX));
  }
  record->device_id = work.device_id;
  record->stream_id = work.stream_id;
  record->context_id = work.context_id;
  uint32_t device = device_index_.Find(work.device_id);
  if (device == IdMap::kNone) device = unlisted_device_;
  if (device == IdMap::kNone) return;
  if (trace_.devices[device].name != 0) record->device_name = View(trace_.devices[device].name);
  if (device_texts_[device] != 0) record->gpu = View(device_texts_[device]);
}

void KernelRecords::FillLaunch(const LaunchCall& call, KernelRecord* record) const {
  const Thread& thread = trace_.threads[call.thread];
  record->thread_id = thread.thread_id;
  record->process_id = thread.process_id;
  record->launch_api = View(call.api);
  record->launch_start_ns = call.start_ns;
  record->launch_end_ns = call.end_ns;
  record->step = joined_.StepOf(call);
}

void KernelRecords::FillRanges(const Surroundings& around, KernelRecord* record) const {
  FillLayers(joined_.LayersOf(around), record);
  for (const uint32_t range : joined_.RangesOf(around, Around::kReprs)) {
    record->repr_markers.push_back(View(trace_.ranges[range].text));
  }
  for (const uint32_t range : joined_.RangesOf(around, Around::kOps)) {
    record->markers.push_back(View(joined_.calls().CallOf(range)));
    record->marker_starts_ns.push_back(trace_.ranges[range].start_ns);
  }
  for (const uint32_t range : joined_.RangesOf(around, Around::kSequences)) {
    record->seq_markers.push_back(View(joined_.calls().SequenceTextOf(range)));
  }
  for (const uint32_t range : joined_.RangesOf(around, Around::kPaths)) {
    record->range.push_back(View(joined_.PathTextOf(range)));
  }
  const Omitted omitted = joined_.OmittedBy(around);
  record->range_cut = omitted.paths;
  record->layer_cut = omitted.layers;
  record->marker_cut = omitted.ops;
  for (const uint32_t range : joined_.CallersOf(around)) {
    record->caller_range.push_back(View(joined_.PathTextOf(range)));
  }
  FillStack(around, record);
  FillOps(around, record);
  record->direction =
      around.backward || IsBackwardPhase(around.phase) ? Direction::kBackward : Direction::kForward;
  record->phase = around.phase;
}

void KernelRecords::FillLayers(std::span<const uint32_t> layers, KernelRecord* record) const {
  for (const uint32_t range : layers) record->layer.push_back(View(joined_.LayerOf(range)));
}

void KernelRecords::FillStack(const Surroundings& around, KernelRecord* record) const {
  const std::span<const uint32_t> frames = joined_.RangesOf(around, Around::kFrames);
  for (const uint32_t range : frames) record->trace.push_back(View(trace_.ranges[range].text));
  if (!frames.empty() || around.stack == OpenRanges::kNone) return;
  const RangeTexts& texts = joined_.texts();
  const auto& recorded = texts.FramesOf(texts.Of(joined_.calls().StackOf(around.stack)));
  record->trace.assign(recorded.begin(), recorded.end());
}

void KernelRecords::FillOps(const Surroundings& around, KernelRecord* record) const {
  ForEachOp(joined_, around, [&](StringId op, StringId mod) {
    record->op.push_back(View(op));
    record->mod.push_back(mod == 0 ? "na" : View(mod));
  });
  if (record->mod.empty()) record->mod.push_back("na");
}

void KernelRecords::FillNode(const Surroundings& around, KernelRecord* record) const {
  if (around.phase != Phase::kBackward) return FillForwards(around, record);
  if (around.node().node == 0) return;
  record->nodes.push_back(around.node().node);
  record->node_run = around.node().run;
  const Surroundings* silent = joined_.SurroundingsOfSilentForward(around.node().node);
  if (silent == nullptr) return;
  KernelRecord forward;
  FillRanges(*silent, &forward);
  // An op inside another node, which made a node itself (gradients of gradients).
  if (forward.layer.empty()) {
    FillLayers(joined_.LayersOfForward(silent->node().node), &forward);
  }
  record->forward_markers = std::move(forward.markers);
  record->forward_layer = std::move(forward.layer);
  record->forward_trace = std::move(forward.trace);
  record->forward_op = std::move(forward.op);
  record->forward_mod = std::move(forward.mod);
}

void KernelRecords::FillForwards(const Surroundings& around, KernelRecord* record) const {
  const std::span<const uint32_t> ops = joined_.RangesOf(around, Around::kOps);
  for (const uint32_t forward : joined_.RangesOf(around, Around::kForwards)) {
    record->nodes.push_back(joined_.links().NumberOf(forward));
    const Range& op = trace_.ranges[forward];
    record->node_ops.push_back(std::count_if(ops.begin(), ops.end(), [&](uint32_t range) {
      return trace_.ranges[range].start_ns <= op.start_ns &&
             trace_.ranges[range].end_ns >= op.end_ns;
    }));
  }
}

void KernelRecords::FillSequence(const Surroundings& around, std::optional<size_t> chosen,
                                 uint32_t sub_sequence, KernelRecord* record) const {
  if (joined_.RangesOf(around, Around::kSequences).empty()) return;
  std::vector<int64_t>& numbers = record->alt_seq_ids;
  PyProfSequence::NumbersOf(joined_, around, &numbers);
  record->sub_seq_id = sub_sequence;
  if (!chosen) return;
  const auto own = numbers.begin() + static_cast<std::ptrdiff_t>(*chosen);
  record->seq_ids.push_back(*own);
  numbers.erase(own);
}

void KernelRecords::FillInheritable(size_t i, KernelRecord* record) const {
  const Surroundings* around = joined_.SurroundingsOf(static_cast<WorkIndex>(i));
  if (around != nullptr) {
    FillRanges(*around, record);
    if (const Surroundings* forward = joined_.SurroundingsOfForward(around->node().node)) {
      record->nodes.push_back(around->node().node);
      record->node_run = around->node().run;
      KernelRecord told;
      FillRanges(*forward, &told);
      if (told.layer.empty()) FillLayers(joined_.LayersOfForward(forward->node().node), &told);
      record->forward_markers = std::move(told.markers);
      record->forward_layer = std::move(told.layer);
      record->forward_op = std::move(told.op);
      record->forward_mod = std::move(told.mod);
    }
  }
  // Collectives are known of kernels that ran; the donor may be one that was only captured.
  if (i >= trace_.kernels.size()) return;
  if (const Collectives::Call* call = joined_.collectives().Of(trace_, i)) {
    FillCollective(trace_.kernels[i], *call, record);
  }
}

void KernelRecords::FillInferred(const Inferred& inferred, KernelRecord* record) const {
  KernelRecord told;
  DonorsOf(inferred).FillInheritable(inferred.donor, &told);
  if (!inferred.arguments) {
    for (auto* calls : {&told.markers, &told.forward_markers}) {
      for (std::string_view& call : *calls) call = View(bare_.at(call));
    }
  }
  record->evidence = inferred.evidence;
  record->confidence = inferred.confidence;
  record->direction = told.direction;
  record->phase = told.phase;
  // Ranges around a graph launch hold for the whole graph: the kernel's own calls are inside them.
  if (record->markers.empty()) {
    record->op.clear();
    record->mod.clear();
  }
  const auto append = [](const auto& from, auto* to) {
    to->insert(to->end(), from.begin(), from.end());
  };
  append(told.markers, &record->markers);
  append(told.op, &record->op);
  append(told.mod, &record->mod);
  if (record->marker_starts_ns.size() + told.marker_starts_ns.size() == record->markers.size()) {
    for (const int64_t start_ns : told.marker_starts_ns) {
      record->marker_starts_ns.push_back(Shifted(start_ns, inferred.shift_ns));
    }
  }
  if (!told.nodes.empty()) {
    // A separate number, since the node is of another run of the program than the donor's.
    constexpr int64_t kRuns = int64_t{1} << 32;
    record->nodes = {told.nodes.front() + kRuns * inferred.instance};
    record->node_run = told.node_run;
    record->forward_markers = std::move(told.forward_markers);
    record->forward_op = std::move(told.forward_op);
    record->forward_mod = std::move(told.forward_mod);
  }
  if (!inferred.layer) return;
  if (record->layer.empty()) record->layer = std::move(told.layer);
  record->forward_layer = std::move(told.forward_layer);
}

void KernelRecords::FillCollective(const Kernel& kernel, const Collectives::Call& call,
                                   KernelRecord* record) const {
  // Without markers, these words come from elsewhere.
  if (record->markers.empty()) {
    record->op.clear();
    record->mod.clear();
  }
  record->markers.push_back(View(call.text));
  record->marker_starts_ns.push_back(call.start_ns != kUnknownId
                                         ? call.start_ns
                                         : record->launch_start_ns.value_or(kernel.start_ns));
  record->op.push_back(View(call.op));
  record->mod.push_back(View(call.mod));
}

}  // namespace oplens::parse
