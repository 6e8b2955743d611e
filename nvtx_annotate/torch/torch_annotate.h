#ifndef OPLENS_NVTX_ANNOTATE_TORCH_TORCH_ANNOTATE_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_TORCH_ANNOTATE_H_

// Public header: installed, docs/library.md.

// Annotates every operator and every node of the backward pass of a program that uses libtorch,
// with no change to the network: oplens_torch observes PyTorch's record functions, on all threads.
//
// A program gets it by linking oplens_torch and calling Install() (a linker that leaves out unused
// libraries needs the call; loading the library installs it too), by LD_PRELOAD of
// liboplens_annotate_preload.so, or from Python with oplens_annotate. Layers and other ranges of
// annotate.h and oplens_annotate.h may be mixed in; the library has them, so that a program needs
// to link nothing else.

#if defined(__GNUC__)
#define OPLENS_TORCH_EXPORT __attribute__((visibility("default")))
#else
#define OPLENS_TORCH_EXPORT
#endif

namespace oplens::annotate::torch {

/// Begins to observe, if a profiler listens to NVTX; without one nothing is installed and nothing
/// slows down. True when observing. May be called more than once, from any thread.
OPLENS_TORCH_EXPORT bool Install() noexcept;

/// Ends it. Ranges that are open end with what they stand for. No op may run meanwhile.
OPLENS_TORCH_EXPORT void Uninstall() noexcept;

}  // namespace oplens::annotate::torch

extern "C" {
/// The same for C and ctypes: 1 when observing.
OPLENS_TORCH_EXPORT int oplens_torch_install(void);
OPLENS_TORCH_EXPORT void oplens_torch_uninstall(void);
/// on: begins to mark every allocation and release of PyTorch's allocators, also begun by
/// OPLENS_ANNOTATE=memory; 1 where a recorder takes them. 0 ends what a call that answered 1 began.
OPLENS_TORCH_EXPORT int oplens_torch_memory(int on);
/// Whether ops carry their arguments, as they do at first.
OPLENS_TORCH_EXPORT void oplens_torch_shapes(int on);
/// The version of PyTorch that the library was built for, "1.13.0". It works with the releases that
/// share the first two numbers.
OPLENS_TORCH_EXPORT const char* oplens_torch_version(void);
}

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_TORCH_ANNOTATE_H_
