#include "parse/records/correlate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "parse/join/backward_callers.h"
#include "parse/join/gradient_hints.h"
#include "parse/join/range_sweep.h"
#include "parse/join/range_texts.h"
#include "parse/model/demangle.h"
#include "parse/records/communication_call.h"

namespace oplens::parse {
namespace {

enum Lane : size_t {
  kLayerLane,
  kTraceLane,
  kReprLane,
  kOpLane,
  kSeqLane,
  kPathLane,
  kFrameLane,
  kContextLane,  // What says something of the step.
  kForwardLane,  // Ops that made a node.
  kLaneCount
};
static_assert(kLaneCount <= OpenRanges::kMaxLanes);

Lane LaneOf(MarkerKind kind) {
  switch (kind) {
    case MarkerKind::kLayer:
      return kLayerLane;
    case MarkerKind::kTrace:
      return kTraceLane;
    case MarkerKind::kRepr:
      return kReprLane;
    case MarkerKind::kOp:
      return kOpLane;
    case MarkerKind::kSeq:
      return kSeqLane;
    case MarkerKind::kNode:
    case MarkerKind::kOperator:  // If its call could be read.
    case MarkerKind::kFree:
    case MarkerKind::kIgnored:
      break;
  }
  return kPathLane;
}

bool ReplayBefore(const GraphReplay& a, const GraphReplay& b) {
  return std::tuple(a.start_ns, a.end_ns, a.graph_id) <
         std::tuple(b.start_ns, b.end_ns, b.graph_id);
}

bool KernelBefore(const Kernel& a, const Kernel& b) {
  return std::tuple(!a.timed(), a.start_ns, a.correlation_id, a.row_id) <
         std::tuple(!b.timed(), b.start_ns, b.correlation_id, b.row_id);
}

/// Outer ranges come before those they enclose; equal ranges in the order of their opening.
bool RangeBefore(const Range& a, const Range& b) {
  return std::tuple(a.start_ns, b.end_ns, a.id) < std::tuple(b.start_ns, a.end_ns, b.id);
}

/// What torch.compile's back ends call the kernels that they make.
bool IsCompiledKernel(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"triton_poi_", "triton_red_", "triton_per_",
                                            "triton_tem_", "triton_for_", "triton_mm_"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// Recurrent cells that PyTorch runs as separate kernels of one "forward" call.
bool IsRecurrentCell(std::string_view mod) {
  return mod == "LSTMCell" || mod == "GRUCell" || mod == "RNNCell";
}

bool IsBackwardPhase(Phase phase) {
  return phase == Phase::kBackward || phase == Phase::kRecompute || phase == Phase::kGradient ||
         phase == Phase::kAccumulate;
}

/// What is known of a device, for KernelRecord::gpu.
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
  // Its compute capability is not one of NVIDIA's then.
  constexpr int kUsualWarp = 32;
  if (device.warp_threads > 0 && device.warp_threads != kUsualWarp) {
    add(fmt::format("warp={}", device.warp_threads));
  }
  return text;
}

}  // namespace

/// Sorts, then sweeps each thread.
class Correlation::Builder {
 public:
  Builder(Correlation* result, Diagnostics* diagnostics)
      : result_(*result),
        trace_(result->trace_),
        texts_(*result->texts_),
        diagnostics_(*diagnostics) {}

  void Run() {
    SortKernels();
    const std::vector<size_t> ends = GroupRangesByThread();
    ClassifyTexts(ends);
    result_.autograd_ = std::make_unique<Autograd>(trace_, texts_, ends, leaked_);
    result_.CompleteForwardCalls();
    has_kernel_.assign(autograd().forwards().size() + 1, false);
    asked_for_.assign(autograd().forwards().size() + 1, false);
    place_asked_for_.assign(autograd().forwards().size() + 1, false);
    callers_.emplace(trace_, autograd(), ends);
    waiting_.resize(trace_.threads.size());
    const std::vector<std::vector<uint32_t>> work = WorkByThread();
    result_.launched_.resize(work_count());
    for (size_t thread = 0; thread < trace_.threads.size(); ++thread) {
      if (work[thread].empty()) continue;
      const size_t begin = thread == 0 ? 0 : ends[thread - 1];
      SweepThread(begin, ends[thread], work[thread], leaked_since_[thread]);
    }
    SweepSilentForwards(ends);
    SweepCallers(ends);
    NoteKernelReasons();
  }

 private:
  const Autograd& autograd() const { return *result_.autograd_; }

  void SortKernels() {
    if (!std::is_sorted(trace_.kernels.begin(), trace_.kernels.end(), KernelBefore)) {
      std::stable_sort(trace_.kernels.begin(), trace_.kernels.end(), KernelBefore);
    }
    std::stable_sort(trace_.graph_replays.begin(), trace_.graph_replays.end(), ReplayBefore);
  }

  /// Moves the ranges of each thread together, sorted. Returns where each thread ends.
  std::vector<size_t> GroupRangesByThread() {
    std::vector<size_t> ends(trace_.threads.size(), 0);
    for (const Range& range : trace_.ranges) ++ends[range.thread];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    std::vector<size_t> next(ends.size(), 0);
    for (size_t thread = 1; thread < ends.size(); ++thread) next[thread] = ends[thread - 1];
    std::vector<Range> grouped(trace_.ranges.size());
    for (const Range& range : trace_.ranges) grouped[next[range.thread]++] = range;
    trace_.ranges = std::move(grouped);
    size_t begin = 0;
    for (const size_t end : ends) {
      const auto first = trace_.ranges.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto last = trace_.ranges.begin() + static_cast<std::ptrdiff_t>(end);
      if (!std::is_sorted(first, last, RangeBefore)) std::sort(first, last, RangeBefore);
      begin = end;
    }
    return ends;
  }

