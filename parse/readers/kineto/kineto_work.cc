#include "parse/readers/kineto/kineto_work.h"

#include <algorithm>
#include <string_view>

#include "parse/model/cuda_kinds.h"

namespace oplens::parse {
namespace {

using simdjson::dom::element;
using simdjson::dom::key_value_pair;

// Kineto writes CUPTI's kinds as words in the names of events.

/// Takes direction and memories of a copy from its name, "Memcpy HtoD (Pinned -> Device)".
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

/// The kinds of PyTorch's own records of CUPTI, whose copies all have one name.
void TakeKinetoCopyArguments(const KinetoEvent& event, MemoryCopy* copy) {
  for (const key_value_pair arg : event.args) {
    if (arg.key == "copy kind") {
      copy->copy_kind = CopyKindOf(TextOf(arg.value));
    } else if (arg.key == "src kind") {
      copy->source_kind = MemoryKindOf(TextOf(arg.value));
    } else if (arg.key == "dst kind") {
      copy->target_kind = MemoryKindOf(TextOf(arg.value));
    }
  }
}

struct KernelNumber {
  std::string_view key;
  int32_t Kernel::*field;
};

constexpr KernelNumber kKernelNumbers[] = {
    {"device", &Kernel::device_id},
    {"context", &Kernel::context_id},
};

struct KernelRatio {
  std::string_view key;
  float KernelDetails::*field;
};

constexpr KernelRatio kKernelRatios[] = {
    {"blocks per SM", &KernelDetails::blocks_per_multiprocessor},
    {"warps per SM", &KernelDetails::warps_per_multiprocessor},
    {"est. achieved occupancy %", &KernelDetails::achieved_occupancy_pct},
    {"theoretical occupancy %", &KernelDetails::theoretical_occupancy_pct},
};

}  // namespace

bool TakeTriple(element value, int32_t (*to)[3]) {
  simdjson::dom::array items;
  if (value.get(items) != simdjson::SUCCESS || items.size() != 3) return false;
  int32_t read[3] = {};
  size_t count = 0;
  for (const element item : items) {
    if (!TakeInt(item, &read[count++])) return false;
  }
  std::copy(read, read + 3, *to);
  return true;
}

bool TakeKernelNumber(const simdjson::dom::key_value_pair& arg, Kernel* kernel, KernelShape* shape,
                      KernelDetails* details, bool* good) {
  for (const KernelNumber& number : kKernelNumbers) {
    if (arg.key != number.key) continue;
    *good &= TakeInt(arg.value, &(kernel->*number.field));
    return true;
  }
  if (arg.key == "registers per thread") {
    *good &= TakeInt(arg.value, &shape->registers_per_thread);
    return true;
  }
  if (arg.key == "shared memory") {
    *good &= TakeInt(arg.value, &details->shared_memory_bytes);
    return true;
  }
  for (const KernelRatio& ratio : kKernelRatios) {
    if (arg.key != ratio.key) continue;
    TakeFloat(arg.value, &(details->*ratio.field));
    return true;
  }
  return false;
}

Kernel UnknownKernel() {
  Kernel kernel;
  kernel.correlation_id = kUnknownId;
  for (int32_t* const field : {&kernel.device_id, &kernel.context_id, &kernel.stream_id}) {
    *field = static_cast<int32_t>(kUnknownId);
  }
  return kernel;
}

void TakeCopyKinds(const KinetoEvent& event, MemoryCopy* copy) {
  TakeKinetoCopyKinds(event.name, copy);
  if (copy->copy_kind == CopyKind::kUnknown && event.has_args) TakeKinetoCopyArguments(event, copy);
}

}  // namespace oplens::parse
