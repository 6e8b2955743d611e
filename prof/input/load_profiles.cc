#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "prof/input/profile_records.h"

namespace oplens::prof {
namespace {

/// Calls work(0) to work(count - 1), which must not throw, on up to `threads` threads.
void InThreads(size_t count, size_t threads, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next{0};
  const auto take = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> others;
  try {
    for (size_t i = 1; i < std::min(count, threads); ++i) others.emplace_back(take);
  } catch (const std::system_error&) {
    // Those that could be started, and this one, do it all.
  }
  take();
  for (std::thread& other : others) other.join();
}

}  // namespace

std::vector<std::unique_ptr<LoadedProfile>> Inputs::LoadAll(size_t threads) {
  std::vector<Input> inputs(std::make_move_iterator(waiting_.begin()),
                            std::make_move_iterator(waiting_.end()));
  std::vector<std::unique_ptr<LoadedProfile>> read(inputs.size());
  std::vector<Diagnostics> losses(inputs.size());
  std::vector<std::exception_ptr> problems(inputs.size());
  // Each counts what it reads; with several, only whether to stop is of interest.
  InThreads(inputs.size(), threads, [&](size_t i) {
    try {
      if (meter() != nullptr) meter()->Check();
      read[i] =
          inputs[i].counted ? ReadCounted(inputs[i]) : ReadProfile(inputs[i], meter(), &losses[i]);
    } catch (...) {
      problems[i] = std::current_exception();
    }
  });
  std::vector<std::unique_ptr<LoadedProfile>> loaded;
  for (size_t i = 0; i < inputs.size(); ++i) {
    waiting_.pop_front();
    last_path_ = inputs[i].file.path;
    try {
      if (problems[i] != nullptr) std::rethrow_exception(problems[i]);
      if (inputs[i].counted) {
        ++opened_;
      } else {
        Settle(inputs[i], read[i].get(), &losses[i]);
      }
      read[i]->losses = std::move(losses[i]);
      loaded.push_back(std::move(read[i]));
    } catch (const Error& error) {
      LeaveOut(error);
    }
  }
  problems.assign(loaded.size(), nullptr);
  // A reference is asked by one at a time.
  InThreads(loaded.size(), reference_ ? 1 : threads, [&](size_t i) {
    try {
      if (meter() != nullptr) meter()->Check();
      Join(loaded[i].get(), &loaded[i]->join_losses);
    } catch (...) {
      problems[i] = std::current_exception();
    }
  });
  for (size_t i = 0; i < loaded.size(); ++i) {
    if (problems[i] != nullptr) std::rethrow_exception(problems[i]);
    JoinCounters(loaded[i].get());
  }
  return loaded;
}

}  // namespace oplens::prof
