#include "parse/readers/kineto_kinds.h"

#include <cstddef>

namespace oplens::parse {
namespace {

/// A word of an event's name and CUPTI's number for it.
struct NamedKind {
  std::string_view name;
  int32_t kind;
};

constexpr NamedKind kCopyKinds[] = {
    {"HtoD", 1}, {"DtoH", 2}, {"HtoA", 3}, {"AtoH", 4}, {"AtoA", 5},
    {"AtoD", 6}, {"DtoA", 7}, {"DtoD", 8}, {"HtoH", 9}, {"PtoP", 10},
};

constexpr NamedKind kMemoryKinds[] = {
    {"Pageable", 1}, {"Pinned", 2},        {"Device", 3},         {"Array", 4},
    {"Managed", 5},  {"Device Static", 6}, {"Managed Static", 7},
};

constexpr NamedKind kWaitKinds[] = {
    {"Event Sync", 1},
    {"Stream Wait Event", 2},
    {"Stream Sync", 3},
    {"Context Sync", 4},
};

constexpr NamedKind kOverheadKinds[] = {
    {"Driver Compiler", 1},
    {"Buffer Flush", 1 << 16},
    {"Instrumentation", 2 << 16},
    {"Resource", 3 << 16},
    {"Runtime Triggered Module Loading", 4 << 16},
    {"Lazy Function Loading", 5 << 16},
    {"Command Buffer Full", 6 << 16},
    {"Activity Buffer Request", 7 << 16},
    {"UVM Activity Init", 8 << 16},
};

template <size_t N>
int32_t KindOf(const NamedKind (&kinds)[N], std::string_view name) {
  for (const NamedKind& known : kinds) {
    if (known.name == name) return known.kind;
  }
  return 0;
}

}  // namespace

void TakeKinetoCopyKinds(std::string_view name, MemoryCopy* copy) {
  constexpr std::string_view kPrefix = "Memcpy ";
  constexpr std::string_view kArrow = " -> ";
  if (!name.starts_with(kPrefix)) return;
  name.remove_prefix(kPrefix.size());
  copy->copy_kind = KindOf(kCopyKinds, name.substr(0, name.find(' ')));
  const size_t open = name.find('(');
  const size_t arrow = name.find(kArrow);
  if (open == std::string_view::npos || arrow == std::string_view::npos || arrow < open ||
      !name.ends_with(')')) {
    return;
  }
  copy->source_kind = KindOf(kMemoryKinds, name.substr(open + 1, arrow - open - 1));
  const std::string_view target = name.substr(arrow + kArrow.size());
  copy->target_kind = KindOf(kMemoryKinds, target.substr(0, target.size() - 1));
}

int32_t KinetoWaitKind(std::string_view name) { return KindOf(kWaitKinds, name); }

int32_t KinetoOverheadKind(std::string_view name) { return KindOf(kOverheadKinds, name); }

}  // namespace oplens::parse
