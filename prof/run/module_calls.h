#ifndef OPLENS_PROF_RUN_MODULE_CALLS_H_
#define OPLENS_PROF_RUN_MODULE_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/id_map.h"
#include "prof/run/call_work.h"
#include "prof/run/device_work.h"
#include "prof/run/module_names.h"
#include "prof/run/path_tree.h"
#include "prof/run/run.h"

namespace oplens::prof {

/// Which module of the network the calls of a run are in, as paths:
///
///     thread 1  |- Net_0 ----------------------------|
///                  |- Linear_1 ---|  |- aten::add -|     aten::add: Net_0
///                     |- addmm -|                        addmm: Net_0, Linear_1
///     engine           |- AddmmBackward0 ------|
///                         |- mm -|                       of the forward op: Net_0, Linear_1
///
/// A call is in the modules around its beginning; without any, in the backward pass, in those of
/// the forward op that it is for. A module that runs again in the backward pass is taken for the
/// one of its name that is nearest to that forward op. Work of a GPU is where the call is that
/// launched it, or, where none did, and of communication, in what is around the API call. What
/// hooks of gradients communicate is in none (IsOfGradientHooks).
///
/// O((R + M) log (R + M)) for R ranges and M memory events and API calls outside of calls; 4 bytes
/// a call, 8 a call of a module, 24 a thing of M, and while it is made 36 a node of the backward
/// pass.
class ModuleCalls {
 public:
  /// Where something is.
  struct Place {
    uint32_t module : 31;   ///< A path of tree(); the root: it is in none.
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
  /// Of a call, by its place in CallTree::all().
  Place PlaceOf(size_t call) const { return places_[call]; }
  std::span<const ModuleCall> module_calls() const { return module_calls_; }
  /// Of a piece of work; `call`: that launched it, CallWork::kNone: none did.
  Place PlaceOf(const DeviceEvent& event, uint32_t call) const {
    return call == CallWork::kNone || event.work == WorkClass::kCommunication
               ? PlaceOfLaunch(run_.work().OriginOf(event))
               : places_[call];
  }
  /// Of a kernel, by its index, whether it has a usable time or not.
  Place PlaceOfKernel(size_t kernel) const;
  /// By its place in Trace::memory_events.
  Place PlaceOfMemory(size_t event) const { return moments_[event].place; }

  /// Something that a thread did outside of calls.
  struct Moment {
    int64_t time_ns;
    ThreadIndex thread;
    Place place;
    bool collective;  ///< A launch of communication.
  };

 private:
  /// Lists memory events and the API calls that communication comes from, and outside of calls
  /// other work.
  void FindMoments();
  void AddLaunch(LaunchIndex launch, bool collective);
  Place PlaceOfLaunch(LaunchIndex launch) const {
    const uint32_t moment = launch == kNoLaunch ? IdMap::kNone : moment_of_.Find(launch);
    return moment == IdMap::kNone ? Place{PathTree::kRoot, 0} : moments_[moment].place;
  }

  const Run& run_;
  ModuleSource source_ = ModuleSource::kNone;
  PathTree tree_;
  std::vector<Place> places_;  // By call.
  std::vector<ModuleCall> module_calls_;
  std::vector<Moment> moments_;  // Memory events, then API calls.
  IdMap moment_of_;              // By API call.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_MODULE_CALLS_H_
