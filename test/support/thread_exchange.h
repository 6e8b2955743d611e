#ifndef OPLENS_TEST_SUPPORT_THREAD_EXCHANGE_H_
#define OPLENS_TEST_SUPPORT_THREAD_EXCHANGE_H_

#include <barrier>
#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/exchange.h"

namespace oplens::test {

/// What threads that play processes tell each other.
class ThreadBoard {
 public:
  explicit ThreadBoard(size_t size)
      : messages_(size, std::vector<std::string>(size)), here_(static_cast<std::ptrdiff_t>(size)) {}

  size_t size() const { return messages_.size(); }
  std::vector<std::string> Swap(size_t rank, std::vector<std::string> messages) {
    for (size_t to = 0; to < size(); ++to) messages_[to][rank] = std::move(messages[to]);
    here_.arrive_and_wait();
    std::vector<std::string> told = messages_[rank];
    here_.arrive_and_wait();
    return told;
  }

 private:
  std::vector<std::vector<std::string>> messages_;  // To, from.
  std::barrier<> here_;
};

/// One of them.
class ThreadExchange : public Exchange {
 public:
  ThreadExchange(ThreadBoard* board, size_t rank) : board_(*board), rank_(rank) {}

  size_t rank() const override { return rank_; }
  size_t size() const override { return board_.size(); }
  std::vector<std::string> AllToAll(std::vector<std::string> messages) override {
    return board_.Swap(rank_, std::move(messages));
  }
  std::vector<std::string> AllGather(std::string message) override {
    return board_.Swap(rank_, std::vector<std::string>(size(), message));
  }

 private:
  ThreadBoard& board_;
  size_t rank_;
};

/// Runs `work` in as many threads. Throws again what one throws, if all do.
inline void RunProcesses(size_t count, const std::function<void(Exchange*)>& work) {
  ThreadBoard board(count);
  std::vector<std::exception_ptr> errors(count);
  {
    std::vector<std::jthread> threads;
    for (size_t rank = 0; rank < count; ++rank) {
      threads.emplace_back([&, rank] {
        ThreadExchange exchange(&board, rank);
        try {
          work(&exchange);
        } catch (...) {
          errors[rank] = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace oplens::test

#endif  // OPLENS_TEST_SUPPORT_THREAD_EXCHANGE_H_
