#include "ops/kernels/launch_rows.h"

#include <algorithm>
#include <iterator>

#include "base/checked.h"

namespace oplens::ops {
namespace {

// FLOPs of an element, as in docs/costs.md.
constexpr ElementWork kBatchNorm{{8, 8}, 8};
constexpr ElementWork kBatchNormGradient{{11, 11}, 11};
constexpr ElementWork kLayerNorm{{6, 8}, 8};  // 6 without weights.
constexpr ElementWork kOneEach{{1, 1}, 1};
constexpr ElementWork kMean{{1, 2}, 1};  // And a division for each result.

struct RowsRow {
  std::string_view word;  // In the name.
  std::string_view also;
  LaunchRule::Neighbour neighbour;
  const ElementWork& flops;
};

constexpr RowsRow kRowsRows[] = {
    {"bn_fw_tr_1C11_", "", LaunchRule::Neighbour::kNext, kBatchNorm},
    {"bn_bw_1C11_", "", LaunchRule::Neighbour::kGradient, kBatchNormGradient},
    {"vectorized_layer_norm_kernel<", "", LaunchRule::Neighbour::kRows, kLayerNorm},
    {"reduce_kernel<", "MeanOps<", LaunchRule::Neighbour::kLast, kMean},
    {"reduce_kernel<", "MaxOps<", LaunchRule::Neighbour::kLast, kOneEach},
    {"reduce_kernel<", "MinOps<", LaunchRule::Neighbour::kLast, kOneEach},
    {"reduce_kernel<", "func_wrapper_t<", LaunchRule::Neighbour::kLast, kOneEach},
};

}  // namespace

std::optional<LaunchRule> RowsRuleOf(std::string_view kernel_name) {
  const auto* row =
      std::find_if(std::begin(kRowsRows), std::end(kRowsRows), [&](const RowsRow& known) {
        return kernel_name.find(known.word) != std::string_view::npos &&
               kernel_name.find(known.also) != std::string_view::npos;
      });
  if (row == std::end(kRowsRows)) return std::nullopt;
  // The same kernel computes RMS norms.
  if (row->neighbour == LaunchRule::Neighbour::kRows &&
      kernel_name.find("true>") != std::string_view::npos) {
    return std::nullopt;
  }
  LaunchRule rule;
  rule.neighbour = row->neighbour;
  rule.flops = row->flops;
  return rule;
}

LaunchSizes RowsSizes(const LaunchRule& rule, const Bounds& elements) {
  LaunchSizes sizes;
  if (!rule.flops || elements.low < 1 || elements.high < elements.low) return sizes;
  const std::optional<int64_t> low = (Checked(elements.low) * rule.flops->bounds.low).Value();
  const std::optional<int64_t> high = (Checked(elements.high) * rule.flops->bounds.high).Value();
  if (!low || !high) return sizes;
  sizes.kind = LaunchSizes::Kind::kElements;
  sizes.elements = elements;
  sizes.params = "n=" + BoundsText(elements);
  sizes.flops = Bounds{*low, *high};
  if (rule.flops->estimate && elements.high / kWidestEstimate <= elements.low) {
    const int64_t middle = elements.low + (elements.high - elements.low) / 2;
    sizes.flops_estimate = (Checked(middle) * *rule.flops->estimate).Value();
  }
  return sizes;
}

}  // namespace oplens::ops
