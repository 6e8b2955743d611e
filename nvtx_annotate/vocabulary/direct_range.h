#ifndef OPLENS_NVTX_ANNOTATE_VOCABULARY_DIRECT_RANGE_H_
#define OPLENS_NVTX_ANNOTATE_VOCABULARY_DIRECT_RANGE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "nvtx_annotate/vocabulary/direct_calls.h"

#ifdef __x86_64__
#include <x86intrin.h>
#endif

// Ranges that an emitter writes where the recorder shows it the thread's place in the spool: begins
// and ends without a call of the recorder. C++17. Anything rare is left to DirectCalls::push and
// pop: the thread's first range, a further chunk, what handlers missed.

/// One piece of code with what calls it: it is met between the ops of a program, when no line of it
/// is in the processor's cache.
#define OPLENS_DIRECT inline __attribute__((always_inline))

namespace oplens::markers {

// Of record/spool/spool_format.h, with which the recorder compares them: as all of this, they
// change with kDirectSchemaName only.
inline constexpr uint8_t kDirectPush = 2;
inline constexpr uint8_t kDirectPop = 3;
inline constexpr uint8_t kDirectString = 8;
inline constexpr uint8_t kDirectCall = 128;

/// The head of a record.
struct DirectRecord {
  int64_t time_ns;
  uint32_t size;  ///< Of the whole record, a multiple of 8.
  uint16_t domain;
  uint8_t kind;
  uint8_t parts;
};
/// The begin of a range; the bytes of its payload follow.
struct DirectPushRecord {
  DirectRecord head;
  uint32_t string;
  uint16_t schema;  ///< The low 16 bits of the id.
  uint16_t size;
};

/// A call that writes records, for the lifetime of this object. Refused to a signal handler that
/// interrupted another call of its thread, which may be inside a record or hold a lock, and to a
/// child without fork handlers (`own`, see DirectCalls).
class DirectEntry {
 public:
  OPLENS_DIRECT DirectEntry(DirectSlot* slot, const std::atomic<uint32_t>& own) noexcept
      : slot_(slot), granted_(!slot->inside && own.load(std::memory_order_relaxed) != 0) {
    if (!granted_) return;
    slot_->inside = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  OPLENS_DIRECT ~DirectEntry() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (granted_) slot_->inside = false;
  }
  DirectEntry(const DirectEntry&) = delete;
  DirectEntry& operator=(const DirectEntry&) = delete;

  bool granted() const noexcept { return granted_; }

 private:
  DirectSlot* const slot_;
  const bool granted_;
};

/// The domain of a handle; one that got direct calls is itself.
inline uint16_t DirectDomain(const void* handle) noexcept {
  return static_cast<uint16_t>(reinterpret_cast<uintptr_t>(handle) % kDirectDomains);
}

/// The id of the handle of a registered string.
inline uint32_t DirectString(const void* handle) noexcept {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(handle));
}

/// Reads a clock; false: the recorder must set it.
inline bool ReadDirectClock(const DirectClock& clock, int64_t* now_ns) noexcept {
#ifdef __x86_64__
  const uint64_t passed = __rdtsc() - clock.set_ticks;
  *now_ns = clock.set_ns + static_cast<int64_t>(passed * clock.scale >> 32);
  return __builtin_expect(passed < clock.valid_ticks, 1);
#else
  static_cast<void>(clock);
  *now_ns = 0;
  return false;
#endif
}

/// Fetches the line of `at` for writing: another core may have it. Any address will do.
inline void FetchForWriting(const void* at) noexcept {
#ifdef __x86_64__
  // What the compiler makes of __builtin_prefetch() for all processors would share the line.
  asm volatile("prefetchw (%0)" : : "r"(at));
#else
  __builtin_prefetch(at, 1);
#endif
}

/// What is before `used` is complete.
inline void PublishDirect(DirectChunk* chunk, size_t used) noexcept {
  chunk->used = used;
  std::launder(reinterpret_cast<std::atomic<uint64_t>*>(chunk->data + kDirectUsedAt))
      ->store(used, std::memory_order_release);
  // The lines of the next records, which their stores would wait for.
  FetchForWriting(chunk->data + used + 128);
  FetchForWriting(chunk->data + used + 192);
}

/// The time of the thread's next record.
inline int64_t NextDirectTime(DirectThread* thread, SetDirectClock* set_clock) noexcept {
  int64_t now_ns = 0;
  if (!ReadDirectClock(thread->clock, &now_ns)) now_ns = set_clock(&thread->clock);
  const int64_t last_ns = thread->last_time_ns;
  return thread->last_time_ns = now_ns > last_ns ? now_ns : last_ns + 1;
}

