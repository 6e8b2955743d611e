#ifndef OPLENS_PARSE_JOIN_JOINED_H_
#define OPLENS_PARSE_JOIN_JOINED_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "parse/join/collectives.h"
#include "parse/join/forward_backward.h"
#include "parse/join/gpu_work.h"
#include "parse/join/inference.h"
#include "parse/join/launch_sweep.h"
#include "parse/join/op_calls.h"
#include "parse/join/range_roles.h"
#include "parse/join/range_texts.h"
#include "parse/join/step_contexts.h"
#include "parse/join/step_index.h"
#include "parse/join/surroundings.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/reason.h"
#include "parse/model/trace.h"

namespace oplens::parse {

class Joined;

struct JoinOptions {
  /// Ranges that were never closed give their op and call stack too, as PyProf has it.
  bool keep_open = false;
  /// What may tell the op of a kernel besides the ranges around its launch.
  bool capture = true;
  bool repetition = true;
  bool use_reference = true;
  const Joined* reference = nullptr;  ///< Another recording of the program; must outlive the join.
  /// It is such a recording: what is around every forward op of a node is told.
  bool for_reference = false;
};

/// What belongs to what in a trace: every kernel with its launch, the ranges around it, its step,
/// phase, node and forward op; as numbers of kernels, ranges, launches and texts of the trace.
/// Rules: docs/correlation.md. Records, timelines and descriptions are made from it.
///
///     Trace -> ranges by thread -> leaks -> contexts of the step -> nodes with their forward ops
///           -> complete calls -> one sweep a thread over its launches
///
/// O((K + R) log R) for K kernels and R ranges, whatever the order of the rows. Keeps 8 bytes a
/// kernel, 5 a range, and what LaunchSweep says of lists.
class Joined {
 public:
  /// Sorts the kernels, replays and ranges of `trace` (see GpuWork, ThreadRanges), and adds texts
  /// to its strings. `trace` must outlive this object. What is missing is counted in `diagnostics`.
  Joined(Trace* trace, const JoinOptions& options, Diagnostics* diagnostics);
  Joined(const Joined&) = delete;
  Joined& operator=(const Joined&) = delete;

  const Trace& trace() const { return trace_; }
  const GpuWork& work() const { return work_; }
  const ThreadRanges& threads() const { return threads_; }
  const LeakedRanges& leaks() const { return leaks_; }
  const RangeTexts& texts() const { return texts_; }
  const StepContexts& contexts() const { return contexts_; }
  const ForwardBackward& links() const { return links_; }
  const OpCalls& calls() const { return calls_; }
  const Collectives& collectives() const { return collectives_; }

  /// What is around the origin of some work; null where that has no call.
  const Surroundings* AroundOf(WorkIndex work) const { return At(sweep_.AroundOf(work)); }
  std::span<const uint32_t> RangesOf(const Surroundings& around, Around list) const {
    return sweep_.lists().Of(around, list);
  }
  /// What the threads that wait for a backward launch are inside of.
  std::span<const uint32_t> CallersOf(const Surroundings& around) const {
    return sweep_.callers().RangesOf(around.callers);
  }
  /// The layers that a call is in: those around it; of the engine's own work those around the
  /// forward op of the node that it is for.
  std::span<const uint32_t> LayersOf(const Surroundings& around) const;
  /// The layers around a forward op, where a kernel takes them from it.
  std::span<const uint32_t> LayersAroundForward(uint32_t forward) const;
  /// What is around a forward op that launched nothing, where a kernel of its node takes its op
  /// from it; else null.
  const Surroundings* AroundSilentForward(uint32_t forward) const {
    const LaunchSweep::ForwardPlace place = sweep_.PlaceOf(forward);
    return place.silent ? At(place.around) : nullptr;
  }

  /// What is around the forward op of a node, itself included; null where no kernel can take it
  /// from there. Known of every node where ops are inferred from this trace.
  const Surroundings* AroundForward(uint32_t forward) const {
    return At(sweep_.PlaceOf(forward).around);
  }
  /// Ops that no row of the kernel's own tells.
  const Inference& inference() const { return inference_; }

  /// The training step in which a call began.
  std::optional<int64_t> StepOf(const LaunchCall& call) const {
    return steps_.empty() ? std::nullopt : steps_.Find(call.thread, call.start_ns);
  }
  /// What is missing or wrong about a kernel.
  ReasonSet ReasonsOf(size_t kernel) const;

  /// Calls f(op, mod) for each op around a call by PyProf's rule: annotated calls; else backward
  /// nodes; else forward sequence ranges; else the outermost free text. mod 0 is unknown.
  template <typename F>
  void ForEachOp(const Surroundings& around, F f) const;
  /// The name of a range that is a layer.
  StringId LayerOf(uint32_t range) const;
  /// What a list of free texts shows of a range.
  StringId PathTextOf(uint32_t range) const;

 private:
  const Surroundings* At(uint32_t index) const {
    return index == LaunchSweep::kNone ? nullptr : &sweep_.lists().all[index];
  }
  void CountReasons(Diagnostics* diagnostics) const;

  // In the order in which they are made: each needs those before it.
  Trace& trace_;
  GpuWork work_;
  ThreadRanges threads_;
  RangeTexts texts_;
  LeakedRanges leaks_;
  RangeRoles roles_;
  StepContexts contexts_;
  ForwardBackward links_;
  OpCalls calls_;
  RangeKnowledge known_;
  LaunchSweep sweep_;
  StepIndex steps_;
  Collectives collectives_;
  Inference inference_;
};

template <typename F>
void Joined::ForEachOp(const Surroundings& around, F f) const {
  const auto ops = RangesOf(around, Around::kOps);
  for (const uint32_t range : ops) f(calls_.OpOf(range).op, calls_.OpOf(range).mod);
  if (!ops.empty()) return;
  const auto sequences = RangesOf(around, Around::kSequences);
  const auto is_node = [&](uint32_t range) { return calls_.SequenceOf(range).backward_node; };
  const bool nodes = std::any_of(sequences.begin(), sequences.end(), is_node);
  for (const uint32_t range : sequences) {
    if (!nodes || is_node(range)) f(calls_.SequenceOf(range).op, StringId{0});
  }
  const auto paths = RangesOf(around, Around::kPaths);
  if (!sequences.empty() || paths.empty()) return;
  const Range& outermost = trace_.ranges[paths.front()];
  if (!outermost.open() && outermost.kind == RangeKind::kMarker) f(outermost.text, StringId{0});
}

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_JOINED_H_
