#include "nvtx_annotate/schedule_machine.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "nvtx_annotate/annotate.h"
#include "nvtx_annotate/capture_window.h"

namespace oplens::annotate {
namespace {

/// From an action (row) to an action or the end (column). A trace that is dropped is stopped
/// without being told (X without T). From WARMUP it must be started first: torch.profiler can stop
/// no trace that was only prepared.
constexpr const char* kTransitions[4][5] = {
    // NONE, WARMUP, RECORD, RECORD_AND_SAVE, EXIT
    {"", "P", "PS", "PS", ""},            // NONE
    {"WSX", "", "S", "S", "SX"},          // WARMUP
    {"WX", "WX", "", "", "XT"},           // RECORD
    {"XT", "XTP", "XTPS", "XTPS", "XT"},  // RECORD_AND_SAVE
};

bool IsAction(int action) {
  return action >= OPLENS_ACTION_NONE && action <= OPLENS_ACTION_RECORD_AND_SAVE;
}

bool Records(int action) { return action >= OPLENS_ACTION_RECORD; }

/// Cycles that the process has completed: the schedules of a process number theirs on.
std::atomic<int64_t> g_completed{0};

}  // namespace

int ActionAt(const oplens_schedule_plan& plan, int64_t step) noexcept {
  if (plan.wait < 0 || plan.warmup < 0 || plan.active <= 0 || plan.repeat < 0 ||
      plan.skip_first < 0 || step < 0) {
    return -1;
  }
  if (step < plan.skip_first) return OPLENS_ACTION_NONE;
  // Nobody counts so far; the sums below stay numbers.
  constexpr int64_t kMost = int64_t{1} << 60;
  const int64_t wait = std::min(plan.wait, kMost);
  const int64_t warmup = std::min(plan.warmup, kMost);
  const int64_t cycle = wait + warmup + std::min(plan.active, kMost);
  int64_t at = std::min(step - plan.skip_first, 4 * kMost);
  if (plan.skip_first_wait != 0) at += wait;
  if (plan.repeat > 0 && at / cycle >= plan.repeat) return OPLENS_ACTION_NONE;
  at %= cycle;
  if (at < wait) return OPLENS_ACTION_NONE;
  if (at < wait + warmup) return OPLENS_ACTION_WARMUP;
  return at < cycle - 1 ? OPLENS_ACTION_RECORD : OPLENS_ACTION_RECORD_AND_SAVE;
}

const char* Transition(int from, int to) noexcept {
  return IsAction(from) && (IsAction(to) || to == OPLENS_ACTION_EXIT) ? kTransitions[from][to] : "";
}

}  // namespace oplens::annotate

using oplens::annotate::CycleEnd;
using oplens::annotate::Records;

oplens_schedule::oplens_schedule(const oplens_schedule_plan* plan, oplens_trace_ready ready,
                                 void* context) noexcept
    : ready_(ready), context_(context), always_(plan == nullptr), numbered_(plan != nullptr) {
  if (plan != nullptr) plan_ = *plan;
}

int oplens_schedule::Planned(int64_t step) const noexcept {
  return always_ ? OPLENS_ACTION_RECORD : oplens::annotate::ActionAt(plan_, step);
}

const char* oplens_schedule::Go(int from, int to) noexcept {
  const char* const letters = oplens::annotate::Transition(from, to);
  action_ = to;
  for (const char* at = letters; *at != '\0'; ++at) {
    if (*at == 'P') oplens::annotate::WarmUpCapture();
    if (*at == 'S') {
      cycle_ = oplens::annotate::g_completed.load(std::memory_order_relaxed) + 1;
      oplens::annotate::StartCycle(cycle_);
    }
    if (*at == 'X') {
      const bool complete = std::strchr(letters, 'T') != nullptr;
      if (complete) oplens::annotate::g_completed.store(cycle_, std::memory_order_relaxed);
      oplens::annotate::StopCycle(cycle_, complete ? CycleEnd::kComplete : CycleEnd::kDropped);
      if (!complete) --cycle_;
    }
    if (*at == 'T' && ready_ != nullptr) ready_(cycle_, context_);
  }
  return letters;
}

void oplens_schedule::BeginRange() noexcept {
  if (!numbered_ || !oplens::annotate::Enabled()) return;
  range_ = oplens::annotate::detail::BeginIteration(step_);
}

void oplens_schedule::EndRange() noexcept {
  oplens::annotate::detail::End(range_);
  range_ = 0;
}

const char* oplens_schedule::Begin(int action) noexcept {
  if (running_) return "";
  running_ = true;
  if (!Records(action)) oplens::annotate::HoldCapture();
  const char* const letters = Go(OPLENS_ACTION_NONE, action);
  BeginRange();
  return letters;
}

const char* oplens_schedule::Next(int action) noexcept {
  if (!running_) return "";
  EndRange();
  ++step_;
  const char* const letters = Go(action_, action);
  BeginRange();
  return letters;
}

const char* oplens_schedule::Start() noexcept { return Begin(Planned(step_)); }

const char* oplens_schedule::Step() noexcept { return Next(Planned(step_ + 1)); }

const char* oplens_schedule::StartWith(int action) noexcept {
  if (!oplens::annotate::IsAction(action)) return "";
  numbered_ = true;
  return Begin(action);
}

const char* oplens_schedule::StepWith(int action) noexcept {
  return oplens::annotate::IsAction(action) ? Next(action) : "";
}

const char* oplens_schedule::Stop() noexcept {
  if (!running_) return "";
  running_ = false;
  EndRange();
  return Go(action_, OPLENS_ACTION_EXIT);
}
