#include "prof/run/stream_sizes.h"

#include "ops/kernels/launch_chain.h"
#include "parse/model/kernel_names.h"
#include "parse/model/trace.h"
#include "prof/run/streams.h"

namespace oplens::prof {
namespace {

Dim3 DimOf(const int32_t (&extent)[3]) { return {extent[0], extent[1], extent[2]}; }

ops::StreamKernel StreamKernelOf(const Kernel& kernel, const ops::LaunchRule* rule) {
  return {rule, DimOf(kernel.grid), DimOf(kernel.block), kernel.end_ns - kernel.start_ns};
}

}  // namespace

StreamSizes::StreamSizes(const parse::KernelRecords& profile) : trace_(profile.joined().trace()) {
  std::vector<ops::StreamKernel> kernels;
  for (const std::vector<uint32_t>& stream : KernelsOfStreams(trace_)) {
    kernels.clear();
    for (const uint32_t index : stream) {
      const Kernel& kernel = trace_.kernels[index];
      const auto [rule, is_new] = rules_.try_emplace(kernel.name);
      if (is_new) rule->second = ops::LaunchRuleOf(profile.names().Of(kernel).full);
      kernels.push_back(StreamKernelOf(kernel, &rule->second));
    }
    for (const ops::ChainedKernel& chained : ops::ChainedKernelsOf(kernels)) {
      found_.emplace(stream[chained.kernel], Found{kernels[chained.kernel].rule, chained.elements});
    }
  }
}

std::optional<ops::LaunchSizes> StreamSizes::Of(uint32_t kernel) const {
  const auto found = found_.find(kernel);
  if (found == found_.end()) return std::nullopt;
  return ops::SizesOfChained(StreamKernelOf(trace_.kernels[kernel], found->second.rule),
                             found->second.elements);
}

}  // namespace oplens::prof
