#include "prof/price/product_facts.h"

#include "base/checked.h"
#include "ops/kernels/name_facts.h"
#include "prof/price/kernel_facts.h"

namespace oplens::prof {

std::optional<int64_t> SizeOf(const PricedKernel& row, std::string_view key) {
  return row.price == nullptr ? std::nullopt : ops::SizeNamed(*row.price, row.extents, key);
}

bool IsOfProduct(const PricedKernel& row) {
  if (row.price != nullptr && row.price->product) {
    if (row.price->product->kind != ops::MatrixProduct::Kind::kGemm) return false;
    if (!row.extents.empty()) return true;
  }
  const auto family = FamilyOf(row);
  return family == ops::KernelFamily::kGemm || family == ops::KernelFamily::kGroupedGemm;
}

std::string_view LayoutByName(const PricedKernel& row) {
  if (row.facts == nullptr || !IsOfProduct(row)) return {};
  const ops::NameFacts& facts = row.facts->parsed_name();
  if (facts.order != ops::NameFacts::Order::kBlas) return {};
  if (facts.layout == "nn") return "NN";
  if (facts.layout == "nt") return "NT";
  if (facts.layout == "tn") return "TN";
  return facts.layout == "tt" ? "TT" : std::string_view();
}

std::string_view LayoutOf(const PricedKernel& row) {
  const std::string_view by_name = LayoutByName(row);
  if (!by_name.empty()) return by_name;
  return IsOfProduct(row) ? row.op_layout : std::string_view();
}

std::optional<ProductTile> TileOf(const PricedKernel& row) {
  if (row.facts == nullptr || !IsOfProduct(row)) return std::nullopt;
  const ops::NameFacts& facts = row.facts->parsed_name();
  if (!facts.tile_m || !facts.tile_n) return std::nullopt;
  switch (facts.order) {
    case ops::NameFacts::Order::kBlas:
      return ProductTile{*facts.tile_m, *facts.tile_n};
    case ops::NameFacts::Order::kRows:
      return ProductTile{*facts.tile_n, *facts.tile_m};
    case ops::NameFacts::Order::kUnknown:
      break;
  }
  // A square lies the same way along either.
  if (*facts.tile_m != *facts.tile_n) return std::nullopt;
  return ProductTile{*facts.tile_m, *facts.tile_n};
}

std::optional<double> TileEfficiency(int64_t m, int64_t n, const ProductTile& tile) {
  if (m <= 0 || n <= 0 || tile.m <= 0 || tile.n <= 0) return std::nullopt;
  const auto padded = [](int64_t extent, int64_t of_tile) {
    return Checked((extent - 1) / of_tile + 1) * of_tile;
  };
  const auto useful = (Checked(m) * n).Value();
  const auto done = (padded(m, tile.m) * padded(n, tile.n)).Value();
  if (!useful || !done) return std::nullopt;
  return static_cast<double>(*useful) / static_cast<double>(*done);
}

}  // namespace oplens::prof
