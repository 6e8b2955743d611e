#include "prof/views/calls/operator_run.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/hash.h"
#include "ops/kernels/kernel_name.h"
#include "parse/join/launch_sweep.h"
#include "parse/join/range_sweep.h"
#include "parse/model/kernel_record.h"
#include "prof/run/call_work.h"
#include "prof/run/class_times.h"
#include "prof/run/gradient_hooks.h"

namespace oplens::prof {
namespace {

using parse::CallTree;

constexpr uint32_t kNoOperatorSlot = UINT32_MAX;

/// Collectives inside calls, by thread and start of their launch.
std::vector<uint32_t> CollectivesInCalls(const Run& run) {
  const Trace& trace = run.trace();
  std::vector<uint32_t> found;
  for (uint32_t kernel = 0; kernel < trace.kernels.size(); ++kernel) {
    if (!run.work().IsCommunication(kernel)) continue;
    if (run.call_work().CallOfKernel(kernel) != CallWork::kNone) found.push_back(kernel);
  }
  std::stable_sort(found.begin(), found.end(), [&](uint32_t a, uint32_t b) {
    const auto key = [&](uint32_t kernel) {
      const LaunchCall& launch = trace.launches[OriginOf(trace.kernels[kernel])];
      return std::tuple(launch.thread, launch.start_ns);
    };
    return key(a) < key(b);
  });
  return found;
}

constexpr uint8_t FitnessBitOf(ops::TensorCoreFitness fitness) {
  return static_cast<uint8_t>(1u << static_cast<uint8_t>(fitness));
}

/// As in Figures, which are too expensive for kernels that are no products. `named_product`: the
/// kernel has a matrix product's name; used if the op has no price.
ops::TensorCoreFitness FitnessOf(const PricedKernel& kernel, ops::TensorCoreUse use,
                                 bool named_product) {
  const bool product =
      kernel.price == nullptr
          ? named_product || use == ops::TensorCoreUse::kYes
          : kernel.price->matmul_like && kernel.price->op_class == ops::OpClass::kCompute;
  if (!product) return ops::TensorCoreFitness::kNotAsked;
  return FiguresOf(kernel).tensor_core.fitness;
}

}  // namespace

std::string_view KernelTime::Eligible() const {
  using Fitness = ops::TensorCoreFitness;
  if ((fitness & FitnessBitOf(Fitness::kYes)) != 0) return "yes";
  return fitness == 0 || (fitness & FitnessBitOf(Fitness::kUnknown)) != 0 ? "" : "no";
}

void KernelPrices::Add(const PricedKernel& kernel) {
  const size_t kernels = run_.trace().kernels.size();
  if (kernel.work >= kernels) return;
  if (prices_.empty()) prices_.reserve(kernels);
  const ops::TensorCoreUse use = TensorCoreUseOf(kernel);
  prices_.push_back({.flops = kernel.share.flops.value_or(0),
                     .bytes = kernel.share.bytes.value_or(0),
                     .kernel = kernel.work,
                     .with_flops = kernel.share.flops.has_value(),
                     .with_bytes = kernel.share.bytes.has_value(),
                     .tensor_core = use == ops::TensorCoreUse::kYes,
                     .known = use != ops::TensorCoreUse::kUnknown && kernel.record->timed(),
                     .fitness = FitnessBitOf(FitnessOf(kernel, use, IsNamedProduct(kernel)))});
  if (HasInferredOp(kernel)) AddInferred(kernel);
}

void KernelPrices::AddInferred(const PricedKernel& kernel) {
  InferredOp op{};
  text_.assign(kernel.op).append(kInferredMark);
  op[0] = texts_.NumberOf(text_);
  op[TextPlaceOf(OperatorKey::kShape)] = texts_.NumberOf(kernel.shapes);
  text_.clear();
  for (const std::string_view layer : kernel.layer) {
    if (!text_.empty()) text_.push_back(':');
    text_ += layer;
  }
  op[TextPlaceOf(OperatorKey::kLayer)] = texts_.NumberOf(text_);
  op[TextPlaceOf(OperatorKey::kPhase)] = texts_.NumberOf(PhaseWord(kernel.record->phase));
  const auto next = static_cast<uint32_t>(inferred_ops_.size());
  const auto [place, is_new] = places_of_ops_.try_emplace(op, next);
  if (is_new) inferred_ops_.push_back(op);
  inferred_.push_back({kernel.work, place->second});
}

bool KernelPrices::IsNamedProduct(const PricedKernel& kernel) {
  uint8_t& known = product_names_[run_.trace().kernels[kernel.work].name];
  if (known == 0) {
    known = ops::KernelKindOf(kernel.record->long_name) == ops::KernelKind::kMatrix ? 2 : 1;
  }
  return known == 2;
}

OperatorRun::OperatorRun(const Run& run, const std::vector<OperatorKey>& by,
                         const KernelPrices& prices, CallPlaces* places, size_t most_slots)
    : run_(run),
      prices_(prices),
      by_step_(!run.selects_all() ||
               std::find(by.begin(), by.end(), OperatorKey::kStep) != by.end()),
      groups_(run, by, places),
      calls_(run.calls().all().size()),
      outermost_(OutermostCalls(run, groups_.all(), groups_.size())),
      kernel_slots_(run.trace().kernels.size(), kNoOperatorSlot),
      of_hooks_(kernel_slots_.size(), false),
      slot_of_group_(by_step_ ? 0 : groups_.size(), kNoOperatorSlot) {
  AddCalls(most_slots);
  if (cut_) return;
  FindKernelsOfHooks();
  FindInferredOps(by);
  AddEvents();
  AddPrices();
  SumTotals();
}

std::vector<std::string_view> OperatorRun::TextsOf(uint32_t group) const {
  std::vector<std::string_view> texts(groups_.text_count());
  if (group < groups_.size()) return groups_.TextsOf(group);
  if (group == kUnattributed || group == kOfHooks) return texts;
  const std::vector<uint32_t>& numbers = inferred_groups_[group - groups_.size()];
  for (size_t i = 0; i < texts.size(); ++i) texts[i] = prices_.TextOf(numbers[i]);
  return texts;
}

void OperatorRun::FindInferredOps(const std::vector<OperatorKey>& by) {
  if (prices_.inferred().empty()) return;
  std::map<std::vector<uint32_t>, uint32_t> groups;
  std::vector<uint32_t> group_of;
  for (const KernelPrices::InferredOp& op : prices_.inferred_ops()) {
    std::vector<uint32_t> texts = {op[0]};
    for (const OperatorKey key : by) {
      if (key != OperatorKey::kStep && key != OperatorKey::kRank) {
        texts.push_back(op[TextPlaceOf(key)]);
      }
    }
    const auto next = static_cast<uint32_t>(groups_.size() + inferred_groups_.size());
    const auto [place, is_new] = groups.try_emplace(texts, next);
    if (is_new) inferred_groups_.push_back(std::move(texts));
    group_of.push_back(place->second);
  }
  group_of_inferred_.assign(kernel_slots_.size(), kUnattributed);
  for (const KernelPrices::Inferred& one : prices_.inferred()) {
    group_of_inferred_[one.kernel] = group_of[one.op];
  }
}

uint32_t OperatorRun::SlotOf(uint32_t group, size_t step) {
  if (!by_step_) {
    step = Steps::kNone;
    if (group < slot_of_group_.size() && slot_of_group_[group] != kNoOperatorSlot) {
      return slot_of_group_[group];
    }
  }
  const auto next = static_cast<uint32_t>(slots_.size());
  const uint32_t step_number = step == Steps::kNone ? 0 : static_cast<uint32_t>(step) + 1;
  const uint32_t slot = slot_of_.FindOrInsert(PairKey(group, step_number), next);
  if (slot == next) {
    slots_.emplace_back();
    slots_.back().group = group;
    slots_.back().step = step;
  }
  if (group < slot_of_group_.size()) slot_of_group_[group] = slot;
  return slot;
}

void OperatorRun::AddCalls(size_t most_slots) {
  const std::span<const CallTree::Call> all = run_.calls().all();
  for (size_t i = 0; i < all.size(); ++i) {
    CallState& call = calls_[i];
    const int64_t start_ns = run_.trace().ranges[all[i].range].start_ns;
    call.slot = kNoOperatorSlot;
    if (!run_.SelectsHost(start_ns)) continue;
    call.slot = SlotOf(groups_.Of(i), run_.steps().OfHost(start_ns));
    if (slots_.size() > most_slots) {
      cut_ = true;
      slots_.clear();
      return;
    }
    OperatorSums& sums = slots_[call.slot].sums;
    ++sums.calls;
    sums.length_ns += all[i].total_ns;
    sums.host_self_ns += all[i].self_ns;
    if (outermost_[i]) sums.host_total_ns += all[i].total_ns;
    sums.lengths.Add(all[i].total_ns);
  }
}

// An operator called by hooks (c10d::allreduce_) begins inside the engine's range and keeps what it
// launches. Other launches of hooks would count for the node or the engine's call.
void OperatorRun::FindKernelsOfHooks() {
  const parse::Joined& joined = run_.joined();
  const std::vector<uint32_t> kernels = CollectivesInCalls(run_);
  parse::OpenRanges open;
  ThreadIndex thread = 0;
  size_t next = 0;
  size_t end = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const LaunchCall& launch = run_.trace().launches[OriginOf(run_.trace().kernels[kernels[i]])];
    if (i == 0 || launch.thread != thread) {
      thread = launch.thread;
      open.Clear();
      next = joined.threads().BeginOf(thread);
      end = joined.threads().EndOf(thread);
    }
    for (; next < end && run_.trace().ranges[next].start_ns <= launch.start_ns; ++next) {
      if (joined.leaks().Has(next)) continue;
      if (joined.contexts().ContextOf(next) == parse::StepContext::kNone) continue;
      open.Push(static_cast<uint32_t>(next), run_.trace().ranges[next].start_ns,
                run_.trace().ranges[next].end_ns, 0);
    }
    open.MoveTo(launch.start_ns, parse::ComparedEnd(launch, run_.trace().clock_resolution_ns));
    const uint32_t context = open.Innermost(0);
    const uint32_t call = run_.call_work().CallOfKernel(kernels[i]);
    of_hooks_[kernels[i]] =
        IsOfGradientHooks(joined, context) && run_.calls().all()[call].range <= context;
  }
}

