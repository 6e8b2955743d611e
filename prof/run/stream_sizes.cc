#include "prof/run/stream_sizes.h"

#include <deque>

#include "ops/kernels/launch_chain.h"
#include "parse/join/joined.h"
#include "parse/join/surroundings.h"
#include "parse/model/kernel_names.h"
#include "parse/model/trace.h"
#include "prof/run/streams.h"

namespace oplens::prof {
namespace {

constexpr uint32_t kFirstKernels = 4096;

Dim3 DimOf(const int32_t (&extent)[3]) { return {extent[0], extent[1], extent[2]}; }

}  // namespace

StreamSizes::StreamSizes(const parse::KernelRecords& profile, NameReader* names) {
  const Trace& trace = profile.joined().trace();
  std::deque<ops::LaunchRule> rules;  // Their addresses stay.
  std::vector<const ops::LaunchRule*> rule_of(trace.strings.size());
  for (const std::vector<uint32_t>& stream : KernelsOfStreams(trace)) {
    const auto kernel_of = [&](size_t place) -> ops::StreamKernel {
      const Kernel& kernel = trace.kernels[stream[place]];
      const ops::LaunchRule*& rule = rule_of[kernel.name];
      if (rule == nullptr) {
        rule = &rules.emplace_back(names->LaunchOf(profile.names().Of(kernel).full));
      }
      const KernelShape& shape = trace.ShapeOf(kernel);
      return {rule, DimOf(shape.grid), DimOf(shape.block), kernel.end_ns - kernel.start_ns};
    };
    for (const ops::ChainedKernel& chained : ops::ChainedKernelsOf(stream.size(), kernel_of)) {
      const auto place = static_cast<uint32_t>(elements_.size());
      if (places_.FindOrInsert(stream[chained.kernel], place) != place) continue;
      elements_.push_back(chained.elements);
    }
  }
}

bool StreamSizes::AreSoonAsked(const parse::KernelRecords& profile, NameReader* names) {
  const parse::Joined& joined = profile.joined();
  const std::vector<Kernel>& kernels = joined.trace().kernels;
  if (kernels.size() < kFirstKernels) return false;
  const auto asks = [&](uint32_t index) {
    const parse::Surroundings* around = joined.SurroundingsOf(index);
    if (around != nullptr && !joined.RangesOf(*around, parse::Around::kOps).empty()) return false;
    return names->LaunchOf(profile.names().Of(kernels[index]).full).may_be_chained();
  };
  for (uint32_t index = 0; index < kFirstKernels; ++index) {
    if (asks(index)) return true;
  }
  return false;
}

std::optional<ops::Bounds> StreamSizes::ElementsOf(uint32_t kernel) const {
  const uint32_t place = places_.Find(kernel);
  return place == IdMap::kNone ? std::nullopt : std::optional(elements_[place]);
}

}  // namespace oplens::prof
