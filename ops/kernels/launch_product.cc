#include "ops/kernels/launch_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <string>

#include "base/checked.h"
#include "ops/dtype.h"
#include "ops/kernels/name_facts.h"

namespace oplens::ops {
namespace {

// Tiles along M that share an x in CUTLASS's launches, by how many there are.
constexpr int64_t kWidestSwizzle = 8;

bool HoldsWord(std::string_view name, std::string_view word) {
  return name.find(word) != std::string_view::npos;
}

int64_t BytesOfWord(std::string_view word) {
  const std::optional<DType> type = ParseDType(word);
  return type ? (BitsOf(*type) + 7) / 8 : 0;
}

LaunchRule::Tiling TilingOf(std::string_view name) {
  constexpr std::string_view kPlain[] = {"volta_", "ampere_", "turing_", "maxwell_"};
  const bool is_plain = std::any_of(std::begin(kPlain), std::end(kPlain),
                                    [&](std::string_view word) { return name.starts_with(word); });
  if (is_plain && HoldsWord(name, "gemm_") && !HoldsWord(name, "cgemm")) {
    return LaunchRule::Tiling::kPlain;
  }
  constexpr std::string_view kSwizzled[] = {"cutlass_70_", "cutlass_75_", "cutlass_80_"};
  const bool is_swizzled =
      std::any_of(std::begin(kSwizzled), std::end(kSwizzled),
                  [&](std::string_view word) { return HoldsWord(name, word); });
  // The convolutions of cuDNN lack the generation.
  return is_swizzled && HoldsWord(name, "gemm_") ? LaunchRule::Tiling::kSwizzled
                                                 : LaunchRule::Tiling::kNone;
}

std::optional<Bounds> Extent(int64_t first_tiles, int64_t last_tiles, int64_t tile) {
  const std::optional<int64_t> low = ((Checked(first_tiles) - 1) * tile + 1).Value();
  const std::optional<int64_t> high = (Checked(last_tiles) * tile).Value();
  if (!low || !high) return std::nullopt;
  return Bounds{*low, *high};
}

struct TileCounts {
  Bounds m, n;
};

// CUTLASS takes s = 1, 2, 4 or 8 tiles along M at a time: 8 if there are at least 6 of them, 4 from
// 3, 2 from 2. The grid is (N's tiles x s, ceil(M's tiles / s)).
TileCounts SwizzledTiles(const Dim3& grid) {
  struct Swizzle {
    int64_t tiles_at_once, first, last;
  };
  constexpr Swizzle kOneRow[] = {{1, 1, 1}, {2, 2, 2}, {4, 3, 4}, {8, 6, 8}};
  constexpr Swizzle kTwoRows[] = {{4, 5, 5}, {8, 9, 16}};
  const Swizzle more[] = {
      {kWidestSwizzle, (grid.y - 1) * kWidestSwizzle + 1, grid.y * kWidestSwizzle}};
  const auto tiles = [&](const Swizzle* begin, const Swizzle* end) {
    TileCounts counts;
    for (const Swizzle* row = begin; row != end; ++row) {
      if (grid.x % row->tiles_at_once != 0) continue;
      const int64_t n = grid.x / row->tiles_at_once;
      counts.m = {counts.m.low == 0 ? row->first : counts.m.low, row->last};
      counts.n = {n, std::max(counts.n.high, n)};
    }
    return counts;
  };
  if (grid.y == 1) return tiles(std::begin(kOneRow), std::end(kOneRow));
  if (grid.y == 2) return tiles(std::begin(kTwoRows), std::end(kTwoRows));
  return tiles(std::begin(more), std::end(more));
}

// Whether M and N are known to a tile each.
bool IsOneTiling(const TileCounts& tiles) { return tiles.n.exact() && tiles.n.low > 0; }

std::optional<TileCounts> TilesOf(const LaunchRule& rule, const Dim3& grid) {
  constexpr int64_t kLargestGrid = int64_t{1} << 31;
  if (grid.x < 1 || grid.y < 1 || grid.x > kLargestGrid || grid.y > kLargestGrid) {
    return std::nullopt;
  }
  if (rule.tiling == LaunchRule::Tiling::kPlain) {
    return TileCounts{{grid.x, grid.x}, {grid.y, grid.y}};
  }
  if (rule.tiling != LaunchRule::Tiling::kSwizzled) return std::nullopt;
  const TileCounts tiles = SwizzledTiles(grid);
  return tiles.n.low > 0 ? std::optional(tiles) : std::nullopt;
}

// The number within the bounds that most powers of two divide: sizes of layers are such numbers.
int64_t RoundestOf(const Bounds& bounds) {
  int64_t roundest = bounds.high;
  for (int64_t step = 1; step > 0 && step <= bounds.high; step *= 2) {
    const int64_t multiple = bounds.high / step * step;
    if (multiple < bounds.low) break;
    roundest = multiple;
    if (step > INT64_MAX / 2) break;
  }
  return roundest;
}

void SetBytes(const LaunchRule& rule, const Bounds& right, LaunchSizes* sizes) {
  if (rule.left_bytes == 0 || rule.right_bytes == 0 || rule.result_bytes == 0) return;
  const auto bytes = [&](int64_t m, int64_t n, int64_t k, int64_t nk, int64_t results) {
    return Checked(nk) * rule.right_bytes + Checked(m) * k * rule.left_bytes +
           Checked(m) * n * rule.result_bytes * results;
  };
  // What is added to the product may be read too: a matrix and a bias.
  const std::optional<int64_t> low =
      bytes(sizes->m.low, sizes->n.low, sizes->k.low, right.low, 1).Value();
  const std::optional<int64_t> high =
      (bytes(sizes->m.high, sizes->n.high, sizes->k.high, right.high, 2) +
       Checked(sizes->m.high) * rule.result_bytes)
          .Value();
  if (!low || !high) return;
  sizes->bytes = Bounds{*low, *high};
  const int64_t k = RoundestOf(sizes->k);
  const int64_t n = std::clamp(right.high / k, sizes->n.low, sizes->n.high);
  const std::optional<int64_t> estimate = bytes(sizes->m.high, n, k, right.high, 1).Value();
  if (*high / kWidestEstimate <= *low && estimate) {
    sizes->bytes_estimate = std::clamp(*estimate, *low, *high);
  }
}

}  // namespace

std::optional<LaunchRule> ProductRuleOf(std::string_view kernel_name) {
  LaunchRule rule;
  if (HoldsWord(kernel_name, "splitKreduce_kernel")) {
    rule.sums_splits = true;
    return rule;
  }
  rule.tiling = TilingOf(kernel_name);
  if (rule.tiling == LaunchRule::Tiling::kNone) return std::nullopt;
  const NameFacts facts = NameFactsOf(kernel_name);
  if (facts.order != NameFacts::Order::kBlas || !facts.tile_m || !facts.tile_n) {
    return std::nullopt;
  }
  rule.kind = LaunchSizes::Kind::kProduct;
  rule.tile_m = *facts.tile_m;
  rule.tile_n = *facts.tile_n;
  rule.dtype = facts.left;
  rule.takes_rows = facts.layout == "tn";
  rule.is_fp32 = HoldsWord(kernel_name, "_sgemm_");
  rule.left_bytes = BytesOfWord(facts.left);
  rule.right_bytes = BytesOfWord(facts.right);
  rule.result_bytes = BytesOfWord(facts.result);
  return rule;
}

LaunchSizes ProductSizes(const LaunchRule& rule, const Dim3& grid) {
  LaunchSizes sizes;
  const std::optional<TileCounts> tiles = TilesOf(rule, grid);
  if (!tiles || grid.z < 1) return sizes;
  const std::optional<Bounds> m = Extent(tiles->m.low, tiles->m.high, rule.tile_m);
  const std::optional<Bounds> n = Extent(tiles->n.low, tiles->n.high, rule.tile_n);
  if (!m || !n) return sizes;
  sizes.kind = LaunchSizes::Kind::kProduct;
  sizes.is_mma = true;
  sizes.m = *m;
  sizes.n = *n;
  sizes.batch = {1, grid.z};
  return sizes;
}

LaunchSizes ProductSizes(const LaunchRule& rule, const Dim3& grid, const Bounds& right) {
  LaunchSizes sizes = ProductSizes(rule, grid);
  if (sizes.kind != LaunchSizes::Kind::kProduct || right.low < 1 || right.high < right.low ||
      !IsOneTiling(*TilesOf(rule, grid))) {
    return {};
  }
  const int64_t k_low = right.low / sizes.n.high + (right.low % sizes.n.high == 0 ? 0 : 1);
  const int64_t k_high = right.high / sizes.n.low;
  if (k_low > k_high) return {};
  sizes.k = {k_low, k_high};
  sizes.batch = {1, 1};
  const std::optional<int64_t> low = (Checked(2) * sizes.m.low * right.low).Value();
  const Checked full = Checked(2) * sizes.m.high * right.high;
  // Scaling both terms and adding them costs at most three more for each element of the result.
  const std::optional<int64_t> high = (full + Checked(3) * sizes.m.high * sizes.n.high).Value();
  if (!low || !high) return {};
  sizes.flops = Bounds{*low, *high};
  // Full tiles: sizes of layers are multiples of them.
  if (*high / kWidestEstimate <= *low) sizes.flops_estimate = full.Value();
  SetBytes(rule, right, &sizes);
  return sizes;
}

void SetProductParams(const LaunchRule& rule, LaunchSizes* sizes) {
  if (sizes->kind != LaunchSizes::Kind::kProduct) return;
  std::string& text = sizes->params;
  text.clear();
  if (sizes->batch.high > 1) text = "B=" + BoundsText(sizes->batch) + ",";
  text += "M=" + BoundsText(sizes->m) + ",N=" + BoundsText(sizes->n);
  if (sizes->k.high > 0) text += ",K=" + BoundsText(sizes->k);
  if (!rule.dtype.empty()) text += "," + rule.dtype;
}

}  // namespace oplens::ops
