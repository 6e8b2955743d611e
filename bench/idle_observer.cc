// libidle_observer.so: an observer of PyTorch that asks for what the adaptor asks for and does
// nothing with it. What such a one costs, an adaptor cannot cost less than: bench/torch_layers.py
// compares with it.
#include <ATen/record_function.h>

#include <array>
#include <memory>

namespace {

std::array<at::CallbackHandle, 2> g_callbacks;
bool g_added = false;

std::unique_ptr<at::ObserverContext> OnStart(const at::RecordFunction& /*function*/) {
  return nullptr;
}
void OnEnd(const at::RecordFunction& /*function*/, at::ObserverContext* /*context*/) {}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void idle_observer_install() {
  if (g_added) return;
  g_added = true;
  g_callbacks[0] = at::addGlobalCallback(at::RecordFunctionCallback(OnStart, OnEnd)
                                             .needsInputs(true)
                                             .needsIds(true)
                                             .scopes({at::RecordScope::FUNCTION}));
  g_callbacks[1] = at::addGlobalCallback(
      at::RecordFunctionCallback(OnStart, OnEnd)
          .needsIds(true)
          .scopes({at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::TORCHSCRIPT_FUNCTION,
                   at::RecordScope::USER_SCOPE}));
}

__attribute__((visibility("default"))) void idle_observer_uninstall() {
  if (!g_added) return;
  g_added = false;
  for (const at::CallbackHandle callback : g_callbacks) at::removeCallback(callback);
}

}  // extern "C"
