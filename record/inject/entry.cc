#include "record/inject/entry.h"

#include <sys/mman.h>

#include <new>

#include "record/inject/mapped_file.h"

namespace oplens::record::inject {
namespace {

constinit std::atomic<uint32_t> g_every_process{1};
std::atomic<uint32_t>* g_entry_page = nullptr;

std::atomic<uint32_t>* MakeEntryPage() noexcept {
  constexpr size_t kBytes = 4096;
  void* const page = MakeMemory(kBytes);
  if (page == nullptr) return nullptr;
  if (madvise(page, kBytes, MADV_WIPEONFORK) == 0) return new (page) std::atomic<uint32_t>(0);
  munmap(page, kBytes);
  return nullptr;
}

}  // namespace

constinit thread_local markers::DirectSlot t_this;
constinit std::atomic<const std::atomic<uint32_t>*> g_own_mark{&g_every_process};

void MarkOwnProcess() noexcept {
  if (g_entry_page == nullptr) g_entry_page = MakeEntryPage();
  if (g_entry_page == nullptr) return;
  g_entry_page->store(1, std::memory_order_relaxed);
  g_own_mark.store(g_entry_page, std::memory_order_relaxed);
}

}  // namespace oplens::record::inject
