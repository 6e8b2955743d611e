#ifndef OPLENS_PROF_RUN_MEMORY_LIFE_H_
#define OPLENS_PROF_RUN_MEMORY_LIFE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sums.h"
#include "parse/model/trace.h"
#include "prof/run/interval_set.h"

namespace oplens {

constexpr size_t WordCountOf(MemorySource) { return 2; }

namespace prof {

class Steps;

/// What became of a piece of memory.
enum class MemoryState : uint8_t {
  kFreed,
  kAlive,      ///< Not released before the recording ended.
  kOnlyFreed,  ///< Released, but allocated before the recording.
  kLost,       ///< Its address was allocated again: its release is missing.
  kUnknown,    ///< The file gives no address.
};
constexpr size_t WordCountOf(MemoryState) { return 5; }

/// "freed", "alive", "only freed", "lost", "unknown".
std::string_view MemoryStateWord(MemoryState state);
/// "framework", "driver".
std::string_view MemorySourceWord(MemorySource source);
/// "CPU" (for negative ids), "GPU3".
std::string MemoryDeviceName(int32_t device_id);
/// Bytes allocated or released by an event; never negative.
int64_t MemorySizeOf(const MemoryEvent& event);

/// The memory events of a trace by allocator and device: pieces of memory from allocation to
/// release, and totals after each event.
///
/// Events are ordered by pool, time and position in the file; the index in this order is an event's
/// place. A release closes the last allocation of its address (and process). At one moment, an
/// address in use is released before it is allocated again. An event without a size closes an open
/// piece, and otherwise has no effect.
///
/// O(n log n) for n events; about 20 bytes per event.
class MemoryLife {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  /// Further pools are dropped.
  static constexpr size_t kMaxPools = 256;

  /// From the place of its allocation to its release's.
  struct Piece {
    uint32_t begin = kNone;  ///< kNone: before the recording.
    uint32_t end = kNone;    ///< kNone: never. For kLost the reallocation of its address.
    MemoryState state = MemoryState::kAlive;

    /// Whether it exists after the event at `place`, which may be the one before the first.
    bool LivesAt(int64_t place) const {
      return (begin == kNone || begin <= place) && (end == kNone || end > place);
    }
  };

  /// Anomalies in a pool's events.
  struct Counts {
    Count only_freed;
    Count lost;
    Count without_address;
    Count without_size;
    Count other_size;     ///< Releases whose size differs from the allocation's.
    Count same_time;      ///< Events at the time of their predecessor.
    Count out_of_order;   ///< Events earlier than their predecessor in the file.
    Count over_reserved;  ///< Events after which more was allocated than reserved.
  };

  /// The memory of one device from one source.
  struct Pool {
    int32_t device_id = -1;  ///< -1: the host.
    MemorySource source = MemorySource::kFramework;
    bool told = false;      ///< The file has running totals; otherwise computed from sizes.
    bool reserves = false;  ///< Some reserved total is not 0.
    uint32_t begin = 0;     ///< Places of its events.
    uint32_t end = 0;
    uint32_t first_piece = 0;
    uint32_t end_piece = 0;
    /// Allocated before the first event; with sizes only, what is released later.
    int64_t base_bytes = 0;
    Counts counts;
  };

  /// `trace` must outlive this object.
  explicit MemoryLife(const Trace& trace);

  /// By device, the host first, then by source.
  std::span<const Pool> pools() const { return pools_; }
  /// The pieces of a pool, unordered.
  std::span<const Piece> PiecesOf(const Pool& pool) const {
    return {pieces_.data() + pool.first_piece, pool.end_piece - pool.first_piece};
  }
  /// The index in Trace::memory_events of the event at a place.
  uint32_t IndexAt(uint32_t place) const { return order_[place]; }
  const MemoryEvent& EventAt(uint32_t place) const { return trace_.memory_events[order_[place]]; }
  /// Allocated in the pool after the event at a place.
  int64_t AllocatedAt(uint32_t place) const { return allocated_[place]; }
  /// Reserved at that point; kUnknownId if not recorded.
  int64_t ReservedAt(const Pool& pool, uint32_t place) const {
    return pool.reserves ? EventAt(place).total_reserved_bytes : kUnknownId;
  }
  /// Events in dropped pools.
  int64_t left_out() const { return left_out_; }

  /// First place with the most allocated after it, within the windows (ascending; nullopt: any
  /// time). `pool.begin` - 1: before all events, only without windows. kNowhere: no event is in
  /// them.
  int64_t PeakOf(const Pool& pool, const std::optional<std::vector<Interval>>& windows) const;
  static constexpr int64_t kNowhere = -2;
  /// Allocated after a place as returned by PeakOf.
  int64_t AllocatedBehind(const Pool& pool, int64_t place) const {
    return place < int64_t{pool.begin} ? pool.base_bytes : allocated_[static_cast<size_t>(place)];
  }

 private:
  /// An event among those of its address.
  struct Link {
    int64_t process = 0;
    int64_t address = 0;
    uint32_t place = 0;
  };

  void Sort();
  void Pair(Pool* pool);
  void PairAddress(std::span<const Link> links, Pool* pool);
  /// `open`: index into pieces_ of what is at the address; kNone: nothing.
  void Take(uint32_t place, uint32_t* open, Pool* pool);
  void Release(uint32_t place, uint32_t* open, Pool* pool);
  void SumTold(Pool* pool);
  void SumPieces(Pool* pool);
  int64_t ProcessOf(const MemoryEvent& event) const;

  const Trace& trace_;
  std::vector<Pool> pools_;
  std::vector<uint32_t> order_;  // By place.
  std::vector<int64_t> allocated_;
  std::vector<Piece> pieces_;
  int64_t left_out_ = 0;
};

/// Leaked pieces of memory: allocated in a step, existing after it and at the recording's end.
class MemoryLeaks {
 public:
  /// Both must outlive this object.
  MemoryLeaks(const MemoryLife& memory, const Steps& steps);

  /// nullopt without steps or if the piece's fate is unknown. False without records after the step.
  std::optional<bool> IsLeak(const MemoryLife::Piece& piece) const;

 private:
  const MemoryLife& memory_;
  const Steps& steps_;
  int64_t last_ns_ = INT64_MIN;  // Of all memory events.
};

}  // namespace prof
}  // namespace oplens

#endif  // OPLENS_PROF_RUN_MEMORY_LIFE_H_
