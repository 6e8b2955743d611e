#ifndef OPLENS_TEST_RECORDER_EVENT_BUFFER_H_
#define OPLENS_TEST_RECORDER_EVENT_BUFFER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace oplens::test_recorder {

enum class EventKind : uint8_t { kPush, kPop, kStart, kEnd, kMark };

/// Head of an event in a buffer. The text follows, then the payloads: PayloadPart and bytes each.
struct EventHead {
  int64_t time_ns;
  uint64_t value;          ///< Bits of the C union's payload.
  uint64_t range_id;       ///< Of kStart and kEnd.
  uint32_t size;           ///< Of the whole event, a multiple of 8.
  uint32_t domain;         ///< 0: the default domain.
  uint32_t category;       ///< 0: none.
  uint32_t color;          ///< ARGB, if has_color.
  uint32_t string_id;      ///< Of a registered string; 0: none.
  uint32_t text_size;      ///< Bytes of the text that follows.
  int32_t payload_type;    ///< NVTX's number; 0: no payload in the union.
  uint16_t payload_count;  ///< Payloads that follow.
  EventKind kind;
  bool has_color;
};

/// Head of a payload in a buffer. Its bytes follow.
struct PayloadPart {
  uint64_t schema;
  uint64_t size;
};

/// The events of one thread, in chunks: a thread writes its own without locks, and takes memory
/// only when a chunk is full. Buffers live until the process ends.
class ThreadBuffer {
 public:
  /// The calling thread's. Null when there is no memory.
  static ThreadBuffer* Current() noexcept;
  /// Whether full chunks are written over. To be said before the first event.
  static void SetDiscard(bool discard) noexcept;
  static bool discards() noexcept;

  /// Calls `visit` with every buffer, and forbids others to do so meanwhile.
  static void ForEach(const std::function<void(ThreadBuffer&)>& visit);

  int64_t thread_id() const noexcept { return thread_id_; }
  uint64_t event_count() const noexcept { return count_.load(std::memory_order_relaxed); }

  // Of the thread that owns the buffer:

  /// Room for an event; null when there is no memory. Publish() makes it visible.
  unsigned char* Reserve(size_t size) noexcept;
  void Publish(size_t size) noexcept;
  /// A time later than that of any other event of the thread.
  int64_t NextTime() noexcept;
  uint64_t NextRangeId() noexcept { return serial_ << 40 | ++last_range_; }
  /// Ranges that are open in a domain.
  int& Depth(uint32_t domain) noexcept { return depths_[domain < kDomains ? domain : kDomains]; }

  // Inside ForEach:

  /// Calls `visit` with each event between the last Clear and now, in order.
  void ForEachEvent(const std::function<void(const EventHead&, const unsigned char*)>& visit);
  void Clear();

 private:
  static constexpr size_t kChunkBytes = 256 * 1024;
  static constexpr uint32_t kDomains = 64;

  struct Chunk {
    std::atomic<Chunk*> next;
    std::atomic<size_t> used;
    size_t capacity;
    unsigned char* data() { return reinterpret_cast<unsigned char*>(this + 1); }
  };

  ThreadBuffer() noexcept;
  static ThreadBuffer* Make() noexcept;
  static Chunk* MakeChunk(size_t event_size) noexcept;

  const int64_t thread_id_;
  uint64_t serial_ = 0;
  ThreadBuffer* next_ = nullptr;
  std::atomic<uint64_t> count_{0};

  Chunk* writing_ = nullptr;
  int64_t last_time_ = 0;
  uint64_t last_range_ = 0;
  int depths_[kDomains + 1] = {};

  // Where the reader goes on.
  std::atomic<Chunk*> first_{nullptr};
  size_t first_offset_ = 0;
};

}  // namespace oplens::test_recorder

#endif  // OPLENS_TEST_RECORDER_EVENT_BUFFER_H_
