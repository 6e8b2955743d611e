#ifndef OPLENS_RECORD_INJECT_HELPER_THREAD_H_
#define OPLENS_RECORD_INJECT_HELPER_THREAD_H_

#include <atomic>
#include <cstdint>

// The recorder's own threads in the program.

namespace oplens::record::inject {

/// Starts a thread with all signals blocked: they are for the program's threads.
bool StartHelperThread(void* (*run)(void*), void* argument) noexcept;

/// A call that may never return; lives as long as the process.
struct HelperCall {
  void (*function)();
  std::atomic<uint32_t> ended{0};
};

/// Makes the call on a separate thread and waits up to `most_ns`; returns false if it is still
/// running. If no thread can be created, makes the call here, however long it takes.
bool CallWithin(int64_t most_ns, HelperCall* call) noexcept;

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_HELPER_THREAD_H_
