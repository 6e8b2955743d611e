#ifndef OPLENS_PROF_RUN_MEMORY_LIFE_H_
#define OPLENS_PROF_RUN_MEMORY_LIFE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
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
  kAlive,      ///< It was not given back as long as the recording lasts.
  kOnlyFreed,  ///< Given back, but taken before the recording.
  kLost,       ///< Its address was given out again: its release is not in the file.
  kUnknown,    ///< The file tells no address.
};
constexpr size_t WordCountOf(MemoryState) { return 5; }

/// "freed", "alive", "only freed", "lost", "unknown".
std::string_view MemoryStateWord(MemoryState state);
/// "framework", "driver".
std::string_view MemorySourceWord(MemorySource source);
/// "CPU", or "GPU3"; negative ids are the host.
std::string MemoryDeviceName(int32_t device_id);
/// The bytes that an event took or gave back; never negative.
int64_t MemorySizeOf(const MemoryEvent& event);

/// The memory events of a trace by who gave the memory out and of which device: pieces of memory
/// from their allocation to their release, and how much there was after each event.
///
/// An event stands at a place: by pool, time, and where times are equal by where it stands in the
/// file. A release closes the last allocation of its address (and process). At one moment an
/// address that is taken is given back before it is taken again. An event without a size closes
/// what is open, else it is nothing.
///
/// O(n log n) for n events; about 20 bytes an event.
class MemoryLife {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  /// Further ones are left out.
  static constexpr size_t kMaxPools = 256;

  /// From the place of its allocation to that of its release.
  struct Piece {
    uint32_t begin = kNone;  ///< kNone: before the recording.
    uint32_t end = kNone;    ///< kNone: none. Of a lost one: where its address was taken again.
    MemoryState state = MemoryState::kAlive;

    /// Whether it was there behind the event at a place; `place` may be the one before the first.
    bool LivesAt(int64_t place) const {
      return (begin == kNone || begin <= place) && (end == kNone || end > place);
    }
  };

  /// What is odd in the events of a pool.
  struct Counts {
    Count only_freed;
    Count lost;
    Count without_address;
    Count without_size;
    Count other_size;     ///< Releases of another size than that of the allocation.
    Count same_time;      ///< Events at the time of the one before.
    Count out_of_order;   ///< Events before the one in front of them in the file.
    Count over_reserved;  ///< Events after which more was allocated than reserved.

    static constexpr std::tuple kMembers{
        &Counts::only_freed, &Counts::lost,      &Counts::without_address, &Counts::without_size,
        &Counts::other_size, &Counts::same_time, &Counts::out_of_order,    &Counts::over_reserved};
  };

  /// The memory of one device from one source.
  struct Pool {
    int32_t device_id = -1;  ///< -1: the host.
    MemorySource source = MemorySource::kFramework;
    bool told = false;      ///< The file has running totals; else they are of the known sizes.
    bool reserves = false;  ///< It tells a reserve: it is not 0 throughout.
    uint32_t begin = 0;     ///< Places of its events.
    uint32_t end = 0;
    uint32_t first_piece = 0;
    uint32_t end_piece = 0;
    /// Allocated before the first event; of sizes alone what is only given back later.
    int64_t base_bytes = 0;
    Counts counts;
  };

  /// `trace` must outlive this object.
  explicit MemoryLife(const Trace& trace);

  /// By device, the host first, then by source.
  std::span<const Pool> pools() const { return pools_; }
  /// The pieces of a pool, in no order.
  std::span<const Piece> PiecesOf(const Pool& pool) const {
    return {pieces_.data() + pool.first_piece, pool.end_piece - pool.first_piece};
  }
  /// The place in Trace::memory_events of the event at a place.
  uint32_t IndexAt(uint32_t place) const { return order_[place]; }
  const MemoryEvent& EventAt(uint32_t place) const { return trace_.memory_events[order_[place]]; }
  /// Allocated in the pool behind the event at a place.
  int64_t AllocatedAt(uint32_t place) const { return allocated_[place]; }
  /// Reserved then; kUnknownId where the file does not say.
  int64_t ReservedAt(const Pool& pool, uint32_t place) const {
    return pool.reserves ? EventAt(place).total_reserved_bytes : kUnknownId;
  }
  /// Events of further pools.
  int64_t left_out() const { return left_out_; }

  /// The place behind which most was allocated, the first of several, of those in some stretches of
  /// time (ascending; nullopt: all of it); `pool.begin` - 1: before all events, which only is
  /// looked at without them. kNowhere: no event is in them.
  int64_t PeakOf(const Pool& pool, const std::optional<std::vector<Interval>>& windows) const;
  static constexpr int64_t kNowhere = -2;
  /// Allocated behind a place, as PeakOf answers it.
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
  /// `open`: the place in pieces_ of what lies at the address; kNone: nothing.
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

/// Which pieces of memory a step left behind: it took them, and they were there behind its end and
/// at the end of the recording.
class MemoryLeaks {
 public:
  /// Both must outlive this object.
  MemoryLeaks(const MemoryLife& memory, const Steps& steps);

  /// nullopt where the run has no steps, or it is not known what became of the piece. Of the step
  /// behind whose end nothing was recorded of memory, nothing is known to have been left.
  std::optional<bool> IsLeak(const MemoryLife::Piece& piece) const;

 private:
  const MemoryLife& memory_;
  const Steps& steps_;
  int64_t last_ns_ = INT64_MIN;  // Of all memory events.
};

}  // namespace prof
}  // namespace oplens

#endif  // OPLENS_PROF_RUN_MEMORY_LIFE_H_
