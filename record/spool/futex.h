#ifndef OPLENS_RECORD_SPOOL_FUTEX_H_
#define OPLENS_RECORD_SPOOL_FUTEX_H_

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace oplens::record::spool {

static_assert(std::atomic<uint32_t>::is_always_lock_free);

/// Waits while `word` equals `value`, at most `most_ns`; returns false if it still does. Also works
/// between processes if the word is in a mapped file.
inline bool WaitForChange(const std::atomic<uint32_t>& word, uint32_t value,
                          int64_t most_ns) noexcept {
  constexpr int64_t kSecond = 1'000'000'000;
  const auto now = [] {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return int64_t{time.tv_sec} * kSecond + time.tv_nsec;
  };
  const int64_t end_ns = now() + most_ns;
  while (word.load(std::memory_order_acquire) == value) {
    const int64_t left_ns = end_ns - now();
    if (left_ns <= 0) return false;
    const timespec left = {static_cast<time_t>(left_ns / kSecond),
                           static_cast<long>(left_ns % kSecond)};
    syscall(SYS_futex, &word, FUTEX_WAIT, value, &left, nullptr, 0);
  }
  return true;
}

inline void WakeAll(const std::atomic<uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace oplens::record::spool

#endif  // OPLENS_RECORD_SPOOL_FUTEX_H_
