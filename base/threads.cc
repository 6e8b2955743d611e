#include "base/threads.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace oplens {
namespace {

std::atomic<int> threads_given = 0;  // 0: not told.
thread_local bool is_shared = false;

}  // namespace

int ThreadLimit() {
  if (is_shared) return 1;
  const int given = threads_given.load();
  if (given > 0) return given;
  // 0 where it is not known.
  const auto cores = static_cast<int>(std::min(std::thread::hardware_concurrency(), 1024U));
  return std::clamp(cores, 1, kMostFileThreads);
}

void SetThreadLimit(int limit) { threads_given = std::clamp(limit, 1, kMostFileThreads); }

SharedThread::SharedThread() : before_(is_shared) { is_shared = true; }

SharedThread::~SharedThread() { is_shared = before_; }

}  // namespace oplens
