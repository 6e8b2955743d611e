// liboplens_annotate_preload.so, for LD_PRELOAD: annotates an unchanged program that uses libtorch.
// Loads the library for its PyTorch, from its own folder or $OPLENS_TORCH_LIBRARY, as soon as
// PyTorch is loaded: before main() if the program is linked with it, or after its dlopen()
// (Python). In other programs, such as a job's shells, it does next to nothing: it depends only on
// the C library.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define OPLENS_EXPORT __attribute__((visibility("default")))

#if defined(__x86_64__)
#define OPLENS_MACHINE "x86_64"
#elif defined(__aarch64__)
#define OPLENS_MACHINE "aarch64"
#else
#define OPLENS_MACHINE "unknown"
#endif

namespace {

using Open = void* (*)(const char*, int);
using Path = char[4096];
using Word = char[64];

/// The next definition of a function after ours.
template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

Open RealOpen() {
  static Open open = nullptr;  // A race is harmless: all threads find the same.
  if (open == nullptr) open = Next<Open>("dlopen");
  return open;
}

[[gnu::format(printf, 1, 2)]] void Complain(const char* format, ...) {
  char text[3 * sizeof(Path)];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  std::fprintf(stderr, "oplens: ops are not annotated: %s\n", text);
}

/// False if the text was too long.
[[gnu::format(printf, 3, 4)]] bool Print(char* out, size_t size, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int length = std::vsnprintf(out, size, format, values);
  va_end(values);
  return length > 0 && static_cast<size_t>(length) < size;
}

constexpr char kTorch[] = "libtorch_cpu.so";

const char* FileName(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

/// `found`: a Path for the library's path.
int IsTorch(dl_phdr_info* info, size_t /*size*/, void* found) {
  if (std::strncmp(FileName(info->dlpi_name), kTorch, sizeof kTorch - 1) != 0) return 0;
  return Print(static_cast<char*>(found), sizeof(Path), "%s", info->dlpi_name) ? 1 : 0;
}

class Mapped {
 public:
  explicit Mapped(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat status;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
      size_ = static_cast<size_t>(status.st_size);
      memory_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    }
    close(file);
  }
  ~Mapped() {
    if (there()) munmap(memory_, size_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  bool there() const { return memory_ != MAP_FAILED; }
  const char* begin() const { return static_cast<const char*>(memory_); }
  const char* end() const { return begin() + size_; }

 private:
  void* memory_ = MAP_FAILED;
  size_t size_ = 0;
};

bool IsWordEnd(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\'' || c == '"' || c == '\0';
}

/// Copies up to the next blank or quote; returns the position after it.
const char* ReadWord(const char* at, const char* end, Word& word) {
  size_t size = 0;
  while (at < end && !IsWordEnd(*at) && size + 1 < sizeof(Word)) word[size++] = *at++;
  word[size] = '\0';
  return at;
}

/// Copies the text that a file of Python assigns to a variable: NAME = 'TEXT', at the beginning of
/// a line. "" where it does not.
void ReadAssigned(const char* name, const char* begin, const char* end, Word& word) {
  const size_t size = std::strlen(name);
  word[0] = '\0';
  for (const char* line = begin; line < end; ++line) {
    const char* const next =
        static_cast<const char*>(std::memchr(line, '\n', static_cast<size_t>(end - line)));
    const char* const line_end = next == nullptr ? end : next;
    if (static_cast<size_t>(line_end - line) > size && std::memcmp(line, name, size) == 0) {
      const char* at = line + size;
      while (at < line_end && *at != '\'' && *at != '"') ++at;
      if (at < line_end) ReadWord(at + 1, line_end, word);
      return;
    }
    line = line_end;
  }
}

/// "2.9" of "2.9.1+cu128"; false for other forms.
bool MinorOf(const char* version, Word& minor) {
  char* end = nullptr;
  const long first = std::strtol(version, &end, 10);
  if (end == version || *end != '.') return false;
  const char* const second_text = end + 1;
  const long second = std::strtol(second_text, &end, 10);
  return end != second_text && Print(minor, sizeof minor, "%ld.%ld", first, second);
}

/// The version of the loaded PyTorch, "2.9.1+cu128" or a part of it; false if unknown.
bool FindVersion(const char* torch, Word& version) {
  const int folder = static_cast<int>(FileName(torch) - torch);
  Path path;
  Word minor;
  // Wheels: torch/lib/libtorch_cpu.so, torch/version.py.
  if (Print(path, sizeof path, "%.*s../version.py", folder, torch)) {
    const Mapped file(path);
    if (file.there()) ReadAssigned("__version__", file.begin(), file.end(), version);
    if (file.there() && MinorOf(version, minor)) return true;
  }
  // libtorch archives: libtorch/lib/libtorch_cpu.so, libtorch/build-version.
  if (Print(path, sizeof path, "%.*s../build-version", folder, torch)) {
    const Mapped file(path);
    if (file.there()) ReadWord(file.begin(), file.end(), version);
    if (file.there() && MinorOf(version, minor)) return true;
  }
  // Distributions: libtorch_cpu.so.1.13.
  const char* const name = FileName(torch);
  if (std::strlen(name) <= sizeof kTorch) return false;
  return Print(version, sizeof version, "%s", name + sizeof kTorch) && MinorOf(version, minor);
}

/// The facts in a library of ours: nvtx_annotate/torch/build_facts.cc.
struct Build {
  Word version;
  Word soname;
};

bool ReadBuild(const char* path, Build& build) {
  static constexpr char kKey[] = "oplens_torch build: torch ";
  static constexpr char kSoname[] = " soname ";
  const Mapped file(path);
  if (!file.there()) return false;
  const void* const key =
      memmem(file.begin(), static_cast<size_t>(file.end() - file.begin()), kKey, sizeof kKey - 1);
  if (key == nullptr) return false;
  const char* at =
      ReadWord(static_cast<const char*>(key) + sizeof kKey - 1, file.end(), build.version);
  if (static_cast<size_t>(file.end() - at) < sizeof kSoname) return false;
  if (std::strncmp(at, kSoname, sizeof kSoname - 1) != 0) return false;
  ReadWord(at + sizeof kSoname - 1, file.end(), build.soname);
  return true;
}

/// Whether PyTorch uses the C++11 std::string ABI; all do, except its wheels before 2.6.
bool HasNewStrings(const char* torch) {
  void* const handle = RealOpen()(torch, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return true;
  const bool old = dlsym(handle, "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs") != nullptr;
  dlclose(handle);
  return !old;
}

/// The path of the library to load: the one for this PyTorch or, if missing, the one of the build.
bool FindLibrary(const char* torch, const char* version, Path& path) {
  Dl_info own;
  if (dladdr(reinterpret_cast<void*>(&FindLibrary), &own) == 0) return false;
  const int folder = static_cast<int>(FileName(own.dli_fname) - own.dli_fname);
  Word minor;
  if (MinorOf(version, minor) &&
      Print(path, sizeof path, "%.*sliboplens_torch-%s-%s-" OPLENS_MACHINE ".so", folder,
            own.dli_fname, minor, HasNewStrings(torch) ? "cxx11" : "pre11") &&
      access(path, R_OK) == 0) {
    return true;
  }
  return Print(path, sizeof path, "%.*sliboplens_torch.so", folder, own.dli_fname);
}

/// Loads the library if it was built for this PyTorch, by version and by soname; otherwise it would
/// load a second PyTorch.
void Load(const char* torch) {
  Word version = "";
  const bool known = FindVersion(torch, version);
  Path path;
  const char* const chosen = std::getenv("OPLENS_TORCH_LIBRARY");
  const bool is_chosen = chosen != nullptr && *chosen != '\0';
  if (!(is_chosen ? Print(path, sizeof path, "%s", chosen)
                  : FindLibrary(torch, known ? version : "", path))) {
    return Complain("liboplens_torch.so has no path");
  }
  if (access(path, R_OK) != 0) return Complain("%s cannot be read", path);
  Build build;
  if (!ReadBuild(path, build)) return Complain("%s is no library of oplens", path);
  Word minor;
  Word built;
  if (!known && !is_chosen) {
    return Complain("nothing tells the version of %s; if it is %s, set OPLENS_TORCH_LIBRARY=%s",
                    torch, build.version, path);
  }
  if (known && (!MinorOf(version, minor) || !MinorOf(build.version, built) ||
                std::strcmp(minor, built) != 0)) {
    return Complain("%s was built for PyTorch %s, this is %s", path, build.version, version);
  }
  if (RealOpen()(build.soname, RTLD_LAZY | RTLD_NOLOAD) == nullptr) {
    return Complain("%s was built for another PyTorch %s, with %s", path, build.version,
                    build.soname);
  }
  // Loading installs it.
  if (RealOpen()(path, RTLD_NOW | RTLD_LOCAL) == nullptr) Complain("%s", dlerror());
}

/// Loads the adaptor once PyTorch is loaded.
void LoadIfTorch() {
  static bool tried = false;
  if (__atomic_load_n(&tried, __ATOMIC_RELAXED)) return;
  Path torch;
  if (dl_iterate_phdr(IsTorch, torch) == 0) return;
  if (!__atomic_exchange_n(&tried, true, __ATOMIC_RELAXED)) Load(torch);
}

}  // namespace

extern "C" {

/// Runs after all linked libraries have been initialised.
OPLENS_EXPORT int __libc_start_main(int (*program)(int, char**, char**), int argc, char** argv,
                                    void (*init)(), void (*fini)(), void (*rtld_fini)(),
                                    void* stack_end) {
  using Start =
      int (*)(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);
  LoadIfTorch();
  return Next<Start>("__libc_start_main")(program, argc, argv, init, fini, rtld_fini, stack_end);
}

OPLENS_EXPORT void* dlopen(const char* file, int mode) noexcept {
  // A bare name is searched relative to the caller: this must be a tail call, so that the caller
  // stays the same.
  if (file == nullptr || std::strchr(file, '/') == nullptr) return RealOpen()(file, mode);
  void* const handle = RealOpen()(file, mode);
  if (handle != nullptr) LoadIfTorch();
  return handle;
}

}  // extern "C"
