#include "test/recorder/event_buffer.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <mutex>
#include <new>

namespace oplens::test_recorder {
namespace {

// Found by all threads: as the process may exit while they run, nothing here is ever destroyed.
std::atomic<ThreadBuffer*> g_buffers{nullptr};
std::atomic<uint64_t> g_serial{0};
std::atomic<bool> g_discard{false};

std::mutex& ReaderMutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

// No call into the dynamic linker at each event.
__attribute__((tls_model("initial-exec"))) thread_local ThreadBuffer* t_buffer = nullptr;

/// What its parent has recorded is no part of a child that was forked, whose thread has another
/// number.
void ForgetParent() {
  g_buffers.store(nullptr, std::memory_order_relaxed);
  t_buffer = nullptr;
}

const int g_forgets = pthread_atfork(nullptr, nullptr, ForgetParent);

}  // namespace

ThreadBuffer::ThreadBuffer() noexcept : thread_id_(syscall(SYS_gettid)), serial_(++g_serial) {}

ThreadBuffer* ThreadBuffer::Make() noexcept {
  auto* const buffer = new (std::nothrow) ThreadBuffer;
  if (buffer == nullptr) return nullptr;
  buffer->next_ = g_buffers.load(std::memory_order_relaxed);
  while (!g_buffers.compare_exchange_weak(buffer->next_, buffer, std::memory_order_release)) {
  }
  t_buffer = buffer;
  return buffer;
}

ThreadBuffer* ThreadBuffer::Current() noexcept { return t_buffer != nullptr ? t_buffer : Make(); }

void ThreadBuffer::SetDiscard(bool discard) noexcept { g_discard.store(discard); }

bool ThreadBuffer::discards() noexcept { return g_discard.load(std::memory_order_relaxed); }

void ThreadBuffer::ForEach(const std::function<void(ThreadBuffer&)>& visit) {
  const std::lock_guard lock(ReaderMutex());
  ThreadBuffer* buffer = g_buffers.load(std::memory_order_acquire);
  for (; buffer != nullptr; buffer = buffer->next_) visit(*buffer);
}

ThreadBuffer::Chunk* ThreadBuffer::MakeChunk(size_t event_size) noexcept {
  // From the system: what the program's allocator is asked for shall be the program's own.
  const size_t bytes = std::max(kChunkBytes, event_size + sizeof(Chunk));
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const chunk = new (memory) Chunk;
  chunk->next.store(nullptr, std::memory_order_relaxed);
  chunk->used.store(0, std::memory_order_relaxed);
  chunk->capacity = bytes - sizeof(Chunk);
  return chunk;
}

unsigned char* ThreadBuffer::Reserve(size_t size) noexcept {
  if (writing_ != nullptr) {
    const size_t used = writing_->used.load(std::memory_order_relaxed);
    if (size <= writing_->capacity - used) return writing_->data() + used;
    if (discards() && size <= writing_->capacity) {
      writing_->used.store(0, std::memory_order_relaxed);
      return writing_->data();
    }
  }
  Chunk* const chunk = MakeChunk(size);
  if (chunk == nullptr) return nullptr;
  if (writing_ == nullptr) {
    first_.store(chunk, std::memory_order_release);
  } else {
    writing_->next.store(chunk, std::memory_order_release);
  }
  writing_ = chunk;
  return chunk->data();
}

void ThreadBuffer::Publish(size_t size) noexcept {
  const size_t used = writing_->used.load(std::memory_order_relaxed);
  writing_->used.store(used + size, std::memory_order_release);
  count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

int64_t ThreadBuffer::NextTime() noexcept {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  last_time_ = std::max(last_time_ + 1, int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec);
  return last_time_;
}

void ThreadBuffer::ForEachEvent(
    const std::function<void(const EventHead&, const unsigned char*)>& visit) {
  if (discards()) return;
  // Up to here: the thread may be faster than who reads.
  Chunk* last = first_.load(std::memory_order_acquire);
  if (last == nullptr) return;
  while (Chunk* const next = last->next.load(std::memory_order_acquire)) last = next;
  const size_t last_used = last->used.load(std::memory_order_acquire);
  Chunk* chunk = first_.load(std::memory_order_acquire);
  size_t offset = first_offset_;
  for (;; chunk = chunk->next.load(std::memory_order_acquire), offset = 0) {
    const size_t used = chunk == last ? last_used : chunk->used.load(std::memory_order_acquire);
    while (offset < used) {
      EventHead head;
      std::memcpy(&head, chunk->data() + offset, sizeof head);
      visit(head, chunk->data() + offset + sizeof head);
      offset += head.size;
    }
    if (chunk == last) return;
  }
}

void ThreadBuffer::Clear() {
  if (discards()) return;
  Chunk* chunk = first_.load(std::memory_order_acquire);
  while (chunk != nullptr) {
    // Only the last chunk is still written to.
    Chunk* const next = chunk->next.load(std::memory_order_acquire);
    if (next == nullptr) break;
    munmap(chunk, chunk->capacity + sizeof(Chunk));
    chunk = next;
    first_.store(chunk, std::memory_order_release);
    first_offset_ = 0;
  }
  if (chunk != nullptr) first_offset_ = chunk->used.load(std::memory_order_acquire);
}

}  // namespace oplens::test_recorder
