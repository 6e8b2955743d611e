#include "base/threads.h"

#include <algorithm>
#include <atomic>
#include <thread>

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

}  // namespace oplens
