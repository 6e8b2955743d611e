#ifndef OPLENS_PARSE_JOIN_JOINED_H_
#define OPLENS_PARSE_JOIN_JOINED_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "parse/join/gpu_work.h"
#include "parse/join/surroundings.h"
#include "parse/model/evidence_kinds.h"
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
class VocabularyRanges;
struct RangeKnowledge;

struct JoinOptions {
  bool keep_open = false;  ///< Never-closed ranges give their op and call stack too, as in PyProf.
  EvidenceKinds evidence = {};
  const Joined* reference = nullptr;  ///< Another recording of the program; must outlive the join.
  /// This is such a recording: keep the surroundings of every forward op of a node.
  bool for_reference = false;
};

/// Links the items of a trace: every kernel with its launch, the ranges around it, its step, phase,
/// node and forward op, as indices of kernels, ranges, launches and texts. Rules:
/// docs/correlation.md. Records, timelines and descriptions are made from it. Users of a part
/// include its header.
///
///     Trace -> ranges by thread -> leaks -> contexts of the step -> nodes with their forward ops
///           -> complete calls -> one sweep a thread over its launches
///
/// O((K + R) log R) for K kernels and R ranges, whatever the order of rows. Memory: 8 bytes per
/// kernel, 5 per range, and LaunchSweep's lists.
class Joined {
 public:
  /// Sorts the kernels, replays and ranges of `trace` (see GpuWork, ThreadRanges), and adds texts
  /// to its strings. `trace` must outlive this object. Counts what is missing in `diagnostics`.
  Joined(Trace* trace, const JoinOptions& options, Diagnostics* diagnostics);
  Joined(const Joined&) = delete;
  Joined& operator=(const Joined&) = delete;
  ~Joined();

  const Trace& trace() const { return trace_; }
  const GpuWork& work() const { return *work_; }
  const ThreadRanges& threads() const { return *threads_; }
  const LeakedRanges& leaks() const { return *leaks_; }
  const RangeTexts& texts() const { return *texts_; }
  const VocabularyRanges& vocabulary() const { return *vocabulary_; }
  const StepContexts& contexts() const { return *contexts_; }
  const ForwardBackward& links() const { return *links_; }
  const OpCalls& calls() const { return *calls_; }
  const Collectives& collectives() const { return *collectives_; }

  /// Surroundings of the origin of some work; null if that has no call.
  const Surroundings* SurroundingsOf(WorkIndex work) const { return At(around_work_[work]); }
  std::span<const uint32_t> RangesOf(const Surroundings& around, Around list) const {
    return lists_->Of(around, list);
  }
  Omitted OmittedBy(const Surroundings& around) const { return lists_->OmittedBy(around); }
  /// Ranges on the threads that wait for a backward launch.
  std::span<const uint32_t> CallersOf(const Surroundings& around) const;
  /// The layers around a call; for the engine's own work, those around the forward op of its node.
  std::span<const uint32_t> LayersOf(const Surroundings& around) const;
  /// The layers around a forward op, if a kernel takes them from it.
  std::span<const uint32_t> LayersOfForward(uint32_t forward) const;
  /// Surroundings of a forward op without launches, if a kernel of its node takes its op from it;
  /// else null.
  const Surroundings* SurroundingsOfSilentForward(uint32_t forward) const;
  /// Surroundings of the forward op of a node, itself included; null if no kernel can take it from
  /// there. Known for every node if ops are inferred from this trace.
  const Surroundings* SurroundingsOfForward(uint32_t forward) const;
  /// Ops that no row of the kernel's own identifies.
  const Inference& inference() const { return *inference_; }

  /// The training step in which a call began.
  std::optional<int64_t> StepOf(const LaunchCall& call) const;
  /// What is missing or wrong about a kernel.
  ReasonSet ReasonsOf(size_t kernel) const;

  /// The name of a range that is a layer.
  StringId LayerOf(uint32_t range) const;
  /// The text for a range in a list of free texts.
  StringId PathTextOf(uint32_t range) const;

 private:
  /// `index`: in the sweep's lists.
  const Surroundings* At(uint32_t index) const {
    return index == SurroundingLists::kNone ? nullptr : &lists_->all[index];
  }
  void CountReasons(Diagnostics* diagnostics) const;

  // In construction order: each needs those before it.
  Trace& trace_;
  std::optional<GpuWork> work_;  // Never empty.
  std::unique_ptr<const ThreadRanges> threads_;
  std::unique_ptr<RangeTexts> texts_;
  std::unique_ptr<const VocabularyRanges> vocabulary_;
  std::unique_ptr<const LeakedRanges> leaks_;
  std::unique_ptr<RangeRoles> roles_;
  std::unique_ptr<const StepContexts> contexts_;
  std::unique_ptr<const ForwardBackward> links_;
  std::unique_ptr<OpCalls> calls_;
  std::unique_ptr<const RangeKnowledge> known_;
  std::unique_ptr<const LaunchSweep> sweep_;
  const SurroundingLists* lists_;          // The sweep's,
  std::span<const uint32_t> around_work_;  // and indices into it by WorkIndex.
  std::unique_ptr<const StepIndex> steps_;
  std::unique_ptr<const Collectives> collectives_;
  std::unique_ptr<const Inference> inference_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_JOINED_H_
