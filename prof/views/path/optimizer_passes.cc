#include "prof/views/path/optimizer_passes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/saturating.h"
#include "ops/op_name.h"

namespace oplens::prof {

using advice::Topic;

bool OptimizerPasses::Add(const PricedKernel& kernel, int64_t time_ns) {
  const bool known = kernel.instance != 0 && kernel.gpu != nullptr &&
                     kernel.gpu->dram_bytes_per_s > 0 && kernel.share.bytes.has_value();
  if (!known || !ops::ParseOpName(kernel.op).list) return false;
  const bool begins = kernel.instance != instance_;
  if (begins) bytes_ = 0;
  instance_ = kernel.instance;
  SaturatingAdd(&bytes_, *kernel.share.bytes);
  most_bytes_ = std::max(most_bytes_, bytes_);
  bytes_per_s_ = static_cast<double>(kernel.gpu->dram_bytes_per_s);
  passes_.Add(kernel.op, {begins ? 1 : 0, time_ns, 0});
  kernels_.push_back({kernel.work, time_ns});
  return true;
}

/// One pass reads and writes at least one list of tensors: half of what a call on three lists
/// moves, two of which may be temporary.
void OptimizerPasses::End(advice::RankFacts* facts, AdviceClaims* claims) const {
  if (kernels_.empty()) return;
  const auto steps = static_cast<double>(std::max<size_t>(facts->steps.size(), 1));
  const double least_ns = steps * static_cast<double>(most_bytes_) / 2 / bytes_per_s_ * 1e9;
  const auto all_ns = static_cast<double>(passes_.all.time_ns);
  const double part = least_ns < all_ns ? 1 - least_ns / all_ns : 0;
  const auto gain_of = [&](int64_t time_ns) {
    return std::llround(part * static_cast<double>(time_ns));
  };
  for (const auto& [op, sums] : passes_.places) {
    facts->At(Topic::kForeach).Add(op, {sums.count, sums.time_ns, gain_of(sums.time_ns)});
  }
  for (const Pass& pass : kernels_) {
    claims->TakeKernel(pass.kernel, Topic::kForeach, gain_of(pass.time_ns));
  }
}

}  // namespace oplens::prof
