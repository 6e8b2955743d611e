#ifndef OPLENS_NVTX_ANNOTATE_TORCH_RANGE_STACK_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_RANGE_STACK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

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
  static RangeStack* OfThread() noexcept;

  const Surroundings& surroundings() const noexcept { return At(depth_).inside; }

  /// Whether there is room for one more range. Owner only.
  bool MakeRoom() noexcept;
  /// Owner only, after MakeRoom(). `token`: of the emitter.
  Mark Push(uint64_t token, const Surroundings& inside) noexcept;
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

  /// Memory of `size` bytes for one object of a range, all of the same size; null when there is
  /// none. Owner only.
  void* NewObject(size_t size) noexcept;
  /// Takes such memory back, of whichever thread. Owner only.
  void DeleteObject(void* object) noexcept;
  static void FreeObject(void* object) noexcept;

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
