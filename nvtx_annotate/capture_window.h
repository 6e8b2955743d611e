#ifndef OPLENS_NVTX_ANNOTATE_CAPTURE_WINDOW_H_
#define OPLENS_NVTX_ANNOTATE_CAPTURE_WINDOW_H_

#include <cstdint>
#include <string_view>

namespace oplens::annotate {

/// Switch emission on or off, mark the moment in the domain "oplens", and start or stop the CUDA
/// profiler.
void StartCapture() noexcept;
void StopCapture() noexcept;

// The same for the cycles of a schedule, whose marks say which cycle it is:
// vocabulary/marker_format.h.

/// Nothing is recorded until the first cycle.
void HoldCapture() noexcept;
/// Emission begins where the recorder that listens drops what is outside of a cycle, so that what
/// the first of all ranges cost is not in the cycle; nothing happens with any other tool.
void WarmUpCapture() noexcept;
void StartCycle(int64_t cycle) noexcept;
enum class CycleEnd : uint8_t { kComplete, kDropped };
void StopCycle(int64_t cycle, CycleEnd end) noexcept;

/// Calls cudaProfilerStart or -Stop, else cuProfilerStart or -Stop, of a library that the process
/// has loaded already; loads none. Does nothing where there is none.
void SwitchCudaProfiler(bool on) noexcept;

/// Whether a list of words with commas in between holds a word.
bool HasWord(std::string_view list, std::string_view word) noexcept;

}  // namespace oplens::annotate

#endif  // OPLENS_NVTX_ANNOTATE_CAPTURE_WINDOW_H_
