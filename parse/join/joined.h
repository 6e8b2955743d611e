#ifndef OPLENS_PARSE_JOIN_JOINED_H_
#define OPLENS_PARSE_JOIN_JOINED_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "parse/join/gpu_work.h"
#include "parse/join/surroundings.h"
#include "parse/model/reason.h"
#include "parse/model/trace.h"

namespace oplens::parse {

class Collectives;
class ForwardBackward;
class Inference;
class Joined;
class LaunchSweep;
class LeakedRanges;
class OpCalls;
class RangeRoles;
class RangeTexts;
class StepContexts;
class StepIndex;
class ThreadRanges;
struct RangeKnowledge;

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
/// Rules: docs/correlation.md. Records, timelines and descriptions are made from it. Whoever uses
/// a part includes its header.
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
  ~Joined();

  const Trace& trace() const { return trace_; }
  const GpuWork& work() const { return work_; }
  const ThreadRanges& threads() const { return *threads_; }
  const LeakedRanges& leaks() const { return *leaks_; }
  const RangeTexts& texts() const { return *texts_; }
  const StepContexts& contexts() const { return *contexts_; }
  const ForwardBackward& links() const { return *links_; }
  const OpCalls& calls() const { return *calls_; }
  const Collectives& collectives() const { return *collectives_; }

  /// What is around the origin of some work; null where that has no call.
  const Surroundings* AroundOf(WorkIndex work) const { return At(around_work_[work]); }
  std::span<const uint32_t> RangesOf(const Surroundings& around, Around list) const {
    return lists_->Of(around, list);
  }
  /// What the threads that wait for a backward launch are inside of.
  std::span<const uint32_t> CallersOf(const Surroundings& around) const;
  /// The layers that a call is in: those around it; of the engine's own work those around the
  /// forward op of the node that it is for.
  std::span<const uint32_t> LayersOf(const Surroundings& around) const;
  /// The layers around a forward op, where a kernel takes them from it.
  std::span<const uint32_t> LayersAroundForward(uint32_t forward) const;
  /// What is around a forward op that launched nothing, where a kernel of its node takes its op
  /// from it; else null.
  const Surroundings* AroundSilentForward(uint32_t forward) const;
  /// What is around the forward op of a node, itself included; null where no kernel can take it
  /// from there. Known of every node where ops are inferred from this trace.
  const Surroundings* AroundForward(uint32_t forward) const;
  /// Ops that no row of the kernel's own tells.
  const Inference& inference() const { return *inference_; }

  /// The training step in which a call began.
  std::optional<int64_t> StepOf(const LaunchCall& call) const;
  /// What is missing or wrong about a kernel.
  ReasonSet ReasonsOf(size_t kernel) const;

  /// The name of a range that is a layer.
  StringId LayerOf(uint32_t range) const;
  /// What a list of free texts shows of a range.
  StringId PathTextOf(uint32_t range) const;

 private:
  /// By index in the sweep's lists.
  const Surroundings* At(uint32_t index) const {
    return index == SurroundingLists::kNone ? nullptr : &lists_->all[index];
  }
  void CountReasons(Diagnostics* diagnostics) const;

  // In the order in which they are made: each needs those before it.
  Trace& trace_;
  GpuWork work_;
  std::unique_ptr<const ThreadRanges> threads_;
  std::unique_ptr<RangeTexts> texts_;
  std::unique_ptr<const LeakedRanges> leaks_;
  std::unique_ptr<RangeRoles> roles_;
  std::unique_ptr<const StepContexts> contexts_;
  std::unique_ptr<const ForwardBackward> links_;
  std::unique_ptr<OpCalls> calls_;
  std::unique_ptr<const RangeKnowledge> known_;
  std::unique_ptr<const LaunchSweep> sweep_;
  const SurroundingLists* lists_;          // Of the sweep,
  std::span<const uint32_t> around_work_;  // and by WorkIndex the place in them.
  std::unique_ptr<const StepIndex> steps_;
  std::unique_ptr<const Collectives> collectives_;
  std::unique_ptr<const Inference> inference_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_JOINED_H_
