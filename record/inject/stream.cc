#include "record/inject/stream.h"

#include <errno.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>

#include "record/inject/clock.h"
#include "record/inject/mapped_file.h"
#include "record/inject/process.h"

namespace oplens::record::inject {

static_assert(offsetof(spool::ChunkHead, used) == markers::kDirectUsedAt);

namespace {

constexpr uint32_t kFirstBytes = 64 * 1024;
/// Above this, chunks stay small, so that the recorder's memory stays below 64 MiB for any number
/// of threads.
constexpr size_t kMuchMapped = size_t{24} << 20;
constexpr int64_t kRetryNs = 100'000'000;

std::atomic<size_t> g_mapped_bytes{0};

size_t RoundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

spool::ChunkHead* HeadOf(unsigned char* chunk) noexcept {
  return reinterpret_cast<spool::ChunkHead*>(chunk);
}

void UnmapChunk(void* chunk, size_t bytes) noexcept {
  munmap(chunk, bytes);
  g_mapped_bytes.fetch_sub(bytes, std::memory_order_relaxed);
}

}  // namespace

void Stream::Open(uint32_t number, uint32_t thread_id, uint32_t os_thread_id,
                  markers::DirectChunk* chunk) noexcept {
  *this = Stream();
  chunk_ = chunk;
  *chunk_ = {};
  number_ = number;
  thread_id_ = thread_id;
  os_thread_id_ = os_thread_id;
  next_bytes_ = kFirstBytes;
  open_ = true;
}

void Stream::Unmap() noexcept {
  if (chunk_ == nullptr) return;
  if (chunk_->data != nullptr && !IsInRing()) UnmapChunk(chunk_->data, chunk_->capacity);
  *chunk_ = {};
  for (unsigned char*& place : ring_) {
    if (place != nullptr) UnmapChunk(place, spool::kRingChunkBytes);
    place = nullptr;
  }
}

void Stream::LeaveChunk() noexcept {
  if (chunk_->data == nullptr) return;
  if (IsInRing()) {
    HeadOf(chunk_->data)->closed.store(1, std::memory_order_release);
  } else {
    UnmapChunk(chunk_->data, chunk_->capacity);
  }
}

unsigned char* Stream::PlaceInRing(uint32_t sequence) noexcept {
  unsigned char*& place = ring_[sequence % spool::kRingChunks];
  if (place == nullptr) {
    if (g_mapped_bytes.load(std::memory_order_relaxed) > kMuchMapped) return nullptr;
    char path[4096 + 64];
    if (!RingPath(number_, sequence % spool::kRingChunks, path, sizeof path)) return nullptr;
    place = static_cast<unsigned char*>(MapReadyFile(path, spool::kRingChunkBytes));
    if (place == nullptr) return nullptr;
    g_mapped_bytes.fetch_add(spool::kRingChunkBytes, std::memory_order_relaxed);
  }
  return HeadOf(place)->used.load(std::memory_order_acquire) == 0 ? place : nullptr;
}

unsigned char* Stream::ReserveInNext(size_t size, size_t spare) noexcept {
  if (!open_) return nullptr;
  // Do not retry a full disk at every event.
  if (retry_ns_ != 0 && MonotonicNow() < retry_ns_) return nullptr;
  if (!NextChunk(sizeof(spool::ChunkHead) + size + spare)) {
    NoteError(errno);
    retry_ns_ = MonotonicNow() + kRetryNs;
    return nullptr;
  }
  retry_ns_ = 0;
  return chunk_->data + chunk_->used;
}

bool Stream::NextChunk(size_t least_bytes) noexcept {
  const uint32_t sequence = chunk_->data == nullptr ? sequence_ : sequence_ + 1;
  size_t bytes = spool::kRingChunkBytes;
  unsigned char* mapped = nullptr;
  if (next_bytes_ == spool::kLargestChunkBytes && least_bytes <= bytes) {
    mapped = PlaceInRing(sequence);
  }
  if (mapped == nullptr) {
    bytes = next_bytes_;
    if (g_mapped_bytes.load(std::memory_order_relaxed) > kMuchMapped) bytes = kFirstBytes;
    if (bytes < least_bytes) bytes = RoundUp(least_bytes, kFirstBytes);
    char path[4096 + 64];
    if (!ChunkPath(number_, sequence, path, sizeof path)) {
      errno = ENAMETOOLONG;
      return false;
    }
    mapped = static_cast<unsigned char*>(MakeMappedFile(path, bytes));
    if (mapped == nullptr) return false;
    if (bytes == spool::kLargestChunkBytes) NoteLargeStream(number_);
    g_mapped_bytes.fetch_add(bytes, std::memory_order_relaxed);
  }
  LeaveChunk();
  *chunk_ = {mapped, 0, bytes};
  sequence_ = sequence;
  if (next_bytes_ < spool::kLargestChunkBytes) next_bytes_ *= 4;
  auto* const head = new (mapped) spool::ChunkHead;
  std::memcpy(head->magic, spool::kChunkMagic, sizeof head->magic);
  head->version = spool::kVersion;
  head->stream = number_;
  head->sequence = sequence;
  head->thread_id = thread_id_;
  head->os_thread_id = os_thread_id_;
  head->capacity = static_cast<uint32_t>(bytes);
  Publish(sizeof(spool::ChunkHead));
  return true;
}

}  // namespace oplens::record::inject
