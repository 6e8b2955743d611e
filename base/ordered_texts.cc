#include "base/ordered_texts.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/threads.h"

namespace oplens {
namespace {

using Make = std::function<void(size_t piece, std::string* text)>;
using Take = std::function<void(const std::string& text)>;

class Workshop {
 public:
  Workshop(size_t count, size_t threads, const Make& make)
      : count_(count), make_(make), places_(2 * threads) {
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
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  bool has_threads() const { return !threads_.empty(); }

  void Run(const Take& take) {
    for (size_t piece = 0; piece < count_; ++piece) {
      Place& place = places_[piece % places_.size()];
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return place.is_made; });
      }
      if (place.failure != nullptr) std::rethrow_exception(place.failure);
      take(place.text);
      {
        const std::lock_guard lock(mutex_);
        place.is_made = false;
        ++taken_;
      }
      changed_.notify_all();
    }
  }

 private:
  struct Place {
    std::string text;
    std::exception_ptr failure;
    bool is_made = false;
  };

  void Work() {
    while (true) {
      size_t piece = 0;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] {
          return given_up_ || next_ == count_ || next_ < taken_ + places_.size();
        });
        if (given_up_ || next_ == count_) return;
        piece = next_++;
      }
      Place& place = places_[piece % places_.size()];
      place.text.clear();
      try {
        make_(piece, &place.text);
      } catch (...) {
        place.failure = std::current_exception();
      }
      {
        const std::lock_guard lock(mutex_);
        place.is_made = true;
      }
      changed_.notify_all();
    }
  }

  const size_t count_;
  const Make& make_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Place> places_;
  size_t next_ = 0;   // To be made.
  size_t taken_ = 0;  // Pieces.
  bool given_up_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

void MakeInOrder(size_t count, const Make& make, const Take& take) {
  const size_t threads = std::min(count, static_cast<size_t>(ThreadLimit()));
  if (threads >= 2) {
    Workshop workshop(count, threads, make);
    if (workshop.has_threads()) return workshop.Run(take);
  }
  std::string text;
  for (size_t piece = 0; piece < count; ++piece) {
    text.clear();
    make(piece, &text);
    take(text);
  }
}

}  // namespace oplens
