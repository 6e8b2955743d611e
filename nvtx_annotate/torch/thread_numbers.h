#ifndef OPLENS_NVTX_ANNOTATE_TORCH_THREAD_NUMBERS_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_THREAD_NUMBERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace oplens::annotate::torch {

/// Which thread of the operating system has which number of the framework. Without locks; the
/// latest 16384 threads are remembered.
class ThreadNumbers {
 public:
  void Set(uint64_t framework_thread, uint64_t thread) noexcept {
    entries_[framework_thread % kEntries].store(framework_thread << 32 | (thread & UINT32_MAX),
                                                std::memory_order_relaxed);
  }
  /// 0: not known.
  uint64_t Find(uint64_t framework_thread) const noexcept {
    const uint64_t entry = entries_[framework_thread % kEntries].load(std::memory_order_relaxed);
    return entry >> 32 == (framework_thread & UINT32_MAX) ? entry & UINT32_MAX : 0;
  }

 private:
  static constexpr size_t kEntries = 16384;
  std::atomic<uint64_t> entries_[kEntries] = {};
};

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_THREAD_NUMBERS_H_
