#ifndef OPLENS_RECORD_INJECT_HELPER_THREAD_H_
#define OPLENS_RECORD_INJECT_HELPER_THREAD_H_

#include <atomic>
#include <cstdint>

// Threads of the recorder's own in the program.

namespace oplens::record::inject {

/// Starts a thread that gets no signal: those of the program are for its own threads.
bool StartHelperThread(void* (*run)(void*), void* argument) noexcept;

/// A call that may never come back; it lives as long as the process.
struct HelperCall {
  void (*function)();
  std::atomic<uint32_t> ended{0};
};

/// Makes the call on a thread of its own and waits for it, for `most_ns` at most. False: it is
/// still under way. Where no thread can be had it is made here, however long it takes.
bool CallWithin(int64_t most_ns, HelperCall* call) noexcept;

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_HELPER_THREAD_H_
