#ifndef OPLENS_NVTX_ANNOTATE_CAPTURE_WINDOW_H_
#define OPLENS_NVTX_ANNOTATE_CAPTURE_WINDOW_H_

#include <cstdint>
#include <string_view>

namespace oplens::annotate {

/// Switch emission on or off, mark this in the domain "oplens", and start or stop the CUDA
/// profiler.
void StartCapture() noexcept;
void StopCapture() noexcept;

// The same for cycles of a schedule, whose marks name the cycle: vocabulary/marker_format.h.

/// Records nothing until the first cycle.
void HoldCapture() noexcept;
/// Starts emission if the listening recorder drops what is outside cycles, so that the one-time
/// costs of the first range fall outside the cycle. No effect with other tools.
void WarmUpCapture() noexcept;
void StartCycle(int64_t cycle) noexcept;
enum class CycleEnd : uint8_t { kComplete, kDropped };
void StopCycle(int64_t cycle, CycleEnd end) noexcept;

/// Calls cudaProfilerStart or -Stop, otherwise cuProfilerStart or -Stop, in a library that is
/// already loaded; no effect if there is none.
void SwitchCudaProfiler(bool on) noexcept;

/// Whether a comma-separated list contains a word.
bool HasWord(std::string_view list, std::string_view word) noexcept;

}  // namespace oplens::annotate

#endif  // OPLENS_NVTX_ANNOTATE_CAPTURE_WINDOW_H_
