#include "parse/readers/kineto/kineto_kinds.h"

#include "parse/model/cuda_kinds.h"

namespace oplens::parse {

void TakeKinetoCopyKinds(std::string_view name, MemoryCopy* copy) {
  constexpr std::string_view kPrefix = "Memcpy ";
  constexpr std::string_view kArrow = " -> ";
  if (!name.starts_with(kPrefix)) return;
  name.remove_prefix(kPrefix.size());
  copy->copy_kind = CopyKindOf(name.substr(0, name.find(" (")));
  if (copy->copy_kind == CopyKind::kUnknown)
    copy->copy_kind = CopyKindOf(name.substr(0, name.find(' ')));
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

}  // namespace oplens::parse
