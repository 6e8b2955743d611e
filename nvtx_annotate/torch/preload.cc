// liboplens_annotate_preload.so, for LD_PRELOAD: annotates a program that uses libtorch without a
// change to it. Loads liboplens_torch.so, from its own folder or from $OPLENS_TORCH_LIBRARY, as
// soon as PyTorch is there: before main() of a program that is linked with it, or after the
// dlopen() that brought it (Python). In other programs, such as the shells that a job passes
// through, it does next to nothing: it depends on the C library alone.
#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define OPLENS_EXPORT __attribute__((visibility("default")))

namespace {

using Open = void* (*)(const char*, int);

/// The next definition of a function after ours.
template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

Open RealOpen() {
  static Open open = nullptr;  // Several threads would find the same.
  if (open == nullptr) open = Next<Open>("dlopen");
  return open;
}

int IsTorch(dl_phdr_info* info, size_t /*size*/, void* /*unused*/) {
  const char* const slash = std::strrchr(info->dlpi_name, '/');
  const char* const name = slash == nullptr ? info->dlpi_name : slash + 1;
  constexpr char kTorch[] = "libtorch_cpu.so";
  return std::strncmp(name, kTorch, sizeof kTorch - 1) == 0 ? 1 : 0;
}

/// The library to load, in `path`; false where there is no telling.
bool FindLibrary(char* path, size_t size) {
  const char* const chosen = std::getenv("OPLENS_TORCH_LIBRARY");
  if (chosen != nullptr && *chosen != '\0') {
    return static_cast<size_t>(std::snprintf(path, size, "%s", chosen)) < size;
  }
  Dl_info own;
  if (dladdr(reinterpret_cast<void*>(&FindLibrary), &own) == 0) return false;
  const char* const slash = std::strrchr(own.dli_fname, '/');
  const int folder = slash == nullptr ? 0 : static_cast<int>(slash + 1 - own.dli_fname);
  const int length = std::snprintf(path, size, "%.*sliboplens_torch.so", folder, own.dli_fname);
  return length > 0 && static_cast<size_t>(length) < size;
}

void Complain(const char* what) {
  std::fprintf(stderr, "oplens: ops are not annotated: %s\n", what);
}

/// The PyTorch of the program must be the one that the adaptor was built for: its name would
/// otherwise bring in a second one.
bool IsSameTorch() { return RealOpen()(OPLENS_TORCH_SONAME, RTLD_LAZY | RTLD_NOLOAD) != nullptr; }

void Load() {
  char path[4096];
  if (!FindLibrary(path, sizeof path)) return Complain("liboplens_torch.so has no path");
  if (!IsSameTorch())
    return Complain("this is not the PyTorch (" OPLENS_TORCH_SONAME ") of oplens");
  // It installs itself.
  if (RealOpen()(path, RTLD_NOW | RTLD_LOCAL) == nullptr) Complain(dlerror());
}

/// Loads the adaptor when PyTorch is there, once.
void LoadIfTorch() {
  static bool tried = false;
  if (__atomic_load_n(&tried, __ATOMIC_RELAXED) || dl_iterate_phdr(IsTorch, nullptr) == 0) return;
  if (!__atomic_exchange_n(&tried, true, __ATOMIC_RELAXED)) Load();
}

}  // namespace

extern "C" {

/// Runs when all libraries that the program is linked with have been initialised.
OPLENS_EXPORT int __libc_start_main(int (*program)(int, char**, char**), int argc, char** argv,
                                    void (*init)(), void (*fini)(), void (*rtld_fini)(),
                                    void* stack_end) {
  using Start =
      int (*)(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);
  LoadIfTorch();
  return Next<Start>("__libc_start_main")(program, argc, argv, init, fini, rtld_fini, stack_end);
}

OPLENS_EXPORT void* dlopen(const char* file, int mode) noexcept {
  // The search for a bare name depends on who calls: this must be a jump, so that it is the caller.
  if (file == nullptr || std::strchr(file, '/') == nullptr) return RealOpen()(file, mode);
  void* const handle = RealOpen()(file, mode);
  if (handle != nullptr) LoadIfTorch();
  return handle;
}

}  // extern "C"
