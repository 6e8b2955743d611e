#include "nvtx_annotate/capture_window.h"

#include <dlfcn.h>

namespace oplens::annotate {
namespace {

/// Both return an error code that is nobody's concern here.
using ProfilerSwitch = int (*)();

void* LoadedLibrary(const char* name) { return dlopen(name, RTLD_LAZY | RTLD_NOLOAD); }

ProfilerSwitch Symbol(void* library, const char* name) {
  return reinterpret_cast<ProfilerSwitch>(dlsym(library, name));
}

/// The runtime's function: of the program itself or of a library that it linked, else of one that
/// something loaded later.
ProfilerSwitch RuntimeSwitch(const char* name) {
  if (const ProfilerSwitch found = Symbol(RTLD_DEFAULT, name)) return found;
  for (const char* library :
       {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcudart.so"}) {
    void* const handle = LoadedLibrary(library);
    if (handle == nullptr) continue;
    const ProfilerSwitch found = Symbol(handle, name);
    dlclose(handle);  // Takes back the reference only: whoever loaded it keeps it.
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