OperatorRun::Launcher OperatorRun::LauncherOf(uint32_t call) const {
  return {call, call == CallWork::kNone ? kUnattributed : groups_.Of(call)};
}

OperatorRun::Launcher OperatorRun::LauncherOfKernel(uint32_t kernel) const {
  if (of_hooks_[kernel]) return {CallWork::kNone, kOfHooks};
  Launcher by = LauncherOf(run_.call_work().CallOfKernel(kernel));
  if (by.call == CallWork::kNone && !group_of_inferred_.empty()) {
    by.group = group_of_inferred_[kernel];
  }
  return by;
}

uint32_t OperatorRun::SlotOfWork(const DeviceEvent& event, const Launcher& by) {
  const bool captured = event.IsKernel() && run_.trace().kernels[event.index].capture != kNoLaunch;
  if (by.call != CallWork::kNone && !captured && calls_[by.call].slot != kNoOperatorSlot) {
    return calls_[by.call].slot;
  }
  return SlotOf(by.group, run_.steps().OfEvent(event));
}

void OperatorRun::AddToCall(const KernelTime& time, CallState* call) {
  if (call->time == kNoTime) {
    call->time = static_cast<uint32_t>(times_.size());
    times_.emplace_back();
  }
  MergeMembers(&times_[call->time], time);
}

