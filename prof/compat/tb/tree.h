#ifndef OPLENS_PROF_COMPAT_TB_TREE_H_
#define OPLENS_PROF_COMPAT_TB_TREE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id_map.h"
#include "base/ratio.h"
#include "base/sums.h"
#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"

namespace oplens::prof {

class Run;

/// Notes of views that need the numbers of torch events, if no input has any.
class TbEventNotes {
 public:
  /// `view`: a literal.
  explicit TbEventNotes(std::string_view view) : view_(view) {}

  void Begin(const Run* run);
  void Merge(const TbEventNotes& other);
  /// `rest`: what is available without --compat.
  std::vector<std::string> Sentences(
      std::string_view rest = "; without it the view has rows") const;
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->any_, &self->has_events_);
  }

 private:
  std::string_view view_;
  bool any_ = false;  // There was an input.
  bool has_events_ = false;
};

// Kinds of host events to the TensorBoard plugin, by name.

/// Prefix of step names.
inline constexpr std::string_view kTbStep = "ProfilerStep#";

/// Whether a host event is in the tree: only a few annotations are.
bool IsTbNode(TorchEvent::Kind kind, std::string_view name);

/// Kinds of nodes that the plugin's diff view distinguishes.
enum class TbKind : uint8_t { kOther, kStep, kModule, kDataLoader, kOptimizer };
/// "", "step", "module", ...
std::string_view WordOf(TbKind kind);
/// Precondition: IsTbNode.
TbKind TbKindOf(TorchEvent::Kind kind, std::string_view name);

/// Whether an event of the operator category is in the operator view.
bool IsTbOperator(std::string_view name);

inline constexpr TraceNeeds kTbTreeNeeds = {TracePart::kTorchEvents};

/// The operators of a trace as the TensorBoard plugin (torch_tb_profiler 0.4.3) arranges them in
/// one tree per thread, for `--compat tb`, including its bugs. Not done: the tree of PyTorch
/// Lightning, and the loss of backward nodes without a forward op if modules are recorded.
///
///     device event -> API call by correlation id -> operator by external id -> tree by time
///
///  * Thread and stream numbers identify threads and streams, whatever the process.
///  * Driver calls launch nothing. A call whose external id no operator has is lost with its
///    kernels; a call of id 0 belongs to an operator of id 0, and also to the root unless thread
///    numbers are texts.
///  * An operator that ends after its parent is lost with what it launched.
///  * An operator with a single child of the same name keeps only its times: its calls and children
///    are those of the child.
///  * Kernels without a call belong to the root of each thread that has a step.
///
/// Times are ns, from differences of two rounded doubles. O(E log E) for E events.
class TbTree {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Node {
    uint32_t event = kNone;  ///< Index in Trace::torch_events; kNone: a root.
    uint32_t first_child = kNone;
    uint32_t last_child = kNone;
    uint32_t next = kNone;  ///< Next sibling.
    uint32_t first_call = 0;
    uint32_t end_call = 0;
    bool is_operator = false;  ///< Of the operator category.
    bool listed = false;       ///< Counted in a row of the operator view.
    bool eligible = false;     ///< For Tensor Cores.
    int64_t length_ns = 0;
    int64_t host_self_ns = 0;
    int64_t device_self_ns = 0;
    int64_t device_total_ns = 0;
    int64_t tensor_core_self_ns = 0;
    int64_t tensor_core_total_ns = 0;
  };

  /// A kernel under the tree, once for each node that has it.
  struct KernelPlace {
    uint32_t event = kNone;  ///< Index in Trace::torch_events.
    StringId op = 0;         ///< Name of the operator; 0: the root.
    bool op_eligible = false;
    bool listed = false;  ///< Below a node counted in rows.
  };

  /// `trace` must outlive this object and hold kTbTreeNeeds.
  explicit TbTree(const Trace& trace);

