#ifndef OPLENS_NVTX_ANNOTATE_TORCH_RANGE_STACK_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_RANGE_STACK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "nvtx_annotate/vocabulary/marker_format.h"

namespace oplens::annotate::torch {

/// The innermost thing that encloses what a thread runs now.
enum class Place : uint8_t {
  kOutside,
  kOp,
  kNode,      ///< A node of the backward pass.
  kEvaluate,  ///< What the engine does for a node, around it: sums and hooks of gradients.
};

/// What a range means for the ranges inside it.
struct Surroundings {
  int64_t seq = -1;  ///< Of the nearest range that was emitted with one.
  Place place = Place::kOutside;
  markers::Direction dir = markers::Direction::kForward;
  /// kNode: the backward pass itself is recorded (create_graph). Where it is not, an op with a
  /// sequence number inside the node is a forward op that runs again.
  bool recorded = false;
  /// The call whose nodes of the backward pass are made here, see NodeOwners; 0: none.
  uint64_t owner = 0;
};

struct NodeName;

/// The ranges that a thread has open on behalf of the framework, innermost last. The framework may
/// end a range on another thread, or after the one around it: a range then ends when its thread
/// next begins or ends one.
class RangeStack {
 public:
  /// Names one range that was pushed, for ever.
  struct Mark {
    size_t index = 0;
    uint64_t serial = 0;
  };

  /// Around a fork: a child must find free what other threads of its parent hold.
  static void LockAll() noexcept;
  static void UnlockAll() noexcept;

  /// That of this thread; null when memory is short or the thread is ending.
  static RangeStack* OfThread() noexcept {
    RangeStack* const stack = t_stack;
    return stack != nullptr ? stack : Make();
  }

  const Surroundings& surroundings() const noexcept { return At(depth_).inside; }

  /// Whether there is room for one more range. Owner only.
  bool MakeRoom() noexcept { return depth_ + 1 < kChunk || MakeChunk(); }
  /// Owner only, after MakeRoom(). `token`: of the emitter.
  Mark Push(uint64_t token, const Surroundings& inside) noexcept {
    Range& range = At(++depth_);
    range.token = token;
    range.serial = ++last_serial_;
    // One by one, as they were set: a copy of the whole would wait for that.
    range.inside.seq = inside.seq;
    range.inside.place = inside.place;
    range.inside.dir = inside.dir;
    range.inside.recorded = inside.recorded;
    range.inside.owner = inside.owner;
    return {depth_, last_serial_};
  }
  /// Ends the range and those in it. From any thread; a range that has ended already is ignored.
  void End(const Mark& mark) noexcept;
  /// Owner only: ends what other threads asked to end.
  void EndAsked() noexcept {
    if (asked_.load(std::memory_order_relaxed)) EndTop();
  }

  /// The framework's number of the owner, 0 before it is known.
  uint64_t framework_thread = 0;
  /// The first sequence number of the owner whose node has no owner yet, see NodeOwners.
  uint64_t next_number = 0;
  /// Of the node that the engine works for, or did last; null where it is not known.
  const NodeName* node = nullptr;

  /// Memory of `size` bytes for one object of a range, all of the same size; null when there is
  /// none. Owner only.
  void* NewObject(size_t size) noexcept {
    Spare* const object = spare_;
    if (object == nullptr) return std::malloc(size);
    spare_ = object->next;
    --spare_count_;
    return object;
  }
  /// Takes such memory back, of whichever thread. Owner only.
  void DeleteObject(void* object) noexcept {
    if (spare_count_ == kMaxSpare) return FreeObject(object);
    spare_ = new (object) Spare{spare_};
    ++spare_count_;
  }
  static void FreeObject(void* object) noexcept { std::free(object); }

 private:
  static constexpr size_t kChunk = 256;
  static constexpr size_t kChunks = markers::kMaxDepth / kChunk;
  static constexpr size_t kMaxSpare = 256;

  struct Range {
    uint64_t token = 0;
    uint64_t serial = 0;
    std::atomic<uint64_t> asked{0};  ///< The serial that another thread asked to end.
    Surroundings inside;
  };
  struct Spare {
    Spare* next;
  };
  friend class StackOwner;

  Range& At(size_t index) noexcept {
    return index < kChunk ? first_[index] : more_[index / kChunk - 1][index % kChunk];
  }
  const Range& At(size_t index) const noexcept {
    return index < kChunk ? first_[index] : more_[index / kChunk - 1][index % kChunk];
  }
  static constinit thread_local RangeStack* t_stack;

  static RangeStack* Make() noexcept;
  bool MakeChunk() noexcept;
  void Cut(size_t depth) noexcept;
  void EndTop() noexcept;

  size_t depth_ = 0;  // At(0) is what is around all ranges.
  uint64_t last_serial_ = 0;
  std::atomic<bool> asked_{false};
  Spare* spare_ = nullptr;
  size_t spare_count_ = 0;
  RangeStack* next_free_ = nullptr;
  Range first_[kChunk];
  // Made as they are needed, and kept: others may end a range in them.
  std::unique_ptr<Range[]> more_[kChunks - 1];
};

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_RANGE_STACK_H_
