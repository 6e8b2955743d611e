#ifndef OPLENS_NVTX_ANNOTATE_TORCH_NODE_OWNERS_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_NODE_OWNERS_H_

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace oplens::annotate::torch {

/// Maps the framework's thread numbers to OS thread ids. Lock-free; remembers the latest 16384
/// threads.
class ThreadNumbers {
 public:
  void Set(uint64_t framework_thread, uint64_t thread) noexcept {
    entries_[framework_thread % kEntries].store(framework_thread << 32 | (thread & UINT32_MAX),
                                                std::memory_order_relaxed);
  }
  /// 0: unknown.
  uint64_t Find(uint64_t framework_thread) const noexcept {
    const uint64_t entry = entries_[framework_thread % kEntries].load(std::memory_order_relaxed);
    return entry >> 32 == (framework_thread & UINT32_MAX) ? entry & UINT32_MAX : 0;
  }

 private:
  static constexpr size_t kEntries = 16384;
  std::atomic<uint64_t> entries_[kEntries] = {};
};

/// Which call created the backward node with a sequence number of a thread. A call knows only the
/// number of its thread's next node; not those of further nodes that it creates (CopySlices after
/// the node of an in-place op) or of nodes created outside ops (TorchScript's DifferentiableGraph).
/// So the numbers that the counter passes during a call, but not during calls inside it, are
/// assigned to that call. An operator without a number makes no nodes.
///
/// Lock-free; remembers the latest 131072 numbers.
class NodeOwners {
 public:
  /// Has the system give all of its memory now, not bit by bit between the ops of a program. Linux
  /// before 5.14 does not.
  void TakeMemory() noexcept {
    constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE
    const auto start = reinterpret_cast<uintptr_t>(entries_);
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t first = start / page * page;
    madvise(reinterpret_cast<void*>(first), start + sizeof entries_ - first, kPopulateWrite);
  }
  /// `thread` and `handle`: the framework's numbers of thread and call.
  void Set(uint64_t thread, uint64_t number, uint64_t handle) noexcept {
    Entry& entry = EntryOf(thread, number);
    entry.key.store(0, std::memory_order_relaxed);
    entry.handle.store(handle, std::memory_order_release);
    entry.key.store(KeyOf(thread, number), std::memory_order_release);
  }
  /// 0: unknown.
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

  // Never 0: threads are numbered from 1.
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
