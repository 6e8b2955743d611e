#ifndef OPLENS_BASE_ONCE_H_
#define OPLENS_BASE_ONCE_H_

#include <atomic>
#include <cstdint>

namespace oplens {

/// Work that is done once, by the first thread that asks for it; others wait until it is done. If
/// it throws, the next who asks does it.
///
/// In place of std::call_once(), which passes an exception through functions of the C library:
/// these load the unwinder first, and end the process if there is no memory for it.
class Once {
 public:
  template <typename Work>
  void Do(Work work) {
    while (true) {
      uint32_t state = state_.load(std::memory_order_acquire);
      if (state == kDone) return;
      if (state == kBusy) {
        state_.wait(kBusy, std::memory_order_acquire);
      } else if (state_.compare_exchange_strong(state, kBusy, std::memory_order_acquire)) {
        Turn turn{&state_};
        work();
        turn.ends_with = kDone;
        return;
      }
    }
  }

 private:
  enum : uint32_t { kNone, kBusy, kDone };
  struct Turn {
    std::atomic<uint32_t>* state;
    uint32_t ends_with = kNone;
    ~Turn() {
      state->store(ends_with, std::memory_order_release);
      state->notify_all();
    }
  };

  std::atomic<uint32_t> state_{kNone};
};

}  // namespace oplens

#endif  // OPLENS_BASE_ONCE_H_
