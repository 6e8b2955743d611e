#ifndef OPLENS_RECORD_INJECT_STREAM_H_
#define OPLENS_RECORD_INJECT_STREAM_H_

#include <cstddef>
#include <cstdint>

#include "record/spool/spool_format.h"

namespace oplens::record::inject {

/// One stream of the spool: the chunk that is being written is mapped, so that what was written
/// outlives the process. Used by one thread at a time. Zero-initialised memory is a closed stream.
class Stream {
 public:
  /// Starts stream number `number`, of the thread if there is one. Makes no file yet.
  void Open(uint32_t number, uint32_t thread_id, uint32_t os_thread_id) noexcept;
  bool is_open() const noexcept { return open_; }
  /// From here on the chunks are of another thread.
  void SetThread(uint32_t thread_id, uint32_t os_thread_id) noexcept {
    thread_id_ = thread_id;
    os_thread_id_ = os_thread_id;
  }

  /// Room for a record of `size` bytes, a multiple of 8, with `spare` bytes left behind it in the
  /// same chunk. Null when there is none: no disk, no memory. Publish() makes the record part of
  /// the stream.
  unsigned char* Reserve(size_t size, size_t spare) noexcept {
    if (used_ + size + spare <= capacity_) return data_ + used_;
    return ReserveInNext(size, spare);
  }
  /// Room in the chunk at hand, from what was spared.
  unsigned char* ReserveSpared(size_t size) noexcept {
    return used_ + size <= capacity_ ? data_ + used_ : nullptr;
  }
  void Publish(size_t size) noexcept;

  /// Gives the mapped memory back; the files stay.
  void Unmap() noexcept;

  // Where the stream ends now: number of the chunk, bytes in it. Sequence 0 and 0 bytes: no file.
  uint32_t sequence() const noexcept { return sequence_; }
  size_t used() const noexcept { return used_; }

 private:
  unsigned char* ReserveInNext(size_t size, size_t spare) noexcept;
  bool NextChunk(size_t least_bytes) noexcept;

  unsigned char* data_;
  size_t used_;
  size_t capacity_;
  int64_t retry_ns_;  ///< When another chunk may be tried after one could not be made.
  uint32_t number_;
  uint32_t sequence_;
  uint32_t thread_id_;
  uint32_t os_thread_id_;
  uint32_t next_bytes_;
  bool open_;
};

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_STREAM_H_
