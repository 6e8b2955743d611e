#ifndef OPLENS_NVTX_ANNOTATE_SCHEDULE_H_
#define OPLENS_NVTX_ANNOTATE_SCHEDULE_H_

// Public header: installed, docs/library.md.

#include <cstdint>
#include <functional>
#include <utility>

#include "nvtx_annotate/oplens_annotate.h"

// Records a program in cycles, with torch.profiler's schedules: docs/annotate.md.
//
//   oplens::annotate::Schedule plan;
//   plan.wait = 1, plan.warmup = 1, plan.active = 3, plan.repeat = 2;
//   oplens::annotate::ScheduledCapture capture(plan, [](int64_t cycle) { ... });
//   for (...) {
//     Step();
//     capture.Step();
//   }
//
// A thin layer over oplens_schedule_* of the C interface; see the comments there. C++17.

namespace oplens::annotate {

/// The action during a step.
enum class Action : uint8_t {
  kNone = OPLENS_ACTION_NONE,
  kWarmup = OPLENS_ACTION_WARMUP,  ///< Like kRecord, but nothing is kept.
  kRecord = OPLENS_ACTION_RECORD,
  kRecordAndSave = OPLENS_ACTION_RECORD_AND_SAVE,  ///< The last step of a cycle.
};

/// Idle steps, then cycles; all values in steps.
struct Schedule {
  int64_t wait = 0;
  int64_t warmup = 0;
  int64_t active = 1;
  int64_t repeat = 0;  ///< Number of cycles; 0: unlimited.
  int64_t skip_first = 0;
  bool skip_first_wait = false;  ///< The first cycle has no `wait` steps.

  oplens_schedule_plan plan() const noexcept {
    return {wait, warmup, active, repeat, skip_first, skip_first_wait ? 1 : 0};
  }
  /// Whether no number is negative and `active` > 0.
  bool IsValid() const noexcept {
    const oplens_schedule_plan numbers = plan();
    return oplens_schedule_action(&numbers, 0) >= 0;
  }
  /// The action of a step, from 0; kNone if the schedule is invalid.
  Action At(int64_t step) const noexcept {
    const oplens_schedule_plan numbers = plan();
    const int action = oplens_schedule_action(&numbers, step);
    return action < 0 ? Action::kNone : static_cast<Action>(action);
  }
};

/// Runs a schedule during its lifetime. Must be used on the thread that created it.
class ScheduledCapture {
 public:
  /// Called when a cycle is complete, with its number from 1. Must not throw.
  using TraceReady = std::function<void(int64_t cycle)>;
  using Choice = std::function<Action(int64_t step)>;

  /// An invalid schedule does nothing.
  explicit ScheduledCapture(const Schedule& schedule, TraceReady ready = {})
      : ready_(std::move(ready)) {
    const oplens_schedule_plan plan = schedule.plan();
    schedule_ = oplens_schedule_new(&plan, OnReady, this);
    oplens_schedule_start(schedule_);
  }
  /// With actions chosen by the caller.
  explicit ScheduledCapture(Choice choice, TraceReady ready = {})
      : choice_(std::move(choice)), ready_(std::move(ready)) {
    schedule_ = oplens_schedule_new(nullptr, OnReady, this);
    oplens_schedule_start_with(schedule_, Chosen(0));
  }
  ~ScheduledCapture() { oplens_schedule_delete(schedule_); }
  ScheduledCapture(const ScheduledCapture&) = delete;
  ScheduledCapture& operator=(const ScheduledCapture&) = delete;

  /// Call when the next step begins.
  void Step() {
    if (choice_) {
      oplens_schedule_step_with(schedule_, Chosen(oplens_schedule_step_number(schedule_) + 1));
    } else {
      oplens_schedule_step(schedule_);
    }
  }
  /// Ends early; completes a cycle that is being recorded.
  void Stop() { oplens_schedule_stop(schedule_); }

  int64_t step_number() const noexcept { return oplens_schedule_step_number(schedule_); }
  /// The current or last completed cycle; 0: none.
  int64_t cycle() const noexcept { return oplens_schedule_cycle(schedule_); }

 private:
  static void OnReady(int64_t cycle, void* self) {
    const TraceReady& ready = static_cast<ScheduledCapture*>(self)->ready_;
    if (ready) ready(cycle);
  }
  int Chosen(int64_t step) const { return static_cast<int>(choice_(step)); }

  Choice choice_;
  TraceReady ready_;
  oplens_schedule* schedule_ = nullptr;
};

}  // namespace oplens::annotate

#endif  // OPLENS_NVTX_ANNOTATE_SCHEDULE_H_
