#ifndef OPLENS_RECORD_INJECT_FLUSHER_H_
#define OPLENS_RECORD_INJECT_FLUSHER_H_

#include <atomic>
#include <cstdint>

#include "record/spool/spool_format.h"

namespace oplens::record::inject {

/// Asks CUPTI for what it holds every 0.4 seconds, and when `record` wants it: by itself CUPTI
/// gives only buffers that are full, and what it holds is lost with a process that is killed.
class Flusher {
 public:
  /// Starts the thread, which calls `flush`.
  void Start(spool::ProcessPage* page, void (*flush)()) noexcept;
  /// Ends the thread and waits until it is gone, for `most_ns` at most.
  void Stop(int64_t most_ns) noexcept;

 private:
  static void* Run(void* flusher);
  void RunLoop();

  spool::ProcessPage* page_ = nullptr;
  void (*flush_)() = nullptr;
  std::atomic<bool> stopping_{false};
  std::atomic<uint32_t> running_{0};
};

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_FLUSHER_H_
