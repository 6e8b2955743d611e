#include <new>

#include "nvtx_annotate/capture_window.h"
#include "nvtx_annotate/emitter.h"
#include "nvtx_annotate/schedule_machine.h"

namespace {

using oplens::annotate::Enabled;
namespace detail = oplens::annotate::detail;

uint64_t BeginOp(const char* mod, const char* op, const oplens_arg* args, uint64_t count,
                 oplens_link* link) {
  return detail::BeginOp(mod, op, nullptr, 0, args, args == nullptr ? 0 : count, link);
}

}  // namespace

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
  return plan == nullptr ? -1 : oplens::annotate::ActionAt(*plan, step);
}

const char* oplens_schedule_transition(int from, int to) {
  return oplens::annotate::Transition(from, to);
}

oplens_schedule* oplens_schedule_new(const oplens_schedule_plan* plan, oplens_trace_ready ready,
                                     void* context) {
  if (plan != nullptr && oplens::annotate::ActionAt(*plan, 0) < 0) return nullptr;
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
