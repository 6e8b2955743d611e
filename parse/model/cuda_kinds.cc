#include "parse/model/cuda_kinds.h"

#include <cstddef>
#include <iterator>

namespace oplens {
namespace {

// Indexed by kind.
constexpr std::string_view kCopyKinds[] = {"",     "HtoD",     "DtoH",     "HtoA",    "AtoH",
                                           "AtoA", "AtoD",     "DtoA",     "DtoD",    "HtoH",
                                           "PtoP", "UVM HtoD", "UVM DtoH", "UVM DtoD"};
constexpr std::string_view kMemoryTitles[] = {
    "", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"};
constexpr std::string_view kMemoryWords[] = {
    "", "pageable", "pinned", "device", "array", "managed", "device static", "managed static"};
constexpr std::string_view kWaitKinds[] = {"", "Event Sync", "Stream Wait Event", "Stream Sync",
                                           "Context Sync"};
constexpr std::string_view kOverheadKinds[] = {"",
                                               "Driver Compiler",
                                               "Buffer Flush",
                                               "Instrumentation",
                                               "Resource",
                                               "Runtime Triggered Module Loading",
                                               "Lazy Function Loading",
                                               "Command Buffer Full",
                                               "Activity Buffer Request",
                                               "UVM Activity Init"};

constexpr bool IsLast(size_t words, auto last) { return words == static_cast<size_t>(last) + 1; }
static_assert(IsLast(std::size(kCopyKinds), CopyKind::kUnifiedDeviceToDevice));
static_assert(IsLast(std::size(kMemoryTitles), MemoryKind::kManagedStatic));
static_assert(IsLast(std::size(kMemoryWords), MemoryKind::kManagedStatic));
static_assert(IsLast(std::size(kWaitKinds), WaitKind::kContext));
static_assert(IsLast(std::size(kOverheadKinds), OverheadKind::kUnifiedMemoryInit));

template <typename Kind, size_t N>
Kind KindOfNumber(const std::string_view (&)[N], int64_t number) {
  return number > 0 && number < int64_t{N} ? static_cast<Kind>(number) : Kind::kUnknown;
}

template <typename Kind, size_t N>
std::string_view WordOf(const std::string_view (&words)[N], Kind kind) {
  const auto number = static_cast<size_t>(kind);
  return number < N ? words[number] : std::string_view();
}

template <typename Kind, size_t N>
Kind KindOf(const std::string_view (&words)[N], std::string_view word) {
  for (size_t kind = 1; kind < N; ++kind) {
    if (words[kind] == word) return static_cast<Kind>(kind);
  }
  return Kind::kUnknown;
}

}  // namespace

CopyKind CopyKindOfNumber(int64_t number) { return KindOfNumber<CopyKind>(kCopyKinds, number); }

MemoryKind MemoryKindOfNumber(int64_t number) {
  return KindOfNumber<MemoryKind>(kMemoryTitles, number);
}

WaitKind WaitKindOfNumber(int64_t number) { return KindOfNumber<WaitKind>(kWaitKinds, number); }

OverheadKind OverheadKindOfNumber(int64_t number) {
  // CUPTI's values are 1, then multiples of 2^16.
  constexpr int64_t kStep = 1 << 16;
  if (number == 1) return OverheadKind::kDriverCompiler;
  if (number <= 0 || number % kStep != 0) return OverheadKind::kUnknown;
  return KindOfNumber<OverheadKind>(kOverheadKinds, number / kStep + 1);
}

std::string_view CopyKindWord(CopyKind kind) { return WordOf(kCopyKinds, kind); }
CopyKind CopyKindOf(std::string_view word) { return KindOf<CopyKind>(kCopyKinds, word); }

std::string_view MemoryKindTitle(MemoryKind kind) { return WordOf(kMemoryTitles, kind); }
std::string_view MemoryKindWord(MemoryKind kind) { return WordOf(kMemoryWords, kind); }
MemoryKind MemoryKindOf(std::string_view word) {
  const auto kind = KindOf<MemoryKind>(kMemoryTitles, word);
  return kind != MemoryKind::kUnknown ? kind : KindOf<MemoryKind>(kMemoryWords, word);
}

std::string_view WaitKindWord(WaitKind kind) { return WordOf(kWaitKinds, kind); }
WaitKind WaitKindOf(std::string_view word) { return KindOf<WaitKind>(kWaitKinds, word); }

std::string_view OverheadKindWord(OverheadKind kind) { return WordOf(kOverheadKinds, kind); }
OverheadKind OverheadKindOf(std::string_view word) {
  return KindOf<OverheadKind>(kOverheadKinds, word);
}

}  // namespace oplens
