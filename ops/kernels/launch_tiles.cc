#include "ops/kernels/launch_tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "base/checked.h"
#include "ops/dtype.h"
#include "ops/kernels/template_arguments.h"

namespace oplens::ops {
namespace {

using TiledExtent = LaunchRule::Extent;
using Axis = TiledExtent::Axis;

constexpr int64_t kThreadsOfWarp = 32;
constexpr int64_t kMostTile = 4096;

bool Holds(std::string_view name, std::string_view word) {
  return name.find(word) != std::string_view::npos;
}

/// "(128x64" at the beginning of a text.
struct Tile {
  int64_t m = 0, n = 0;
};

std::optional<int64_t> TakeNumber(std::string_view* text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || number < 1 || number > kMostTile) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return number;
}

/// The tile after the first `word` in a name: "scudnn_128x64_relu" -> 128, 64.
std::optional<Tile> TileAfter(std::string_view word, std::string_view name) {
  const size_t at = name.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  name.remove_prefix(at + word.size());
  const std::optional<int64_t> m = TakeNumber(&name);
  if (!m || !name.starts_with('x')) return std::nullopt;
  name.remove_prefix(1);
  const std::optional<int64_t> n = TakeNumber(&name);
  return n ? std::optional(Tile{*m, *n}) : std::nullopt;
}

struct ConvolutionRow {
  std::string_view word;  ///< Before the tile.
  std::string_view also;  ///< Elsewhere in the name.
  std::string_view unless;
  std::string_view m, n;  ///< What the tile's extents are of.
  Axis m_axis = Axis::kX, n_axis = Axis::kY;
  bool is_split = false;  ///< z are parts of the sum.
};

constexpr ConvolutionRow kConvolutions[] = {
    {"scudnn_", "_relu_", "_splitK_", "N*P*Q", "K"},
    {"scudnn_", "_stridedB_splitK_", "_relu_", "C*R*S", "K", Axis::kX, Axis::kY, true},
    {"scudnn_", "_stridedB_", "_splitK_", "N*H*W", "C"},
    {"_tilesize", "xmma_fprop_implicit_gemm", "dgrad", "N*P*Q", "K", Axis::kY, Axis::kX},
};

/// The size of the filter in ".._t1r3s3..": 3 by 3.
void AddFilter(std::string_view name, LaunchRule* rule) {
  constexpr std::string_view kBefore = "_t1r";
  const size_t at = name.find(kBefore);
  if (at == std::string_view::npos) return;
  name.remove_prefix(at + kBefore.size());
  const std::optional<int64_t> rows = TakeNumber(&name);
  if (!rows || !name.starts_with('s')) return;
  name.remove_prefix(1);
  const std::optional<int64_t> columns = TakeNumber(&name);
  if (!columns) return;
  rule->extents.push_back({"R", Axis::kNone, 0, {*rows, *rows}});
  rule->extents.push_back({"S", Axis::kNone, 0, {*columns, *columns}});
}

std::optional<LaunchRule> ConvolutionRuleOf(std::string_view name) {
  if (Holds(name, "winograd") || Holds(name, "3d")) return std::nullopt;
  const auto* row = std::find_if(
      std::begin(kConvolutions), std::end(kConvolutions), [&](const ConvolutionRow& known) {
        return Holds(name, known.also) && !Holds(name, known.unless) && TileAfter(known.word, name);
      });
  if (row == std::end(kConvolutions)) return std::nullopt;
  // Others may have a group in each z.
  if (row->word == "_tilesize" && !Holds(name, "_g1_")) return std::nullopt;
  const Tile tile = *TileAfter(row->word, name);
  LaunchRule rule;
  rule.extents = {{row->m, row->m_axis, tile.m}, {row->n, row->n_axis, tile.n}};
  rule.z_is_split = row->is_split;
  AddFilter(name, &rule);
  return rule;
}

std::string WordOfType(std::string_view argument) {
  for (const std::string_view word : {"bfloat16", "half", "float"}) {
    if (!Holds(argument, word)) continue;
    const std::optional<DType> type = ParseDType(word);
    return type ? std::string(DTypeWord(*type)) : std::string();
  }
  return {};
}

/// "flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::half_t, ..":
/// the head's size rounded up to 32, the tiles of queries and keys, warps.
std::optional<LaunchRule> FlashRuleOf(std::string_view name) {
  constexpr int64_t kHeadStep = 32;
  constexpr size_t kLeast = 7;
  if (!Holds(name, "flash_fwd_kernel<")) return std::nullopt;
  const std::vector<std::string_view> traits = TemplateArguments(name, "Flash_fwd_kernel_traits");
  if (traits.size() < kLeast) return std::nullopt;
  const std::optional<int64_t> head = TemplateNumber(traits[0]);
  const std::optional<int64_t> queries = TemplateNumber(traits[1]);
  const std::optional<int64_t> warps = TemplateNumber(traits[3]);
  if (!head || !queries || !warps || *head < 1 || *queries < 1 || *warps < 1 ||
      std::max({*head, *queries, *warps}) > kMostTile) {
    return std::nullopt;
  }
  LaunchRule rule;
  rule.threads = *warps * kThreadsOfWarp;
  const int64_t least_head = *head % kHeadStep == 0 ? *head - kHeadStep + 1 : 1;
  rule.extents = {{"B", Axis::kY, 1},
                  {"H", Axis::kZ, 1},
                  {"Sq", Axis::kX, *queries},
                  {"D", Axis::kNone, 0, {least_head, *head}}};
  rule.dtype = WordOfType(traits[kLeast - 1]);
  return rule;
}

/// "AttentionKernel<float, cutlass::arch::Sm80, true, 64, 128, 128, true, true>": the tiles of
/// queries and keys, the largest head.
std::optional<LaunchRule> EfficientRuleOf(std::string_view name) {
  constexpr size_t kQueries = 3;
  constexpr size_t kHead = 5;
  if (!name.starts_with("fmha_cutlassF_")) return std::nullopt;
  const std::vector<std::string_view> arguments = TemplateArguments(name, "AttentionKernel");
  if (arguments.size() <= kHead) return std::nullopt;
  const std::optional<int64_t> queries = TemplateNumber(arguments[kQueries]);
  const std::optional<int64_t> head = TemplateNumber(arguments[kHead]);
  if (!queries || !head || *queries < 1 || *queries > kMostTile || *head < 1) return std::nullopt;
  LaunchRule rule;
  rule.extents = {{"B", Axis::kZ, 1}, {"H", Axis::kY, 1}, {"Sq", Axis::kX, *queries}};
  // A larger one stands for any.
  if (*head <= kMostTile) rule.extents.push_back({"D", Axis::kNone, 0, {1, *head}});
  rule.dtype = WordOfType(arguments[0]);
  return rule;
}

std::optional<Bounds> BoundsOf(const TiledExtent& extent, const Dim3& grid) {
  if (extent.axis == Axis::kNone) return extent.fixed;
  const int64_t blocks = extent.axis == Axis::kX   ? grid.x
                         : extent.axis == Axis::kY ? grid.y
                                                   : grid.z;
  const std::optional<int64_t> high = (Checked(blocks) * extent.tile).Value();
  if (!high || blocks < 1) return std::nullopt;
  return Bounds{*high - extent.tile + 1, *high};
}

}  // namespace

