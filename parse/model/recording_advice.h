#ifndef OPLENS_PARSE_MODEL_RECORDING_ADVICE_H_
#define OPLENS_PARSE_MODEL_RECORDING_ADVICE_H_

#include <cstdint>
#include <string_view>

#include "parse/model/family.h"

namespace oplens {

/// Something that may be missing from a profile.
enum class MissingFact : uint8_t {
  kKernels,
  kKernelNames,
  kKernelTimes,
  kLaunchConfigurations,
  kLaunches,  ///< Of kernels.
  kApiCalls,
  kRank,
  kOps,        ///< And with them sequence numbers, direction and phase.
  kTypedOps,   ///< Ops as annotated calls.
  kArguments,  ///< Shapes.
  kDTypes,     ///< Data types beside shapes.
  kRoof,       ///< Arguments, or the GPU.
  kGpu,        ///< The GPU alone.
  kGradients,  ///< Sequence numbers, if ops are recorded anyway.
  kLayers,
  kStacks,
  kRanges,  ///< The user's own.
  kNvtxRanges,
  kAnnotations,  ///< The user's own, in PyTorch's profiler.
  kFrames,       ///< Calls of Python functions.
  kSteps,
  kMemoryEvents,
  kGraphKernels,   ///< The kernels of CUDA graphs, or where these were captured.
  kCompiledOps,    ///< The ops of a kernel that a compiler fused.
  kEarlyLaunches,  ///< Calls before the recording began whose work it holds.
  kLostRecords,    ///< By a full buffer.
  kLateKernels,    ///< Of recorded launches.
  kRangeEnds,
  kWholeSteps,  ///< Not cut by the beginning or end of the recording.
};

/// The flag or call of the family's profiler that records it: "profile(with_stack=True)". "" if
/// there is none, or no recording can have it.
std::string_view RecordingFlag(MissingFact lack, Family family);

/// The same as words for use after "to raise the share of ...:". Some things have only one of the
/// two. For Family::kUnknown, words that hold for all families.
std::string_view RecordingRemedy(MissingFact lack, Family family);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_RECORDING_ADVICE_H_