void OperatorRun::AddTime(uint32_t call, uint32_t slot, const KernelTime& time) {
  MergeMembers(&slots_[slot].sums.self, time);
  if (call == CallWork::kNone) {
    MergeMembers(&slots_[slot].sums.total, time);
  } else if (calls_[call].slot == slot) {
    AddToCall(time, &calls_[call]);
  } else {
    const auto next = static_cast<uint32_t>(strays_.size());
    const uint32_t stray = stray_of_.FindOrInsert(PairKey(call, slot), next);
    if (stray == next) strays_.push_back({call, slot, {}});
    MergeMembers(&strays_[stray].time, time);
  }
}

void OperatorRun::AddEvents() {
  for (const DeviceEvent& event : run_.work().events()) {
    const Launcher by = event.IsKernel() ? LauncherOfKernel(event.index)
                                         : LauncherOf(run_.call_work().CallOf(event));
    const uint32_t slot = SlotOfWork(event, by);
    if (event.IsKernel()) kernel_slots_[event.index] = slot;
    KernelTime time;
    time.device_ns = event.duration_ns();
    AddTime(by.call, slot, time);
    ++slots_[slot].sums.launches;
    AddBusy(event, by.group, slot);
  }
}

// Events come in order of start, so each extends the union beyond the latest end so far.
void OperatorRun::AddBusy(const DeviceEvent& event, uint32_t group, uint32_t slot) {
  const auto next = static_cast<uint32_t>(busy_until_.size());
  const uint32_t place =
      busy_.FindOrInsert(PairKey(group, static_cast<uint32_t>(event.device_id)), next);
  if (place == next) busy_until_.push_back(event.start_ns);
  int64_t& until_ns = busy_until_[place];
  const int64_t from_ns = std::max(until_ns, event.start_ns);
  if (event.end_ns <= from_ns) return;
  slots_[slot].sums.device_busy_ns += event.end_ns - from_ns;
  until_ns = event.end_ns;
}

