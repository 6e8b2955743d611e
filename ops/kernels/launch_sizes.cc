#include "ops/kernels/launch_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/checked.h"
#include "ops/kernels/communication.h"
#include "ops/kernels/kernel_family.h"
#include "ops/kernels/kernel_name.h"
#include "ops/kernels/launch_elementwise.h"
#include "ops/kernels/launch_product.h"
#include "ops/kernels/launch_rows.h"
#include "ops/kernels/launch_tiles.h"

namespace oplens::ops {
namespace {

constexpr int64_t kMostThreads = 1024;
// Of PyTorch's elementwise kernels, from older versions to those for AMD.
constexpr std::array<int64_t, 4> kElementwiseBlocks = {64, 128, 256, 512};
constexpr int64_t kBlockOnAmd = 256;

bool IsLaunch(const Dim3& extent) { return extent.x > 0 && extent.y > 0 && extent.z > 0; }

std::optional<Bounds> Times(const Bounds& a, const Bounds& b) {
  const std::optional<int64_t> low = (Checked(a.low) * b.low).Value();
  const std::optional<int64_t> high = (Checked(a.high) * b.high).Value();
  if (!low || !high) return std::nullopt;
  return Bounds{*low, *high};
}

// The middle, or nothing where the bounds are too far apart.
std::optional<int64_t> MiddleOf(const Bounds& bounds) {
  if (bounds.low > bounds.high || (bounds.high / kWidestEstimate > bounds.low)) return std::nullopt;
  return bounds.low + (bounds.high - bounds.low) / 2;
}

void SetWorkOf(const std::optional<ElementWork>& work, const Bounds& elements,
               std::optional<Bounds>* bounds, std::optional<int64_t>* estimate) {
  if (!work) return;
  *bounds = Times(work->bounds, elements);
  const std::optional<int64_t> middle = MiddleOf(elements);
  if (!*bounds || !middle || !work->estimate) return;
  if (work->bounds.high / kWidestEstimate > work->bounds.low) return;
  *estimate = (Checked(*middle) * *work->estimate).Value();
}

LaunchSizes ElementsSizes(const LaunchRule& rule, const Dim3& grid, const Dim3& block) {
  LaunchSizes sizes;
  const std::optional<Bounds> elements = ElementsOfLaunch(rule, grid, block);
  if (!elements) return sizes;
  sizes.kind = LaunchSizes::Kind::kElements;
  sizes.elements = *elements;
  sizes.params = "n=" + BoundsText(*elements);
  if (!rule.dtype.empty()) sizes.params += "," + rule.dtype;
  SetWorkOf(rule.flops, *elements, &sizes.flops, &sizes.flops_estimate);
  SetWorkOf(rule.bytes, *elements, &sizes.bytes, &sizes.bytes_estimate);
  if (sizes.bytes) {
    const std::optional<int64_t> high =
        (Checked(sizes.bytes->high) + rule.most_bytes_beside).Value();
    if (high) sizes.bytes->high = *high;
  }
  return sizes;
}

// Whether a word in the name can be trusted, since the name follows a library's habits.
bool IsOfLibrary(std::string_view name) {
  constexpr std::string_view kLibraries[] = {"at::native::", "cudnn", "cublas"};
  const KernelKind kind = KernelKindOf(name);
  return kind == KernelKind::kLayout || kind == KernelKind::kCopy || kind == KernelKind::kFill ||
         std::any_of(std::begin(kLibraries), std::end(kLibraries), [&](std::string_view library) {
           return name.find(library) != std::string_view::npos;
         });
}

// Whether it only moves, fills or serves another kernel, so that no op charges it FLOPs
// (docs/costs.md, "Which kernel is charged").
bool DoesNoFlops(std::string_view name, const NamedFamily& family) {
  if (const std::optional<CommunicationKind> kind = CommunicationKindOf(name, family)) {
    // Kernels of older NCCL run any of its functions, whatever their name.
    if (name.find("ncclKernel_") != std::string_view::npos) return false;
    return *kind == CommunicationKind::kSendRecv || *kind == CommunicationKind::kAllGather ||
           *kind == CommunicationKind::kAllToAll || *kind == CommunicationKind::kBroadcast ||
           *kind == CommunicationKind::kBarrier;
  }
  if (family.family != family.tiled) return false;
  if (family.by_word && !IsOfLibrary(name)) return false;
  switch (family.family) {
    case KernelFamily::kLayout:
    case KernelFamily::kFill:
      return true;
    case KernelFamily::kGemm:
    case KernelFamily::kConv:
    case KernelFamily::kAttention: {
      const Role role = RoleOf(name);
      return role == Role::kHelper || role == Role::kLayout || role == Role::kReduce;
    }
    default:
      return false;
  }
}

}  // namespace

std::string BoundsText(const Bounds& bounds) {
  return bounds.exact() ? fmt::to_string(bounds.low)
                        : fmt::format("{}..{}", bounds.low, bounds.high);
}

LaunchRule LaunchRuleOf(std::string_view kernel_name) {
  return LaunchRuleOf(kernel_name, KernelFamilyOf(kernel_name));
}

LaunchRule LaunchRuleOf(std::string_view kernel_name, const NamedFamily& family) {
  kernel_name = kernel_name.substr(0, size_t{1} << 14);  // Nothing useful comes later.
  LaunchRule rule;
  if (std::optional<LaunchRule> elementwise = ElementwiseRuleOf(kernel_name)) rule = *elementwise;
  if (std::optional<LaunchRule> product = ProductRuleOf(kernel_name)) rule = *product;
  if (std::optional<LaunchRule> rows = RowsRuleOf(kernel_name)) rule = *rows;
  if (std::optional<LaunchRule> tiles = TilesRuleOf(kernel_name)) rule = *std::move(tiles);
  rule.does_no_flops = rule.does_no_flops || DoesNoFlops(kernel_name, family);
  return rule;
}

std::optional<Bounds> ElementsOfLaunch(const LaunchRule& rule, const Dim3& grid,
                                       const Dim3& block) {
  if (rule.kind != LaunchSizes::Kind::kElements || grid.x < 1 || block.x < 1) return std::nullopt;
  if (grid.y != 1 || grid.z != 1 || block.y != 1 || block.z != 1) return std::nullopt;
  const bool fits = rule.threads > 0
                        ? block.x == rule.threads
                        : std::find(kElementwiseBlocks.begin(), kElementwiseBlocks.end(),
                                    block.x) != kElementwiseBlocks.end();
  if (!fits) return std::nullopt;
  const Bounds& per_thread = block.x == kBlockOnAmd ? rule.per_thread_on_amd : rule.per_thread;
  const std::optional<int64_t> low = (Checked(grid.x - 1) * block.x * per_thread.low + 1).Value();
  const std::optional<int64_t> high = (Checked(grid.x) * block.x * per_thread.high).Value();
  if (!low || !high) return std::nullopt;
  return Bounds{*low, *high};
}

LaunchSizes SizesOfLaunch(const LaunchRule& rule, const Dim3& grid, const Dim3& block) {
  LaunchSizes sizes;
  const std::optional<int64_t> threads = (Checked(block.x) * block.y * block.z).Value();
  const bool is_launch = IsLaunch(grid) && IsLaunch(block) && threads && *threads <= kMostThreads;
  if (is_launch && rule.kind == LaunchSizes::Kind::kElements) {
    sizes = ElementsSizes(rule, grid, block);
  } else if (is_launch && rule.kind == LaunchSizes::Kind::kProduct) {
    sizes = ProductSizes(rule, grid);
    SetProductParams(rule, &sizes);
  } else if (is_launch && rule.kind == LaunchSizes::Kind::kTiles) {
    sizes = TilesSizes(rule, grid, block);
  }
  if (rule.does_no_flops) {
    sizes.flops = Bounds{0, 0};
    sizes.flops_estimate = 0;
  }
  return sizes;
}

LaunchSizes SizesOfLaunch(std::string_view kernel_name, const Dim3& grid, const Dim3& block) {
  return SizesOfLaunch(LaunchRuleOf(kernel_name), grid, block);
}

}  // namespace oplens::ops
