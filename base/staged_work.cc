#include "base/staged_work.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>

namespace oplens {
namespace {

/// How often a thread looks before it sleeps: turns are short, and waking takes as long. Some 50
/// us.
constexpr int kMostLooks = 1000;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

class Carriers {
 public:
  explicit Carriers(const StagedWork& work) : work_(work), stages_(1 + work.stages) {}

  /// Carries items at a place until none is left.
  void Carry(size_t place) {
    for (size_t item = 0; Begin(place, &item);) {
      if (work_.make) {
        Try(item, [&] {
          work_.make(place);
          return true;
        });
      }
      for (size_t stage = 0; stage < work_.stages; ++stage) {
        if (!Await(1 + stage, item)) break;
        Try(item, [&] { return work_.go_on(place, stage); });
        EndTurn(1 + stage);
      }
    }
  }

  void RethrowFailure() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  /// Those of the work, behind its begin.
  struct Stage {
    std::atomic<size_t> done = 0;  // Items.
    std::condition_variable turn;
    size_t waiting = 0;  // Threads.
  };
  using Lock = std::unique_lock<std::mutex>;

  /// False: there is no next item.
  bool Begin(size_t place, size_t* item) {
    {
      const Lock lock = Wait(0, [&] { return begun_ == stages_[0].done; });
      if (begun_ >= end_) return false;
      *item = begun_++;
    }
    bool found = false;
    Try(*item, [&] {
      found = work_.begin(place);
      if (!found) EndAt(*item);
      return true;
    });
    EndTurn(0);
    return found;
  }

  /// Waits for an item's turn; false: it is given up.
  bool Await(size_t stage, size_t item) {
    Wait(stage, [&] { return stages_[stage].done == item || item >= end_; });
    return item < end_;
  }

  template <typename Ready>
  Lock Wait(size_t stage, Ready ready) {
    for (int looks = 0; looks < kMostLooks && !ready(); ++looks) Pause();
    Lock lock(mutex_);
    Stage& at = stages_[stage];
    ++at.waiting;
    at.turn.wait(lock, ready);
    --at.waiting;
    return lock;
  }

  void EndTurn(size_t stage) {
    const Lock lock(mutex_);
    Stage& at = stages_[stage];
    ++at.done;
    if (at.waiting > 0) at.turn.notify_all();
  }

  /// Does work for an item, which says whether later ones are wanted.
  template <typename Work>
  void Try(size_t item, Work work) {
    try {
      if (!work()) EndAt(item + 1);
    } catch (...) {
      const Lock lock(mutex_);
      if (item < end_) failure_ = std::current_exception();
      End(item);
    }
  }

  /// Nothing from `item` on is wanted, nor what was thrown for it.
  void EndAt(size_t item) {
    const Lock lock(mutex_);
    if (item <= end_) failure_ = nullptr;
    End(item);
  }

  /// Items from `item` on are given up.
  void End(size_t item) {
    if (item >= end_) return;
    end_ = item;
    for (Stage& stage : stages_) stage.turn.notify_all();
  }

  const StagedWork& work_;
  std::mutex mutex_;
  std::deque<Stage> stages_;
  // Written under the lock.
  std::atomic<size_t> begun_ = 0;
  std::atomic<size_t> end_ = SIZE_MAX;  // The first item that there is not, or that is given up.
  std::exception_ptr failure_;
};

}  // namespace

void DoInStages(Team* team, size_t places, const StagedWork& work) {
  Carriers carriers(work);
  team->Each(places, [&](size_t place) { carriers.Carry(place); });
  carriers.RethrowFailure();
}

}  // namespace oplens
