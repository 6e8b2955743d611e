#ifndef OPLENS_PROF_VIEWS_MODULE_RUN_H_
#define OPLENS_PROF_VIEWS_MODULE_RUN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/id_map.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/module_calls.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"
#include "prof/views/module_sums.h"

namespace oplens::prof {

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

#endif  // OPLENS_PROF_VIEWS_MODULE_RUN_H_
