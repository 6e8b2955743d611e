#include "parse/correlate.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "parse/demangle.h"
#include "parse/range_sweep.h"
#include "parse/range_texts.h"

namespace oplens::parse {
namespace {

enum Lane : size_t { kLayerLane, kTraceLane, kReprLane, kOpLane, kSeqLane, kPathLane };

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
    case MarkerKind::kFree:
    case MarkerKind::kIgnored:
      break;
  }
  return kPathLane;
}

bool KernelBefore(const Kernel& a, const Kernel& b) {
  return std::tuple(!a.timed(), a.start_ns, a.correlation_id, a.row_id) <
         std::tuple(!b.timed(), b.start_ns, b.correlation_id, b.row_id);
}

/// Outer ranges come before those they enclose; equal ranges in the order of their opening.
bool RangeBefore(const Range& a, const Range& b) {
  return std::tuple(a.start_ns, b.end_ns, a.id) < std::tuple(b.start_ns, a.end_ns, b.id);
}

/// Recurrent cells that PyTorch runs as separate kernels of one "forward" call.
bool IsRecurrentCell(std::string_view mod) {
  return mod == "LSTMCell" || mod == "GRUCell" || mod == "RNNCell";
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
    const std::vector<std::vector<uint32_t>> kernels = KernelsByThread();
    result_.launched_.resize(trace_.kernels.size());
    for (size_t thread = 0; thread < trace_.threads.size(); ++thread) {
      if (kernels[thread].empty()) continue;
      const size_t begin = thread == 0 ? 0 : ends[thread - 1];
      SweepThread(begin, ends[thread], kernels[thread], leaked_since_[thread]);
    }
    NoteKernelReasons();
  }

 private:
  void SortKernels() {
    if (!std::is_sorted(trace_.kernels.begin(), trace_.kernels.end(), KernelBefore)) {
      std::stable_sort(trace_.kernels.begin(), trace_.kernels.end(), KernelBefore);
    }
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
        texts_.Classify(range.text);
        if (range.open()) ++open_count[range.text];
      }
      if (!open_count.empty()) MarkLeaks(begin, ends[thread], open_count);
    }
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

  /// Launched kernels of each thread in the order of their launch, which is what PyProf's sequence
  /// state follows.
  std::vector<std::vector<uint32_t>> KernelsByThread() const {
    std::vector<std::vector<uint32_t>> kernels(trace_.threads.size());
    for (size_t i = 0; i < trace_.kernels.size(); ++i) {
      const LaunchIndex launch = trace_.kernels[i].launch;
      if (launch == kNoLaunch) continue;
      kernels[trace_.launches[launch].thread].push_back(static_cast<uint32_t>(i));
    }
    const auto launch_start = [this](uint32_t i) {
      return trace_.launches[trace_.kernels[i].launch].start_ns;
    };
    const auto before = [&](uint32_t a, uint32_t b) { return launch_start(a) < launch_start(b); };
    for (auto& list : kernels) {
      if (!std::is_sorted(list.begin(), list.end(), before)) {
        std::stable_sort(list.begin(), list.end(), before);
      }
    }
    return kernels;
  }

  /// What PyProf carries from one kernel to the next; here one a thread.
  struct SequenceState {
    int64_t seq_id = -1;
    uint32_t sub_seq_id = 0;
    std::vector<StringId> ops;
    bool any = false;
  };

  void SweepThread(size_t begin, size_t end, const std::vector<uint32_t>& kernels,
                   int64_t leaked_since) {
    open_.Clear();
    SequenceState state;
    uint64_t version = 0;
    bool leaked_before = false;
    LaunchIndex previous_launch = kNoLaunch;
    const Launched* previous = nullptr;
    size_t next = begin;
    for (const uint32_t index : kernels) {
      const LaunchIndex launch = trace_.kernels[index].launch;
      const LaunchCall& call = trace_.launches[launch];
      Launched& launched = result_.launched_[index];
      if (previous != nullptr && launch == previous_launch) {
        launched = *previous;  // One call launched both.
        FollowSequence(&launched, &state);
        previous = &launched;
        continue;
      }
      previous_launch = launch;
      for (; next < end && trace_.ranges[next].start_ns <= call.start_ns; ++next) PushRange(next);
      open_.MoveTo(call.start_ns, call.end_ns);
      const bool leaked = leaked_since <= call.start_ns;
      if (previous != nullptr && version == open_.version() && leaked == leaked_before) {
        launched = *previous;  // The same ranges: share their lists.
      } else {
        CollectRanges(leaked, &launched);
        version = open_.version();
        leaked_before = leaked;
      }
      FollowSequence(&launched, &state);
      previous = &launched;
    }
  }

  void PushRange(size_t index) {
    if (leaked_[index]) return;
    const Range& range = trace_.ranges[index];
    const MarkerKind kind = texts_.Of(range.text).kind;
    if (kind == MarkerKind::kIgnored) return;
    Lane lane = LaneOf(kind);
    if (range.open() && !result_.options_.keep_open && lane != kLayerLane) {
      // An unclosed op or call stack says nothing sure of what follows it: only a label.
      if (lane == kTraceLane || lane == kReprLane) return;
      lane = kPathLane;
    }
    open_.Push(static_cast<uint32_t>(index), range.end_ns, lane);
  }

  /// Lists the enclosing ranges of the launch at hand.
  void CollectRanges(bool leaked, Launched* launched) {
    *launched = Launched();
    launched->first_item = static_cast<uint32_t>(result_.items_.size());
    launched->layers = AddLane(kLayerLane);
    launched->reprs = AddLane(kReprLane);
    launched->ops = AddLane(kOpLane);
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
    NoteRangeReasons(leaked, launched);
  }

  void NoteRangeReasons(bool leaked, Launched* launched) const {
    const auto& items = result_.items_;
    const bool any =
        items.size() > launched->first_item || launched->trace_range != OpenRanges::kNone;
    if (!any) launched->reasons.Add(leaked ? Reason::kLeakedRange : Reason::kNoMarker);
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

  const RangeTexts::Text& TextOfRange(uint32_t range) const {
    return texts_.Of(trace_.ranges[range].text);
  }

  std::string_view SeqName(uint32_t range) const {
    return trace_.strings.View(trace_.ranges[range].text).substr(0, TextOfRange(range).name_length);
  }

  /// PyProf's seqMarker list: unique texts by number, then name; of equal number and similar name
  /// (one holds the other) only the first.
  uint32_t AddSeqs(Launched* launched) {
    seqs_.clear();
    open_.ForEach(kSeqLane, [&](uint32_t range) {
      seqs_.push_back(range);
      return true;
    });
    if (seqs_.empty()) return 0;
    if (seqs_.size() > 1) {
      const auto key = [&](uint32_t range) {
        return std::pair(TextOfRange(range).seq, trace_.strings.View(trace_.ranges[range].text));
      };
      std::stable_sort(seqs_.begin(), seqs_.end(),
                       [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
      const auto same = [&](uint32_t a, uint32_t b) {
        return trace_.ranges[a].text == trace_.ranges[b].text;
      };
      seqs_.erase(std::unique(seqs_.begin(), seqs_.end(), same), seqs_.end());
    }
    uint32_t added = 0;
    for (size_t i = 0; i < seqs_.size(); ++i) {
      if (i > 0 && SimilarToPrevious(i)) continue;
      result_.items_.push_back(seqs_[i]);
      launched->backward |= TextOfRange(seqs_[i]).backward;
      ++added;
    }
    return added;
  }

  bool SimilarToPrevious(size_t i) const {
    if (TextOfRange(seqs_[i]).seq != TextOfRange(seqs_[i - 1]).seq) return false;
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
    for (const uint32_t range : seqs) seq_ids_.push_back(TextOfRange(range).seq);
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
    const RangeTexts::Text& text = TextOfRange(result_.Ops(launched).front());
    return trace_.strings.View(text.op) == "forward" &&
           IsRecurrentCell(trace_.strings.View(text.mod));
  }

  void NoteKernelReasons() {
    for (size_t i = 0; i < trace_.kernels.size(); ++i) {
      const Kernel& kernel = trace_.kernels[i];
      ReasonSet* reasons = &result_.launched_[i].reasons;
      reasons->Merge(kernel.reasons);
      if (kernel.launch == kNoLaunch) Note(Reason::kNoLaunchCall, kernel, reasons);
      if (reasons->Has(Reason::kNoMarker)) diagnostics_.CountMany(Reason::kNoMarker, 1);
      if (!kernel.timed()) {
        Note(Reason::kUntimed, kernel, reasons);
      } else if (kernel.end_ns < kernel.start_ns) {
        Note(Reason::kBadTimes, kernel, reasons);
      }
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
  std::vector<uint32_t> seqs_;
  std::vector<int64_t> seq_ids_;
  std::vector<StringId> ops_;
};

Correlation::Correlation(Trace* trace, const CorrelateOptions& options, Diagnostics* diagnostics)
    : trace_(*trace),
      options_(options),
      texts_(std::make_unique<RangeTexts>(&trace->strings, diagnostics)) {
  Builder(this, diagnostics).Run();
  NameKernels();
  for (size_t i = 0; i < trace->devices.size(); ++i) {
    device_index_.FindOrInsert(trace->devices[i].id, static_cast<uint32_t>(i));
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

void Correlation::DropZeroBesideOthers(std::vector<int64_t>* seq_ids) {
  seq_ids->erase(std::unique(seq_ids->begin(), seq_ids->end()), seq_ids->end());
  if (seq_ids->size() > 1 && seq_ids->front() == 0) seq_ids->erase(seq_ids->begin());
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

template <typename F>
void Correlation::ForEachOp(const Launched& launched, F f) const {
  const auto text_of = [this](uint32_t range) -> const RangeTexts::Text& {
    return texts_->Of(trace_.ranges[range].text);
  };
  for (const uint32_t range : Ops(launched)) f(text_of(range).op, text_of(range).mod);
  if (launched.ops > 0) return;
  const auto seqs = Seqs(launched);
  const bool nodes = std::any_of(seqs.begin(), seqs.end(),
                                 [&](uint32_t range) { return text_of(range).backward_node; });
  for (const uint32_t range : seqs) {
    if (!nodes || text_of(range).backward_node) f(text_of(range).op, 0);
  }
  if (launched.seqs > 0 || launched.paths == 0) return;
  const Range& outermost = trace_.ranges[Paths(launched).front()];
  if (!outermost.open()) f(outermost.text, 0);
}

void Correlation::RecordOf(size_t i, KernelRecord* record) const {
  const Kernel& kernel = trace_.kernels[i];
  const Launched& launched = launched_[i];
  record->Clear();
  record->reasons = launched.reasons;
  FillKernel(kernel, record);
  if (kernel.launch != kNoLaunch) {
    FillLaunch(trace_.launches[kernel.launch], record);
    FillRanges(launched, record);
  }
}

void Correlation::FillKernel(const Kernel& kernel, KernelRecord* record) const {
  const KernelName& name = names_[name_index_[kernel.name]];
  record->short_name = name.short_name;
  record->long_name = name.long_name;
  record->start_ns = kernel.start_ns;
  record->end_ns = kernel.end_ns;
  // Unsigned subtraction cannot overflow; a kernel that ends before it starts has no duration.
  if (kernel.end_ns > kernel.start_ns) {
    const uint64_t duration =
        static_cast<uint64_t>(kernel.end_ns) - static_cast<uint64_t>(kernel.start_ns);
    record->duration_ns = static_cast<int64_t>(std::min<uint64_t>(duration, INT64_MAX));
  }
  record->device_id = kernel.device_id;
  record->stream_id = kernel.stream_id;
  record->grid = {kernel.grid[0], kernel.grid[1], kernel.grid[2]};
  record->block = {kernel.block[0], kernel.block[1], kernel.block[2]};
  if (kernel.correlation_id != kUnknownId) record->correlation_id = kernel.correlation_id;
  record->context_id = kernel.context_id;
  record->registers_per_thread = kernel.registers_per_thread;
  record->static_shared_memory_bytes = kernel.static_shared_memory_bytes;
  record->dynamic_shared_memory_bytes = kernel.dynamic_shared_memory_bytes;
  const uint32_t device = device_index_.Find(kernel.device_id);
  if (device != IdMap::kNone && trace_.devices[device].name != 0) {
    record->device_name = trace_.strings.View(trace_.devices[device].name);
  }
}

void Correlation::FillLaunch(const LaunchCall& call, KernelRecord* record) const {
  const Thread& thread = trace_.threads[call.thread];
  record->thread_id = thread.thread_id;
  record->process_id = thread.process_id;
  record->launch_api = trace_.strings.View(call.api);
  record->launch_start_ns = call.start_ns;
  record->launch_end_ns = call.end_ns;
}

void Correlation::FillRanges(const Launched& launched, KernelRecord* record) const {
  const uint32_t* item = items_.data() + launched.first_item;
  const auto text_of = [this](uint32_t range) -> const RangeTexts::Text& {
    return texts_->Of(trace_.ranges[range].text);
  };
  const auto view_of = [this](uint32_t range) {
    return trace_.strings.View(trace_.ranges[range].text);
  };
  for (uint32_t i = 0; i < launched.layers; ++i) {
    record->layer.push_back(trace_.strings.View(text_of(*item++).op));
  }
  for (uint32_t i = 0; i < launched.reprs; ++i) record->repr_markers.push_back(view_of(*item++));
  for (const uint32_t range : Ops(launched)) {
    record->markers.push_back(view_of(range));
    record->marker_starts_ns.push_back(trace_.ranges[range].start_ns);
  }
  for (const uint32_t range : Seqs(launched)) record->seq_markers.push_back(view_of(range));
  for (const uint32_t range : Paths(launched)) {
    const StringId open_text = trace_.ranges[range].open() ? text_of(range).open_text : 0;
    record->range.push_back(open_text == 0 ? view_of(range) : trace_.strings.View(open_text));
  }
  record->range_cut = launched.paths_cut;
  if (launched.trace_range != OpenRanges::kNone) {
    const auto& frames = texts_->FramesOf(text_of(launched.trace_range));
    record->trace.assign(frames.begin(), frames.end());
  }
  FillSequence(launched, record);
}

void Correlation::FillSequence(const Launched& launched, KernelRecord* record) const {
  record->direction = launched.backward ? Direction::kBackward : Direction::kForward;
  ForEachOp(launched, [&](StringId op, StringId mod) {
    record->op.push_back(trace_.strings.View(op));
    record->mod.push_back(mod == 0 ? "na" : trace_.strings.View(mod));
  });
  if (record->mod.empty()) record->mod.push_back("na");
  if (launched.seqs == 0) return;
  auto& alternatives = record->alt_seq_ids;
  for (const uint32_t range : Seqs(launched)) {
    alternatives.push_back(texts_->Of(trace_.ranges[range].text).seq);
  }
  DropZeroBesideOthers(&alternatives);
  std::erase(alternatives, launched.seq_id);
  if (launched.has_seq) record->seq_ids.push_back(launched.seq_id);
  record->sub_seq_id = launched.sub_seq_id;
}

}  // namespace oplens::parse
