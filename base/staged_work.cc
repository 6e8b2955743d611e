#include "base/staged_work.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <vector>

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
  /// Each of `carriers` has as many of the places as the others, or one more.
  Carriers(const StagedWork& work, size_t carriers, size_t places)
      : work_(work), done_(1 + work.stages), carriers_(carriers), carrier_of_(places) {
    for (size_t place = 0; place < places; ++place) {
      carriers_[place % carriers].free_places.push_back(place);
    }
    for (Carrier& carrier : carriers_) carrier.carried.reserve(carrier.free_places.size());
  }

  /// Carries items at the places of a carrier until none is left.
  void Carry(size_t carrier) {
    while (Carried* const one = Await(carrier)) {
      if (one->stage == 0) {
        Begin(one);
      } else {
        GoOn(&carriers_[carrier], one);
      }
    }
  }

  void RethrowFailure() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  /// Stages of items: 0 is the work's begin, its other stages follow.
  struct Carried {
    size_t item = 0;
    size_t place = 0;
    size_t stage = 0;  ///< The next one.
  };

  struct alignas(128) Carrier {
    std::vector<Carried> carried;  ///< In the order of items.
    std::vector<size_t> free_places;
    bool waits = false;  ///< While it is set, others may look at free_places. Under the lock.
    std::condition_variable wake;
  };

  bool CanBegin(const Carrier& own) const {
    return !own.free_places.empty() && begun_ < end_ && begun_ == done_[0];
  }

  /// The first item whose turn it is, or that is given up.
  Carried* ReadyOf(Carrier* own) const {
    for (Carried& one : own->carried) {
      if (one.item >= end_ || done_[one.stage] == one.item) return &one;
    }
    return nullptr;
  }

  bool HasStep(Carrier* own) const {
    return ReadyOf(own) != nullptr || CanBegin(*own) || (own->carried.empty() && begun_ >= end_);
  }

  /// Waits for something to do: a stage of an item that is carried rather than a new item, whose
  /// turn to begin this then is. Null: nothing is left.
  Carried* Await(size_t carrier) {
    Carrier& own = carriers_[carrier];
    for (int looks = 0; looks < kMostLooks && !HasStep(&own); ++looks) Pause();
    std::unique_lock lock(mutex_);
    while (true) {
      DropGivenUp(&own);
      if (Carried* const ready = ReadyOf(&own)) return ready;
      if (CanBegin(own)) {
        const size_t item = begun_++;
        carrier_of_[item % carrier_of_.size()] = carrier;
        own.carried.push_back({item, own.free_places.back(), 0});
        own.free_places.pop_back();
        return &own.carried.back();
      }
      if (own.carried.empty() && begun_ >= end_) return nullptr;
      own.waits = true;
      own.wake.wait(lock);
      own.waits = false;
    }
  }

  /// Begins an item and makes it; if there is none, it is given up.
  void Begin(Carried* one) {
    Try(one->item, [&] {
      if (!work_.begin(one->place)) EndAt(one->item);
      return true;
    });
    EndTurn(one->stage++);
    if (!work_.make || one->item >= end_) return;
    Try(one->item, [&] {
      work_.make(one->place);
      return true;
    });
  }

  void GoOn(Carrier* own, Carried* one) {
    const size_t stage = one->stage++;
    Try(one->item, [&] { return work_.go_on(one->place, stage - 1); });
    if (stage == work_.stages) {
      own->free_places.push_back(one->place);
      own->carried.erase(own->carried.begin() + (one - own->carried.data()));
    }
    EndTurn(stage);
  }

  void DropGivenUp(Carrier* own) {
    while (!own->carried.empty() && own->carried.back().item >= end_) {
      own->free_places.push_back(own->carried.back().place);
      own->carried.pop_back();
    }
  }

  void EndTurn(size_t stage) {
    const std::lock_guard lock(mutex_);
    const size_t next = ++done_[stage];
    if (stage == 0) {
      const auto begins = std::ranges::find_if(
          carriers_, [&](const Carrier& one) { return one.waits && CanBegin(one); });
      if (begins != carriers_.end()) begins->wake.notify_one();
    } else if (next < begun_) {
      Carrier& carrier = carriers_[carrier_of_[next % carrier_of_.size()]];
      if (carrier.waits) carrier.wake.notify_one();
    }
  }

  /// Does work for an item, which says whether later ones are wanted.
  template <typename Work>
  void Try(size_t item, Work work) {
    try {
      if (!work()) EndAt(item + 1);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (item < end_) failure_ = std::current_exception();
      End(item);
    }
  }

  /// Nothing from `item` on is wanted, nor what was thrown for it.
  void EndAt(size_t item) {
    const std::lock_guard lock(mutex_);
    if (item <= end_) failure_ = nullptr;
    End(item);
  }

  /// Items from `item` on are given up.
  void End(size_t item) {
    if (item >= end_) return;
    end_ = item;
    for (Carrier& carrier : carriers_) carrier.wake.notify_one();
  }

  const StagedWork& work_;
  std::mutex mutex_;
  // Written under the lock.
  std::deque<std::atomic<size_t>> done_;  // Items, by stage.
  std::atomic<size_t> begun_ = 0;
  std::atomic<size_t> end_ = SIZE_MAX;  // The first item that there is not, or that is given up.
  std::exception_ptr failure_;
  std::deque<Carrier> carriers_;
  std::vector<size_t> carrier_of_;  // By item: no more are carried than there are places.
};

}  // namespace

void DoInStages(Team* team, size_t places, const StagedWork& work) {
  const size_t count = std::min(places, team->size());
  Carriers carriers(work, count, places);
  team->Each(count, [&](size_t carrier) { carriers.Carry(carrier); });
  carriers.RethrowFailure();
}

}  // namespace oplens
