#ifndef OPLENS_PROF_VIEWS_CALLS_OPERATOR_RUN_H_
#define OPLENS_PROF_VIEWS_CALLS_OPERATOR_RUN_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/checked.h"
#include "base/id_map.h"
#include "base/ratio.h"
#include "base/sums.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"
#include "prof/views/calls/call_groups.h"
#include "prof/views/calls/call_places.h"
#include "prof/views/common/histogram.h"

namespace oplens::prof {

/// Time of kernels, and of those of them that use Tensor Cores.
struct KernelTime {
  Sum device_ns;               ///< Of device events of all kinds.
  Sum tensor_core_ns;          ///< Of kernels that use Tensor Cores.
  Sum known_ns;                ///< Of kernels that are known to use them or not.
  BitsOfAny<uint8_t> fitness;  ///< Of what its kernels could: 1 << TensorCoreFitness.

  static constexpr std::tuple kMembers{&KernelTime::device_ns, &KernelTime::tensor_core_ns,
                                       &KernelTime::known_ns, &KernelTime::fitness};

  /// Percent of `known_ns`; nullopt where that is 0.
  std::optional<double> TensorCorePercent() const {
    return Percent<int64_t>(tensor_core_ns, known_ns);
  }
  /// Whether a kernel runs on Tensor Cores or could ("yes"), none could ("no"), or that is not
  /// known ("").
  std::string_view Eligible() const;
};

/// What the calls of one operator cost.
struct OperatorSums {
  Count calls;
  Count launches;
  Sum device_busy_ns;
  Sum host_self_ns;
  Sum host_total_ns;
  Sum length_ns;  ///< Of all calls, also those inside of others of the operator.
  Count with_flops;
  Count with_bytes;
  Checked flops;
  Checked bytes;
  KernelTime self;
  KernelTime total;
  Histogram lengths;

  static constexpr std::tuple kMembers{
      &OperatorSums::calls,        &OperatorSums::launches,      &OperatorSums::device_busy_ns,
      &OperatorSums::host_self_ns, &OperatorSums::host_total_ns, &OperatorSums::length_ns,
      &OperatorSums::with_flops,   &OperatorSums::with_bytes,    &OperatorSums::flops,
      &OperatorSums::bytes,        &OperatorSums::self,          &OperatorSums::total,
      &OperatorSums::lengths};
};

/// What sums over operators take of priced kernels, kept until all came, so that several sums can
/// be made one after the other. 32 bytes a kernel.
class KernelPrices {
 public:
  struct Price {
    int64_t flops = 0;
    int64_t bytes = 0;
    int64_t known_ns = 0;  ///< Its time, where it is known whether it uses Tensor Cores.
    uint32_t kernel = 0;   ///< Place in Trace::kernels.
    bool with_flops = false;
    bool with_bytes = false;
    bool tensor_core = false;
    uint8_t fitness = 0;  ///< As in KernelTime.
  };

  /// `run` must outlive this object.
  explicit KernelPrices(const Run& run)
      : run_(run), product_names_(run.trace().strings.size(), uint8_t{0}) {}

  /// Each kernel comes once at most.
  void Add(const PricedKernel& kernel);
  /// In the order in which they came.
  std::span<const Price> all() const { return prices_; }

 private:
  bool IsNamedProduct(const PricedKernel& kernel);

  const Run& run_;
  std::vector<Price> prices_;
  std::vector<uint8_t> product_names_;  // By StringId of a kernel: 0 not asked, 1 no, 2 yes.
};

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

  /// Gives each slot to f(slot), and frees it.
  template <typename F>
  void TakeSlots(F f) {
    for (; !slots_.empty(); slots_.pop_front()) f(slots_.front());
  }
  const CallGroups& groups() const { return groups_; }

 private:
  static constexpr uint32_t kNoTime = UINT32_MAX;
  struct CallState {
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

  void AddCalls();
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
  CallGroups groups_;
  std::vector<CallState> calls_;  // By place in CallTree::all().
  std::deque<KernelTime> times_;  // Of calls.
  std::vector<bool> outermost_;   // The same: no call of its group is around it.
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

#endif  // OPLENS_PROF_VIEWS_CALLS_OPERATOR_RUN_H_
