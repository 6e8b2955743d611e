#ifndef OPLENS_PROF_RUN_MODULE_CALLS_H_
#define OPLENS_PROF_RUN_MODULE_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "prof/run/call_work.h"
#include "prof/run/device_work.h"
#include "prof/run/module_names.h"
#include "prof/run/path_tree.h"
#include "prof/run/run.h"

namespace oplens::prof {

/// The modules that the calls of a run are in, as paths:
///
///     thread 1  |- Net_0 ----------------------------|
///                  |- Linear_1 ---|  |- aten::add -|     aten::add: Net_0
///                     |- addmm -|                        addmm: Net_0, Linear_1
///     engine           |- AddmmBackward0 ------|
///                         |- mm -|                       of the forward op: Net_0, Linear_1
///
/// A call is in the modules around its start; without any, in the backward pass, in those of its
/// forward op. A module that runs again in the backward pass is the one of its name nearest to that
/// forward op. GPU work is in the modules of the call that launched it; communication, and work
/// without such a call, in those around the API call. Communication by gradient hooks is in none
/// (IsOfGradientHooks).
///
/// O((R + M) log (R + M)) for R ranges and M memory events and API calls outside of calls; 4 bytes
/// per call, memory event and API call, 8 per module call; during construction 28 per item of M and
/// 36 per node of the backward pass.
class ModuleCalls {
 public:
  struct Place {
    uint32_t module : 31;   ///< A path of tree(); the root: in no module.
    uint32_t backward : 1;  ///< In the backward pass.
  };
  static_assert(sizeof(Place) == sizeof(uint32_t));
  /// A call of a module.
  struct ModuleCall {
    uint32_t range;
    Place place;
  };

  /// `run` must outlive this object.
  explicit ModuleCalls(const Run& run);

  ModuleSource source() const { return source_; }
  const PathTree& tree() const { return tree_; }
  /// `call`: index into CallTree::all().
  Place PlaceOf(size_t call) const { return places_[call]; }
  std::span<const ModuleCall> module_calls() const { return module_calls_; }
  /// `call`: that launched the work; CallWork::kNone: none.
  Place PlaceOf(const DeviceEvent& event, uint32_t call) const {
    return call == CallWork::kNone || event.work == WorkClass::kCommunication
               ? PlaceOfLaunch(run_.work().OriginOf(event))
               : places_[call];
  }
  /// For a kernel's index, whether or not its time is usable.
  Place PlaceOfKernel(size_t kernel) const;
  /// `event`: index into Trace::memory_events.
  Place PlaceOfMemory(size_t event) const { return memory_places_[event]; }

  /// Something that a thread did outside of calls.
  struct Moment {
    int64_t time_ns;
    ThreadIndex thread;
    LaunchIndex launch;  ///< kNoLaunch: a memory event.
    Place place;
    bool collective;  ///< A launch of communication.
  };

 private:
  /// Memory events, then API calls that launch communication or, outside of calls, other work.
  std::vector<Moment> FindMoments() const;
  Place PlaceOfLaunch(LaunchIndex launch) const {
    return launch < launch_places_.size() ? launch_places_[launch] : Place{PathTree::kRoot, 0};
  }

  const Run& run_;
  ModuleSource source_ = ModuleSource::kNone;
  PathTree tree_;
  std::vector<Place> places_;  // By call.
  std::vector<ModuleCall> module_calls_;
  std::vector<Place> memory_places_;
  std::vector<Place> launch_places_;  // By API call, up to the last Moment in a module.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_MODULE_CALLS_H_
