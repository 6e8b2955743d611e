#include "prof/compat/tb/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "ops/kernels/tensorboard_names.h"
#include "prof/compat/tb/steps.h"
#include "prof/run/run.h"

namespace oplens::prof {
namespace {

bool IsDataLoader(std::string_view name) {
  return (name.starts_with("enumerate(DataLoader)#") && name.ends_with(".__next__")) ||
         name.starts_with("enumerate(DataPipe)#");
}

using TbTreeKind = TorchEvent::Kind;

constexpr uint32_t kTbTreeNone = TbTree::kNone;

}  // namespace

void TbEventNotes::Begin(const Run* run) {
  any_ = true;
  has_events_ |= run != nullptr && !run->trace().torch_events.empty();
}

void TbEventNotes::Merge(const TbEventNotes& other) {
  any_ |= other.any_;
  has_events_ |= other.has_events_;
}

std::vector<std::string> TbEventNotes::Sentences(std::string_view rest) const {
  if (!any_ || has_events_) return {};
  return {fmt::format(
      "{}: --compat tb goes by numbers that only the JSON trace of PyTorch's profiler holds{}",
      view_, rest)};
}

bool IsTbNode(TorchEvent::Kind kind, std::string_view name) {
  if (kind == TorchEvent::Kind::kOperator || kind == TorchEvent::Kind::kModule) return true;
  return name.starts_with(kTbStep) || IsDataLoader(name) || name.starts_with("Optimizer.step") ||
         IsTensorBoardCollective(name);
}

std::string_view WordOf(TbKind kind) {
  constexpr std::string_view kWords[] = {"", "step", "module", "dataloader", "optimizer"};
  return kWords[static_cast<size_t>(kind)];
}

TbKind TbKindOf(TorchEvent::Kind kind, std::string_view name) {
  if (kind == TorchEvent::Kind::kModule) return TbKind::kModule;
  if (name.starts_with(kTbStep)) return TbKind::kStep;
  if (IsDataLoader(name)) return TbKind::kDataLoader;
  return name.starts_with("Optimizer.step") ? TbKind::kOptimizer : TbKind::kOther;
}

bool IsTbOperator(std::string_view name) {
  return !IsDataLoader(name) && !name.starts_with("Optimizer.") && name != "DataParallel.forward" &&
         name != "DistributedDataParallel.forward";
}

int64_t LengthNs(const TorchEvent& event) {
  constexpr double kNsPerMicrosecond = 1000;
  constexpr double kMost = 9.2e18;
  const double length = (event.end_us - event.start_us) * kNsPerMicrosecond;
  return std::llround(std::clamp(length, -kMost, kMost));
}

TbTree::TbTree(const Trace& trace)
    : trace_(trace), tensor_core_names_(trace.strings.size(), uint8_t{0}) {
  ReadEvents();
  LinkCalls();
  LinkZeroCalls();
  for (Thread& thread : threads_) {
    Build(&thread);
    MergeRepeats(thread.root);
    for (const uint32_t node : Upwards(thread.root)) Count(node);
  }
  std::vector<bool> holds_eligible(nodes_.size(), false);
  for (const Thread& thread : threads_) {
    List(thread.root);
    SumKernels(thread.root, &holds_eligible);
  }
}

void TbTree::ReadEvents() {
  const std::vector<TorchEvent>& events = trace_.torch_events;
  std::vector<uint32_t> by_start(events.size());
  std::iota(by_start.begin(), by_start.end(), 0u);
  std::stable_sort(by_start.begin(), by_start.end(),
                   [&](uint32_t a, uint32_t b) { return events[a].start_us < events[b].start_us; });
  place_.resize(events.size());
  std::vector<uint32_t> devices;
  for (uint32_t place = 0; place < by_start.size(); ++place) {
    const uint32_t event = by_start[place];
    place_[event] = place;
    if (events[event].kind == TbTreeKind::kDriverCall) continue;  // Not one of its calls.
    if (events[event].kind == TbTreeKind::kApiCall) {
      calls_.emplace_back().event = event;
    } else if (events[event].kind <= TbTreeKind::kModule) {
      AddNode(event);
    } else {
      devices.push_back(event);
    }
  }
  LinkDevices(devices);
}

void TbTree::AddNode(uint32_t index) {
  const TorchEvent& event = EventOf(index);
  const std::string_view name = trace_.strings.View(event.name);
  if (!IsTbNode(event.kind, name)) return;
  const auto next = static_cast<uint32_t>(threads_.size());
  const uint32_t place = thread_of_.FindOrInsert(event.thread_id, next);
  if (place == next) threads_.emplace_back().id = event.thread_id;
  Thread& thread = threads_[place];
  thread.nodes.push_back(static_cast<uint32_t>(nodes_.size()));
  Node& node = nodes_.emplace_back();
  node.event = index;
  const bool step = event.kind != TbTreeKind::kModule && name.starts_with(kTbStep);
  thread.has_step |= name.starts_with(kTbStep);
  node.is_operator = event.kind == TbTreeKind::kOperator && !step;
  node.listed = node.is_operator && IsTbOperator(name);
  node.eligible = ops::IsTensorBoardEligibleOp(name);
  node.length_ns = LengthNs(event);
}

// Work belongs to the latest call of its number that began before it, else to the first.
void TbTree::LinkDevices(const std::vector<uint32_t>& devices) {
  std::vector<uint32_t> by_id(calls_.size());
  std::iota(by_id.begin(), by_id.end(), 0u);
  const auto id_of = [&](uint32_t call) { return EventOf(calls_[call].event).correlation_id; };
  std::sort(by_id.begin(), by_id.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(id_of(a), a) < std::tuple(id_of(b), b);
  });
  std::vector<std::pair<uint32_t, uint32_t>> found;  // Call and device event.
  for (const uint32_t device : devices) {
    const int64_t id = EventOf(device).correlation_id;
    const auto first =
        std::lower_bound(by_id.begin(), by_id.end(), id,
                         [&](uint32_t call, int64_t to) { return id_of(call) < to; });
    if (first == by_id.end() || id_of(*first) != id) {
      found.emplace_back(kTbTreeNone, device);
      continue;
    }
    auto call = first;
    for (auto later = first + 1; later != by_id.end() && id_of(*later) == id &&
                                 place_[calls_[*later].event] < place_[device];
         ++later) {
      call = later;
    }
    found.emplace_back(*call, device);
  }
  GroupDevices(&found);
}

