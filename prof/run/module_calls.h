#ifndef OPLENS_PROF_RUN_MODULE_CALLS_H_
#define OPLENS_PROF_RUN_MODULE_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parse/join/call_tree.h"
#include "parse/join/joined.h"
#include "prof/run/path_tree.h"

namespace oplens::prof {

/// What tells the modules of a run.
enum class ModuleSource : uint8_t {
  kNone,
  kModules,  ///< Calls of modules that Python's profiler saw, layers of NVTX, or Lightning's labels.
  kScopes,   ///< Without any: the ranges that the program itself names.
};

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
/// one of its name that is nearest to that forward op.
///
/// O(R log R) for R ranges; 4 bytes a call, 8 a call of a module, and while it is made 36 a node of
/// the backward pass.
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

  /// Both must outlive this object.
  ModuleCalls(const parse::Joined& joined, const parse::CallTree& calls);

  ModuleSource source() const { return source_; }
  const PathTree& tree() const { return tree_; }
  /// Of a call, by its place in CallTree::all().
  Place PlaceOf(size_t call) const { return places_[call]; }
  std::span<const ModuleCall> module_calls() const { return module_calls_; }
  /// Of what happened at a moment on a thread, by its place in Trace::memory_events.
  Place PlaceOfMemory(size_t event) const { return memory_places_[event]; }

 private:
  ModuleSource source_ = ModuleSource::kNone;
  PathTree tree_;
  std::vector<Place> places_;  // By call.
  std::vector<ModuleCall> module_calls_;
  std::vector<Place> memory_places_;  // By memory event.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_MODULE_CALLS_H_
