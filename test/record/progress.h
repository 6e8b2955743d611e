#ifndef OPLENS_TEST_RECORD_PROGRESS_H_
#define OPLENS_TEST_RECORD_PROGRESS_H_

#include <atomic>
#include <cstdint>
#include <limits>

#include "record/spool/futex.h"

namespace oplens::test {

/// What `gpu_program forever` says of itself, in a file that its test maps too. Made of zeros.
struct Progress {
  /// Values of `wanted` besides numbers of ranges: main began; CUDA is there; CUPTI was flushed.
  static constexpr int64_t kBegun = -2;
  static constexpr int64_t kReady = -1;
  static constexpr int64_t kFlushed = std::numeric_limits<int64_t>::max();

  std::atomic<int32_t> process_id;      ///< 0 before main.
  std::atomic<int64_t> ranges;          ///< How many have ended.
  std::atomic<int64_t> flushed_ranges;  ///< At least so many had ended at the last flush of CUPTI.
  std::atomic<int64_t> wanted;          ///< The test waits for so many ranges, or one of the above.
  std::atomic<uint32_t> reached;        ///< 1: the program got so far.

  /// For the program: it is at `place` now.
  void Tell(int64_t place) {
    if (place < wanted.load() || reached.load(std::memory_order_relaxed) != 0) return;
    reached.store(1);
    record::spool::WakeAll(reached);
  }
  /// For the test: what it waits for next.
  void Want(int64_t place) {
    wanted.store(place);
    reached.store(0);
  }
  /// Waits until the program is there. False: 30 s went by.
  bool Wait() const { return record::spool::WaitForChange(reached, 0, 30'000'000'000); }
};

}  // namespace oplens::test

#endif  // OPLENS_TEST_RECORD_PROGRESS_H_
