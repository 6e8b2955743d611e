#include "prof/views/calls/module_run.h"

#include <string>

#include "base/saturating.h"
#include "parse/join/inference.h"
#include "parse/join/joined.h"
#include "parse/model/kernel_record.h"
#include "prof/price/figures.h"

namespace oplens::prof {
namespace {

using parse::CallTree;

constexpr uint32_t kNoModuleSlot = UINT32_MAX;

ModuleSums::Pass& PassOf(ModuleSums* sums, ModuleCalls::Place place) {
  return place.backward != 0 ? sums->backward : sums->forward;
}

/// Whether it is a kernel, no collective, whose layer another kernel tells.
bool HasInferredLayer(const Run& run, const DeviceEvent& event) {
  if (!event.IsKernel() || event.work == WorkClass::kCommunication) return false;
  const parse::Inferred* inferred = run.joined().inference().Of(event.index);
  return inferred != nullptr && inferred->layer;
}

/// 0 for a range that was never closed or ends before it starts.
int64_t ModuleRunLengthOf(const Range& range) {
  if (range.open()) return 0;
  return std::max<int64_t>(SaturatingDifference(range.end_ns, range.start_ns), 0);
}

}  // namespace

ModuleRun::ModuleRun(const Run& run, bool by_step) : run_(run), by_step_(by_step), modules_(run) {
  tree_.Take(modules_.tree());  // Into an empty tree: numbers stay.
  if (by_step_) {
    kernel_slots_.assign(run.trace().kernels.size(), kNoModuleSlot);
  } else {
    slots_.resize(tree().nodes().size());
    for (uint32_t i = 0; i < slots_.size(); ++i) slots_[i].module = i;
  }
  AddCalls();
  AddModuleCalls();
  AddEvents();
  AddMemory();
}

uint32_t ModuleRun::SlotOf(uint32_t module, size_t step) {
  if (!by_step_) {
    // Paths of inferred layers are new.
    for (auto i = static_cast<uint32_t>(slots_.size()); i <= module; ++i) {
      slots_.push_back({i, Steps::kNone, {}});
    }
    return module;
  }
  const auto next = static_cast<uint32_t>(slots_.size());
  const uint64_t step_number = step == Steps::kNone ? 0 : static_cast<uint64_t>(step) + 1;
  const uint32_t slot =
      slot_of_.FindOrInsert(static_cast<int64_t>(uint64_t{module} << 32 | step_number), next);
  if (slot == next) slots_.push_back({module, step, {}});
  return slot;
}

void ModuleRun::AddCalls() {
  const std::span<const CallTree::Call> all = run_.calls().all();
  const bool all_selected = run_.selects_all();
  for (size_t i = 0; i < all.size(); ++i) {
    const int64_t start_ns = run_.trace().ranges[all[i].range].start_ns;
    if (!all_selected && !run_.SelectsHost(start_ns)) continue;
    const ModuleCalls::Place place = modules_.PlaceOf(i);
    ModuleSums& sums = SumsOf(place.module, StepAt(start_ns));
    ++sums.ops;
    PassOf(&sums, place).host_ns += all[i].self_ns;
  }
}

void ModuleRun::AddModuleCalls() {
  for (const ModuleCalls::ModuleCall& call : modules_.module_calls()) {
    const Range& range = run_.trace().ranges[call.range];
    if (!run_.SelectsHost(range.start_ns)) continue;
    ModuleSums& sums = SumsOf(call.place.module, StepAt(range.start_ns));
    ++sums.calls;
    sums.wall_ns += ModuleRunLengthOf(range);
  }
}

size_t ModuleRun::StepOfWork(const DeviceEvent& event, uint32_t call) const {
  if (!by_step_) return Steps::kNone;
  const bool captured = event.IsKernel() && run_.trace().kernels[event.index].capture != kNoLaunch;
  if (call != CallWork::kNone && !captured) {
    const int64_t start_ns = run_.trace().ranges[run_.calls().all()[call].range].start_ns;
    if (run_.SelectsHost(start_ns)) return run_.steps().OfHost(start_ns);
  }
  return run_.steps().OfEvent(event);
}

void ModuleRun::AddEvents() {
  for (const DeviceEvent& event : run_.work().events()) {
    const uint32_t call = run_.call_work().CallOf(event);
    const ModuleCalls::Place place = modules_.PlaceOf(event, call);
    if (place.module == PathTree::kRoot && HasInferredLayer(run_, event)) {
      waiting_of_.FindOrInsert(event.index, static_cast<uint32_t>(waiting_.size()));
      waiting_.push_back({event.index, StepOfWork(event, call), event.duration_ns(), false});
      continue;
    }
    const uint32_t slot = SlotOf(place.module, StepOfWork(event, call));
    if (by_step_ && event.IsKernel()) kernel_slots_[event.index] = slot;
    ModuleSums& sums = slots_[slot].sums;
    if (event.work == WorkClass::kCommunication) {
      ++sums.collectives;
      sums.communication_ns += event.duration_ns();
      continue;
    }
    ++sums.launches;
    PassOf(&sums, place).device_ns += event.duration_ns();
  }
}

void ModuleRun::AddMemory() {
  const std::vector<MemoryEvent>& events = run_.trace().memory_events;
  for (size_t i = 0; i < events.size(); ++i) {
    const MemoryEvent& event = events[i];
    const bool device = event.source == MemorySource::kFramework && event.device_id >= 0;
    if (!device || !run_.SelectsHost(event.time_ns)) continue;
    ModuleSums& sums = SumsOf(modules_.PlaceOfMemory(i).module, StepAt(event.time_ns));
    ++sums.memory_events;
    if (event.size_bytes > 0) {
      sums.allocated_bytes += event.size_bytes;
    } else {
      sums.freed_bytes += Checked(0) - Checked(event.size_bytes);
    }
  }
}

uint32_t ModuleRun::PathOf(std::span<const std::string_view> layer) {
  uint32_t path = PathTree::kRoot;
  for (const std::string_view name : layer) {
    const uint32_t text = path == PathTree::kRoot
                              ? tree_.NumberOf(std::string(name).append(kInferredMark))
                              : tree_.NumberOf(name);
    path = tree_.ChildOf(path, text);
  }
  return path;
}

void ModuleRun::Finish() {
  for (const Waiting& event : waiting_) {
    if (event.added) continue;
    ModuleSums& sums = SumsOf(PathTree::kRoot, event.step);
    ++sums.launches;
    sums.forward.device_ns += event.device_ns;
  }
  waiting_.clear();
}

void ModuleRun::Add(const PricedKernel& kernel) {
  if (kernel.work >= run_.trace().kernels.size()) return;
  if (run_.work().IsCommunication(kernel.work)) return;
  uint32_t slot = by_step_ ? kernel_slots_[kernel.work] : kNoModuleSlot;
  const uint32_t waiting = waiting_of_.Find(kernel.work);
  if (waiting != IdMap::kNone) {
    Waiting& event = waiting_[waiting];
    slot = SlotOf(PathOf(kernel.layer), event.step);
    ModuleSums& sums = slots_[slot].sums;
    ++sums.launches;
    const bool backward = IsBackwardPhase(kernel.record->phase);
    (backward ? sums.backward : sums.forward).device_ns += event.device_ns;
    event.added = true;
  }
  if (slot == kNoModuleSlot) {  // Or it has no usable time.
    slot = SlotOf(modules_.PlaceOfKernel(kernel.work).module, Steps::kNone);
  }
  ModuleSums& sums = slots_[slot].sums;
  if (kernel.share.flops) {
    ++sums.with_flops;
    sums.flops += *kernel.share.flops;
  }
  if (kernel.share.bytes) {
    ++sums.with_bytes;
    sums.bytes += *kernel.share.bytes;
  }
  const ops::TensorCoreUse use = TensorCoreUseOf(kernel);
  if (use == ops::TensorCoreUse::kUnknown || !kernel.record->timed()) return;
  const int64_t time_ns = kernel.record->duration_ns;
  sums.tensor_core_known_ns += time_ns;
  if (use == ops::TensorCoreUse::kYes) sums.tensor_core_ns += time_ns;
}

}  // namespace oplens::prof
