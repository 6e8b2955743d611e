#ifndef OPLENS_PARSE_JOIN_LAUNCH_SWEEP_H_
#define OPLENS_PARSE_JOIN_LAUNCH_SWEEP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "parse/join/backward_callers.h"
#include "parse/join/gpu_work.h"
#include "parse/join/surroundings.h"
#include "parse/join/surroundings_reader.h"

namespace oplens::parse {

/// The end of a call as ranges around it are compared with. Where times are cut to whole units, a
/// range may seem to end up to two units before a call inside it does; one that ends where the call
/// begins still is before it.
int64_t ComparedEnd(const LaunchCall& call, int64_t clock_resolution_ns);

/// What is around the launch of each kernel and replay, and around forward ops that kernels of
/// other threads belong to: one sweep a thread over its launches, one over such forward ops.
///
/// O((K + R) log R) for K launches and R ranges. 4 bytes a kernel; 60 bytes and 4 for each range
/// in a list for launches in a row with the same ranges around them.
class LaunchSweep {
 public:
  /// All must outlive this object.
  LaunchSweep(const RangeKnowledge& known, const GpuWork& work, OpCalls* calls);

  static constexpr uint32_t kNone = SurroundingLists::kNone;

  const SurroundingLists& lists() const { return lists_; }
  const BackwardCallers& callers() const { return callers_; }
  /// By WorkIndex, the index of what is around the origin of the work; kNone where that has no
  /// call.
  std::span<const uint32_t> around_work() const { return around_work_; }
  /// The same of the forward op of a number, where a kernel of its node takes layer, stack or
  /// annotations from it and no kernel of the op itself tells them; else kNone. `silent`: the op
  /// launched nothing.
  struct ForwardPlace {
    uint32_t number = 0;
    uint32_t around = kNone;
    bool silent = false;
  };
  ForwardPlace PlaceOf(uint32_t forward) const;

 private:
  void SweepThread(ThreadIndex thread);
  uint32_t AskCallers(const LaunchCall& call, const Surroundings& around);
  void FindForwardPlaces();
  void SweepForwards(std::vector<uint32_t>* numbers, const std::vector<bool>& silent);

  const RangeKnowledge& known_;
  const GpuWork& work_;
  SurroundingsReader reader_;
  BackwardCallers callers_;
  SurroundingLists lists_;
  std::vector<uint32_t> around_work_;  // By WorkIndex; into lists_.
  std::vector<ForwardPlace> places_;   // By number.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_LAUNCH_SWEEP_H_
