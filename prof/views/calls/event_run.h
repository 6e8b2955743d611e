#ifndef OPLENS_PROF_VIEWS_CALLS_EVENT_RUN_H_
#define OPLENS_PROF_VIEWS_CALLS_EVENT_RUN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id_map.h"
#include "prof/run/run.h"
#include "prof/views/calls/call_places.h"
#include "prof/views/calls/event_sums.h"

namespace oplens::prof {

struct EventOptions {
  bool by_shape = false;
  bool by_stack = false;
  // For other tools' rules:
  /// The name that a call is listed under; nullopt leaves the call out and counts its contents for
  /// its caller.
  std::optional<std::string_view> (*listed_as)(std::string_view name) = nullptr;
  /// Merges a call with its only child if both have the same name.
  bool joins_repeated = false;
  /// A call's parent is the innermost call that holds all of it; self time is its time less that of
  /// its children, even if these overlap.
  bool whole_calls = false;
  /// Number of innermost frames of a call stack that count; in the backward pass, of the forward
  /// op's stack. 0: all frames of its own stack.
  size_t frames = 0;
  /// Memory counts for every call that runs at that moment, on any thread, and memory taken outside
  /// of calls becomes an event of this name. "": memory counts for the calls of its thread.
  std::string_view rest_of_memory = {};
};

/// The calls of one rank and the work of its devices, summed by name.
///
/// O((C + E + M) log (C + E + M)) for C calls, E device events and M memory events; temporarily 24
/// bytes per call and per memory event.
class EventRun {
 public:
  /// `run` must outlive this object.
  EventRun(const Run& run, const EventOptions& options);

  struct Group {
    bool device = false;
    uint32_t name = 0;  ///< Numbers of texts.
    uint32_t shape = 0;
    uint32_t stack = 0;
    EventSums sums;
  };
  const std::vector<Group>& groups() const { return groups_; }
  std::string_view TextOf(uint32_t number) const { return texts_.TextOf(number); }
  /// Whether the framework's memory was recorded.
  bool has_memory() const { return has_memory_; }
  /// The single calls, thread by thread.
  std::vector<EventCall> Calls() const;

 private:
  static constexpr uint32_t kNone = parse::CallTree::kNone;

  uint32_t GroupOf(bool device, uint32_t name, uint32_t shape, uint32_t stack);
  void FindGroups();
  void FindParents();
  void AddDeviceEvents();
  void MergeRepeated();
  void SumDevice();
  void SumHost();
  void SumMemory();
  uint32_t NumberOfShapes(StringId call);
  uint32_t InnermostFrames(std::string_view stack);
  uint32_t NameOf(const DeviceEvent& event);
  uint32_t NameOfCopy(const MemoryCopy& copy);
  bool IsLeftOut(size_t call) const { return call_groups_[call] == kNone; }
  int64_t StartOf(size_t call) const {
    return run_.trace().ranges[run_.calls().all()[call].range].start_ns;
  }

  const Run& run_;
  EventOptions options_;
  TextNumbers texts_;
  std::vector<Group> groups_;
  IdMap names_and_shapes_;  // Pairs of a group's numbers to keys of group_of_.
  IdMap group_of_;
  std::vector<uint32_t> kernel_names_;  // By StringId; kNone: not computed yet.
  IdMap copy_names_;                    // By the three kinds of a copy.
  // By index in CallTree::all():
  std::vector<uint32_t> call_groups_;  // kNone: left out, or merged into its parent.
  std::vector<uint32_t> parents_;      // Index in all(); kNone: none.
  std::vector<int64_t> device_ns_;     // Self, then total.
  bool has_memory_ = false;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_CALLS_EVENT_RUN_H_
