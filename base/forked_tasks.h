#ifndef OPLENS_BASE_FORKED_TASKS_H_
#define OPLENS_BASE_FORKED_TASKS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

namespace oplens {

/// What a task that ran in a process of its own came to.
struct TaskResult {
  bool done = false;
  std::string bytes;     ///< What it answered; else
  std::string problem;   ///< why it did not: what it threw, or
  bool crashed = false;  ///< what ended its process, which does not say what it was at work on.
};

/// Tasks 0 to count - 1, each in a process of its own that is forked from this one: what one of
/// them takes of memory is gone with it, and what kills it costs its own answer alone.
class ForkedTasks {
 public:
  /// `work` runs in the forked process and answers bytes; what it throws is the problem of the
  /// task. At most `most_at_once` run at a time. Nothing may be printed by `work`.
  ForkedTasks(size_t count, size_t most_at_once, std::function<std::string(size_t task)> work)
      : count_(count), most_at_once_(most_at_once), work_(std::move(work)) {}

  /// Runs all of them. Gives what each came to to `take`, in the order of the tasks; as long as one
  /// is awaited, only 2 x most_at_once tasks behind it are begun, so that few answers are kept.
  /// `tick`, which may be null: called several times a second with the number of those that ended.
  /// Throws Error where no process can be made; what `take` throws ends all tasks.
  void Run(const std::function<void(size_t task, TaskResult result)>& take,
           const std::function<void(size_t ended)>& tick);

 private:
  size_t count_;
  size_t most_at_once_;
  std::function<std::string(size_t task)> work_;
};

}  // namespace oplens

#endif  // OPLENS_BASE_FORKED_TASKS_H_
