#ifndef OPLENS_PROF_RUN_LOSS_COUNTS_H_
#define OPLENS_PROF_RUN_LOSS_COUNTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "base/sums.h"
#include "parse/join/range_roles.h"
#include "prof/run/run.h"

namespace oplens::prof {

class Run;

/// What a recording may have lost.
enum class Loss : uint8_t {
  // Device events without the call that launched them, by cause.
  kNoApiCalls,     ///< There are no API calls at all.
  kEarlyLaunch,    ///< The first call of the file came later.
  kNoCorrelation,  ///< It has no number that a call could have.
  kMissingCall,    ///< No call has its number.
  // Work of graphs.
  kNoCapture,      ///< Kernels; what put them into the graph is not in the file.
  kHiddenKernels,  ///< Replays; their kernels are not in the file.
  kNoTime,         ///< Device events.
  kNoRange,        ///< Kernels that nothing surrounds.
  kNoOp,           ///< Kernels that ranges surround, but no op; no communication.
  kOpenRange,      ///< Ranges, with the time of the kernels launched in them.
  kLeakedRange,    ///< The same; time of the kernels that only these surround.
  kCutStep,
  // What the recorder counts.
  kLostRecords,
  kLostRanges,
  kUnfinishedLaunch,
  kFileCut,
};
inline constexpr size_t kLossCount = 16;

/// What was lost of each kind, and the time of what was kept of it.
struct LossCounts {
  struct OfKind {
    Sum count;
    Sum time_ns;

    static constexpr std::tuple kMembers{&OfKind::count, &OfKind::time_ns};
  };
  Any has_ops;    ///< The profiler recorded operators.
  Sum device_ns;  ///< Sum of the durations of all device events.
  std::array<OfKind, kLossCount> counts;

  static constexpr std::tuple kMembers{&LossCounts::has_ops, &LossCounts::device_ns,
                                       &LossCounts::counts};

  void Add(Loss loss, int64_t count, int64_t time_ns = 0);
  const OfKind& Of(Loss loss) const { return counts[static_cast<size_t>(loss)]; }
};

/// One pass over the device events, ranges and calls of a run.
LossCounts CountLosses(const Run& run);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_LOSS_COUNTS_H_