void TbTree::GroupDevices(std::vector<std::pair<uint32_t, uint32_t>>* found) {
  std::stable_sort(found->begin(), found->end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [call, event] : *found) {
    const auto place = static_cast<uint32_t>(devices_.size());
    if (call == kTbTreeNone) {
      // Copies and fills without a call are under no node.
      if (EventOf(event).kind != TbTreeKind::kKernel) continue;
    } else {
      if (calls_[call].end_device == 0) calls_[call].first_device = place;
      calls_[call].end_device = place + 1;
      first_stale_ = place + 1;
    }
    devices_.emplace_back().event = event;
  }
}

void TbTree::LinkCalls() {
  node_calls_.resize(calls_.size());
  std::iota(node_calls_.begin(), node_calls_.end(), 0u);
  const auto id_of = [&](uint32_t call) { return EventOf(calls_[call].event).external_id; };
  std::sort(node_calls_.begin(), node_calls_.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(id_of(a), a) < std::tuple(id_of(b), b);
  });
  IdMap begin_of;
  for (uint32_t i = 0; i < node_calls_.size(); ++i) begin_of.FindOrInsert(id_of(node_calls_[i]), i);
  // The first node of a number takes all of its calls.
  for (const Thread& thread : threads_) {
    for (const uint32_t index : thread.nodes) {
      Node& node = nodes_[index];
      const int64_t id = EventOf(node.event).external_id;
      const uint32_t begin = begin_of.Erase(id);
      if (begin == IdMap::kNone) continue;
      node.first_call = node.end_call = begin;
      while (node.end_call < node_calls_.size() && id_of(node_calls_[node.end_call]) == id) {
        ++node.end_call;
      }
    }
  }
}

