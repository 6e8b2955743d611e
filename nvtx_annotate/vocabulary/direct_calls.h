#ifndef OPLENS_NVTX_ANNOTATE_VOCABULARY_DIRECT_CALLS_H_
#define OPLENS_NVTX_ANNOTATE_VOCABULARY_DIRECT_CALLS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

// A shorter way from our emitters to a recorder that takes their payloads, for the two calls of
// every range: functions of the recorder instead of NVTX's events. C++17: user programs include it.
//
// An emitter asks through NVTX itself, so that it asks the tool of its own copy of NVTX: it
// registers a schema of the name kDirectSchemaName whose only entry has a DirectRequest as its
// description. A recorder that knows the name fills in the calls; any other sees a text. The two
// are of one version: what changes here changes the name.
//
// Most ranges need no call: an emitter writes their records itself, where the recorder shows it
// the thread's place in the spool (direct_range.h).

namespace oplens::markers {

inline constexpr const char* kDirectSchemaName = "oplens.direct.v3";

/// The payload of a range, which its emitter writes where the recorder keeps it.
struct DirectPayload {
  uint64_t schema;    ///< Of the recorder.
  size_t most_bytes;  ///< At most kMaxPayloadBytes.
  /// Writes at most most_bytes, and returns their end; null: it cannot, and there is no range. Must
  /// not call the recorder. Not called for a range that is not recorded.
  unsigned char* (*write)(const DirectPayload* payload, unsigned char* at);
};

/// The chunk that a thread writes into. Zeros: none.
struct DirectChunk {
  unsigned char* data;
  size_t used;  ///< Also to be stored at data + kDirectUsedAt, once what is before is complete.
  size_t capacity;
};
inline constexpr size_t kDirectUsedAt = 32;

/// Nanoseconds since 1970 at `ticks` of the processor's counter, if ticks - set_ticks, unsigned, is
/// below valid_ticks: set_ns + ((ticks - set_ticks) * scale >> 32).
struct DirectClock {
  uint64_t set_ticks;
  int64_t set_ns;
  uint64_t valid_ticks;
  uint64_t scale;
};

/// Sets a clock of the calling thread; returns the time.
using SetDirectClock = int64_t(DirectClock* clock);

/// The open pushed ranges of a thread in a domain.
struct DirectRanges {
  uint32_t depth;
  uint32_t unstored;  ///< Levels below kDirectDepths whose begin is not in the spool.
  // Calls missed in signal handlers, pops first. Changed only by handlers and by the thread that
  // they interrupt.
  uint32_t missed_pops;
  uint32_t missed_pushes;

  /// Whether not all that happened is in the spool, which takes more than counting levels.
  bool HasMissed() const noexcept { return (unstored | missed_pops | missed_pushes) != 0; }
};
/// Ranges of deeper levels have no records.
inline constexpr uint32_t kDirectDepths = 4096;

/// Domains below have open ranges of their own in each thread. Direct calls are only given to
/// these.
inline constexpr uint32_t kDirectDomains = 64;

/// Where a thread writes its records. What every range needs is in two lines of the processor's
/// cache.
struct alignas(64) DirectThread {
  DirectChunk chunk;
  int64_t last_time_ns;  ///< Of its last record: the next one's is larger.
  DirectClock clock;
  size_t pops_due;  ///< Open stored ranges, for whose ends the chunk has space.
  DirectRanges open[kDirectDomains + 1];  ///< Last: of all other domains.
};

/// What the recorder knows of a thread, at one address as long as the thread lives.
struct DirectSlot {
  DirectThread* thread = nullptr;  ///< Null: before its first event, and in a child after a fork.
  bool inside = false;             ///< A record is being written: of the thread, not of a handler.
};

/// Any thread may call them until the process ends. Handles are those that NVTX returned; domains
/// are that which asked, and null, the default one. Both do what NVTX's functions of the domain do,
/// which may be mixed with them.
struct DirectCalls {
  /// Begins a range of a registered string; `payload` may be null. False: it could not be written.
  bool (*push)(void* domain, void* string, const DirectPayload* payload);
  /// Ends the innermost range of the domain.
  void (*pop)(void* domain);
  /// The calling thread's.
  DirectSlot* (*slot)();
  SetDirectClock* set_clock;
  const std::atomic<uint32_t>* own;  ///< 0: this process is a child that must not write.
  const std::atomic<bool>* window;   ///< Whether ranges that begin are recorded.
};

struct DirectRequest {
  char description[24] = "functions to call";
  DirectCalls calls = {};  ///< Null: the tool does not know the name.
};

}  // namespace oplens::markers

#endif  // OPLENS_NVTX_ANNOTATE_VOCABULARY_DIRECT_CALLS_H_
