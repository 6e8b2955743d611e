#ifndef OPLENS_PARSE_MODEL_NEED_H_
#define OPLENS_PARSE_MODEL_NEED_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace oplens {

/// What a profile must hold for a kernel so that a column has a value for it, in the order in which
/// needs are listed; columns with the same need share a line. parse/check/check.cc defines what
/// each requires of a kernel, whether pricing may still find no value, and what to record for it.
enum class Need : uint8_t {
  kNothing,
  kName,                 ///< The kernel's name.
  kTensorCoreName,       ///< A name that indicates Tensor Cores.
  kTime,                 ///< Its start and end.
  kLaunchConfiguration,  ///< Grid and block.
  kLaunch,               ///< The call that launched it.
  kLaunchedAndTimed,     ///< That call and the kernel, both timed.
  kCorrelation,          ///< The correlation id of both.
  kProcess,              ///< The process of the launch.
  kRank,
  kOp,
  kModule,
  kMarker,       ///< An annotated call around the launch.
  kCost,         ///< The op's arguments: what the op costs,
  kCostShare,    ///< the kernel's part of that,
  kCostKinds,    ///< by kinds of work,
  kRate,         ///< and over its time.
  kShapes,       ///< Tensors among the op's arguments.
  kRoofline,     ///< The op's arguments and the GPU.
  kOccupancy,    ///< The GPU, registers and shared memory.
  kDirection,    ///< Forward or backward.
  kSequence,     ///< A sequence number,
  kAlternative,  ///< others nested in it,
  kSubSequence,  ///< and the kernel's place in it.
  kPhase,        ///< What the step was doing.
  kStep,         ///< Its number.
  kGradient,     ///< Which gradient the kernel computes.
  kLayer,
  kStack,     ///< A call stack.
  kRange,     ///< A range of the user's own.
  kCounters,  ///< What the hardware counted, from another file (--counters).
};
inline constexpr size_t kNeedCount = static_cast<size_t>(Need::kCounters) + 1;

/// A column by its key, and what it needs.
struct ColumnNeed {
  std::string_view key;
  Need need = Need::kNothing;
};

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_NEED_H_
