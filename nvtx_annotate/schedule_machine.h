#ifndef OPLENS_NVTX_ANNOTATE_SCHEDULE_MACHINE_H_
#define OPLENS_NVTX_ANNOTATE_SCHEDULE_MACHINE_H_

#include <cstdint>

#include "nvtx_annotate/oplens_annotate.h"

// The state machine of torch.profiler's schedules; C++, C and Python all run this one.

namespace oplens::annotate {

/// See oplens_schedule_action.
int ActionAt(const oplens_schedule_plan& plan, int64_t step) noexcept;

/// See oplens_schedule_transition.
const char* Transition(int from, int to) noexcept;

}  // namespace oplens::annotate

/// What the C interface hands out. One thread at a time.
struct oplens_schedule {
 public:
  /// `plan` null: records always. Else a valid one.
  oplens_schedule(const oplens_schedule_plan* plan, oplens_trace_ready ready,
                  void* context) noexcept;
  ~oplens_schedule() { Stop(); }
  oplens_schedule(const oplens_schedule&) = delete;
  oplens_schedule& operator=(const oplens_schedule&) = delete;

  const char* Start() noexcept;
  const char* Step() noexcept;
  const char* Stop() noexcept;
  const char* StartWith(int action) noexcept;
  const char* StepWith(int action) noexcept;

  int64_t cycle() const noexcept { return cycle_; }
  int64_t step_number() const noexcept { return step_; }

 private:
  int Planned(int64_t step) const noexcept;
  const char* Begin(int action) noexcept;
  const char* Next(int action) noexcept;
  const char* Go(int from, int to) noexcept;
  void BeginRange() noexcept;
  void EndRange() noexcept;

  oplens_schedule_plan plan_{};
  oplens_trace_ready ready_ = nullptr;
  void* context_ = nullptr;
  bool always_ = false;    ///< There is no plan.
  bool numbered_ = false;  ///< Steps have ranges.
  bool running_ = false;
  int action_ = OPLENS_ACTION_NONE;
  int64_t step_ = 0;
  int64_t cycle_ = 0;
  uint64_t range_ = 0;  ///< Token of the step's.
};

#endif  // OPLENS_NVTX_ANNOTATE_SCHEDULE_MACHINE_H_
