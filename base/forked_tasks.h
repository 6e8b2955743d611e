#ifndef OPLENS_BASE_FORKED_TASKS_H_
#define OPLENS_BASE_FORKED_TASKS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

namespace oplens {

/// The outcome of a task that ran in its own process.
struct TaskResult {
  bool done = false;
  std::string bytes;     ///< The answer, if done.
  std::string problem;   ///< Otherwise: what the task threw, or how its process died.
  bool crashed = false;  ///< Its process died, so `problem` names no file.
};

/// Runs tasks 0 to count - 1, each in a process forked from this one: its memory is freed with it,
/// and a crash loses only its own answer.
class ForkedTasks {
 public:
  /// `work` runs in the forked process and returns the answer; an exception becomes the task's
  /// problem. It must not print. At most `most_at_once` tasks run at a time.
  ForkedTasks(size_t count, size_t most_at_once, std::function<std::string(size_t task)> work)
      : count_(count), most_at_once_(most_at_once), work_(std::move(work)) {}

  /// Runs all tasks and passes each result to `take`, in task order. While one is awaited, at most
  /// 2 * most_at_once later tasks are started, which bounds the answers kept. `tick` (may be null)
  /// is called several times per second with the number of finished tasks. Throws Error if no
  /// process can be created; an exception from `take` ends all tasks.
  void Run(const std::function<void(size_t task, TaskResult result)>& take,
           const std::function<void(size_t ended)>& tick);

 private:
  size_t count_;
  size_t most_at_once_;
  std::function<std::string(size_t task)> work_;
};

}  // namespace oplens

#endif  // OPLENS_BASE_FORKED_TASKS_H_
