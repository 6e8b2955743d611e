#ifndef OPLENS_PROF_VIEWS_CALLS_OPERATOR_RUN_H_
#define OPLENS_PROF_VIEWS_CALLS_OPERATOR_RUN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
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
#include "prof/run/text_numbers.h"
#include "prof/views/calls/call_groups.h"
#include "prof/views/calls/call_places.h"
#include "prof/views/common/histogram.h"

namespace oplens::prof {

/// Time of kernels, and the part of it on Tensor Cores.
struct KernelTime {
  Sum device_ns;               ///< Device events of all kinds.
  Sum tensor_core_ns;          ///< Kernels that use Tensor Cores.
  Sum known_ns;                ///< Kernels for which the use of Tensor Cores is known.
  BitsOfAny<uint8_t> fitness;  ///< Of its kernels: 1 << TensorCoreFitness.

  /// Percent of `known_ns`; nullopt if that is 0.
  std::optional<double> TensorCorePercent() const {
    return Percent<int64_t>(tensor_core_ns, known_ns);
  }
  /// "yes" if a kernel runs on Tensor Cores or could, "no" if none could, "" if unknown.
  std::string_view Eligible() const;
};

struct OperatorSums {
  Count calls;
  Count launches;
  Sum device_busy_ns;
  Sum host_self_ns;
  Sum host_total_ns;
  Sum length_ns;  ///< Of all calls, including those inside other calls of the operator.
  Count with_flops;
  Count with_bytes;
  Checked flops;
  Checked bytes;
  KernelTime self;
  KernelTime total;
  Histogram lengths;
};

/// What sums over operators need of priced kernels, kept so that several sums can be made from one
/// pass. 32 bytes per kernel, 8 more for one with an inferred op.
class KernelPrices {
 public:
  struct Price {
    int64_t flops = 0;
    int64_t bytes = 0;
    uint32_t kernel = 0;  ///< Index in Trace::kernels.
    bool with_flops : 1 = false;
    bool with_bytes : 1 = false;
    bool tensor_core : 1 = false;
    bool known : 1 = false;  ///< It is timed, and its use of Tensor Cores is known.
    uint8_t fitness = 0;     ///< As in KernelTime.
  };
  // A run has one for each kernel.
  static_assert(sizeof(Price) == 24);

  /// `run` must outlive this object.
  explicit KernelPrices(const Run& run)
      : run_(run), product_names_(run.trace().strings.size(), uint8_t{0}) {}

  /// Call at most once per kernel.
  void Add(const PricedKernel& kernel);
  /// In order of arrival.
  std::span<const Price> all() const { return prices_; }

  /// An inferred op: numbers of its texts by TextPlaceOf, those that CallGroups::TextsOf has.
  using InferredOp = std::array<uint32_t, std::tuple_size_v<OperatorTexts>>;
  struct Inferred {
    uint32_t kernel = 0;  ///< Index in Trace::kernels.
    uint32_t op = 0;      ///< Of inferred_ops().
  };
  std::span<const Inferred> inferred() const { return inferred_; }
  std::span<const InferredOp> inferred_ops() const { return inferred_ops_; }
  std::string_view TextOf(uint32_t number) const { return texts_.TextOf(number); }

 private:
  bool IsNamedProduct(const PricedKernel& kernel);
  void AddInferred(const PricedKernel& kernel);

  const Run& run_;
  std::vector<Price> prices_;
  std::vector<uint8_t> product_names_;  // By StringId of a kernel: 0 not computed, 1 no, 2 yes.
  std::vector<Inferred> inferred_;
  std::vector<InferredOp> inferred_ops_;
  std::map<InferredOp, uint32_t> places_of_ops_;  // In inferred_ops_.
  TextNumbers texts_;
  std::string text_;
};

/// The operators of one rank: sums by name, split by `by`, and by step. A call counts in the step
/// in which it began, with all that it launched; the kernels of a graph that it captured count in
/// the step that replayed them. Collectives of gradient hooks (prof/run/gradient_hooks.h) that no
/// operator launched do not count for the node in which they began. Kernels that no call launched
/// and whose op is inferred are a group by this op, marked with kInferredMark.
///
/// O(E + C log C) for E device events and C calls, plus, for each step that replays a graph, the
/// depth of the capturing call per kernel. 24 bytes per call during construction.
class OperatorRun {
 public:
  /// `places`: of `run`. All must outlive this object. With more than `most_slots` slots there are
  /// none: cut().
  OperatorRun(const Run& run, const std::vector<OperatorKey>& by, const KernelPrices& prices,
              CallPlaces* places, size_t most_slots = SIZE_MAX);

