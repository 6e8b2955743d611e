#include <new>

#include "nvtx_annotate/capture_window.h"
#include "nvtx_annotate/emitter.h"

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
  return oplens::annotate::BeginLayerText(text);
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

}  // extern "C"
