#ifndef OPLENS_PROF_RUN_HOST_MOMENTS_H_
#define OPLENS_PROF_RUN_HOST_MOMENTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parse/model/trace.h"
#include "prof/run/device_work.h"

namespace oplens::parse {
class Joined;
}  // namespace oplens::parse

namespace oplens::prof {

/// An interval in which an engine thread runs nodes of the backward pass for the thread that called
/// backward().
///
///     caller  |- forward ops -|                            |- optimizer -|
///     engine                     |- node -| |- node -| ...|
///                                begin                  end
struct BackwardBurst {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;  ///< > begin_ns.
  ThreadIndex engine = 0;
  ThreadIndex caller = 0;
  bool waits = false;  ///< The caller begins nothing meanwhile, so it waits.
};

/// The thread that each engine thread works for: that of most of its nodes' forward ops; without
/// known forward ops, the thread of its process with most ranges among those without nodes.
/// kNoThread for threads that are no engine's or run their own backward pass.
std::vector<ThreadIndex> CallersOfEngines(const parse::Joined& joined);

/// The bursts of all engine threads, by thread and time. A burst lasts until the caller begins a
/// call or one of `calls` (by thread, then start) in a gap between the engine's ranges. O(R +
/// calls) for R ranges.
std::vector<BackwardBurst> FindBackwardBursts(const parse::Joined& joined,
                                              std::span<const ThreadIndex> callers,
                                              std::span<const LaunchIndex> calls);

/// A moment of a host thread that has dependencies or is one.
struct HostMoment {
  /// At equal times, in this order.
  enum class Kind : uint8_t {
    kReturn,    ///< The thread continues after a burst that it waited for.
    kWait,      ///< A waiting call returns.
    kCopied,    ///< A call returns that made a copy and waited for it.
    kBegin,     ///< A burst begins, on the engine's thread.
    kCall,      ///< A call that launches work begins.
    kHandOff,   ///< A burst begins, on its caller's thread.
    kBurstEnd,  ///< A burst ends, on the engine's thread.
  };
  int64_t time_ns = 0;
  /// kCall: the call. kWait: index for HostMoments::wait(). kCopied: the copy's index in
  /// DeviceWork::events(). Otherwise index for HostMoments::burst().
  uint32_t item = 0;
  Kind kind = Kind::kCall;
};

struct HostWait {
  LaunchIndex call = kNoLaunch;
  /// Index in Trace::synchronizations; kNoItem: only the name says that it waits, not for what.
  ItemIndex wait = kNoItem;
};

/// All such moments of a rank, by thread and time. Calls wait for copies between host and device
/// that lie inside them. Other waiting calls are those recorded as waiting, and those of at least
/// kLongCallNs with a waiting name. O(n log n) for n items of work, calls and ranges; 24 bytes per
/// launching call.
class HostMoments {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// All must outlive this object.
  HostMoments(const parse::Joined& joined, const DeviceWork& work);

  std::span<const HostMoment> all() const { return moments_; }
  /// Index in all() of a thread's first moment; for thread_count() the size.
  size_t BeginOf(size_t thread) const { return bounds_[thread]; }
  size_t thread_count() const { return bounds_.size() - 1; }
  /// The kCall moment of a call; kNone if it launched nothing.
  uint32_t MomentOf(LaunchIndex call) const { return moment_of_call_[call]; }
  const HostWait& wait(uint32_t index) const { return waits_[index]; }
  const BackwardBurst& burst(uint32_t index) const { return bursts_[index]; }
  /// The moments of a burst: kHandOff, kBegin, kBurstEnd.
  struct BurstMoments {
    uint32_t hand_off = kNone;
    uint32_t begin = kNone;
    uint32_t end = kNone;
  };
  const BurstMoments& MomentsOfBurst(uint32_t burst) const { return burst_moments_[burst]; }
  /// Whether a thread runs the backward pass of another.
  bool IsEngine(size_t thread) const { return callers_[thread] != kNoThread; }

  /// Calls that the path distinguishes from their surroundings, by thread and start: those that
  /// launched work or waited, and all others of at least kLongCallNs.
  std::span<const LaunchIndex> calls() const { return calls_; }

 private:
  struct Placed {
    HostMoment moment;
    ThreadIndex thread;
  };

  void FindCalls();
  void FindWaits(std::vector<Placed>* found);
  void FindCopies(std::vector<Placed>* found);
  void FindBursts(std::vector<Placed>* found);
  void Place(std::vector<Placed> found);
  void SortCalls();

  const parse::Joined& joined_;
  const Trace& trace_;
  const DeviceWork& work_;
  std::vector<bool> launches_work_;  // By call.
  std::vector<LaunchIndex> calls_;
  std::vector<HostWait> waits_;
  std::vector<ThreadIndex> callers_;  // By thread.
  std::vector<BackwardBurst> bursts_;
  std::vector<BurstMoments> burst_moments_;
  std::vector<HostMoment> moments_;
  std::vector<size_t> bounds_;            // By thread, plus the end.
  std::vector<uint32_t> moment_of_call_;  // By call.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_HOST_MOMENTS_H_
