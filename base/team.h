#ifndef OPLENS_BASE_TEAM_H_
#define OPLENS_BASE_TEAM_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace oplens {

/// Threads that share pieces of work with the caller, again and again.
class Team {
 public:
  /// Starts `threads` threads, or as many as can be started.
  explicit Team(size_t threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// The threads and the caller.
  size_t size() const { return threads_.size() + 1; }

  /// Calls work(0) to work(count - 1), in any order and beside each other, and returns when all are
  /// done. Throws what the first of them by number threw, after all were called.
  void Each(size_t count, std::function<void(size_t)> work) {
    Begin(count, std::move(work));
    Join();
  }

  /// As Each() in two parts: the threads begin, and the caller, who may do other work meanwhile,
  /// takes part in what is left when it calls Join(), which it must before another Begin().
  void Begin(size_t count, std::function<void(size_t)> work);
  void Join();

 private:
  void Serve();
  /// Does pieces until none is left.
  void TakePart();

  std::mutex mutex_;
  std::condition_variable called_;  // To work, or to end.
  std::condition_variable done_;
  size_t calls_ = 0;
  size_t busy_ = 0;  // Threads that may still do pieces of this call.
  bool ended_ = false;
  // Of the current call.
  std::function<void(size_t)> work_;
  size_t count_ = 0;
  std::atomic<size_t> next_{0};
  size_t failed_ = 0;  // The first piece that failed, if there is a failure.
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

/// Into how many parts `count` items are cut so that up to ThreadLimit() threads share them, each
/// part of at least `least` items: 0 for none, 1 with one thread.
size_t CountParts(size_t count, size_t least);

/// Calls work(part, begin, end) for `parts` equal parts of 0 to count - 1, beside each other, by up
/// to ThreadLimit() threads, the caller among them. Throws as Team::Each().
void InParts(size_t count, size_t parts,
             const std::function<void(size_t part, size_t begin, size_t end)>& work);

}  // namespace oplens

#endif  // OPLENS_BASE_TEAM_H_
