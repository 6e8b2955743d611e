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
  // Device events without a launching call, by cause
  kNoApiCalls,     ///< The file has no API calls.
  kEarlyLaunch,    ///< The file's first call came later.
  kNoCorrelation,  ///< It has no valid correlation id.
  kMissingCall,    ///< No call has its correlation id.
  // Work of graphs
  kNoCapture,      ///< Kernels whose capturing call is not in the file.
  kHiddenKernels,  ///< Replays whose kernels are not in the file.
  kNoTime,         ///< Device events.
  kNoRange,        ///< Kernels within no range.
  kNoOp,           ///< Kernels within ranges but no op, except communication.
  kOpenRange,      ///< Ranges, with the time of the kernels launched in them.
  kLeakedRange,    ///< As kOpenRange; time of the kernels with no other range.
  kCutStep,
  // Counted by the recorder
  kLostRecords,
  kLostRanges,
  kUnfinishedLaunch,
  kFileCut,
};
inline constexpr size_t kLossCount = 16;

/// What was lost of each kind, and the time of what remains of it.
struct LossCounts {
  struct OfKind {
    Sum count;
    Sum time_ns;

    static constexpr std::tuple kMembers{&OfKind::count, &OfKind::time_ns};
  };
  Any has_ops;    ///< The profiler recorded operators.
  Sum device_ns;  ///< Total duration of all device events.
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