/// The most bytes of a push.
inline size_t MostPushBytes(const DirectPayload* payload) noexcept {
  return sizeof(DirectPushRecord) + (payload == nullptr ? 0 : payload->most_bytes + 7);
}

/// Appends a push to the chunk, which has room for it; false: DirectPayload::write refused.
OPLENS_DIRECT bool PutPush(DirectThread* thread, SetDirectClock* set_clock, uint16_t domain,
                           uint32_t string, const DirectPayload* payload) noexcept {
  DirectChunk& chunk = thread->chunk;
  // Field by field in place: nobody reads it before PublishDirect(), and little has to be kept
  // while the payload is written.
  unsigned char* const at = chunk.data + chunk.used;
  auto* const record = reinterpret_cast<DirectPushRecord*>(at);
  record->head.domain = domain;
  record->head.parts = payload == nullptr ? kDirectString : kDirectCall;
  record->string = string;
  record->schema = payload == nullptr ? uint16_t{0} : static_cast<uint16_t>(payload->schema);
  unsigned char* end = at + sizeof *record;
  if (payload != nullptr) {
    end = payload->write(payload, end);
    if (__builtin_expect(end == nullptr, 0)) return false;
  }
  const auto size = static_cast<size_t>(end - at);
  record->size = static_cast<uint16_t>(size - sizeof *record);
  const size_t padded = (size + 7) & ~size_t{7};
  record->head.size = static_cast<uint32_t>(padded);
  record->head.kind = kDirectPush;
  record->head.time_ns = NextDirectTime(thread, set_clock);
  PublishDirect(&chunk, chunk.used + padded);
  return true;
}

/// Appends a pop to the chunk, which has room for it.
OPLENS_DIRECT void PutPop(DirectThread* thread, SetDirectClock* set_clock,
                          uint16_t domain) noexcept {
  DirectChunk& chunk = thread->chunk;
  const DirectRecord record = {NextDirectTime(thread, set_clock), sizeof record, domain, kDirectPop,
                               0};
  std::memcpy(chunk.data + chunk.used, &record, sizeof record);
  PublishDirect(&chunk, chunk.used + sizeof record);
}

/// What became of a range that is to begin.
enum class DirectPush : uint8_t {
  kWritten,
  kRefused,     ///< DirectPayload::write did: there is no range.
  kToBeCalled,  ///< DirectCalls::push can begin it.
};

/// Begins a range as DirectCalls::push does. `slot`: of the calling thread.
OPLENS_DIRECT DirectPush PushHere(const DirectCalls& calls, DirectSlot* slot, const void* domain,
                                  const void* string, const DirectPayload* payload) noexcept {
  const DirectEntry entry(slot, *calls.own);
  DirectThread* const thread = slot->thread;
  if (__builtin_expect(
          !entry.granted() || thread == nullptr || !calls.window->load(std::memory_order_relaxed),
          0)) {
    return DirectPush::kToBeCalled;
  }
  const uint16_t number = DirectDomain(domain);
  DirectRanges& open = thread->open[number];
  const size_t spare = (thread->pops_due + 1) * sizeof(DirectRecord);
  if (__builtin_expect(
          open.HasMissed() || open.depth >= kDirectDepths ||
              thread->chunk.used + MostPushBytes(payload) + spare > thread->chunk.capacity,
          0)) {
    return DirectPush::kToBeCalled;
  }
  if (!PutPush(thread, calls.set_clock, number, DirectString(string), payload))
    return DirectPush::kRefused;
  ++thread->pops_due;
  ++open.depth;
  return DirectPush::kWritten;
}

/// Ends a range as DirectCalls::pop does; false: that must be called. `slot`: of the calling
/// thread.
OPLENS_DIRECT bool PopHere(const DirectCalls& calls, DirectSlot* slot,
                           const void* domain) noexcept {
  const DirectEntry entry(slot, *calls.own);
  DirectThread* const thread = slot->thread;
  if (__builtin_expect(!entry.granted() || thread == nullptr, 0)) return false;
  const uint16_t number = DirectDomain(domain);
  DirectRanges& open = thread->open[number];
  // Of depth 0 none is open.
  if (__builtin_expect(open.HasMissed() || open.depth - 1 >= kDirectDepths ||
                           thread->chunk.used + sizeof(DirectRecord) > thread->chunk.capacity,
                       0)) {
    return false;
  }
  PutPop(thread, calls.set_clock, number);
  --thread->pops_due;
  --open.depth;
  return true;
}

}  // namespace oplens::markers

#endif  // OPLENS_NVTX_ANNOTATE_VOCABULARY_DIRECT_RANGE_H_
