#include "base/forked_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"

namespace oplens::test::forked_tasks_test {
namespace {

using ::testing::HasSubstr;

std::vector<TaskResult> ResultsOf(size_t count, size_t at_once,
                                  const std::function<std::string(size_t)>& work) {
  std::vector<TaskResult> results;
  ForkedTasks tasks(count, at_once, work);
  tasks.Run(
      [&](size_t task, TaskResult result) {
        EXPECT_EQ(task, results.size());
        results.push_back(std::move(result));
      },
      nullptr);
  return results;
}

TEST(ForkedTasksTest, AnswersComeInTheOrderOfTheTasks) {
  for (const size_t at_once : {size_t{1}, size_t{3}, size_t{40}}) {
    std::array<int, 2> pipe_ends{};
    ASSERT_EQ(pipe(pipe_ends.data()), 0);
    const auto results = ResultsOf(20, at_once, [&](size_t task) {
      // Some are ready later than the one behind them.
      char byte = 'x';
      if (at_once > 1 && task % 5 == 0 && read(pipe_ends[0], &byte, 1) != 1) return std::string();
      if (at_once > 1 && task % 5 == 1 && write(pipe_ends[1], &byte, 1) != 1) return std::string();
      return std::string(task * 20'000, static_cast<char>('a' + task));
    });
    for (const int end : pipe_ends) close(end);
    ASSERT_EQ(results.size(), 20U);
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_TRUE(results[i].done);
      EXPECT_TRUE(results[i].bytes == std::string(i * 20'000, static_cast<char>('a' + i))) << i;
    }
  }
}

TEST(ForkedTasksTest, WhatOneDoesCostsItsOwnAnswer) {
  const auto results = ResultsOf(4, 2, [](size_t task) -> std::string {
    if (task == 0) throw Error("a.json: is damaged");
    if (task == 1) kill(getpid(), SIGKILL);
    if (task == 2) _exit(0);
    return "fine";
  });
  ASSERT_EQ(results.size(), 4U);
  EXPECT_FALSE(results[0].done);
  EXPECT_EQ(results[0].problem, "a.json: is damaged");
  EXPECT_FALSE(results[0].crashed);
  EXPECT_TRUE(results[1].crashed);
  EXPECT_THAT(results[1].problem, HasSubstr("signal 9"));
  EXPECT_TRUE(results[2].crashed);
  EXPECT_EQ(results[3].bytes, "fine");
}

TEST(ForkedTasksTest, AnAnswerThatIsCutIsNone) {
  // What is written before the process dies is no answer, whatever it looks like.
  const auto results = ResultsOf(1, 1, [](size_t) -> std::string {
    raise(SIGKILL);
    return "";
  });
  EXPECT_FALSE(results[0].done);
}

TEST(ForkedTasksTest, WhatTakeThrowsEndsAllTasks) {
  ForkedTasks tasks(100, 2, [](size_t task) {
    if (task > 0) pause();
    return std::string();
  });
  EXPECT_THROW(tasks.Run([](size_t, TaskResult) { throw std::runtime_error("enough"); }, nullptr),
               std::runtime_error);
}

TEST(ForkedTasksTest, NoneIsNothing) {
  EXPECT_TRUE(ResultsOf(0, 2, [](size_t) { return std::string(); }).empty());
}

}  // namespace
}  // namespace oplens::test::forked_tasks_test
