#ifndef OPLENS_PARSE_MODEL_RECORDING_ADVICE_H_
#define OPLENS_PARSE_MODEL_RECORDING_ADVICE_H_

#include <cstdint>
#include <string_view>

#include "parse/model/family.h"

namespace oplens {

/// What a profile may lack.
enum class Lack : uint8_t {
  kKernels,
  kKernelNames,
  kKernelTimes,
  kLaunchConfigurations,
  kLaunches,  ///< Of kernels.
  kApiCalls,
  kRank,
  kOps,        ///< And with them sequence numbers, the direction and the phase.
  kTypedOps,   ///< Ops as annotated calls.
  kArguments,  ///< Shapes.
  kDTypes,     ///< Data types beside shapes.
  kRoof,       ///< Arguments, or the GPU.
  kGpu,        ///< The GPU alone.
  kGradients,  ///< Sequence numbers where ops are recorded anyway.
  kLayers,
  kStacks,
  kRanges,  ///< Of the user's own.
  kNvtxRanges,
  kAnnotations,  ///< Of the user's own, in PyTorch's profiler.
  kFrames,       ///< Calls of Python functions.
  kSteps,
  kMemoryEvents,
  kGraphKernels,   ///< The kernels of CUDA graphs, or where these were captured.
  kCompiledOps,    ///< The ops of a kernel that a compiler made of several.
  kEarlyLaunches,  ///< Calls before the recording began, of work that it holds.
  kLostRecords,    ///< Of a full buffer.
  kLateKernels,    ///< Of launches that the recording holds.
  kRangeEnds,
  kWholeSteps,  ///< That the recording's beginning and end do not cut.
};

/// The flag or call of the family's profiler that records it: "profile(with_stack=True)". "" where
/// there is none, or it can be had of no recording.
std::string_view RecordingFlag(Lack lack, Family family);

/// The same as words that go behind "to raise the share of ...:". Some things only have one of the
/// two. For Family::kUnknown, words that hold for all.
std::string_view RecordingRemedy(Lack lack, Family family);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_RECORDING_ADVICE_H_