  /// Classifies every text in use, and finds the leaks: texts with too many unclosed ranges on one
  /// thread. A leaked range gets the kind kIgnored by a mark in leaked_.
  void ClassifyTexts(const std::vector<size_t>& ends) {
    leaked_since_.assign(trace_.threads.size(), kNeverClosed);
    leaked_.assign(trace_.ranges.size(), false);
    size_t begin = 0;
    for (size_t thread = 0; thread < ends.size(); begin = ends[thread++]) {
      std::unordered_map<StringId, int64_t> open_count;
      for (size_t i = begin; i < ends[thread]; ++i) {
        const Range& range = trace_.ranges[i];
        ClassifyTextsOf(range);
        if (range.open()) ++open_count[range.text];
      }
      if (!open_count.empty()) MarkLeaks(begin, ends[thread], open_count);
    }
  }

  void ClassifyTextsOf(const Range& range) {
    if (range.kind == RangeKind::kMarker) texts_.Classify(range.text);
    if (range.kind != RangeKind::kOperator || range.item >= trace_.operators.size()) return;
    const Operator& op = trace_.operators[range.item];
    if (op.call != 0) texts_.Classify(op.call);
    if (op.stack != 0) texts_.Classify(op.stack);
  }

  void MarkLeaks(size_t begin, size_t end,
                 const std::unordered_map<StringId, int64_t>& open_count) {
    for (size_t i = begin; i < end; ++i) {
      const Range& range = trace_.ranges[i];
      if (!range.open()) continue;
      if (open_count.at(range.text) > kMaxOpenOfOneText) {
        leaked_[i] = true;
        leaked_since_[range.thread] = std::min(leaked_since_[range.thread], range.start_ns);
        CountRange(Reason::kLeakedRange, range);
      } else {
        texts_.MarkOpen(range.text);
        CountRange(Reason::kOpenRange, range);
      }
    }
  }

  void CountRange(Reason reason, const Range& range) {
    diagnostics_.Count(reason,
                       diagnostics_.WantsExample(reason)
                           ? fmt::format("\"{}\"", trace_.strings.View(range.text).substr(0, 60))
                           : std::string());
  }

  // What was launched is numbered: the kernels, then the replays of graphs whose kernels the file
  // hides.
  size_t work_count() const { return trace_.kernels.size() + trace_.graph_replays.size(); }
  bool IsKernel(size_t work) const { return work < trace_.kernels.size(); }
  LaunchIndex OriginOf(size_t work) const {
    return IsKernel(work) ? Correlation::OriginOf(trace_.kernels[work])
                          : trace_.graph_replays[work - trace_.kernels.size()].launch;
  }

  /// Launched work of each thread in the order of the launches, which is what PyProf's sequence
  /// state follows.
  std::vector<std::vector<uint32_t>> WorkByThread() const {
    std::vector<std::vector<uint32_t>> work(trace_.threads.size());
    for (size_t i = 0; i < work_count(); ++i) {
      const LaunchIndex launch = OriginOf(i);
      if (launch == kNoLaunch) continue;
      work[trace_.launches[launch].thread].push_back(static_cast<uint32_t>(i));
    }
    const auto launch_start = [this](uint32_t i) { return trace_.launches[OriginOf(i)].start_ns; };
    const auto before = [&](uint32_t a, uint32_t b) { return launch_start(a) < launch_start(b); };
    for (auto& list : work) {
      if (!std::is_sorted(list.begin(), list.end(), before)) {
        std::stable_sort(list.begin(), list.end(), before);
      }
    }
    return work;
  }

  /// What PyProf carries from one kernel to the next; here one a thread.
  struct SequenceState {
    int64_t seq_id = -1;
    uint32_t sub_seq_id = 0;
    std::vector<StringId> ops;
    bool any = false;
  };

  void SweepThread(size_t begin, size_t end, const std::vector<uint32_t>& work,
                   int64_t leaked_since) {
    open_.Clear();
    SequenceState state;
    uint64_t version = 0;
    bool leaked_before = false;
    LaunchIndex previous_launch = kNoLaunch;
    const Launched* previous = nullptr;
    size_t next = begin;
    for (const uint32_t index : work) {
      const LaunchIndex launch = OriginOf(index);
      const LaunchCall& call = trace_.launches[launch];
      Launched& launched = result_.launched_[index];
      if (previous != nullptr && launch == previous_launch) {
        launched = *previous;  // One call launched both.
      } else {
        previous_launch = launch;
        for (; next < end && trace_.ranges[next].start_ns <= call.start_ns; ++next) PushRange(next);
        open_.MoveTo(call.start_ns, EndOf(call));
        const bool leaked = leaked_since <= call.start_ns;
        if (previous != nullptr && version == open_.version() && leaked == leaked_before) {
          launched = *previous;  // The same ranges: share their lists.
        } else {
          CollectRanges(leaked, &launched);
          if (autograd().IsEngineThread(call.thread) && launched.node.node == 0 &&
              (launched.phase == Phase::kForward || launched.phase == Phase::kUnknown)) {
            launched.phase = Phase::kGradient;
          }
          version = open_.version();
          leaked_before = leaked;
        }
        launched.callers = AskCallers(call, launched.phase);
      }
      if (IsKernel(index)) {
        NoteForwards(launched);
        FollowSequence(&launched, &state);
      }
      previous = &launched;
    }
  }

  /// The record of a kernel of theirs tells what is around these forward ops. That of a kernel in a
  /// node tells of that node: what is around an op in it, which made a node of its own (gradients
  /// of gradients), is told with the kernels of that one.
  void NoteForwards(const Launched& launched) {
    if (launched.phase == Phase::kBackward) {
      if (launched.forwards > 0) place_asked_for_[launched.node.node] = true;
      return;
    }
    for (const uint32_t range : result_.Forwards(launched)) {
      has_kernel_[autograd().ForwardNodeOf(range)] = true;
    }
  }

