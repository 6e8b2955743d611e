#ifndef OPLENS_NVTX_ANNOTATE_TORCH_RANGE_STACK_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_RANGE_STACK_H_

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "nvtx_annotate/emitter.h"
#include "nvtx_annotate/vocabulary/marker_format.h"

namespace oplens::annotate::torch {

/// The innermost enclosing context of what a thread runs.
enum class Place : uint8_t {
  kOutside,
  kOp,
  kNode,      ///< A backward node.
  kEvaluate,  ///< The engine's work around a node: sums and hooks of gradients.
};

/// The context that a range provides for ranges inside it.
struct Surroundings {
  int64_t seq = -1;  ///< Of the nearest range emitted with a number.
  Place place = Place::kOutside;
  markers::Direction dir = markers::Direction::kForward;
  /// kNode: the backward pass itself is recorded (create_graph). Otherwise an op with a sequence
  /// number inside the node is a forward op that runs again.
  bool recorded = false;
  /// The call that owns backward nodes created here, see NodeOwners; 0: none.
  uint64_t owner = 0;
};

struct NodeName;
class RecentForms;

/// An address that no other living thread has. Without a call, unlike that of a thread-local
/// variable in a library that is loaded later.
inline const void* ThreadPointer() noexcept {
#ifdef __x86_64__
  const void* pointer = nullptr;
  asm("mov %%fs:0, %0" : "=r"(pointer));
  return pointer;
#else
  return reinterpret_cast<const void*>(pthread_self());
#endif
}

/// A thread's open ranges of the framework, innermost last. The framework may end a range on
/// another thread, or after the enclosing one: such a range ends when its thread next begins or
/// ends one.
class RangeStack {
 public:
  /// Identifies a pushed range permanently.
  struct Mark {
    size_t index = 0;
    uint64_t serial = 0;
  };

  /// For forks: a child must not inherit locks held by other threads.
  static void LockAll() noexcept;
  static void UnlockAll() noexcept;

  /// The stack of this thread; null if out of memory or the thread is ending.
  static RangeStack* OfThread() noexcept {
    RangeStack* const stack = t_stack;
    return stack != nullptr ? stack : Make();
  }

  /// Whether it is that of this thread, which is not ending.
  bool IsOfThread() const noexcept {
    return owner_.load(std::memory_order_relaxed) == ThreadPointer();
  }

  const Surroundings& surroundings() const noexcept { return At(depth_).inside; }

  /// Whether one more range fits. Owner only.
  bool HasRoom() const noexcept { return depth_ + 1 < markers::kMaxDepth; }
  /// Whether the thread is known, nobody requested to end a range, and there is room for one more.
  /// Owner only.
  bool IsReady() const noexcept {
    return framework_thread != 0 && !asked_.load(std::memory_order_relaxed) && HasRoom();
  }
  /// Owner only, after HasRoom(). `token`: of the emitter.
  Mark Push(uint64_t token, const Surroundings& inside) noexcept {
    const bool changes_owner = inside.owner != surroundings().owner;
    Range& range = At(++depth_);
    range.changes_owner = changes_owner;
    range.token = token;
    range.serial = ++last_serial_;
    // Copied member by member: copying the whole struct would stall on the individual stores.
    range.inside.seq = inside.seq;
    range.inside.place = inside.place;
    range.inside.dir = inside.dir;
    range.inside.recorded = inside.recorded;
    range.inside.owner = inside.owner;
    return {depth_, last_serial_};
  }
  /// Ends the range and those inside it. Thread-safe; ignores ended ranges.
  void End(const Mark& mark) noexcept;
  /// Whether it is the innermost, as most are when they end, and End() will end it alone. Owner
  /// only.
  bool EndsAlone(const Mark& mark) const noexcept {
    return mark.index == depth_ && At(depth_).serial == mark.serial &&
           !asked_.load(std::memory_order_relaxed);
  }
  /// Whether another call owns backward nodes inside the innermost range than around it. Owner
  /// only.
  bool ChangesOwner() const noexcept { return At(depth_).changes_owner; }
  /// Ends the innermost range, after EndsAlone().
  void EndInnermost() noexcept { annotate::End(emitter, At(depth_--).token); }
  /// Owner only: ends the ranges that other threads requested to end.
  void EndRequested() noexcept {
    if (asked_.load(std::memory_order_relaxed)) EndTop();
  }

  /// The owner's, see StateOfThread().
  ThreadState* emitter = nullptr;
  /// The framework's number of the owner thread, 0 until known.
  uint64_t framework_thread = 0;
  /// CurrentThread() of the owner, known with the framework's number.
  uint64_t os_thread = 0;
  bool takes_payloads = false;  ///< TakesPayloads() of `emitter`, known then too.
  /// The owner's first sequence number without an assigned call, see NodeOwners.
  uint64_t next_number = 0;
  /// The node that the engine is working on or worked on last; null if unknown.
  const NodeName* node = nullptr;
  /// Of the operators that the owner called last; null until its first one. Never freed.
  RecentForms* forms = nullptr;

  static constexpr size_t kObjectBytes = 32;
  /// kObjectBytes for the framework's object of the innermost range, aligned to 8: beside the
  /// range, or allocated while the object of an earlier one is still there. Null if out of memory.
  /// Owner only.
  void* NewObject() noexcept {
    Range& range = At(depth_);
    if (__builtin_expect(range.head.taken.load(std::memory_order_acquire), 0))
      return AllocateObject();
    range.head.taken.store(true, std::memory_order_relaxed);
    return range.object;
  }
  /// Gives back such memory. Thread-safe.
  static void DeleteObject(void* object) noexcept {
    ObjectHead* const head = static_cast<ObjectHead*>(object) - 1;
    if (__builtin_expect(head->allocated, 0)) return std::free(head);
    head->taken.store(false, std::memory_order_release);
  }

 private:
  /// Stands before an object. Zeros are a valid one.
  struct alignas(8) ObjectHead {
    std::atomic<bool> taken;
    bool allocated;
  };
  /// Zeros are a valid one. Of a size whose multiples are found by a shift.
  struct alignas(64) Range {
    uint64_t token;
    uint64_t serial;
    std::atomic<uint64_t> asked;  ///< The serial that another thread requested to end.
    Surroundings inside;
    bool changes_owner;  ///< See ChangesOwner().
    ObjectHead head;
    alignas(8) unsigned char object[kObjectBytes];
  };
  static_assert(offsetof(Range, object) == offsetof(Range, head) + sizeof(ObjectHead));
  static_assert(sizeof(Range) == 128);
  friend class StackOwner;

  Range& At(size_t index) const noexcept { return ranges_[index]; }
  static constinit thread_local RangeStack* t_stack;

  static RangeStack* Make() noexcept;
  static RangeStack* New() noexcept;
  static void* AllocateObject() noexcept;
  void Cut(size_t depth) noexcept;
  void EndTop() noexcept;

  size_t depth_ = 0;  // At(0) is the context outside all ranges.
  uint64_t last_serial_ = 0;
  std::atomic<bool> asked_{false};
  RangeStack* next_free_ = nullptr;
  std::atomic<const void*> owner_{nullptr};  ///< See IsOfThread().
  // kMaxDepth of them, in memory that the system gives where it is used. Kept, because other
  // threads may end ranges in it.
  Range* ranges_ = nullptr;
};

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_RANGE_STACK_H_
