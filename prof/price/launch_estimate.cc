#include "prof/price/launch_estimate.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "ops/kernels/launch_chain.h"
#include "parse/model/kernel_record.h"
#include "prof/price/figures.h"
#include "prof/price/kernel_facts.h"

namespace oplens::prof {
namespace {

constexpr size_t kMostLaunches = 4096;

std::optional<ops::KernelShare::Range> RangeOf(const std::optional<ops::Bounds>& bounds) {
  if (!bounds) return std::nullopt;
  return ops::KernelShare::Range{bounds->low, bounds->high};
}

void TakeFlops(const ops::LaunchSizes& sizes, ops::KernelShare* share) {
  if (!sizes.flops) return;
  if (!sizes.flops_estimate) {
    share->flops_bound = sizes.flops->high;
    share->flops_kind = ops::FlopsKind::kBound;
    return;
  }
  share->flops = sizes.flops_estimate;
  share->flops_mma = sizes.is_mma ? *sizes.flops_estimate : 0;
  share->flops_vec = sizes.is_mma ? 0 : *sizes.flops_estimate;
  share->flops_kind = sizes.flops->high == 0 ? ops::FlopsKind::kNone : ops::FlopsKind::kEstimate;
  share->flops_range = RangeOf(sizes.flops);
}

/// Whether the least work is more than the GPU can do in the kernel's time: then the sizes are not
/// the kernel's.
bool Exceeds(const PricedKernel& row, const std::optional<ops::Bounds>& work, double peak_per_s) {
  const std::optional<int64_t> time_ns = TimeOf(row);
  return work && time_ns && peak_per_s > 0 &&
         static_cast<double>(work->low) > peak_per_s * static_cast<double>(*time_ns) * 1e-9;
}

bool ExceedsPeaks(const PricedKernel& row, const ops::LaunchSizes& sizes) {
  if (row.gpu == nullptr) return false;
  const auto& peaks = row.gpu->peaks_per_s;
  return Exceeds(row, sizes.flops, *std::max_element(peaks.begin(), peaks.end()));
}

}  // namespace

size_t LaunchEstimator::LaunchHash::operator()(const Launch& launch) const {
  size_t hash = MixHash(MixHash(0, launch.kernel_id), launch.elements.high);
  for (const Dim3* dim : {&launch.grid, &launch.block}) {
    hash = MixHash(MixHash(MixHash(hash, dim->x), dim->y), dim->z);
  }
  return hash;
}

const ops::LaunchSizes& LaunchEstimator::SizesOf(const PricedKernel& row, const Launch& launch) {
  const auto [place, is_new] = sizes_.try_emplace(launch);
  if (!is_new) return place->second;
  const ops::LaunchRule& rule = row.facts->launch_rule();
  place->second = launch.elements.high > 0
                      ? ops::SizesOfChained({&rule, launch.grid, launch.block, 0}, launch.elements)
                      : ops::SizesOfLaunch(rule, launch.grid, launch.block);
  return place->second;
}

void LaunchEstimator::Estimate(PricedKernel* row) {
  if (row->replay || row->price != nullptr || row->share.flops || row->share.flops_bound ||
      row->facts == nullptr || row->facts->name.empty()) {
    return;
  }
  if (sizes_.size() >= kMostLaunches) epochs_.Retire(std::exchange(sizes_, {}));
  Launch launch{row->facts->id, row->record->grid, row->record->block, {}};
  const ops::LaunchSizes* sizes = &SizesOf(*row, launch);
  if ((!sizes->flops || !sizes->bytes) && row->facts->launch_rule().may_be_chained()) {
    if (const std::optional<ops::Bounds> elements = ElementsBeside(*row)) {
      launch.elements = *elements;
      sizes = &SizesOf(*row, launch);
    }
  }
  if (!sizes->flops && !sizes->bytes_estimate && sizes->params.empty()) return;
  if (ExceedsPeaks(*row, *sizes)) return;
  row->sizes_by_launch = true;
  if (row->params.empty()) row->params = sizes->params;
  TakeFlops(*sizes, &row->share);
  if (row->share.bytes || !sizes->bytes_estimate) return;
  // Operands may be expanded: then the most, which is the estimate, says nothing.
  const ops::Bounds estimate{*sizes->bytes_estimate, *sizes->bytes_estimate};
  const double dram = row->gpu == nullptr ? 0 : static_cast<double>(row->gpu->dram_bytes_per_s);
  if (Exceeds(*row, sizes->bytes, dram)) return;
  if (sizes->bytes->low < sizes->bytes->high && Exceeds(*row, estimate, dram)) return;
  row->share.bytes = sizes->bytes_estimate;
  row->share.bytes_range = RangeOf(sizes->bytes);
}

}  // namespace oplens::prof