  /// Asks what the threads that wait for a backward launch are inside of as its node begins; the
  /// node is the outermost, since those inside it are its own doing. Answers the number of the
  /// question, from 1; 0: nobody waits.
  uint32_t AskCallers(const LaunchCall& call, Phase phase) {
    if (!IsBackwardPhase(phase)) return 0;
    int64_t time_ns = call.start_ns;
    open_.ForEach(kContextLane, [&](uint32_t range) {
      if (autograd().ContextOf(range) == StepContext::kOptimizer) return true;
      time_ns = trace_.ranges[range].start_ns;
      return false;
    });
    if (asked_ > 0 && last_asked_ == std::pair(call.thread, time_ns)) return asked_;
    const std::vector<ThreadIndex> threads = callers_->Of(call.thread, call.start_ns);
    if (threads.empty()) return 0;
    last_asked_ = {call.thread, time_ns};
    ++asked_;
    for (const ThreadIndex thread : threads) waiting_[thread].push_back({time_ns, asked_});
    return asked_;
  }

  /// Answers the questions of AskCallers, one sweep a thread that somebody asked about.
  void SweepCallers(const std::vector<size_t>& ends) {
    std::vector<std::pair<uint32_t, uint32_t>> found;  // Question and range.
    for (size_t thread = 0; thread < waiting_.size(); ++thread) {
      std::vector<Question>& questions = waiting_[thread];
      std::stable_sort(questions.begin(), questions.end(),
                       [](const Question& a, const Question& b) { return a.time_ns < b.time_ns; });
      open_.Clear();
      size_t next = thread == 0 ? 0 : ends[thread - 1];
      for (const auto& [time_ns, number] : questions) {
        for (; next < ends[thread] && trace_.ranges[next].start_ns <= time_ns; ++next) {
          PushRange(next);
        }
        open_.MoveTo(time_ns, time_ns < kNeverClosed ? time_ns + 1 : time_ns);
        size_t listed = 0;
        open_.ForEach(kPathLane, [&](uint32_t range) {
          // A step holds for every thread: the record's `step` says it.
          if (!IsStep(trace_.ranges[range])) found.emplace_back(number, range);
          return ++listed < kMaxRangePath;
        });
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    result_.caller_ends_.assign(asked_ + 1, 0);
    for (const auto& [number, range] : found) {
      result_.caller_ranges_.push_back(range);
      ++result_.caller_ends_[number];
    }
    std::partial_sum(result_.caller_ends_.begin(), result_.caller_ends_.end(),
                     result_.caller_ends_.begin());
  }

  bool IsStep(const Range& range) const {
    return StepIndex::NumberIn(trace_.strings.View(range.text)).has_value();
  }

  /// A backward kernel takes op, layer and stack from the forward op of its node. Of forward ops
  /// that launched kernels these tell it; here those that did not, such as views.
  void SweepSilentForwards(const std::vector<size_t>& ends) {
    std::vector<std::vector<uint32_t>> numbers(trace_.threads.size());
    const std::vector<uint32_t>& forwards = autograd().forwards();
    for (uint32_t number = 1; number <= forwards.size(); ++number) {
      const bool silent = asked_for_[number] && !has_kernel_[number];
      if (!silent && !place_asked_for_[number]) continue;
      numbers[trace_.ranges[forwards[number - 1]].thread].push_back(number);
    }
    for (size_t thread = 0; thread < numbers.size(); ++thread) {
      std::vector<uint32_t>& list = numbers[thread];
      if (list.empty()) continue;
      // Ranges are in the order of their starts.
      std::sort(list.begin(), list.end(),
                [&](uint32_t a, uint32_t b) { return forwards[a - 1] < forwards[b - 1]; });
      open_.Clear();
      size_t next = thread == 0 ? 0 : ends[thread - 1];
      for (const uint32_t number : list) {
        const uint32_t forward = forwards[number - 1];
        for (; next <= forward; ++next) PushRange(next);
        const int64_t start_ns = trace_.ranges[forward].start_ns;
        open_.MoveTo(start_ns, start_ns < kNeverClosed ? start_ns + 1 : start_ns);
        const bool silent = asked_for_[number] && !has_kernel_[number];
        auto& places = silent ? result_.silent_forwards_ : result_.forward_places_;
        CollectRanges(false, &places[number]);
      }
    }
  }

  /// Where times are cut to whole units, a range may seem to end up to two units before a call
  /// inside it does; one that ends where the call begins still is before it.
  int64_t EndOf(const LaunchCall& call) const {
    if (trace_.clock_resolution_ns <= 1) return call.end_ns;
    const int64_t slack = 2 * trace_.clock_resolution_ns;
    if (call.end_ns - call.start_ns > slack) return call.end_ns - slack;
    return call.start_ns < kNeverClosed ? call.start_ns + 1 : call.start_ns;
  }

  void PushRange(size_t index) {
    if (leaked_[index]) return;
    const Range& range = trace_.ranges[index];
    if (autograd().ContextOf(index) != StepContext::kNone) Push(index, range, kContextLane);
    if (autograd().ForwardNodeOf(index) != 0) Push(index, range, kForwardLane);
    switch (range.kind) {
      case RangeKind::kMarker:
        return PushMarker(index, range);
      case RangeKind::kOperator:
        return PushOperator(index, range);
      case RangeKind::kFrame:
        if (!range.open() && texts_.IsUserFrame(range.text)) Push(index, range, kFrameLane);
        return;
      case RangeKind::kModule:
        return Push(index, range, kLayerLane);
      case RangeKind::kAnnotation:
      case RangeKind::kStep:
        return Push(index, range, kPathLane);
    }
  }

  void Push(size_t index, const Range& range, Lane lane) {
    open_.Push(static_cast<uint32_t>(index), range.end_ns, lane);
  }

  /// Whether a range says something sure of what follows it: an unclosed one is only a label.
  bool Counts(const Range& range) const { return !range.open() || result_.options_.keep_open; }

  void PushMarker(size_t index, const Range& range) {
    const RangeTexts::Text& text = texts_.Of(range.text);
    if (text.kind == MarkerKind::kIgnored) return;
    // Says which node runs, as the sequence text inside does: no label.
    if (text.kind == MarkerKind::kNode && Counts(range)) return;
    const bool call = text.call != 0 && Counts(range);
    if (call) Push(index, range, kOpLane);
    if (call && text.kind == MarkerKind::kOperator) return;
    const Lane lane = LaneOf(text.kind);
    if (lane == kLayerLane || Counts(range)) return Push(index, range, lane);
    if (lane == kTraceLane || lane == kReprLane) return;
    Push(index, range, kPathLane);
  }

  void PushOperator(size_t index, const Range& range) {
    if (!Counts(range) || range.item >= trace_.operators.size()) {
      return Push(index, range, kPathLane);
    }
    const Operator& op = trace_.operators[range.item];
    if (op.call != 0) Push(index, range, kOpLane);
    if (op.stack != 0) Push(index, range, kTraceLane);
    if (op.sequence >= 0 || op.backward) Push(index, range, kSeqLane);
  }

  /// Lists the enclosing ranges of the launch at hand.
  void CollectRanges(bool leaked, Launched* launched) {
    *launched = Launched();
    launched->first_item = static_cast<uint32_t>(result_.items_.size());
    launched->layers = AddLane(kLayerLane);
    launched->reprs = AddLane(kReprLane);
    launched->ops = AddOps();
    launched->seqs = AddSeqs(launched);
    launched->trace_range = open_.Innermost(kTraceLane);
    const size_t paths = open_.CountOf(kPathLane);
    size_t listed = 0;
    open_.ForEach(kPathLane, [&](uint32_t range) {
      result_.items_.push_back(range);
      return ++listed < kMaxRangePath;
    });
    launched->paths = static_cast<uint32_t>(listed);
    launched->paths_cut = static_cast<uint32_t>(paths - listed);
    launched->frames = AddFrames();
    launched->forwards = AddLane(kForwardLane);
    CollectStep(launched);
    NoteRangeReasons(leaked, launched);
  }

  /// Phase and node.
  void CollectStep(Launched* launched) {
    const uint32_t innermost = open_.Innermost(kContextLane);
    const StepContext context =
        innermost == OpenRanges::kNone ? StepContext::kNone : autograd().ContextOf(innermost);
    switch (context) {
      case StepContext::kNode:
        launched->phase = Phase::kBackward;
        launched->node = autograd().RunOf(innermost);
        asked_for_[launched->node.node] = true;
        return;
      case StepContext::kEvaluate:
        launched->phase = Phase::kGradient;
        return TakeNodeAround(innermost, launched);
      case StepContext::kAccumulate:
        launched->phase = Phase::kAccumulate;
        return TakeNodeAround(innermost, launched);
      case StepContext::kRecompute:
        launched->phase = Phase::kRecompute;
        return;
      case StepContext::kOptimizer:
        launched->phase = Phase::kOptimizer;
        return;
      case StepContext::kNone:
        if (launched->ops + launched->seqs > 0) launched->phase = Phase::kForward;
    }
  }

  void TakeNodeAround(uint32_t range, Launched* launched) {
    launched->node_around = autograd().NodeAroundOf(range);
    place_asked_for_[launched->node_around] = true;
  }

  uint32_t AddFrames() {
    const size_t count = open_.CountOf(kFrameLane);
    const size_t skipped = count - std::min(count, kMaxFrames);
    size_t met = 0;
    open_.ForEach(kFrameLane, [&](uint32_t range) {
      if (met++ >= skipped) result_.items_.push_back(range);
      return true;
    });
    return static_cast<uint32_t>(count - skipped);
  }

  void NoteRangeReasons(bool leaked, Launched* launched) const {
    const auto& items = result_.items_;
    const bool any =
        items.size() > launched->first_item || launched->trace_range != OpenRanges::kNone;
    if (!any) launched->reasons.Add(leaked ? Reason::kOnlyLeakedRanges : Reason::kNoMarker);
    for (size_t i = launched->first_item; i < items.size(); ++i) {
      if (trace_.ranges[items[i]].open()) launched->reasons.Add(Reason::kOpenRange);
    }
  }

  uint32_t AddLane(Lane lane) {
    const size_t before = result_.items_.size();
    open_.ForEach(lane, [&](uint32_t range) {
      result_.items_.push_back(range);
      return true;
    });
    return static_cast<uint32_t>(result_.items_.size() - before);
  }

  /// Annotated calls; not PyTorch's own range right inside of one that annotates the same call.
  uint32_t AddOps() {
    const size_t before = result_.items_.size();
    open_.ForEach(kOpLane, [&](uint32_t range) {
      const bool repeats = result_.items_.size() > before && NamesOnly(trace_.ranges[range]) &&
                           result_.OpOf(result_.items_.back()).op == result_.OpOf(range).op;
      if (!repeats) result_.items_.push_back(range);
      return true;
    });
    return static_cast<uint32_t>(result_.items_.size() - before);
  }

  /// Whether a call is named by the text of a range that says nothing of its arguments.
  bool NamesOnly(const Range& range) const {
    return range.kind == RangeKind::kMarker && texts_.Of(range.text).names_only;
  }

  std::string_view SeqName(uint32_t range) const {
    return trace_.strings.View(result_.SeqTextOf(range))
        .substr(0, result_.SeqOf(range).name_length);
  }

  /// An operator's sequence number, as the text that a marker would have. Made only for the
  /// operators around a launch.
  void MakeSeqText(uint32_t range) {
    const Range& called = trace_.ranges[range];
    if (called.kind != RangeKind::kOperator) return;
    StringId& text = result_.operator_seq_texts_[called.item];
    if (text != 0) return;
    const std::string made = fmt::format("{}, seq = {}", trace_.strings.View(called.text),
                                         trace_.operators[called.item].sequence);
    text = trace_.strings.Intern(made);
    texts_.Classify(text);
  }

  /// PyProf's seqMarker list: unique texts by number, then name; of equal number and similar name
  /// (one holds the other) only the first.
  uint32_t AddSeqs(Launched* launched) {
    seqs_.clear();
    open_.ForEach(kSeqLane, [&](uint32_t range) {
      if (IsNodeWithoutNumber(range)) {
        launched->backward = true;
        return true;
      }
      MakeSeqText(range);
      seqs_.push_back(range);
      return true;
    });
    if (seqs_.empty()) return 0;
    if (seqs_.size() > 1) {
      const auto key = [&](uint32_t range) {
        return std::pair(result_.SeqOf(range).seq, trace_.strings.View(result_.SeqTextOf(range)));
      };
      std::stable_sort(seqs_.begin(), seqs_.end(),
                       [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
      const auto same = [&](uint32_t a, uint32_t b) {
        return result_.SeqTextOf(a) == result_.SeqTextOf(b);
      };
      seqs_.erase(std::unique(seqs_.begin(), seqs_.end(), same), seqs_.end());
    }
    uint32_t added = 0;
    for (size_t i = 0; i < seqs_.size(); ++i) {
      if (i > 0 && SimilarToPrevious(i)) continue;
      result_.items_.push_back(seqs_[i]);
      launched->backward |= SaysBackward(seqs_[i]);
      ++added;
    }
    return added;
  }

  /// A node of the backward pass that has no forward op (AccumulateGrad).
  bool IsNodeWithoutNumber(uint32_t range) const {
    const Range& called = trace_.ranges[range];
    return called.kind == RangeKind::kOperator && trace_.operators[called.item].sequence < 0;
  }

  bool SaysBackward(uint32_t range) const {
    const Range& called = trace_.ranges[range];
    return result_.SeqOf(range).backward ||
           (called.kind == RangeKind::kOperator && trace_.operators[called.item].backward);
  }

  bool SimilarToPrevious(size_t i) const {
    if (result_.SeqOf(seqs_[i]).seq != result_.SeqOf(seqs_[i - 1]).seq) return false;
    const std::string_view name = SeqName(seqs_[i]);
    const std::string_view previous = SeqName(seqs_[i - 1]);
    return name.find(previous) != std::string_view::npos ||
           previous.find(name) != std::string_view::npos;
  }

  /// Chooses the kernel's sequence id and sub-sequence number as PyProf does, with its state kept
  /// by thread.
  void FollowSequence(Launched* launched, SequenceState* state) {
    if (launched->seqs == 0) return;
    seq_ids_.clear();
    const std::span<const uint32_t> seqs = result_.Seqs(*launched);
    for (const uint32_t range : seqs) seq_ids_.push_back(result_.SeqOf(range).seq);
    DropZeroBesideOthers(&seq_ids_);
    int64_t current = seq_ids_.front();
    if (!launched->backward) {
      const auto later = std::upper_bound(seq_ids_.begin(), seq_ids_.end(), state->seq_id);
      current = later == seq_ids_.end() ? state->seq_id : *later;
    }
    ops_.clear();
    result_.ForEachOp(*launched, [this](StringId op, StringId) { ops_.push_back(op); });
    const bool same_op = state->any && ops_ == state->ops;
    const bool again = same_op && (current == state->seq_id || IsRecurrentForward(*launched));
    launched->sub_seq_id = again ? state->sub_seq_id + 1 : 0;
    launched->seq_id = current;
    launched->has_seq = std::binary_search(seq_ids_.begin(), seq_ids_.end(), current);
    state->any = true;
    state->seq_id = current;
    state->sub_seq_id = launched->sub_seq_id;
    state->ops.swap(ops_);
  }

  bool IsRecurrentForward(const Launched& launched) const {
    if (launched.ops == 0) return false;
    const RangeTexts::Text& text = result_.OpOf(result_.Ops(launched).front());
    return trace_.strings.View(text.op) == "forward" &&
           IsRecurrentCell(trace_.strings.View(text.mod));
  }

  void NoteKernelReasons() {
    for (size_t i = 0; i < trace_.kernels.size(); ++i) {
      const Kernel& kernel = trace_.kernels[i];
      ReasonSet* reasons = &result_.launched_[i].reasons;
      reasons->Merge(kernel.reasons);
      if (kernel.launch == kNoLaunch) Note(Reason::kNoLaunchCall, kernel, reasons);
      NoteMadeUpKernels(kernel, result_.launched_[i], reasons);
      for (const Reason reason : {Reason::kNoMarker, Reason::kOnlyLeakedRanges}) {
        if (reasons->Has(reason)) diagnostics_.CountMany(reason, 1);
      }
      if (!kernel.timed()) {
        Note(Reason::kUntimed, kernel, reasons);
      } else if (kernel.end_ns < kernel.start_ns) {
        Note(Reason::kBadTimes, kernel, reasons);
      }
    }
  }

  /// Kernels that no single op launched: replays of a graph whose capture is not in the file,
  /// whatever is around the replay, and what a compiler made of several ops.
  void NoteMadeUpKernels(const Kernel& kernel, const Launched& launched, ReasonSet* reasons) {
    if (kernel.graph && kernel.capture == kNoLaunch) Note(Reason::kGraphKernel, kernel, reasons);
    if (launched.ops == 0 && IsCompiledKernel(trace_.strings.View(kernel.name))) {
      Note(Reason::kCompiledKernel, kernel, reasons);
    }
  }

  void Note(Reason reason, const Kernel& kernel, ReasonSet* reasons) {
    reasons->Add(reason);
    diagnostics_.Count(
        reason, diagnostics_.WantsExample(reason)
                    ? fmt::format("row {}, correlation id {}", kernel.row_id, kernel.correlation_id)
                    : std::string());
  }

  Correlation& result_;
  Trace& trace_;
  RangeTexts& texts_;
  Diagnostics& diagnostics_;
  OpenRanges open_;
  std::vector<int64_t> leaked_since_;  // By thread.
  std::vector<bool> leaked_;           // By range.
  std::vector<bool> has_kernel_;       // By number of the forward op.
  std::vector<bool> asked_for_;        // The same: of those with a backward kernel.
  std::vector<bool> place_asked_for_;  // The same: of those whose layer a kernel takes.
  struct Question {
    int64_t time_ns;
    uint32_t number;
  };
  std::optional<BackwardCallers> callers_;
  std::vector<std::vector<Question>> waiting_;  // By thread that is asked about.
  uint32_t asked_ = 0;                          // Questions so far.
  std::pair<ThreadIndex, int64_t> last_asked_;
  std::vector<uint32_t> seqs_;
  std::vector<int64_t> seq_ids_;
  std::vector<StringId> ops_;
};

Correlation::Correlation(Trace* trace, const CorrelateOptions& options, Diagnostics* diagnostics)
    : trace_(*trace),
      options_(options),
      texts_(std::make_unique<RangeTexts>(&trace->strings, diagnostics)),
      operator_seq_texts_(trace->operators.size(), 0),
      steps_(*trace) {
  Builder(this, diagnostics).Run();
  NameKernels();
  NameCommunications();
  for (size_t i = 0; i < trace->devices.size(); ++i) {
    device_index_.FindOrInsert(trace->devices[i].id, static_cast<uint32_t>(i));
    device_texts_.push_back(trace->strings.Intern(FactsOf(trace->devices[i])));
  }
}

Correlation::~Correlation() = default;

void Correlation::NameKernels() {
  name_index_.resize(trace_.strings.size(), 0);
  names_.push_back({"<unknown>", "<unknown>"});
  for (const Kernel& kernel : trace_.kernels) {
    if (kernel.name == 0 || name_index_[kernel.name] != 0) continue;
    name_index_[kernel.name] = static_cast<uint32_t>(names_.size());
    std::string long_name = Demangle(trace_.strings.View(kernel.name));
    std::string short_name = ShortKernelName(long_name);
    names_.push_back({std::move(long_name), std::move(short_name)});
  }
}

void Correlation::NameCommunications() {
  communication_calls_.resize(trace_.communications.size(), 0);
  std::string text;
  for (const Kernel& kernel : trace_.kernels) {
    if (kernel.communication >= communication_calls_.size()) continue;
    StringId& call = communication_calls_[kernel.communication];
    if (call != 0) continue;
    text.clear();
    AppendOpCall(CommunicationCall(trace_.communications[kernel.communication], trace_.strings),
                 &text);
    call = trace_.strings.Intern(text);
    texts_->Classify(call);
  }
}

void Correlation::DropZeroBesideOthers(std::vector<int64_t>* seq_ids) {
  seq_ids->erase(std::unique(seq_ids->begin(), seq_ids->end()), seq_ids->end());
  if (seq_ids->size() > 1 && seq_ids->front() == 0) seq_ids->erase(seq_ids->begin());
}

void Correlation::CompleteForwardCalls() {
  const std::vector<uint32_t>& forwards = autograd_->forwards();
  completed_calls_.assign(forwards.size() + 1, 0);
  std::map<std::pair<StringId, StringId>, StringId> known;
  for (uint32_t number = 1; number <= forwards.size(); ++number) {
    const uint32_t gradient = autograd_->GradientCallOf(number);
    if (gradient == Autograd::kNone) continue;
    const StringId gradient_call = OpTextOf(gradient);
    const StringId forward_call = OpTextOf(forwards[number - 1]);
    const auto [place, is_new] = known.try_emplace({forward_call, gradient_call}, 0);
    if (is_new) {
      const std::string text =
          WithGradientFacts(trace_.strings.View(forward_call), trace_.strings.View(gradient_call));
      if (!text.empty()) place->second = trace_.strings.Intern(text);
      if (place->second != 0) texts_->Classify(place->second);
    }
    completed_calls_[number] = place->second;
  }
  if (forwards.empty()) CompleteCallsBySize();
}

void Correlation::CompleteCallsBySize() {
  ResultsBySize results;
  std::unordered_set<StringId> calls;
  for (const Range& range : trace_.ranges) {
    const bool is_operator = range.kind == RangeKind::kOperator;
    if (!is_operator || range.item >= trace_.operators.size()) continue;
    const StringId call = trace_.operators[range.item].call;
    if (call == 0 || !calls.insert(call).second) continue;
    if (IsTellingGradient(trace_.strings.View(range.text))) results.Add(trace_.strings.View(call));
  }
  if (results.empty()) return;
  for (const StringId call : calls) {
    const std::string text = results.WithResult(trace_.strings.View(call));
    if (text.empty()) continue;
    const StringId completed = trace_.strings.Intern(text);
    texts_->Classify(completed);
    calls_by_size_.emplace(call, completed);
  }
}

StringId Correlation::OpTextOf(uint32_t range) const {
  const Range& called = trace_.ranges[range];
  if (const uint32_t number = autograd_->ForwardNodeOf(range); number != 0) {
    if (completed_calls_[number] != 0) return completed_calls_[number];
  }
  if (called.kind == RangeKind::kOperator) {
    const StringId call = trace_.operators[called.item].call;
    const auto completed = calls_by_size_.find(call);
    return completed == calls_by_size_.end() ? call : completed->second;
  }
  const StringId call = texts_->Of(called.text).call;
  return call == 0 ? called.text : call;
}

StringId Correlation::SeqTextOf(uint32_t range) const {
  const Range& called = trace_.ranges[range];
  return called.kind == RangeKind::kOperator ? operator_seq_texts_[called.item] : called.text;
}

StringId Correlation::TraceTextOf(uint32_t range) const {
  const Range& called = trace_.ranges[range];
  return called.kind == RangeKind::kOperator ? trace_.operators[called.item].stack : called.text;
}

std::span<const uint32_t> Correlation::Ops(const Launched& launched) const {
  return {items_.data() + launched.first_item + launched.layers + launched.reprs, launched.ops};
}

std::span<const uint32_t> Correlation::Seqs(const Launched& launched) const {
  return {Ops(launched).data() + launched.ops, launched.seqs};
}

std::span<const uint32_t> Correlation::Paths(const Launched& launched) const {
  return {Seqs(launched).data() + launched.seqs, launched.paths};
}

std::span<const uint32_t> Correlation::Forwards(const Launched& launched) const {
  return {Paths(launched).data() + launched.paths + launched.frames, launched.forwards};
}

std::span<const uint32_t> Correlation::Callers(const Launched& launched) const {
  if (launched.callers == 0) return {};
  const uint32_t begin = caller_ends_[launched.callers - 1];
  return {caller_ranges_.data() + begin, caller_ends_[launched.callers] - begin};
}

template <typename F>
void Correlation::ForEachOp(const Launched& launched, F f) const {
  for (const uint32_t range : Ops(launched)) f(OpOf(range).op, OpOf(range).mod);
  if (launched.ops > 0) return;
  const auto seqs = Seqs(launched);
  const bool nodes = std::any_of(seqs.begin(), seqs.end(),
                                 [&](uint32_t range) { return SeqOf(range).backward_node; });
  for (const uint32_t range : seqs) {
    if (!nodes || SeqOf(range).backward_node) f(SeqOf(range).op, 0);
  }
  if (launched.seqs > 0 || launched.paths == 0) return;
  const Range& outermost = trace_.ranges[Paths(launched).front()];
  if (!outermost.open() && outermost.kind == RangeKind::kMarker) f(outermost.text, 0);
}

void Correlation::RecordOf(size_t i, KernelRecord* record) const {
  const Kernel& kernel = trace_.kernels[i];
  const Launched& launched = launched_[i];
  record->Clear();
  record->reasons = launched.reasons;
  if (trace_.rank_name != 0) record->rank = trace_.strings.View(trace_.rank_name);
  FillKernel(kernel, record);
  if (kernel.launch != kNoLaunch) FillLaunch(trace_.launches[kernel.launch], record);
  if (OriginOf(kernel) != kNoLaunch) FillRanges(launched, record);
  if (kernel.communication < communication_calls_.size()) FillCommunication(kernel, record);
}

void Correlation::ReplayOf(size_t i, KernelRecord* record) const {
  const GraphReplay& replay = trace_.graph_replays[i];
  record->Clear();
  if (trace_.rank_name != 0) record->rank = trace_.strings.View(trace_.rank_name);
  FillWork(replay, record);
  if (replay.start_ns == 0 && replay.end_ns == 0) {
    record->reasons.Add(Reason::kUntimed);
  } else if (replay.end_ns < replay.start_ns) {
    record->reasons.Add(Reason::kBadTimes);
  }
  if (replay.launch == kNoLaunch) return;
  FillLaunch(trace_.launches[replay.launch], record);
  FillRanges(launched_[trace_.kernels.size() + i], record);
}

void Correlation::FillKernel(const Kernel& kernel, KernelRecord* record) const {
  const KernelName& name = names_[name_index_[kernel.name]];
  record->short_name = name.short_name;
  record->long_name = name.long_name;
  FillWork(kernel, record);
  record->grid = {kernel.grid[0], kernel.grid[1], kernel.grid[2]};
  record->block = {kernel.block[0], kernel.block[1], kernel.block[2]};
  if (kernel.correlation_id != kUnknownId) record->correlation_id = kernel.correlation_id;
  if (kernel.process_id != kUnknownId) record->process_id = kernel.process_id;
  const auto known = [](int32_t value) {
    return value < 0 ? std::nullopt : std::optional<int64_t>(value);
  };
  record->registers_per_thread = known(kernel.registers_per_thread);
  record->static_shared_memory_bytes = known(kernel.static_shared_memory_bytes);
  record->dynamic_shared_memory_bytes = known(kernel.dynamic_shared_memory_bytes);
  record->shared_memory_bytes = known(kernel.shared_memory_bytes);
}

template <typename Work>
void Correlation::FillWork(const Work& work, KernelRecord* record) const {
  record->start_ns = work.start_ns;
  record->end_ns = work.end_ns;
  // Unsigned subtraction cannot overflow; what ends before it starts has no duration.
  if (work.end_ns > work.start_ns) {
    const uint64_t duration =
        static_cast<uint64_t>(work.end_ns) - static_cast<uint64_t>(work.start_ns);
    record->duration_ns = static_cast<int64_t>(std::min<uint64_t>(duration, INT64_MAX));
  }
  record->device_id = work.device_id;
  record->stream_id = work.stream_id;
  record->context_id = work.context_id;
  const uint32_t device = device_index_.Find(work.device_id);
  if (device != IdMap::kNone && trace_.devices[device].name != 0) {
    record->device_name = trace_.strings.View(trace_.devices[device].name);
  }
  if (device != IdMap::kNone && device_texts_[device] != 0) {
    record->gpu = trace_.strings.View(device_texts_[device]);
  }
}

void Correlation::FillLaunch(const LaunchCall& call, KernelRecord* record) const {
  const Thread& thread = trace_.threads[call.thread];
  record->thread_id = thread.thread_id;
  record->process_id = thread.process_id;
  record->launch_api = trace_.strings.View(call.api);
  record->launch_start_ns = call.start_ns;
  record->launch_end_ns = call.end_ns;
  if (!steps_.empty()) record->step = steps_.Find(call.thread, call.start_ns);
}

void Correlation::FillRanges(const Launched& launched, KernelRecord* record) const {
  const auto view = [this](StringId text) { return trace_.strings.View(text); };
  FillLayers(launched, record);
  const uint32_t* item = items_.data() + launched.first_item + launched.layers;
  for (uint32_t i = 0; i < launched.reprs; ++i) {
    record->repr_markers.push_back(view(trace_.ranges[*item++].text));
  }
  for (const uint32_t range : Ops(launched)) {
    record->markers.push_back(view(OpTextOf(range)));
    record->marker_starts_ns.push_back(trace_.ranges[range].start_ns);
  }
  for (const uint32_t range : Seqs(launched)) {
    record->seq_markers.push_back(view(SeqTextOf(range)));
  }
  const auto add_path = [&](uint32_t index, std::vector<std::string_view>* list) {
    const Range& range = trace_.ranges[index];
    const StringId open_text = range.open() ? texts_->Of(range.text).open_text : 0;
    list->push_back(view(open_text == 0 ? range.text : open_text));
  };
  for (const uint32_t index : Paths(launched)) add_path(index, &record->range);
  record->range_cut = launched.paths_cut;
  for (const uint32_t index : Callers(launched)) add_path(index, &record->caller_range);
  if (launched.frames > 0) {
    const uint32_t* frame = Paths(launched).data() + launched.paths;
    for (uint32_t i = 0; i < launched.frames; ++i) {
      record->trace.push_back(view(trace_.ranges[frame[i]].text));
    }
  } else if (launched.trace_range != OpenRanges::kNone) {
    const auto& frames = texts_->FramesOf(texts_->Of(TraceTextOf(launched.trace_range)));
    record->trace.assign(frames.begin(), frames.end());
  }
  FillSequence(launched, record);
  FillNode(launched, record);
  if (launched.node_around != 0 && record->layer.empty()) {
    FillLayerOf(launched.node_around, record);
  }
}

void Correlation::FillLayerOf(uint32_t forward, KernelRecord* record) const {
  auto place = forward_places_.find(forward);
  if (place == forward_places_.end()) {
    place = silent_forwards_.find(forward);
    if (place == silent_forwards_.end()) return;
  }
  FillLayers(place->second, record);
}

void Correlation::FillLayers(const Launched& launched, KernelRecord* record) const {
  const uint32_t* const item = items_.data() + launched.first_item;
  for (uint32_t i = 0; i < launched.layers; ++i) {
    const Range& layer = trace_.ranges[item[i]];
    record->layer.push_back(trace_.strings.View(
        layer.kind == RangeKind::kModule ? layer.text : texts_->Of(layer.text).op));
  }
}

void Correlation::FillNode(const Launched& launched, KernelRecord* record) const {
  if (launched.phase == Phase::kBackward) {
    if (launched.node.node == 0) return;
    record->nodes.push_back(launched.node.node);
    record->node_run = launched.node.run;
    const auto silent = silent_forwards_.find(launched.node.node);
    if (silent == silent_forwards_.end()) return;
    KernelRecord forward;
    FillRanges(silent->second, &forward);
    if (forward.layer.empty()) FillLayerOf(silent->second.node.node, &forward);
    record->forward_markers = std::move(forward.markers);
    record->forward_layer = std::move(forward.layer);
    record->forward_trace = std::move(forward.trace);
    record->forward_op = std::move(forward.op);
    record->forward_mod = std::move(forward.mod);
    return;
  }
  for (const uint32_t forward : Forwards(launched)) {
    record->nodes.push_back(autograd_->ForwardNodeOf(forward));
    const Range& op = trace_.ranges[forward];
    record->node_ops.push_back(
        std::count_if(Ops(launched).begin(), Ops(launched).end(), [&](uint32_t range) {
          return trace_.ranges[range].start_ns <= op.start_ns &&
                 trace_.ranges[range].end_ns >= op.end_ns;
        }));
  }
}

void Correlation::FillCommunication(const Kernel& kernel, KernelRecord* record) const {
  const StringId call = communication_calls_[kernel.communication];
  const RangeTexts::Text& text = texts_->Of(call);
  // Else these are not the words of markers.
  if (record->markers.empty()) {
    record->op.clear();
    record->mod.clear();
  }
  record->markers.push_back(trace_.strings.View(call));
  record->marker_starts_ns.push_back(record->launch_start_ns.value_or(kernel.start_ns));
  record->op.push_back(trace_.strings.View(text.op));
  record->mod.push_back(trace_.strings.View(text.mod));
}

void Correlation::FillSequence(const Launched& launched, KernelRecord* record) const {
  record->direction = launched.backward || IsBackwardPhase(launched.phase) ? Direction::kBackward
                                                                           : Direction::kForward;
  record->phase = launched.phase;
  ForEachOp(launched, [&](StringId op, StringId mod) {
    record->op.push_back(trace_.strings.View(op));
    record->mod.push_back(mod == 0 ? "na" : trace_.strings.View(mod));
  });
  if (record->mod.empty()) record->mod.push_back("na");
  if (launched.seqs == 0) return;
  auto& alternatives = record->alt_seq_ids;
  for (const uint32_t range : Seqs(launched)) {
    alternatives.push_back(SeqOf(range).seq);
  }
  DropZeroBesideOthers(&alternatives);
  std::erase(alternatives, launched.seq_id);
  if (launched.has_seq) record->seq_ids.push_back(launched.seq_id);
  record->sub_seq_id = launched.sub_seq_id;
}

}  // namespace oplens::parse
