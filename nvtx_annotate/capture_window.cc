#include "nvtx_annotate/capture_window.h"

#include <dlfcn.h>

namespace oplens::annotate {
namespace {

/// The returned error codes are ignored.
using ProfilerSwitch = int (*)();

void* LoadedLibrary(const char* name) { return dlopen(name, RTLD_LAZY | RTLD_NOLOAD); }

ProfilerSwitch Symbol(void* library, const char* name) {
  return reinterpret_cast<ProfilerSwitch>(dlsym(library, name));
}

/// The runtime's function in the program or its linked libraries, otherwise in a library loaded
/// later.
ProfilerSwitch RuntimeSwitch(const char* name) {
  if (const ProfilerSwitch found = Symbol(RTLD_DEFAULT, name)) return found;
  for (const char* library :
       {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcudart.so"}) {
    void* const handle = LoadedLibrary(library);
    if (handle == nullptr) continue;
    const ProfilerSwitch found = Symbol(handle, name);
    dlclose(handle);  // Drops only our reference; the library stays loaded.
    if (found != nullptr) return found;
  }
  return nullptr;
}

/// Programs that link the runtime statically still load the driver.
ProfilerSwitch DriverSwitch(const char* name) {
  void* const handle = LoadedLibrary("libcuda.so.1");
  if (handle == nullptr) return nullptr;
  const ProfilerSwitch found = Symbol(handle, name);
  dlclose(handle);
  return found;
}

}  // namespace

void SwitchCudaProfiler(bool on) noexcept {
  ProfilerSwitch call = RuntimeSwitch(on ? "cudaProfilerStart" : "cudaProfilerStop");
  if (call == nullptr) call = DriverSwitch(on ? "cuProfilerStart" : "cuProfilerStop");
  if (call != nullptr) call();
}

}  // namespace oplens::annotate
