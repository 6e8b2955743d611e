#include "parse/check/needs.h"

#include <iterator>

namespace oplens::parse {
namespace {

constexpr std::string_view kNoArguments = "no op with its arguments";

bool HasArguments(const KernelFacts& kernel) { return kernel.arguments; }

bool HasGpu(const KernelFacts& kernel) {
  return kernel.record.gpu.has_value() || kernel.record.device_name.has_value();
}

constexpr NeedCheck kNeedChecks[] = {
    {Need::kNothing, [](const KernelFacts&) { return true; }, "", std::nullopt},
    {Need::kName,
     [](const KernelFacts& kernel) {
       return !kernel.record.reasons.Has(Reason::kUnknownKernelName) &&
              kernel.record.long_name != "<unknown>";
     },
     "no name of the kernel", Lack::kKernelNames},
    {Need::kTime, [](const KernelFacts& kernel) { return kernel.record.timed(); },
     "no time of the kernel", Lack::kKernelTimes},
    {Need::kLaunchConfiguration, [](const KernelFacts& kernel) { return kernel.record.grid.x > 0; },
     "no launch configuration", Lack::kLaunchConfigurations},
    {Need::kLaunch, [](const KernelFacts& kernel) { return kernel.record.launch_api.has_value(); },
     "no call that launched it", Lack::kLaunches},
    {Need::kRank, [](const KernelFacts& kernel) { return kernel.record.rank.has_value(); },
     "the file does not say its rank", Lack::kRank},
    {Need::kOp, [](const KernelFacts& kernel) { return !kernel.record.op.empty(); },
     "no op around the launch", Lack::kOps},
    {Need::kModule, nullptr, "", std::nullopt},
    {Need::kMarker, [](const KernelFacts& kernel) { return !kernel.record.markers.empty(); },
     "no annotated call around the launch", Lack::kTypedOps},
    {Need::kCost, HasArguments, kNoArguments, Lack::kArguments},
    {Need::kCostShare, HasArguments, kNoArguments, Lack::kArguments},
    {Need::kCostKinds, HasArguments, kNoArguments, Lack::kArguments},
    {Need::kRate, HasArguments, kNoArguments, Lack::kArguments},
    {Need::kRoofline, [](const KernelFacts& kernel) { return kernel.arguments && HasGpu(kernel); },
     "no op with its arguments, or no GPU", Lack::kRoof},
    {Need::kOccupancy,
     [](const KernelFacts& kernel) {
       const KernelRecord& record = kernel.record;
       const bool shared = record.shared_memory_bytes || (record.static_shared_memory_bytes &&
                                                          record.dynamic_shared_memory_bytes);
       return HasGpu(kernel) && record.registers_per_thread && shared;
     },
     "no GPU, registers or shared memory", Lack::kGpu},
    {Need::kDirection,
     [](const KernelFacts& kernel) {
       const KernelRecord& record = kernel.record;
       return record.direction == Direction::kBackward || !record.markers.empty() ||
              !record.seq_markers.empty();
     },
     "nothing says forward or backward", Lack::kOps},
    {Need::kSequence,
     [](const KernelFacts& kernel) {
       return !kernel.record.seq_ids.empty() || !kernel.record.alt_seq_ids.empty();
     },
     "no sequence number around the launch", Lack::kGradients},
    {Need::kPhase, [](const KernelFacts& kernel) { return kernel.record.phase != Phase::kUnknown; },
     "nothing says what the step was doing", Lack::kOps},
    {Need::kLayer, [](const KernelFacts& kernel) { return !kernel.record.layer.empty(); },
     "no layer around the launch", Lack::kLayers},
    {Need::kStack, [](const KernelFacts& kernel) { return !kernel.record.trace.empty(); },
     "no call stack", Lack::kStacks},
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
