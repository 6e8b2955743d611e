#ifndef OPLENS_PARSE_JOIN_LAUNCH_SWEEP_H_
#define OPLENS_PARSE_JOIN_LAUNCH_SWEEP_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "parse/join/backward_callers.h"
#include "parse/join/gpu_work.h"
#include "parse/join/open_at_cut.h"
#include "parse/join/surroundings.h"
#include "parse/join/surroundings_reader.h"

namespace oplens::parse {

/// Returns the end of a call for comparison with ranges. With truncated times a range may seem to
/// end up to two units before a call inside it; one that ends where the call begins is before it.
int64_t ComparedEnd(const LaunchCall& call, int64_t clock_resolution_ns);

/// The surroundings of the launch of each kernel and replay, and of forward ops to which kernels of
/// other threads belong: one sweep per thread over its launches, one over such forward ops. Sweeps
/// are cut into pieces, which up to ThreadLimit() threads make and which are taken in order.
///
/// O((K + R) log R) for K launches and R ranges. Memory: 4 bytes per kernel; 60 bytes plus 4 per
/// listed range for consecutive launches with the same surroundings; meanwhile 1,024 launches four
/// times for each thread.
class LaunchSweep {
 public:
  /// All must outlive this object.
  LaunchSweep(const RangeKnowledge& known, const GpuWork& work, OpCalls* calls);

  static constexpr uint32_t kNone = SurroundingLists::kNone;

  const SurroundingLists& lists() const { return lists_; }
  const BackwardCallers& callers() const { return callers_; }
  /// By WorkIndex: index of the surroundings of the work's origin; kNone if that has no call.
  std::span<const uint32_t> around_work() const { return around_work_; }
  /// Likewise for a forward op by number, if a kernel of its node takes layer, stack or annotations
  /// from it and no kernel of the op has them; else kNone. `silent`: the op launched nothing.
  struct ForwardPlace {
    uint32_t number = 0;
    uint32_t around = kNone;
    bool silent = false;
  };
  ForwardPlace PlaceOf(uint32_t forward) const;

 private:
  struct Piece;
  class PieceCutter;

  /// `count`: of launches or forward ops, all of which `cutter` cuts.
  void Sweep(size_t count, PieceCutter* cutter, const std::vector<bool>& silent);
  void Make(Piece* piece) const;
  void SweepLaunches(Piece* piece) const;
  void TakeLaunches(const Piece& piece);
  void TakeForwards(const Piece& piece, const std::vector<bool>& silent);
  /// Appends the ranges of a piece; returns the place of the first.
  uint32_t TakeRanges(const Piece& piece);
  void Append(const Surroundings& around, uint32_t first_range);
  void FindForwardPlaces();

  const RangeKnowledge& known_;
  const GpuWork& work_;
  OpCalls& calls_;
  BackwardCallers callers_;
  SurroundingLists lists_;
  std::vector<uint32_t> around_work_;  // By WorkIndex; into lists_.
  std::vector<ForwardPlace> places_;   // By number.
  std::optional<OpenAtCut> open_;      // While several threads sweep.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_LAUNCH_SWEEP_H_
