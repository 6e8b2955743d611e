// The program's allocation of large blocks: in huge pages where the system has them (Linux,
// /sys/kernel/mm/transparent_hugepage/enabled: "madvise"). The lists of a trace are filled once,
// front to back; a page of 4 kB at a time, 5 to 10 % of reading a database went into page faults.

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr size_t kLargeBytes = size_t{1} << 20;
constexpr uintptr_t kPageBytes = 4096;

/// Advice only: without huge pages nothing changes.
void AskForHugePages(void* block, size_t size_bytes) {
  const auto address = reinterpret_cast<uintptr_t>(block);
  const uintptr_t begin = (address + kPageBytes - 1) / kPageBytes * kPageBytes;
  const uintptr_t end = (address + size_bytes) / kPageBytes * kPageBytes;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace

void* operator new(size_t size_bytes) {
  while (true) {
    if (void* const block = std::malloc(size_bytes == 0 ? 1 : size_bytes)) {
      if (size_bytes >= kLargeBytes) AskForHugePages(block, size_bytes);
      return block;
    }
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }
