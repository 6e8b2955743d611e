#ifndef OPLENS_BASE_WORK_METER_H_
#define OPLENS_BASE_WORK_METER_H_

// Public header: installed, docs/library.md.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "base/error.h"

namespace oplens {

/// Progress of a piece of work. Thread-safe; an update costs one store and one load.
class WorkMeter {
 public:
  /// Starts or restarts the work. `total` <= 0: unknown.
  void Start(int64_t total) {
    done_.store(0, std::memory_order_relaxed);
    total_.store(total, std::memory_order_relaxed);
  }
  /// Add() and Set() throw Interrupted after Stop().
  void Add(int64_t amount) {
    Check();
    done_.fetch_add(amount, std::memory_order_relaxed);
  }
  void Set(int64_t done) {
    Check();
    done_.store(done, std::memory_order_relaxed);
  }
  /// Asks the work to stop at its next update, from any thread, until Resume().
  void Stop() { stopped_.store(true, std::memory_order_relaxed); }
  void Resume() { stopped_.store(false, std::memory_order_relaxed); }
  void Check() const {
    if (stopped_.load(std::memory_order_relaxed)) throw Interrupted();
  }
  /// Waits for a mutex; throws Interrupted after Stop().
  std::unique_lock<std::timed_mutex> Lock(std::timed_mutex* mutex) const {
    constexpr std::chrono::milliseconds kBetweenChecks{20};
    std::unique_lock<std::timed_mutex> lock(*mutex, std::defer_lock);
    while (!lock.try_lock_for(kBetweenChecks)) Check();
    return lock;
  }
  int64_t done() const { return done_.load(std::memory_order_relaxed); }
  int64_t total() const { return total_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> done_{0};
  std::atomic<int64_t> total_{0};
  std::atomic<bool> stopped_{false};
};

}  // namespace oplens

#endif  // OPLENS_BASE_WORK_METER_H_
