#ifndef OPLENS_PROF_VIEWS_CALLS_MODULE_RUN_H_
#define OPLENS_PROF_VIEWS_CALLS_MODULE_RUN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "base/checked.h"
#include "base/id_map.h"
#include "base/sums.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/module_calls.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"

namespace oplens::prof {

/// What a module cost.
struct ModuleSums {
  /// In one of the two passes of training.
  struct Pass {
    Sum device_ns;
    Sum host_ns;

    static constexpr std::tuple kMembers{&Pass::device_ns, &Pass::host_ns};
  };

  Sum calls;
  Sum wall_ns;
  Sum ops;
  Sum launches;
  Sum tensor_core_ns;
  Sum tensor_core_known_ns;
  Sum with_flops;
  Sum with_bytes;
  Sum memory_events;
  // Of communication, in both passes; the others are without it.
  Sum collectives;
  Sum communication_ns;
  Checked flops;
  Checked bytes;
  Checked allocated_bytes;
  Checked freed_bytes;
  Pass forward;
  Pass backward;

  static constexpr std::tuple kMembers{
      &ModuleSums::calls,       &ModuleSums::wall_ns,          &ModuleSums::ops,
      &ModuleSums::launches,    &ModuleSums::tensor_core_ns,   &ModuleSums::tensor_core_known_ns,
      &ModuleSums::with_flops,  &ModuleSums::with_bytes,       &ModuleSums::memory_events,
      &ModuleSums::collectives, &ModuleSums::communication_ns, &ModuleSums::flops,
      &ModuleSums::bytes,       &ModuleSums::allocated_bytes,  &ModuleSums::freed_bytes,
      &ModuleSums::forward,     &ModuleSums::backward};
};

/// The modules of one rank: sums by path and, if asked for, by step. Calls count in the step in
/// which they began, with all that they launched; the kernels of a graph in the step that replayed
/// them.
///
/// O(R log R + E) for R ranges and E device events. 4 bytes a call and, by step, 4 a kernel.
class ModuleRun {
 public:
  /// Sums of one module in one step.
  struct Slot {
    uint32_t module = PathTree::kRoot;  ///< A path of tree(); the root: what is in none.
    size_t step = Steps::kNone;
    ModuleSums sums;
  };

  /// `run` must outlive this object.
  ModuleRun(const Run& run, bool by_step);

  /// Takes the price of a kernel; each comes once at most.
  void Add(const PricedKernel& kernel);

  std::span<const Slot> slots() const { return slots_; }
  const PathTree& tree() const { return modules_.tree(); }
  ModuleSource source() const { return modules_.source(); }

 private:
  ModuleSums& SumsOf(uint32_t module, size_t step) { return slots_[SlotOf(module, step)].sums; }
  uint32_t SlotOf(uint32_t module, size_t step);
  /// Of what a host thread did at a time; Steps::kNone where rows are not by step.
  size_t StepAt(int64_t time_ns) const {
    return by_step_ ? run_.steps().OfHost(time_ns) : Steps::kNone;
  }
  size_t StepOfWork(const DeviceEvent& event, uint32_t call) const;
  void AddCalls();
  void AddModuleCalls();
  void AddEvents();
  void AddMemory();

  const Run& run_;
  bool by_step_;
  ModuleCalls modules_;
  std::vector<Slot> slots_;
  IdMap slot_of_;                       // By module and step.
  std::vector<uint32_t> kernel_slots_;  // By kernel, where rows are by step.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_CALLS_MODULE_RUN_H_