std::optional<LaunchRule> TilesRuleOf(std::string_view kernel_name) {
  std::optional<LaunchRule> rule = FlashRuleOf(kernel_name);
  if (!rule) rule = EfficientRuleOf(kernel_name);
  if (!rule) rule = ConvolutionRuleOf(kernel_name);
  if (rule) rule->kind = LaunchSizes::Kind::kTiles;
  return rule;
}

LaunchSizes TilesSizes(const LaunchRule& rule, const Dim3& grid, const Dim3& block) {
  const bool uses_z =
      std::any_of(rule.extents.begin(), rule.extents.end(),
                  [](const TiledExtent& extent) { return extent.axis == Axis::kZ; });
  const bool fits = (uses_z || rule.z_is_split || grid.z == 1) &&
                    (rule.threads == 0 || rule.threads == block.x * block.y * block.z);
  LaunchSizes sizes;
  if (!fits) return sizes;
  std::string text;
  for (const TiledExtent& extent : rule.extents) {
    const std::optional<Bounds> bounds = BoundsOf(extent, grid);
    if (!bounds) return sizes;
    if (!text.empty()) text += ',';
    text += fmt::format("{}={}", extent.word, BoundsText(*bounds));
  }
  if (!rule.dtype.empty()) text += "," + rule.dtype;
  sizes.kind = LaunchSizes::Kind::kTiles;
  sizes.params = std::move(text);
  return sizes;
}

}  // namespace oplens::ops
