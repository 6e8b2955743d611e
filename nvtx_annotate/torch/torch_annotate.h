#ifndef OPLENS_NVTX_ANNOTATE_TORCH_TORCH_ANNOTATE_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_TORCH_ANNOTATE_H_

// Public header: installed, docs/library.md.

// Annotates every operator and backward node of a program that uses libtorch, without changes to
// the network: observes PyTorch's record functions on all threads.
//
// A program links oplens_torch and calls Install() (loading the library also installs it, but some
// linkers drop unused libraries), or sets LD_PRELOAD to liboplens_annotate_preload.so, or uses
// oplens_annotate from Python. The library also contains annotate.h and oplens_annotate.h, whose
// layers and ranges may be mixed in; nothing else must be linked.

#if defined(__GNUC__)
#define OPLENS_TORCH_EXPORT __attribute__((visibility("default")))
#else
#define OPLENS_TORCH_EXPORT
#endif

namespace oplens::annotate::torch {

/// Starts observing if a profiler listens to NVTX, otherwise does nothing. Returns whether it
/// observes. May be called repeatedly, from any thread.
OPLENS_TORCH_EXPORT bool Install() noexcept;

/// Stops observing. Open ranges end with their functions. No op may run meanwhile.
OPLENS_TORCH_EXPORT void Uninstall() noexcept;

}  // namespace oplens::annotate::torch

extern "C" {
/// For C and ctypes: 1 if observing.
OPLENS_TORCH_EXPORT int oplens_torch_install(void);
OPLENS_TORCH_EXPORT void oplens_torch_uninstall(void);
/// on: starts marking every allocation and release of PyTorch's allocators (also started by
/// OPLENS_ANNOTATE=memory); returns 1 if a recorder takes them. 0: stops what a call that returned
/// 1 started.
OPLENS_TORCH_EXPORT int oplens_torch_memory(int on);
/// Whether ops carry their arguments; they do by default.
OPLENS_TORCH_EXPORT void oplens_torch_shapes(int on);
/// The PyTorch version that the library was built for, "1.13.0". Works with releases that share the
/// first two numbers.
OPLENS_TORCH_EXPORT const char* oplens_torch_version(void);
}

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_TORCH_ANNOTATE_H_
