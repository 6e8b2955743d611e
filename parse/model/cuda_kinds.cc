#include "parse/model/cuda_kinds.h"

#include <cstddef>

namespace oplens {
namespace {

// By number, from 0.
constexpr std::string_view kCopyKinds[] = {"",     "HtoD",     "DtoH",     "HtoA",    "AtoH",
                                           "AtoA", "AtoD",     "DtoA",     "DtoD",    "HtoH",
                                           "PtoP", "UVM HtoD", "UVM DtoH", "UVM DtoD"};
constexpr std::string_view kMemoryTitles[] = {
    "", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"};
constexpr std::string_view kMemoryWords[] = {
    "", "pageable", "pinned", "device", "array", "managed", "device static", "managed static"};
constexpr std::string_view kWaitKinds[] = {"", "Event Sync", "Stream Wait Event", "Stream Sync",
                                           "Context Sync"};

template <size_t N>
std::string_view WordOf(const std::string_view (&words)[N], int32_t kind) {
  return kind >= 0 && static_cast<size_t>(kind) < N ? words[kind] : std::string_view();
}

template <size_t N>
int32_t KindOf(const std::string_view (&words)[N], std::string_view word) {
  for (size_t kind = 1; kind < N; ++kind) {
    if (words[kind] == word) return static_cast<int32_t>(kind);
  }
  return 0;
}

}  // namespace

std::string_view CopyKindWord(int32_t kind) { return WordOf(kCopyKinds, kind); }
int32_t CopyKindOf(std::string_view word) { return KindOf(kCopyKinds, word); }

std::string_view MemoryKindTitle(int32_t kind) { return WordOf(kMemoryTitles, kind); }
std::string_view MemoryKindWord(int32_t kind) { return WordOf(kMemoryWords, kind); }
int32_t MemoryKindOf(std::string_view title) { return KindOf(kMemoryTitles, title); }

std::string_view WaitKindWord(int32_t kind) { return WordOf(kWaitKinds, kind); }
int32_t WaitKindOf(std::string_view word) { return KindOf(kWaitKinds, word); }

}  // namespace oplens