void TbTree::LinkZeroCalls() {
  for (uint32_t call = 0; call < calls_.size(); ++call) {
    const TorchEvent& event = EventOf(calls_[call].event);
    if (event.external_id != 0 || event.text_thread) continue;
    const uint32_t thread = thread_of_.Find(event.thread_id);
    if (thread != IdMap::kNone) threads_[thread].zero_calls.push_back(call);
  }
}

void TbTree::Build(Thread* thread) {
  thread->root = static_cast<uint32_t>(nodes_.size());
  Node& root = nodes_.emplace_back();
  root.first_call = static_cast<uint32_t>(node_calls_.size());
  node_calls_.insert(node_calls_.end(), thread->zero_calls.begin(), thread->zero_calls.end());
  if (thread->has_step && first_stale_ < devices_.size()) {
    node_calls_.push_back(static_cast<uint32_t>(calls_.size()));
    calls_.push_back({kTbTreeNone, first_stale_, static_cast<uint32_t>(devices_.size()), 0, 0});
  }
  root.end_call = static_cast<uint32_t>(node_calls_.size());
  const auto start_of = [&](uint32_t node) { return EventOf(nodes_[node].event).start_us; };
  const auto end_of = [&](uint32_t node) {
    return nodes_[node].event == kTbTreeNone ? std::numeric_limits<double>::infinity()
                                             : EventOf(nodes_[node].event).end_us;
  };
  std::stable_sort(thread->nodes.begin(), thread->nodes.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(start_of(a), -end_of(a)) < std::tuple(start_of(b), -end_of(b));
  });
  std::vector<uint32_t> around = {thread->root};
  for (const uint32_t node : thread->nodes) {
    while (start_of(node) >= end_of(around.back())) around.pop_back();
    if (end_of(node) > end_of(around.back())) continue;
    Node& parent = nodes_[around.back()];
    (parent.last_child == kTbTreeNone ? parent.first_child : nodes_[parent.last_child].next) = node;
    parent.last_child = node;
    around.push_back(node);
  }
}

void TbTree::MergeRepeats(uint32_t root) {
  std::vector<uint32_t> waiting = {root};
  while (!waiting.empty()) {
    Node& node = nodes_[waiting.back()];
    waiting.pop_back();
    while (node.first_child != kTbTreeNone && node.first_child == node.last_child &&
           node.is_operator) {
      const Node& child = nodes_[node.first_child];
      if (!child.is_operator || EventOf(child.event).name != EventOf(node.event).name) break;
      node.first_child = child.first_child;
      node.last_child = child.last_child;
      node.first_call = child.first_call;
      node.end_call = child.end_call;
    }
    for (uint32_t child = node.first_child; child != kTbTreeNone; child = nodes_[child].next) {
      waiting.push_back(child);
    }
  }
}