  std::span<const Node> nodes() const { return nodes_; }
  /// The nodes counted in rows, in the plugin's order of visiting: children first.
  std::span<const uint32_t> listed() const { return listed_; }
  std::span<const KernelPlace> kernels() const { return kernels_; }
  /// The root of a thread, by its number in the file; kNone: an empty thread.
  uint32_t RootOf(int64_t thread_id) const {
    const uint32_t thread = thread_of_.Find(thread_id);
    return thread == IdMap::kNone ? kNone : threads_[thread].root;
  }
  bool has_device_work() const { return !devices_.empty(); }
  /// Time of the kernels launched by operators in rows, and of those launched by innermost eligible
  /// ones.
  int64_t kernel_ns() const { return kernel_ns_; }
  int64_t eligible_kernel_ns() const { return eligible_kernel_ns_; }

 private:
  struct Call {
    uint32_t event = kNone;  // kNone: for kernels without a call.
    uint32_t first_device = 0;
    uint32_t end_device = 0;
    // Grow each time that a node counts the call.
    int64_t device_ns = 0;
    int64_t tensor_core_ns = 0;
  };
  struct Device {
    uint32_t event = kNone;
    uint32_t node = kNone;  // The last node that counted it.
    bool node_eligible = false;
  };
  struct Thread {
    int64_t id = 0;
    std::vector<uint32_t> nodes;  // By start.
    std::vector<uint32_t> zero_calls;
    bool has_step = false;
    uint32_t root = kNone;
  };

  void ReadEvents();
  void AddNode(uint32_t event);
  void LinkDevices(const std::vector<uint32_t>& devices);
  void GroupDevices(std::vector<std::pair<uint32_t, uint32_t>>* found);
  void LinkCalls();
  void LinkZeroCalls();
  void Build(Thread* thread);
  void MergeRepeats(uint32_t root);
  /// The nodes of a tree, children before parents.
  std::vector<uint32_t> Upwards(uint32_t root) const;
  void Count(uint32_t index);
  void CountCall(uint32_t node, Call* call);
  void List(uint32_t root);
  /// `holds_eligible`: per node, whether it or a descendant is eligible; filled on the way.
  void SumKernels(uint32_t root, std::vector<bool>* holds_eligible);
  int64_t KernelTimeOf(const Node& node) const;
  bool UsesTensorCores(StringId name);
  std::span<const uint32_t> CallsOf(const Node& node) const {
    return {node_calls_.data() + node.first_call, node.end_call - node.first_call};
  }
  const TorchEvent& EventOf(uint32_t event) const { return trace_.torch_events[event]; }

  const Trace& trace_;
  std::vector<Thread> threads_;  // In the order of their first nodes.
  IdMap thread_of_;              // By number.
  std::vector<uint32_t> place_;  // By event: its rank by start.
  std::vector<Node> nodes_;
  std::vector<Call> calls_;      // By start.
  std::vector<Device> devices_;  // By call; kernels without a call last.
  uint32_t first_stale_ = 0;     // Index in devices_ of the first kernel without a call.
  std::vector<uint32_t> node_calls_;
  std::vector<uint32_t> listed_;
  std::vector<KernelPlace> kernels_;
  std::vector<uint8_t> tensor_core_names_;  // By StringId: 0 not computed, 1 no, 2 yes.
  int64_t kernel_ns_ = 0;
  int64_t eligible_kernel_ns_ = 0;
};

int64_t LengthNs(const TorchEvent& event);

/// What the plugin's advice on Tensor Cores is based on.
struct TbTensorCoreTime {
  Sum kernel_ns;       ///< Of all kernels.
  Sum tensor_core_ns;  ///< Of kernels that use Tensor Cores.
  Sum op_kernel_ns;    ///< Of kernels launched by operators.
  Sum eligible_ns;     ///< Of kernels launched by innermost eligible operators.

  /// tc_used_ratio; 0 without kernels.
  double used_ratio() const { return Ratio(tensor_core_ns, kernel_ns).value_or(0); }
  /// tc_eligible_ops_kernel_ratio; 0 if operators launched none.
  double eligible_ratio() const { return Ratio(eligible_ns, op_kernel_ns).value_or(0); }
};

/// `trace` holds kTbTreeNeeds; `tree` is its tree.
TbTensorCoreTime TbTensorCoreTimeOf(const Trace& trace, const TbTree& tree);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_TB_TREE_H_
