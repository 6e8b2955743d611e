#ifndef OPLENS_PROF_VIEWS_OPERATOR_RUN_H_
#define OPLENS_PROF_VIEWS_OPERATOR_RUN_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/id_map.h"
#include "prof/run/steps.h"
#include "prof/views/call_places.h"
#include "prof/views/kernel_prices.h"
#include "prof/views/operator_fields.h"
#include "prof/views/operator_sums.h"

namespace oplens::prof {

class Run;

/// The operators of one rank: sums by what they are called (and split by) and by step. A call
/// counts in the step in which it began, with all that it launched; the kernels of a graph that it
/// captured count in the step that replayed them. Collectives of gradient hooks
/// (prof/run/gradient_hooks.h) that no operator launched are not of the node in which they began.
///
/// O(E + C log C) for E device events and C calls but for graphs, whose kernels cost the depth of
/// the call that captured them once a step. 24 bytes a call while
/// it is made.
class OperatorRun {
 public:
  /// `places`: of `run`. Both must outlive this object.
  OperatorRun(const Run& run, const std::vector<OperatorKey>& by, const KernelPrices& prices,
              CallPlaces* places);

  /// Sums of one group in one step.
  struct Slot {
    uint32_t group = 0;  ///< Or one of those below.
    size_t step = Steps::kNone;
    OperatorSums sums;
  };
  static constexpr uint32_t kUnattributed = UINT32_MAX;  ///< What no call launched.
  /// Collectives of gradient hooks that no operator launched.
  static constexpr uint32_t kOfHooks = UINT32_MAX - 1;

  /// Gives each slot to f(Slot&&), and frees it.
  template <typename F>
  void TakeSlots(F f) {
    for (; !slots_.empty(); slots_.pop_front()) f(std::move(slots_.front()));
  }
  /// The texts of a group: the name and those of the keys, those of step and rank left out.
  std::vector<std::string_view> TextsOf(uint32_t group) const;
  /// How many texts that are.
  size_t text_count() const { return columns_.size(); }

 private:
  static constexpr uint32_t kNoTime = UINT32_MAX;
  struct CallState {
    uint32_t group = 0;
    uint32_t slot = 0;  // None where the call is not selected.
    // What it launched itself, with those inside once that is summed; into times_. Most launch
    // nothing.
    uint32_t time = kNoTime;
  };
  /// Who launched something.
  struct Launcher {
    uint32_t call;   // CallWork::kNone for kUnattributed and kOfHooks.
    uint32_t group;  // Of the call, or one of these.
  };
  /// What a call launched in another step than its own.
  struct Stray {
    uint32_t call;
    uint32_t slot;
    KernelTime time;
  };

  void GroupCalls(const std::vector<OperatorKey>& by);
  void AddCalls();
  void MarkOutermost();
  void FindKernelsOfHooks();
  Launcher LauncherOf(uint32_t call, bool of_hooks) const;
  void AddEvents();
  void AddPrices(const KernelPrices& prices);
  /// Sums over the calls inside of calls.
  void SumTotals();
  void AddBusy(const DeviceEvent& event, uint32_t group, uint32_t slot);
  uint32_t SlotOf(uint32_t group, size_t step);
  /// The slot of what was launched: that of the call but for kernels of graphs.
  uint32_t SlotOfWork(const DeviceEvent& event, const Launcher& by);
  /// Gives time to a call and those around it, that of another step to the latter's sums of it.
  void AddTime(uint32_t call, uint32_t slot, const KernelTime& time);
  void SumStrays();
  void AddToCall(const KernelTime& time, CallState* call);

  const Run& run_;
  bool by_step_;  // Slots are of steps; sums over all of them need none.
  CallPlaces& places_;
  std::vector<std::vector<uint32_t>> columns_;  // Of the keys, by group: numbers of texts.
  std::vector<uint32_t> group_calls_;           // By group: its first call.
  std::vector<CallState> calls_;                // By place in CallTree::all().
  std::deque<KernelTime> times_;                // Of calls.
  std::vector<bool> outermost_;  // The same as calls_: no call of its group is around it.
  std::deque<Slot> slots_;
  IdMap slot_of_;                       // By group and step.
  std::vector<uint32_t> kernel_slots_;  // By kernel.
  std::vector<bool> of_hooks_;          // By kernel: whether it counts in kOfHooks.
  IdMap busy_;                          // By group and device; into busy_until_.
  std::vector<int64_t> busy_until_;
  IdMap stray_of_;  // By call and slot.
  std::vector<Stray> strays_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_OPERATOR_RUN_H_
