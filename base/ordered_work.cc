#include "base/ordered_work.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/threads.h"

namespace oplens {
namespace {

class Workshop {
 public:
  Workshop(size_t threads, const OrderedSteps& steps) : steps_(steps), places_(PlacesFor(threads)) {
    try {
      for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
    } catch (const std::system_error&) {
      // Those that were started do all of it.
    }
  }
  ~Workshop() {
    {
      const std::lock_guard lock(mutex_);
      given_up_ = true;
    }
    free_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  bool has_threads() const { return !threads_.empty(); }

  void Run() {
    for (size_t piece = 0;; ++piece) {
      const size_t index = piece % places_.size();
      Place& place = places_[index];
      {
        std::unique_lock lock(mutex_);
        made_.wait(lock, [&] { return place.is_made || (ended_ && piece == begun_); });
        if (!place.is_made) return;
      }
      if (place.failure != nullptr) std::rethrow_exception(place.failure);
      steps_.take(index);
      {
        const std::lock_guard lock(mutex_);
        place.is_made = false;
        ++taken_;
      }
      free_.notify_one();
    }
  }

 private:
  struct Place {
    std::exception_ptr failure;
    bool is_made = false;
  };

  void Work() {
    const SharedThread shared;
    size_t index = 0;
    while (Begin(&index)) {
      Place& place = places_[index];
      try {
        if (place.failure == nullptr) steps_.make(index);
      } catch (...) {
        place.failure = std::current_exception();
      }
      {
        const std::lock_guard lock(mutex_);
        place.is_made = true;
      }
      made_.notify_one();
    }
  }

  /// Waits for a place and says what belongs there; false: nothing is left to be made.
  bool Begin(size_t* index) {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [this] { return given_up_ || ended_ || begun_ < taken_ + places_.size(); });
    if (given_up_ || ended_) return false;
    *index = begun_ % places_.size();
    try {
      ended_ = !steps_.next(*index);
    } catch (...) {
      places_[*index].failure = std::current_exception();
    }
    const bool failed = places_[*index].failure != nullptr;
    if (!ended_) ++begun_;
    if (failed) ended_ = true;
    if (ended_) {
      lock.unlock();
      free_.notify_all();
      made_.notify_one();
      return failed;
    }
    return true;
  }

  const OrderedSteps& steps_;
  std::mutex mutex_;
  std::condition_variable free_;  // A place, or the end.
  std::condition_variable made_;  // A piece, or the end.
  std::vector<Place> places_;
  size_t begun_ = 0;  // Pieces.
  size_t taken_ = 0;
  bool ended_ = false;
  bool given_up_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

void DoInOrder(size_t threads, const OrderedSteps& steps) {
  if (threads > 0) {
    Workshop workshop(threads, steps);
    if (workshop.has_threads()) return workshop.Run();
  }
  while (steps.next(0)) {
    steps.make(0);
    steps.take(0);
  }
}

}  // namespace oplens