void OperatorRun::AddPrices() {
  for (const KernelPrices::Price& price : prices_.all()) {
    const Launcher by = LauncherOfKernel(price.kernel);
    uint32_t slot = kernel_slots_[price.kernel];
    if (slot == kNoOperatorSlot) {  // No usable time.
      if (by.call != CallWork::kNone) slot = calls_[by.call].slot;
      if (slot == kNoOperatorSlot) slot = SlotOf(by.group, Steps::kNone);
    }
    const Kernel& kernel = run_.trace().kernels[price.kernel];
    const int64_t known_ns = price.known ? LengthOf({kernel.start_ns, kernel.end_ns}) : 0;
    OperatorSums& sums = slots_[slot].sums;
    sums.with_flops += price.with_flops ? 1 : 0;
    sums.with_bytes += price.with_bytes ? 1 : 0;
    sums.flops += price.flops;
    sums.bytes += price.bytes;
    AddTime(by.call, slot,
            {.device_ns = 0,
             .tensor_core_ns = price.tensor_core ? known_ns : 0,
             .known_ns = known_ns,
             .fitness = {price.fitness}});
  }
}

void OperatorRun::SumTotals() {
  SumStrays();
  const CallTree& tree = run_.calls();
  for (ThreadIndex thread = 0; thread < run_.trace().threads.size(); ++thread) {
    const size_t first = tree.BeginOf(thread);
    const std::span<const CallTree::Call> calls = tree.Of(thread);
    for (size_t i = calls.size(); i-- > 0;) {
      const CallState& call = calls_[first + i];
      if (call.time == kNoTime) continue;
      const KernelTime& time = times_[call.time];
      if (outermost_[first + i] && call.slot != kNoOperatorSlot)
        MergeMembers(&slots_[call.slot].sums.total, time);
      if (calls[i].parent != CallTree::kNone) AddToCall(time, &calls_[first + calls[i].parent]);
    }
  }
  // Free memory: there may be several calls per kernel.
  std::vector<CallState>().swap(calls_);
  std::deque<KernelTime>().swap(times_);
  std::vector<uint32_t>().swap(kernel_slots_);
}

void OperatorRun::SumStrays() {
  const CallTree& tree = run_.calls();
  for (const Stray& stray : strays_) {
    const size_t step = slots_[stray.slot].step;
    const size_t first =
        tree.BeginOf(run_.trace().ThreadOf(run_.trace().ranges[tree.all()[stray.call].range]));
    for (size_t at = stray.call;;) {
      if (outermost_[at]) {
        MergeMembers(&slots_[SlotOf(groups_.Of(at), step)].sums.total, stray.time);
      }
      const uint32_t parent = tree.all()[at].parent;
      if (parent == CallTree::kNone) break;
      at = first + parent;
    }
  }
}

}  // namespace oplens::prof