  struct Slot {
    uint32_t group = 0;  ///< Or kUnattributed or kOfHooks.
    size_t step = Steps::kNone;
    OperatorSums sums;
  };
  static constexpr uint32_t kUnattributed = UINT32_MAX;  ///< Launched by no call.
  /// Collectives of gradient hooks that no operator launched.
  static constexpr uint32_t kOfHooks = UINT32_MAX - 1;

  bool cut() const { return cut_; }
  /// Calls f(slot) for each slot, and frees it.
  template <typename F>
  void TakeSlots(F f) {
    for (; !slots_.empty(); slots_.pop_front()) f(slots_.front());
  }
  /// The texts of a group, as CallGroups::TextsOf; all "" if it is kUnattributed or kOfHooks.
  std::vector<std::string_view> TextsOf(uint32_t group) const;

 private:
  static constexpr uint32_t kNoTime = UINT32_MAX;
  struct CallState {
    uint32_t slot = 0;  // Unset if the call is not selected.
    // Index in times_ of what it launched: self, then total. Most calls launch nothing.
    uint32_t time = kNoTime;
  };
  struct Launcher {
    uint32_t call;   // CallWork::kNone for kUnattributed and kOfHooks.
    uint32_t group;  // Of the call, or of the inferred op, or kUnattributed or kOfHooks.
  };
  /// Work of a call in a step other than its own.
  struct Stray {
    uint32_t call;
    uint32_t slot;
    KernelTime time;
  };

  void AddCalls(size_t most_slots);
  void FindKernelsOfHooks();
  void FindInferredOps(const std::vector<OperatorKey>& by);
  Launcher LauncherOf(uint32_t call) const;
  Launcher LauncherOfKernel(uint32_t kernel) const;
  void AddEvents();
  void AddPrices();
  /// Adds the nested calls to the totals.
  void SumTotals();
  void AddBusy(const DeviceEvent& event, uint32_t group, uint32_t slot);
  uint32_t SlotOf(uint32_t group, size_t step);
  /// The call's slot, except for kernels of graphs.
  uint32_t SlotOfWork(const DeviceEvent& event, const Launcher& by);
  /// Adds time to a call and its enclosing calls, work of other steps to their sums of that step.
  void AddTime(uint32_t call, uint32_t slot, const KernelTime& time);
  void SumStrays();
  void AddToCall(const KernelTime& time, CallState* call);

  const Run& run_;
  const KernelPrices& prices_;
  bool cut_ = false;
  bool by_step_;  // Sums over all steps need no slots by step.
  CallGroups groups_;
  // Groups of inferred ops, numbered after those of calls: numbers of texts, as TextsOf has them.
  std::vector<std::vector<uint32_t>> inferred_groups_;
  std::vector<uint32_t> group_of_inferred_;  // By kernel; empty without inferred ops.
  std::vector<CallState> calls_;             // By index in CallTree::all().
  std::deque<KernelTime> times_;             // Of calls.
  std::vector<bool> outermost_;              // By call: not inside a call of its group.
  std::deque<Slot> slots_;
  IdMap slot_of_;                        // By group and step.
  std::vector<uint32_t> kernel_slots_;   // By kernel.
  std::vector<bool> of_hooks_;           // By kernel: counts in kOfHooks.
  std::vector<uint32_t> slot_of_group_;  // Of groups of calls, unless by_step_.
  IdMap busy_;                           // By group and device: index in busy_until_.
  std::vector<int64_t> busy_until_;
  IdMap stray_of_;  // By call and slot.
  std::vector<Stray> strays_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_CALLS_OPERATOR_RUN_H_
