#ifndef OPLENS_NVTX_ANNOTATE_CAPTURE_WINDOW_H_
#define OPLENS_NVTX_ANNOTATE_CAPTURE_WINDOW_H_

#include <string_view>

namespace oplens::annotate {

/// Switch emission on or off, mark the moment in the domain "oplens", and start or stop the CUDA
/// profiler.
void StartCapture() noexcept;
void StopCapture() noexcept;

/// Calls cudaProfilerStart or -Stop, else cuProfilerStart or -Stop, of a library that the process
/// has loaded already; loads none. Does nothing where there is none.
void SwitchCudaProfiler(bool on) noexcept;

/// Whether a list of words with commas in between holds a word.
bool HasWord(std::string_view list, std::string_view word) noexcept;

}  // namespace oplens::annotate

#endif  // OPLENS_NVTX_ANNOTATE_CAPTURE_WINDOW_H_
