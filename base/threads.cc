#include "base/threads.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace oplens {
namespace {

std::atomic<int> threads_given = 0;  // 0: not told.

}  // namespace

int ThreadLimit() {
  const int given = threads_given.load();
  if (given > 0) return given;
  // 0 where it is not known.
  const auto cores = static_cast<int>(std::min(std::thread::hardware_concurrency(), 1024U));
  return std::clamp(cores, 1, kMostFileThreads);
}

void SetThreadLimit(int limit) { threads_given = std::clamp(limit, 1, kMostFileThreads); }

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

}  // namespace oplens
