#include "prof/run/module_calls.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/hash.h"
#include "base/id_map.h"
#include "parse/join/joined.h"
#include "parse/join/range_roles.h"
#include "parse/join/range_sweep.h"
#include "parse/join/step_contexts.h"
#include "parse/join/thread_ranges.h"
#include "prof/run/forward_calls.h"
#include "prof/run/gradient_hooks.h"
#include "prof/run/module_names.h"

namespace oplens::prof {
namespace {

using parse::CallTree;
using parse::OpenRanges;
using parse::StepContext;
using ModuleCallsMoment = ModuleCalls::Moment;
using ModuleCallsPlace = ModuleCalls::Place;

constexpr uint32_t kAllBits = INT32_MAX;  // Of Place::module.

/// Paths of modules while those of forward ops, which some start with, are still unknown.
class LocalPaths {
 public:
  LocalPaths() : all_(1) {}

  uint32_t ChildOf(uint32_t path, uint32_t text) {
    const auto next = static_cast<uint32_t>(all_.size());
    const uint32_t child = child_of_.FindOrInsert(PairKey(path, text), next);
    if (child == next) all_.push_back({path, text, CallTree::kNone, all_[path].late});
    return child;
  }
  /// The path of a call, yet to be found.
  uint32_t PathOf(uint32_t forward) {
    if (forward == CallTree::kNone) return 0;
    const auto next = static_cast<uint32_t>(all_.size());
    const uint32_t path = path_of_.FindOrInsert(forward, next);
    if (path == next) all_.push_back({PathTree::kNone, 0, forward, true});
    return path;
  }
  /// Inserts them into `tree`; returns their numbers there. `places`: per call, in our numbers.
  std::vector<uint32_t> Resolve(const std::vector<ModuleCallsPlace>& places, PathTree* tree);

 private:
  struct Path {
    uint32_t parent = PathTree::kNone;
    uint32_t text = 0;                   // For TextOf of the tree.
    uint32_t forward = CallTree::kNone;  // Starts with the path of this call.
    bool late = false;                   // Starts with some call's path.
  };
  enum class State : uint8_t { kWaiting, kBegun, kDone };

  void ResolveLate(uint32_t path, const std::vector<ModuleCallsPlace>& places, PathTree* tree);
  static uint32_t Attach(uint32_t path, uint32_t text, PathTree* tree);

  std::vector<Path> all_;
  IdMap child_of_;  // By parent and text.
  IdMap path_of_;   // By call.
  std::vector<uint32_t> found_;
  std::vector<State> states_;
};

std::vector<uint32_t> LocalPaths::Resolve(const std::vector<ModuleCallsPlace>& places,
                                          PathTree* tree) {
  found_.assign(all_.size(), PathTree::kRoot);
  states_.assign(all_.size(), State::kDone);
  // Backward work resolves to forward work.
  for (uint32_t i = 1; i < all_.size(); ++i) {
    if (all_[i].late) {
      states_[i] = State::kWaiting;
    } else {
      found_[i] = tree->ChildOf(found_[all_[i].parent], all_[i].text);
    }
  }
  for (uint32_t i = 1; i < all_.size(); ++i) ResolveLate(i, places, tree);
  return std::move(found_);
}

void LocalPaths::ResolveLate(uint32_t path, const std::vector<ModuleCallsPlace>& places,
                             PathTree* tree) {
  std::vector<uint32_t> waiting = {path};
  while (!waiting.empty()) {
    const uint32_t at = waiting.back();
    if (states_[at] == State::kDone) {
      waiting.pop_back();
      continue;
    }
    const bool begins = all_[at].forward != CallTree::kNone;
    const uint32_t before = begins ? places[all_[at].forward].module : all_[at].parent;
    if (states_[before] == State::kWaiting) {
      states_[at] = State::kBegun;
      waiting.push_back(before);
      continue;
    }
    // A path that is in progress depends on itself: it has none.
    if (states_[before] == State::kDone) {
      const bool outermost = !begins && all_[before].forward != CallTree::kNone;
      found_[at] = begins      ? found_[before]
                   : outermost ? Attach(found_[before], all_[at].text, tree)
                               : tree->ChildOf(found_[before], all_[at].text);
    }
    states_[at] = State::kDone;
    waiting.pop_back();
  }
}

/// A module that runs again within a forward op's modules: the nearest of its name.
uint32_t LocalPaths::Attach(uint32_t path, uint32_t text, PathTree* tree) {
  for (uint32_t at = path;; at = tree->nodes()[at].parent) {
    if (at != PathTree::kRoot && tree->nodes()[at].text == text) return at;
    const uint32_t child = tree->FindChild(at, text);
    if (child != PathTree::kNone) return child;
    if (at == PathTree::kRoot) return tree->ChildOf(path, text);
  }
}

/// One pass over the ranges of each thread.
class ModuleCallsSweep {
 public:
  ModuleCallsSweep(const Run& run, ModuleNames* names, PathTree* tree)
      : joined_(run.joined()),
        trace_(run.trace()),
        calls_(run.calls()),
        forwards_(run.joined(), run.calls()),
        names_(*names),
        tree_(*tree) {}

