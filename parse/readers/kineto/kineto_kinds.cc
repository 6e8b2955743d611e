#include "parse/readers/kineto/kineto_kinds.h"

#include "parse/model/cuda_kinds.h"

namespace oplens::parse {
namespace {

/// A word of an event's name and CUPTI's number for it.
struct NamedKind {
  std::string_view name;
  int32_t kind;
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

}  // namespace

void TakeKinetoCopyKinds(std::string_view name, MemoryCopy* copy) {
  constexpr std::string_view kPrefix = "Memcpy ";
  constexpr std::string_view kArrow = " -> ";
  if (!name.starts_with(kPrefix)) return;
  name.remove_prefix(kPrefix.size());
  copy->copy_kind = CopyKindOf(name.substr(0, name.find(" (")));
  if (copy->copy_kind == 0) copy->copy_kind = CopyKindOf(name.substr(0, name.find(' ')));
  const size_t open = name.find('(');
  const size_t arrow = name.find(kArrow);
  if (open == std::string_view::npos || arrow == std::string_view::npos || arrow < open ||
      !name.ends_with(')')) {
    return;
  }
  copy->source_kind = MemoryKindOf(name.substr(open + 1, arrow - open - 1));
  const std::string_view target = name.substr(arrow + kArrow.size());
  copy->target_kind = MemoryKindOf(target.substr(0, target.size() - 1));
}

int32_t KinetoWaitKind(std::string_view name) { return WaitKindOf(name); }

int32_t KinetoOverheadKind(std::string_view name) {
  for (const NamedKind& known : kOverheadKinds) {
    if (known.name == name) return known.kind;
  }
  return 0;
}

}  // namespace oplens::parse
