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

/// What EventRun is asked for.
struct EventOptions {
  bool by_shape = false;
  bool by_stack = false;
  // Where the rules are not ours:
  /// The name by which a call is listed; nullopt: it is left out, what is in it is its caller's.
  std::optional<std::string_view> (*listed_as)(std::string_view name) = nullptr;
  /// A call whose only call inside has its name is made one with it: it has what that launched.
  bool joins_repeated = false;
  /// Around a call is the innermost that holds the whole of it; self time is the whole time less
  /// the whole times of the calls inside, also where these cross each other.
  bool whole_calls = false;
  /// Of a call stack so many innermost frames count, in the backward pass those of the forward op;
  /// 0: all of its own.
  size_t frames = 0;
  /// Memory counts for every call that runs at the moment, whatever thread took it, and what no
  /// call took is an event of this name; "": for the calls of its thread.
  std::string_view rest_of_memory = {};
};

/// The calls of one rank and what its devices did, summed by name.
///
/// O((C + E + M) log (C + E + M)) for C calls, E device events and M memory events; 24 bytes a call
/// and 24 a memory event for a while.
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
  /// Whether memory of the framework's was recorded.
  bool has_memory() const { return has_memory_; }
  /// The calls one by one, in the order of threads.
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
  IdMap names_and_shapes_;  // Pairs of a group's numbers, into the next map's keys.
  IdMap group_of_;
  std::vector<uint32_t> kernel_names_;  // By StringId, kNone: not asked.
  IdMap copy_names_;                    // By the three kinds of a copy.
  // By place in CallTree::all():
  std::vector<uint32_t> call_groups_;  // kNone: left out, or part of the one around it.
  std::vector<uint32_t> parents_;      // In all(), kNone: it has none.
  std::vector<int64_t> device_ns_;     // That it launched itself; with calls inside at last.
  bool has_memory_ = false;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_CALLS_EVENT_RUN_H_
