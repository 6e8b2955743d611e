#ifndef OPLENS_PROF_VIEWS_CALLS_MODULE_RUN_H_
#define OPLENS_PROF_VIEWS_CALLS_MODULE_RUN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/checked.h"
#include "base/id_map.h"
#include "base/sums.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/module_calls.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"

namespace oplens::prof {

struct ModuleSums {
  /// In one pass of training.
  struct Pass {
    Sum device_ns;
    Sum host_ns;
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
  // Communication of both passes; the other members exclude it.
  Sum collectives;
  Sum communication_ns;
  Checked flops;
  Checked bytes;
  Checked allocated_bytes;
  Checked freed_bytes;
  Pass forward;
  Pass backward;
};

/// The modules of one rank: sums by path and, if `by_step`, by step. Calls count in the step in
/// which they began, with all that they launched; the kernels of a graph in the step that replayed
/// them. Kernels outside of modules whose layer is inferred are in modules of these names, the
/// outermost of which is marked with kInferredMark.
///
/// O(R log R + E) for R ranges and E device events. 4 bytes per call and, if by step, 4 per kernel.
class ModuleRun {
 public:
  struct Slot {
    uint32_t module = PathTree::kRoot;  ///< A path of tree(); the root: outside of modules.
    size_t step = Steps::kNone;
    ModuleSums sums;
  };

  /// `run` must outlive this object.
  ModuleRun(const Run& run, bool by_step);

  /// Adds the price of a kernel, at most once per kernel.
  void Add(const PricedKernel& kernel);
  /// Call after the last Add.
  void Finish();

  std::span<const Slot> slots() const { return slots_; }
  const PathTree& tree() const { return tree_; }
  ModuleSource source() const { return modules_.source(); }

 private:
  ModuleSums& SumsOf(uint32_t module, size_t step) { return slots_[SlotOf(module, step)].sums; }
  uint32_t SlotOf(uint32_t module, size_t step);
  /// The step of host work at a time; Steps::kNone unless by step.
  size_t StepAt(int64_t time_ns) const {
    return by_step_ ? run_.steps().OfHost(time_ns) : Steps::kNone;
  }
  size_t StepOfWork(const DeviceEvent& event, uint32_t call) const;
  void AddCalls();
  void AddModuleCalls();
  void AddEvents();
  void AddMemory();
  /// The modules of an inferred layer.
  uint32_t PathOf(std::span<const std::string_view> layer);

  const Run& run_;
  bool by_step_;
  ModuleCalls modules_;
  PathTree tree_;  // That of modules_, and paths of inferred layers.
  std::vector<Slot> slots_;
  /// An event outside of modules that waits for the price of its kernel, which has the layer.
  struct Waiting {
    uint32_t kernel;
    size_t step;
    int64_t device_ns;
    bool added;
  };
  std::vector<Waiting> waiting_;        // Kernels whose layer is inferred.
  IdMap waiting_of_;                    // By kernel.
  IdMap slot_of_;                       // By module and step.
  std::vector<uint32_t> kernel_slots_;  // By kernel, if by step.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_CALLS_MODULE_RUN_H_
