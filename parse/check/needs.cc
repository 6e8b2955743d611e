#include "parse/check/needs.h"

#include <iterator>

namespace oplens::parse {
namespace {

constexpr std::string_view kNoArguments = "no op with its arguments";

constexpr bool kAtMost = true;

bool HasArguments(const KernelFacts& kernel) { return kernel.arguments; }

bool HasGpu(const KernelFacts& kernel) {
  return kernel.record.gpu.has_value() || kernel.record.device_name.has_value();
}

bool HasOccupancy(const KernelFacts& kernel) {
  const KernelRecord& record = kernel.record;
  const bool shared = record.shared_memory_bytes ||
                      (record.static_shared_memory_bytes && record.dynamic_shared_memory_bytes);
  return HasGpu(kernel) && record.registers_per_thread && shared;
}

bool HasDirection(const KernelFacts& kernel) {
  const KernelRecord& record = kernel.record;
  return record.direction == Direction::kBackward || !record.markers.empty() ||
         !record.seq_markers.empty();
}

bool HasSequence(const KernelFacts& kernel) { return !kernel.record.seq_ids.empty(); }
bool HasAlternative(const KernelFacts& kernel) { return !kernel.record.alt_seq_ids.empty(); }

constexpr NeedCheck kNeedChecks[] = {
    {Need::kNothing, [](const KernelFacts&) { return true; }, "", std::nullopt},
    {Need::kName, [](const KernelFacts& kernel) { return !kernel.record.short_name.empty(); },
     "no name of the kernel", Lack::kKernelNames},
    {Need::kTensorCoreName,
     [](const KernelFacts& kernel) {
       return !kernel.record.reasons.Has(Reason::kUnknownKernelName) || kernel.arguments;
     },
     "no name of the kernel", Lack::kKernelNames, kAtMost},
    {Need::kTime, [](const KernelFacts& kernel) { return kernel.record.timed(); },
     "no time of the kernel", Lack::kKernelTimes},
    {Need::kLaunchConfiguration,
     [](const KernelFacts& kernel) { return kernel.record.grid.known(); },
     "no launch configuration", Lack::kLaunchConfigurations},
    {Need::kLaunch, [](const KernelFacts& kernel) { return kernel.record.launch_api.has_value(); },
     "no call that launched it", Lack::kLaunches},
    {Need::kLaunchedAndTimed,
     [](const KernelFacts& kernel) {
       return kernel.record.timed() && kernel.record.launch_end_ns.has_value();
     },
     "no call that launched it, or no time", Lack::kLaunches},
    {Need::kCorrelation,
     [](const KernelFacts& kernel) { return kernel.record.correlation_id.has_value(); },
     "no number that it shares with its launch", Lack::kLaunches},
    {Need::kProcess, [](const KernelFacts& kernel) { return kernel.record.process_id.has_value(); },
     "no call that launched it", Lack::kLaunches},
    {Need::kRank, [](const KernelFacts& kernel) { return kernel.record.rank.has_value(); },
     "the file does not say its rank", Lack::kRank},
    {Need::kOp, [](const KernelFacts& kernel) { return kernel.op; }, "no op around the launch",
     Lack::kOps, kAtMost},
    {Need::kModule, nullptr, "", std::nullopt},
    {Need::kMarker, [](const KernelFacts& kernel) { return kernel.annotation; },
     "no annotated call around the launch", Lack::kTypedOps, kAtMost},
    {Need::kCost, HasArguments, kNoArguments, Lack::kArguments, kAtMost},
    {Need::kCostShare, HasArguments, kNoArguments, Lack::kArguments, kAtMost},
    {Need::kCostKinds, HasArguments, kNoArguments, Lack::kArguments, kAtMost},
    {Need::kRate, HasArguments, kNoArguments, Lack::kArguments, kAtMost},
    {Need::kShapes, HasArguments, kNoArguments, Lack::kArguments, kAtMost},
    {Need::kRoofline, [](const KernelFacts& kernel) { return kernel.arguments && HasGpu(kernel); },
     "no op with its arguments, or no GPU", Lack::kRoof, kAtMost},
    {Need::kOccupancy, HasOccupancy, "no GPU, registers or shared memory", Lack::kGpu, kAtMost},
    {Need::kDirection, HasDirection, "nothing says forward or backward", Lack::kOps},
    {Need::kSequence, HasSequence, "no sequence number around the launch", Lack::kGradients},
    {Need::kAlternative, HasAlternative, "no second sequence number", std::nullopt},
    {Need::kSubSequence,
     [](const KernelFacts& kernel) { return HasSequence(kernel) || HasAlternative(kernel); },
     "no sequence number around the launch", Lack::kGradients},
    {Need::kPhase, [](const KernelFacts& kernel) { return kernel.record.phase != Phase::kUnknown; },
     "nothing says what the step was doing", Lack::kOps},
    {Need::kStep, [](const KernelFacts& kernel) { return kernel.record.step.has_value(); },
     "no numbered step around the launch", Lack::kSteps},
    {Need::kGradient,
     [](const KernelFacts& kernel) { return kernel.record.direction == Direction::kBackward; },
     "no kernel of the backward pass", std::nullopt, kAtMost},
    {Need::kLayer, [](const KernelFacts& kernel) { return kernel.layer; },
     "no layer around the launch", Lack::kLayers, kAtMost},
    {Need::kStack, [](const KernelFacts& kernel) { return kernel.stack; }, "no call stack",
     Lack::kStacks, kAtMost},
    {Need::kRange, [](const KernelFacts& kernel) { return !kernel.record.range.empty(); },
     "no range of your own around the launch", Lack::kRanges},
};

constexpr bool InOrder() {
  for (size_t i = 0; i < std::size(kNeedChecks); ++i) {
    if (static_cast<size_t>(kNeedChecks[i].need) != i) return false;
  }
  return std::size(kNeedChecks) == kNeedCount;
}
static_assert(InOrder(), "one entry a need, in the order of the enumeration");

}  // namespace

std::span<const NeedCheck> NeedChecks() { return kNeedChecks; }

}  // namespace oplens::parse
