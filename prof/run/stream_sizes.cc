#include "prof/run/stream_sizes.h"

#include <unordered_map>

#include "ops/kernels/launch_chain.h"
#include "parse/model/kernel_names.h"
#include "parse/model/trace.h"
#include "prof/run/streams.h"

namespace oplens::prof {
namespace {

Dim3 DimOf(const int32_t (&extent)[3]) { return {extent[0], extent[1], extent[2]}; }

}  // namespace

StreamSizes::StreamSizes(const parse::KernelRecords& profile, NameReader* names) {
  const Trace& trace = profile.joined().trace();
  std::unordered_map<uint32_t, ops::LaunchRule> rules;  // By StringId; addresses stay.
  std::vector<ops::StreamKernel> kernels;
  for (const std::vector<uint32_t>& stream : KernelsOfStreams(trace)) {
    kernels.clear();
    kernels.reserve(stream.size());
    for (const uint32_t index : stream) {
      const Kernel& kernel = trace.kernels[index];
      const auto [rule, is_new] = rules.try_emplace(kernel.name);
      if (is_new) rule->second = names->LaunchOf(profile.names().Of(kernel).full);
      const KernelShape& shape = trace.ShapeOf(kernel);
      kernels.push_back(
          {&rule->second, DimOf(shape.grid), DimOf(shape.block), kernel.end_ns - kernel.start_ns});
    }
    for (const ops::ChainedKernel& chained : ops::ChainedKernelsOf(kernels)) {
      const auto place = static_cast<uint32_t>(elements_.size());
      if (places_.FindOrInsert(stream[chained.kernel], place) != place) continue;
      elements_.push_back(chained.elements);
    }
  }
}

std::optional<ops::Bounds> StreamSizes::ElementsOf(uint32_t kernel) const {
  const uint32_t place = places_.Find(kernel);
  return place == IdMap::kNone ? std::nullopt : std::optional(elements_[place]);
}

}  // namespace oplens::prof