  void Find(std::vector<ModuleCallsPlace>* places,
            std::vector<ModuleCalls::ModuleCall>* module_calls,
            std::vector<ModuleCallsMoment>* moments);

 private:
  enum Lane : size_t { kModules, kContexts };

  void FindOn(ThreadIndex thread);
  void MoveTo(const Range& range);
  void AddModuleCall(uint32_t range, std::string_view name);
  void AddMomentsUntil(int64_t time_ns);
  /// For the moment to which open_ was moved.
  ModuleCallsPlace PlaceNow();
  void LookAtContext();
  void SortMoments();

  const parse::Joined& joined_;
  const Trace& trace_;
  const CallTree& calls_;
  ForwardCalls forwards_;
  ModuleNames& names_;
  PathTree& tree_;
  LocalPaths paths_;
  std::vector<ModuleCallsPlace>* places_ = nullptr;
  std::vector<ModuleCalls::ModuleCall>* module_calls_ = nullptr;
  std::vector<ModuleCallsMoment>* moments_ = nullptr;
  std::vector<uint32_t> by_time_;  // Moments by thread and time,
  size_t next_moment_ = 0;         // and the next one.
  ThreadIndex thread_ = 0;
  OpenRanges open_;
  uint32_t context_ = OpenRanges::kNone;  // What is known of it:
  uint32_t path_ = 0;
  bool backward_ = false;
};

void ModuleCallsSweep::Find(std::vector<ModuleCallsPlace>* places,
                            std::vector<ModuleCalls::ModuleCall>* module_calls,
                            std::vector<ModuleCallsMoment>* moments) {
  places_ = places;
  module_calls_ = module_calls;
  moments_ = moments;
  SortMoments();
  for (size_t thread = 0; thread < joined_.threads().thread_count(); ++thread) {
    FindOn(static_cast<ThreadIndex>(thread));
  }
  const std::vector<uint32_t> found = paths_.Resolve(*places, &tree_);
  const auto resolve = [&](ModuleCallsPlace* place) {
    place->module = found[place->module] & kAllBits;
  };
  for (ModuleCallsPlace& place : *places) resolve(&place);
  for (ModuleCalls::ModuleCall& call : *module_calls) resolve(&call.place);
  for (ModuleCallsMoment& moment : *moments) resolve(&moment.place);
}

void ModuleCallsSweep::SortMoments() {
  by_time_.resize(moments_->size());
  std::iota(by_time_.begin(), by_time_.end(), 0u);
  std::sort(by_time_.begin(), by_time_.end(), [&](uint32_t a, uint32_t b) {
    const auto key = [&](uint32_t moment) {
      const ModuleCallsMoment& one = (*moments_)[moment];
      return std::tuple(one.thread, one.time_ns, moment);
    };
    return key(a) < key(b);
  });
}

void ModuleCallsSweep::FindOn(ThreadIndex thread) {
  thread_ = thread;
  open_.Clear();
  context_ = OpenRanges::kNone;
  path_ = 0;
  backward_ = joined_.contexts().IsEngineThread(thread);
  size_t call = calls_.BeginOf(thread);
  const size_t last_call = call + calls_.Of(thread).size();
  const size_t end = joined_.threads().EndOf(thread);
  for (size_t i = joined_.threads().BeginOf(thread); i < end; ++i) {
    if (joined_.leaks().Has(i)) continue;
    const Range& range = trace_.ranges[i];
    const auto index = static_cast<uint32_t>(i);
    AddMomentsUntil(range.start_ns);
    if (const auto name = names_.NameOf(i)) AddModuleCall(index, *name);
    const StepContext context = joined_.contexts().ContextOf(i);
    // Recomputed work belongs to the node that it runs in.
    if (context != StepContext::kNone && context != StepContext::kRecompute) {
      open_.Push(index, range.start_ns, range.end_ns, kContexts);
    }
    if (call == last_call || calls_.all()[call].range != index) continue;
    MoveTo(range);
    ModuleCallsPlace place = PlaceNow();
    if (IsCallOfGradientHooks(joined_, context_, range)) place.module = PathTree::kRoot;
    (*places_)[call++] = place;
  }
  AddMomentsUntil(INT64_MAX);
}

/// A range that ends where another starts does not enclose it, unless that has no length.
void ModuleCallsSweep::MoveTo(const Range& range) {
  const int64_t start_ns = range.start_ns;
  open_.MoveTo(start_ns, range.end_ns > start_ns ? start_ns + 1 : start_ns);
}

void ModuleCallsSweep::AddModuleCall(uint32_t index, std::string_view name) {
  const Range& range = trace_.ranges[index];
  MoveTo(range);
  const ModuleCallsPlace around = PlaceNow();
  const uint32_t path = paths_.ChildOf(around.module, tree_.NumberOf(name));
  const auto place = static_cast<uint32_t>(module_calls_->size());
  module_calls_->push_back({index, {path & kAllBits, around.backward}});
  open_.Push(place, range.start_ns, range.end_ns, kModules);
}

ModuleCallsPlace ModuleCallsSweep::PlaceNow() {
  LookAtContext();
  const uint32_t inner = open_.Innermost(kModules);
  const uint32_t path = inner == OpenRanges::kNone ? path_ : (*module_calls_)[inner].place.module;
  return {path & kAllBits, backward_ ? 1u : 0u};
}

void ModuleCallsSweep::LookAtContext() {
  const uint32_t context = open_.Innermost(kContexts);
  if (context == context_) return;
  context_ = context;
  path_ = 0;
  if (context == OpenRanges::kNone) {
    // Old files have no range around the engine's work between nodes.
    backward_ = joined_.contexts().IsEngineThread(thread_);
    return;
  }
  backward_ = joined_.contexts().ContextOf(context) != StepContext::kOptimizer;
  path_ = paths_.PathOf(forwards_.Of(context));
}

void ModuleCallsSweep::AddMomentsUntil(int64_t time_ns) {
  for (; next_moment_ < by_time_.size(); ++next_moment_) {
    ModuleCallsMoment& moment = (*moments_)[by_time_[next_moment_]];
    if (moment.thread > thread_ || (moment.thread == thread_ && moment.time_ns >= time_ns)) return;
    if (moment.thread < thread_) continue;  // It is on no thread.
    open_.MoveTo(moment.time_ns, moment.time_ns);
    moment.place = PlaceNow();
    if (moment.collective && IsOfGradientHooks(joined_, context_)) {
      moment.place.module = PathTree::kRoot;
    }
  }
}

}  // namespace

ModuleCalls::ModuleCalls(const Run& run)
    : run_(run), places_(run.calls().all().size(), ModuleCallsPlace{PathTree::kRoot, 0}) {
  ModuleNames names(run.joined());
  source_ = names.source();
  std::vector<Moment> moments = FindMoments();
  ModuleCallsSweep(run, &names, &tree_).Find(&places_, &module_calls_, &moments);
  for (const Moment& moment : moments) {
    if (moment.launch == kNoLaunch) {
      memory_places_.push_back(moment.place);
      continue;
    }
    if (moment.place.module == PathTree::kRoot && moment.place.backward == 0) continue;
    if (moment.launch >= launch_places_.size()) {
      launch_places_.resize(size_t{moment.launch} + 1, Place{PathTree::kRoot, 0});
    }
    launch_places_[moment.launch] = moment.place;
  }
}

std::vector<ModuleCalls::Moment> ModuleCalls::FindMoments() const {
  std::vector<Moment> moments;
  for (const MemoryEvent& event : run_.trace().memory_events) {
    moments.push_back({event.time_ns, event.thread, kNoLaunch, {PathTree::kRoot, 0}, false});
  }
  std::vector<bool> known(run_.trace().launches.size(), false);
  const auto add = [&](LaunchIndex launch, bool collective) {
    if (launch == kNoLaunch || known[launch]) return;
    known[launch] = true;
    const LaunchCall& call = run_.trace().launches[launch];
    moments.push_back({call.start_ns, call.thread, launch, {PathTree::kRoot, 0}, collective});
  };
  const CallWork& calls = run_.call_work();
  for (const DeviceEvent& event : run_.work().events()) {
    const bool collective = event.work == WorkClass::kCommunication;
    if (collective || calls.CallOf(event) == CallWork::kNone) {
      add(run_.work().OriginOf(event), collective);
    }
  }
  for (size_t i = 0; i < run_.trace().kernels.size(); ++i) {
    const bool collective = run_.work().IsCommunication(i);
    if (collective || calls.CallOfKernel(i) == CallWork::kNone) {
      add(OriginOf(run_.trace().kernels[i]), collective);
    }
  }
  return moments;
}

ModuleCalls::Place ModuleCalls::PlaceOfKernel(size_t kernel) const {
  const uint32_t call = run_.call_work().CallOfKernel(kernel);
  return call == CallWork::kNone || run_.work().IsCommunication(kernel)
             ? PlaceOfLaunch(OriginOf(run_.trace().kernels[kernel]))
             : places_[call];
}

}  // namespace oplens::prof
