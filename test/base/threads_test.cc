#include "base/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace oplens::test::threads_test {
namespace {

TEST(InThreadsTest, DoesEachOnceWhateverTheThreads) {
  for (const size_t threads : {0U, 1U, 3U, 200U}) {
    std::vector<std::atomic<int>> done(50);
    InThreads(done.size(), threads, [&](size_t i) { ++done[i]; });
    for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1) << threads;
  }
  InThreads(0, 4, [](size_t) { ADD_FAILURE(); });
}

TEST(InThreadsTest, BeginsInOrder) {
  std::vector<size_t> order;
  InThreads(5, 1, [&](size_t i) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace oplens::test::threads_test
