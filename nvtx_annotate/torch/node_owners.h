#ifndef OPLENS_NVTX_ANNOTATE_TORCH_NODE_OWNERS_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_NODE_OWNERS_H_

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

/// Which call made the node of the backward pass that has a sequence number of a thread. A call is
/// told the number that the next node of its thread will have; those that it makes beyond that one
/// (CopySlices behind the node of an in-place op), or behind the back of ops (TorchScript's
/// DifferentiableGraph), nobody tells. The counter does: what it counted while a call ran and none
/// inside of it did, that call made.
///
/// Without locks; the latest 131072 numbers are remembered.
class NodeOwners {
 public:
  /// `thread`: the framework's number of it. `handle`: the framework's number of the call.
  void Set(uint64_t thread, uint64_t number, uint64_t handle) noexcept {
    Entry& entry = EntryOf(thread, number);
    entry.key.store(0, std::memory_order_relaxed);
    entry.handle.store(handle, std::memory_order_release);
    entry.key.store(KeyOf(thread, number), std::memory_order_release);
  }
  /// 0: not known.
  uint64_t Find(uint64_t thread, uint64_t number) const noexcept {
    const Entry& entry = EntryOf(thread, number);
    const uint64_t key = KeyOf(thread, number);
    if (entry.key.load(std::memory_order_acquire) != key) return 0;
    const uint64_t handle = entry.handle.load(std::memory_order_acquire);
    return entry.key.load(std::memory_order_relaxed) == key ? handle : 0;
  }

 private:
  struct Entry {
    std::atomic<uint64_t> key{0};
    std::atomic<uint64_t> handle{0};
  };
  static constexpr size_t kEntries = size_t{1} << 17;

  // Not 0: threads are numbered from 1.
  static uint64_t KeyOf(uint64_t thread, uint64_t number) {
    return thread << 40 | (number & ((uint64_t{1} << 40) - 1));
  }
  static size_t IndexOf(uint64_t thread, uint64_t number) {
    return (number + thread * 40503) % kEntries;
  }
  Entry& EntryOf(uint64_t thread, uint64_t number) { return entries_[IndexOf(thread, number)]; }
  const Entry& EntryOf(uint64_t thread, uint64_t number) const {
    return entries_[IndexOf(thread, number)];
  }

  Entry entries_[kEntries];
};

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_NODE_OWNERS_H_
