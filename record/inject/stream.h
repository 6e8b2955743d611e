#ifndef OPLENS_RECORD_INJECT_STREAM_H_
#define OPLENS_RECORD_INJECT_STREAM_H_

#include <cstddef>
#include <cstdint>

#include "nvtx_annotate/vocabulary/direct_range.h"
#include "record/spool/spool_format.h"

namespace oplens::record::inject {

/// A stream of the spool. The current chunk is a mapped file, so its contents survive the process.
/// Used by one thread at a time. Zero-initialised memory is a closed stream.
class Stream {
 public:
  /// Opens stream `number`, of the given thread if any. Creates no file yet. `chunk`: empty, must
  /// outlive the stream; others may append to it with markers::PublishDirect().
  void Open(uint32_t number, uint32_t thread_id, uint32_t os_thread_id,
            markers::DirectChunk* chunk) noexcept;
  bool is_open() const noexcept { return open_; }
  /// Assigns further chunks to another thread.
  void SetThread(uint32_t thread_id, uint32_t os_thread_id) noexcept {
    thread_id_ = thread_id;
    os_thread_id_ = os_thread_id;
  }

  /// Reserves space for a record of `size` bytes (a multiple of 8) so that `spare` bytes stay free
  /// after it in the chunk. Null if disk or memory is exhausted. Publish() appends the record.
  unsigned char* Reserve(size_t size, size_t spare) noexcept {
    if (chunk_->used + size + spare <= chunk_->capacity) return chunk_->data + chunk_->used;
    return ReserveInNext(size, spare);
  }
  /// Reserves spare space in the current chunk.
  unsigned char* ReserveSpared(size_t size) noexcept {
    return chunk_->used + size <= chunk_->capacity ? chunk_->data + chunk_->used : nullptr;
  }
  void Publish(size_t size) noexcept { markers::PublishDirect(chunk_, chunk_->used + size); }

  /// Unmaps all chunks; the files stay.
  void Unmap() noexcept;

  // The end of the stream: chunk number and bytes in it. Both 0: no file.
  uint32_t sequence() const noexcept { return sequence_; }
  size_t used() const noexcept { return chunk_->used; }

 private:
  unsigned char* ReserveInNext(size_t size, size_t spare) noexcept;
  bool NextChunk(size_t least_bytes) noexcept;
  /// The place of a chunk in the stream's ring, mapped and free; null if there is none.
  unsigned char* PlaceInRing(uint32_t sequence) noexcept;
  bool IsInRing() const noexcept {
    return chunk_->data != nullptr && chunk_->data == ring_[sequence_ % spool::kRingChunks];
  }
  void LeaveChunk() noexcept;

  markers::DirectChunk* chunk_;
  unsigned char* ring_[spool::kRingChunks];  ///< Mapped when the stream first comes to them.
  int64_t retry_ns_;  ///< After a failure, when to try to create a chunk again.
  uint32_t number_;
  uint32_t sequence_;
  uint32_t thread_id_;
  uint32_t os_thread_id_;
  uint32_t next_bytes_;
  bool open_;
};

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_STREAM_H_
