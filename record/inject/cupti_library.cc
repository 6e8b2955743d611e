#include "record/inject/cupti_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/spool/spool_format.h"

namespace oplens::record::inject {
namespace {

constexpr const char* kNames[] = {"libcupti.so.13",   "libcupti.so.12",   "libcupti.so.11.8",
                                  "libcupti.so.11.7", "libcupti.so.11.6", "libcupti.so.11.5",
                                  "libcupti.so.11.4", "libcupti.so.11.3", "libcupti.so.11.2",
                                  "libcupti.so.11.1", "libcupti.so"};
// Locations below the toolkit's folder.
constexpr const char* kFolders[] = {"extras/CUPTI/lib64", "lib64", "lib",
                                    "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"};

void* LoadFromToolkit(const char* toolkit) {
  if (toolkit == nullptr || *toolkit == '\0') return nullptr;
  for (const char* const folder : kFolders) {
    for (const char* const name : kNames) {
      char path[4096];
      const int length = snprintf(path, sizeof path, "%s/%s/%s", toolkit, folder, name);
      if (length < 0 || static_cast<size_t>(length) >= sizeof path) continue;
      if (void* const found = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return found;
    }
  }
  return nullptr;
}

void* FindLibrary() {
  const char* const chosen = getenv(spool::kCuptiVariable);
  if (chosen != nullptr && *chosen != '\0') return dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
  for (const char* const name : kNames) {
    if (void* const found = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return found;
  }
  for (const char* const name : kNames) {
    if (void* const found = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return found;
  }
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (void* const found = LoadFromToolkit(getenv(variable))) return found;
  }
  return LoadFromToolkit("/usr/local/cuda");
}

}  // namespace

const char* CuptiLibrary::Load() noexcept {
  void* const library = FindLibrary();
  if (library == nullptr) return "libcupti";
#define OPLENS_LOOK_UP(name) name = reinterpret_cast<decltype(name)>(dlsym(library, #name));
  OPLENS_CUPTI_FUNCTIONS(OPLENS_LOOK_UP)
  OPLENS_CUPTI_LATER_FUNCTIONS(OPLENS_LOOK_UP)
#undef OPLENS_LOOK_UP
#define OPLENS_CHECK(name) \
  if (name == nullptr) return #name;
  OPLENS_CUPTI_FUNCTIONS(OPLENS_CHECK)
#undef OPLENS_CHECK
  return nullptr;
}

const char* CuptiLibrary::Words(CUptiResult result) const noexcept {
  const char* words = nullptr;
  if (cuptiGetResultString == nullptr || cuptiGetResultString(result, &words) != CUPTI_SUCCESS) {
    return "";
  }
  return words == nullptr ? "" : words;
}

}  // namespace oplens::record::inject
