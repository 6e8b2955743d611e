#include "prof/price/launch_estimate.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "ops/kernels/launch_sizes.h"
#include "prof/price/kernel_facts.h"

namespace oplens::prof {
namespace {

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

}  // namespace

void EstimateFromLaunch(
    WaitingRow* waiting,
    const std::function<std::optional<ops::LaunchSizes>(const PricedKernel& row)>& beside) {
  PricedKernel* const row = &waiting->row;
  if (row->replay || row->price != nullptr || row->share.flops || row->share.flops_bound ||
      row->facts == nullptr || row->facts->name.empty()) {
    return;
  }
  const ops::LaunchRule& rule = row->facts->launch_rule();
  ops::LaunchSizes sizes = ops::SizesOfLaunch(rule, row->record->grid, row->record->block);
  if (rule.kind != ops::LaunchSizes::Kind::kNone && (!sizes.flops || !sizes.bytes)) {
    if (std::optional<ops::LaunchSizes> more = beside(*row)) sizes = *std::move(more);
  }
  if (!sizes.flops && !sizes.bytes_estimate && sizes.params.empty()) return;
  row->sizes_by_launch = true;
  if (row->params.empty() && !sizes.params.empty()) {
    waiting->launch_params = std::move(sizes.params);
    row->params = waiting->launch_params;
  }
  TakeFlops(sizes, &row->share);
  if (!row->share.bytes && sizes.bytes_estimate) {
    row->share.bytes = sizes.bytes_estimate;
    row->share.bytes_range = RangeOf(sizes.bytes);
  }
}

}  // namespace oplens::prof
