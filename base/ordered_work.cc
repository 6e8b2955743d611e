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
    for (size_t piece = 0; Await(piece); ++piece) {
      const size_t index = piece % places_.size();
      Place& place = places_[index];
      if (place.failure != nullptr) std::rethrow_exception(place.failure);
      if (!steps_.take(index)) return;
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
  using Lock = std::unique_lock<std::mutex>;

  /// Pieces that wait to be made while a thread begins one more: who waits for a piece finds one
  /// to make, and seldom meets others that ask for the next.
  static constexpr size_t kWaiting = 2;

  /// Waits until `piece` is made, and makes others meanwhile; false: there is no such piece.
  bool Await(size_t piece) {
    const Place& place = places_[piece % places_.size()];
    Lock lock(mutex_);
    while (true) {
      if (place.is_made) return true;
      if (ended_ && piece == begun_) return false;
      const SharedThread shared;
      if (waiting() > 0) {
        MakeOne(&lock);
      } else if (MayBegin()) {
        BeginOne(&lock);
      } else {
        caller_waits_ = true;
        made_.wait(lock);
        caller_waits_ = false;
      }
    }
  }

  void Work() {
    const SharedThread shared;
    Lock lock(mutex_);
    while (!given_up_ && !(ended_ && waiting() == 0)) {
      if (MayBegin() && waiting() < kWaiting) {
        BeginOne(&lock);
      } else if (waiting() > 0) {
        MakeOne(&lock);
      } else {
        ++idle_;
        free_.wait(lock);
        --idle_;
      }
    }
  }

  /// Whether a place is free and no other thread asks for the next piece.
  bool MayBegin() const { return !ended_ && !is_beginning_ && begun_ < taken_ + places_.size(); }
  /// Pieces that are begun, and that no thread makes yet.
  size_t waiting() const { return begun_ - claimed_; }

  /// Asks for the next piece. `lock` is held before and after.
  void BeginOne(Lock* lock) {
    const size_t index = begun_ % places_.size();
    Place& place = places_[index];
    is_beginning_ = true;
    lock->unlock();
    bool begun = true;
    try {
      begun = steps_.next(index);
    } catch (...) {
      place.failure = std::current_exception();
    }
    lock->lock();
    is_beginning_ = false;
    if (begun) ++begun_;
    ended_ = ended_ || !begun || place.failure != nullptr;
    if (ended_) {
      free_.notify_all();
      made_.notify_one();
    } else if (idle_ > 0) {
      free_.notify_one();
    } else if (caller_waits_) {
      made_.notify_one();
    }
  }

  /// Makes the first piece that waits. `lock` is held before and after.
  void MakeOne(Lock* lock) {
    const size_t index = claimed_++ % places_.size();
    Place& place = places_[index];
    lock->unlock();
    try {
      if (place.failure == nullptr) steps_.make(index);
    } catch (...) {
      place.failure = std::current_exception();
    }
    lock->lock();
    place.is_made = true;
    if (caller_waits_) made_.notify_one();
  }

  const OrderedSteps& steps_;
  std::mutex mutex_;
  std::condition_variable free_;  // A place and the turn to begin, or the end: for threads.
  std::condition_variable made_;  // A piece, what threads wait for, or the end: for the caller.
  std::vector<Place> places_;
  // Pieces: taken_ <= claimed_ <= begun_.
  size_t begun_ = 0;
  size_t claimed_ = 0;  // By the threads that make them.
  size_t taken_ = 0;
  size_t idle_ = 0;  // Threads that wait.
  bool caller_waits_ = false;
  bool is_beginning_ = false;  // A thread asks for the next piece.
  bool ended_ = false;         // No piece follows those that are begun.
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
    if (!steps.take(0)) return;
  }
}

}  // namespace oplens