std::vector<uint32_t> TbTree::Upwards(uint32_t root) const {
  std::vector<uint32_t> order;
  std::vector<uint32_t> waiting = {root};
  while (!waiting.empty()) {
    order.push_back(waiting.back());
    waiting.pop_back();
    for (uint32_t child = nodes_[order.back()].first_child; child != kTbTreeNone;
         child = nodes_[child].next) {
      waiting.push_back(child);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

void TbTree::Count(uint32_t index) {
  Node& node = nodes_[index];
  for (const uint32_t call : CallsOf(node)) CountCall(index, &calls_[call]);
  node.host_self_ns = node.length_ns;
  for (uint32_t i = node.first_child; i != kTbTreeNone; i = nodes_[i].next) {
    const Node& child = nodes_[i];
    node.host_self_ns -= child.length_ns;
    node.device_total_ns += child.device_total_ns;
    node.tensor_core_total_ns += child.tensor_core_total_ns;
    node.eligible |= node.is_operator && child.eligible;
  }
  for (const uint32_t i : CallsOf(node)) {
    const Call& call = calls_[i];
    if (call.event != kTbTreeNone) node.host_self_ns -= LengthNs(EventOf(call.event));
    node.device_self_ns += call.device_ns;
    node.device_total_ns += call.device_ns;
    node.tensor_core_self_ns += call.tensor_core_ns;
    node.tensor_core_total_ns += call.tensor_core_ns;
    node.eligible |= node.is_operator && call.tensor_core_ns > 0;
  }
}

void TbTree::CountCall(uint32_t node, Call* call) {
  for (uint32_t i = call->first_device; i < call->end_device; ++i) {
    const TorchEvent& event = EventOf(devices_[i].event);
    devices_[i].node = node;
    // As its name says: what its children and calls tell comes later.
    devices_[i].node_eligible = nodes_[node].eligible;
    call->device_ns += LengthNs(event);
    if (UsesTensorCores(event.name)) call->tensor_core_ns += LengthNs(event);
  }
}

bool TbTree::UsesTensorCores(StringId name) {
  uint8_t& known = tensor_core_names_[name];
  if (known == 0) {
    known = ops::IsTensorBoardTensorCoreKernel(trace_.strings.View(name)) ? 2 : 1;
  }
  return known == 2;
}

void TbTree::List(uint32_t root) {
  for (const uint32_t index : Upwards(root)) {
    const Node& node = nodes_[index];
    if (node.listed) listed_.push_back(index);
    for (const uint32_t call : CallsOf(node)) {
      for (uint32_t i = calls_[call].first_device; i < calls_[call].end_device; ++i) {
        const Device& device = devices_[i];
        if (EventOf(device.event).kind != TbTreeKind::kKernel) continue;
        const uint32_t of = nodes_[device.node].event;
        kernels_.push_back({device.event, of == kTbTreeNone ? 0 : EventOf(of).name,
                            device.node_eligible, node.listed});
      }
    }
  }
}

int64_t TbTree::KernelTimeOf(const Node& node) const {
  int64_t sum_ns = 0;
  for (const uint32_t call : CallsOf(node)) {
    for (uint32_t i = calls_[call].first_device; i < calls_[call].end_device; ++i) {
      const TorchEvent& event = EventOf(devices_[i].event);
      if (event.kind == TbTreeKind::kKernel) sum_ns += LengthNs(event);
    }
  }
  return sum_ns;
}

void TbTree::SumKernels(uint32_t root, std::vector<bool>* holds_eligible) {
  for (const uint32_t index : Upwards(root)) {
    const Node& node = nodes_[index];
    bool below = false;
    for (uint32_t child = node.first_child; child != kTbTreeNone; child = nodes_[child].next) {
      below = below || (*holds_eligible)[child];
    }
    (*holds_eligible)[index] = below || node.eligible;
    if (node.eligible && !below) eligible_kernel_ns_ += KernelTimeOf(node);
    if (node.listed) kernel_ns_ += KernelTimeOf(node);
  }
}

TbTensorCoreTime TbTensorCoreTimeOf(const Trace& trace, const TbTree& tree) {
  TbTensorCoreTime time;
  time.op_kernel_ns = tree.kernel_ns();
  time.eligible_ns = tree.eligible_kernel_ns();
  std::unordered_map<StringId, int64_t> by_name;
  for (const Kernel& kernel : trace.kernels) {
    if (kernel.timed()) by_name[kernel.name] += kernel.end_ns - kernel.start_ns;
  }
  for (const auto& [name, sum_ns] : by_name) {
    time.kernel_ns += sum_ns;
    const bool used = ops::IsTensorBoardTensorCoreKernel(trace.strings.View(name));
    if (used) time.tensor_core_ns += sum_ns;
  }
  return time;
}

}  // namespace oplens::prof
