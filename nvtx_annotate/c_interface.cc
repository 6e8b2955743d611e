#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "nvtx_annotate/annotate.h"
#include "nvtx_annotate/capture_window.h"
#include "nvtx_annotate/emitter.h"
#include "nvtx_annotate/oplens_annotate.h"

namespace {

using oplens::annotate::CycleEnd;
using oplens::annotate::Enabled;
namespace detail = oplens::annotate::detail;

uint64_t BeginOp(const char* mod, const char* op, const oplens_arg* args, uint64_t count,
                 oplens_link* link) {
  return detail::BeginOp(mod, op, nullptr, 0, args, args == nullptr ? 0 : count, link);
}

// The state machine of torch.profiler's schedules, shared by C++, C and Python.

/// Transitions from an action (row) to an action or the end (column). A dropped trace is stopped
/// without a callback (X without T). From WARMUP it must be started first, because torch.profiler
/// cannot stop a trace that was only prepared.
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

/// Cycles completed by the process: later schedules continue the numbering.
std::atomic<int64_t> g_completed{0};

int ActionAt(const oplens_schedule_plan& plan, int64_t step) noexcept {
  if (plan.wait < 0 || plan.warmup < 0 || plan.active <= 0 || plan.repeat < 0 ||
      plan.skip_first < 0 || step < 0) {
    return -1;
  }
  if (step < plan.skip_first) return OPLENS_ACTION_NONE;
  // Larger than any real count, and keeps the sums below from overflowing.
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

}  // namespace

/// The C interface's handle. Use on one thread at a time.
struct oplens_schedule {
 public:
  /// `plan`: null records always; otherwise it must be valid.
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
  bool numbered_ = false;  ///< Steps get ranges.
  bool running_ = false;
  int action_ = OPLENS_ACTION_NONE;
  int64_t step_ = 0;
  int64_t cycle_ = 0;
  uint64_t range_ = 0;  ///< Token of the step's range.
};

oplens_schedule::oplens_schedule(const oplens_schedule_plan* plan, oplens_trace_ready ready,
                                 void* context) noexcept
    : ready_(ready), context_(context), always_(plan == nullptr), numbered_(plan != nullptr) {
  if (plan != nullptr) plan_ = *plan;
}

int oplens_schedule::Planned(int64_t step) const noexcept {
  return always_ ? OPLENS_ACTION_RECORD : ActionAt(plan_, step);
}

const char* oplens_schedule::Go(int from, int to) noexcept {
  const char* const letters = Transition(from, to);
  action_ = to;
  for (const char* at = letters; *at != '\0'; ++at) {
    if (*at == 'P') oplens::annotate::WarmUpCapture();
    if (*at == 'S') {
      cycle_ = g_completed.load(std::memory_order_relaxed) + 1;
      oplens::annotate::StartCycle(cycle_);
    }
    if (*at == 'X') {
      const bool complete = std::strchr(letters, 'T') != nullptr;
      if (complete) g_completed.store(cycle_, std::memory_order_relaxed);
      oplens::annotate::StopCycle(cycle_, complete ? CycleEnd::kComplete : CycleEnd::kDropped);
      if (!complete) --cycle_;
    }
    if (*at == 'T' && ready_ != nullptr) ready_(cycle_, context_);
  }
  return letters;
}

void oplens_schedule::BeginRange() noexcept {
  if (!numbered_ || !Enabled()) return;
  range_ = detail::BeginIteration(step_);
}

void oplens_schedule::EndRange() noexcept {
  detail::End(range_);
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
  if (!IsAction(action)) return "";
  numbered_ = true;
  return Begin(action);
}

const char* oplens_schedule::StepWith(int action) noexcept {
  return IsAction(action) ? Next(action) : "";
}

const char* oplens_schedule::Stop() noexcept {
  if (!running_) return "";
  running_ = false;
  EndRange();
  return Go(action_, OPLENS_ACTION_EXIT);
}

extern "C" {

uint32_t oplens_abi_version(void) { return OPLENS_ABI_VERSION; }

int oplens_enabled(void) { return Enabled() ? 1 : 0; }

int oplens_has_tool(void) {
  return oplens::annotate::EmissionMode() == oplens::annotate::Mode::kOff ? 0 : 1;
}

void oplens_start(void) { oplens::annotate::StartCapture(); }

void oplens_stop(void) { oplens::annotate::StopCapture(); }

uint64_t oplens_op_begin(const char* mod, const char* op, const oplens_arg* args,
                         uint64_t arg_count) {
  return Enabled() ? BeginOp(mod, op, args, arg_count, nullptr) : 0;
}

uint64_t oplens_forward_begin(const char* mod, const char* op, const oplens_arg* args,
                              uint64_t arg_count, oplens_link* link) {
  oplens_link unused;
  oplens_link& result = link == nullptr ? unused : *link;
  result = oplens::annotate::kNoLink;
  return Enabled() ? BeginOp(mod, op, args, arg_count, &result) : 0;
}

uint64_t oplens_backward_begin(const char* node, oplens_link link) {
  return Enabled() ? detail::BeginBackward(node, link) : 0;
}

uint64_t oplens_layer_begin(const char* name) { return Enabled() ? detail::BeginLayer(name) : 0; }

uint64_t oplens_layer_path_begin(const char* path) {
  if (!Enabled()) return 0;
  char text[oplens::markers::kLayerBufferBytes];
  oplens::markers::FormatLayer(path == nullptr ? "" : path, text);
  return oplens::annotate::BeginText({text, nullptr});
}

uint64_t oplens_trace_begin(const char* const* frames, uint64_t count) {
  return Enabled() ? detail::BeginTrace(frames, count) : 0;
}

uint64_t oplens_iteration_begin(int64_t number) {
  return Enabled() ? detail::BeginIteration(number) : 0;
}

uint64_t oplens_phase_begin(int phase) {
  if (phase < 0 || phase > OPLENS_COMMUNICATION || !Enabled()) return 0;
  return detail::BeginPhase(static_cast<oplens::annotate::Phase>(phase));
}

uint64_t oplens_range_begin(const char* text) {
  return Enabled() ? detail::BeginRange(text == nullptr ? std::string_view() : text) : 0;
}

void oplens_end(uint64_t token) { detail::End(token); }

void oplens_memory(uint64_t address, int64_t bytes, int64_t total_allocated, int64_t total_reserved,
                   int device_type, int device) {
  if (!Enabled()) return;
  oplens::annotate::EmitMemory(
      {address, bytes, total_allocated, total_reserved, device_type, device});
}

int oplens_schedule_action(const oplens_schedule_plan* plan, int64_t step) {
  return plan == nullptr ? -1 : ActionAt(*plan, step);
}

const char* oplens_schedule_transition(int from, int to) { return Transition(from, to); }

oplens_schedule* oplens_schedule_new(const oplens_schedule_plan* plan, oplens_trace_ready ready,
                                     void* context) {
  if (plan != nullptr && ActionAt(*plan, 0) < 0) return nullptr;
  return new (std::nothrow) oplens_schedule(plan, ready, context);
}

const char* oplens_schedule_start(oplens_schedule* schedule) {
  return schedule == nullptr ? "" : schedule->Start();
}

const char* oplens_schedule_step(oplens_schedule* schedule) {
  return schedule == nullptr ? "" : schedule->Step();
}

const char* oplens_schedule_stop(oplens_schedule* schedule) {
  return schedule == nullptr ? "" : schedule->Stop();
}

const char* oplens_schedule_start_with(oplens_schedule* schedule, int action) {
  return schedule == nullptr ? "" : schedule->StartWith(action);
}

const char* oplens_schedule_step_with(oplens_schedule* schedule, int action) {
  return schedule == nullptr ? "" : schedule->StepWith(action);
}

int64_t oplens_schedule_cycle(const oplens_schedule* schedule) {
  return schedule == nullptr ? 0 : schedule->cycle();
}

int64_t oplens_schedule_step_number(const oplens_schedule* schedule) {
  return schedule == nullptr ? 0 : schedule->step_number();
}

void oplens_schedule_delete(oplens_schedule* schedule) { delete schedule; }

}  // extern "C"
