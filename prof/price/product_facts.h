#ifndef OPLENS_PROF_PRICE_PRODUCT_FACTS_H_
#define OPLENS_PROF_PRICE_PRODUCT_FACTS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "prof/price/priced_kernel.h"

namespace oplens::prof {

// The product of matrices, convolution or attention that a kernel works on. m, n and k are those of
// BLAS's column-major product, as M, N and K of `params`: m is PyTorch's last dimension.

/// A size by the key of its column (ops::SizeNamed); nullopt: it has none of this key, or it is not
/// known.
std::optional<int64_t> SizeOf(const PricedKernel& row, std::string_view key);

/// Whether it works on a product of matrices: by its op, and without a price by its name.
bool IsOfProduct(const PricedKernel& row);

/// Which factors are transposed for BLAS: "NN", "NT", "TN" or "TT"; "": unknown, or no product of
/// matrices. By the kernel's name alone, and as far as that or the op's definition tells.
std::string_view LayoutByName(const PricedKernel& row);
std::string_view LayoutOf(const PricedKernel& row);

/// What a block computes at a time, along m and n.
struct ProductTile {
  int64_t m = 0;
  int64_t n = 0;

  friend auto operator<=>(const ProductTile&, const ProductTile&) = default;
};
/// By the kernel's name; nullopt if that does not tell it, or not along which extents it lies.
std::optional<ProductTile> TileOf(const PricedKernel& row);

/// m x n over m x n padded to whole tiles, 0 to 1; nullopt for an extent that is not positive, and
/// on overflow.
std::optional<double> TileEfficiency(int64_t m, int64_t n, const ProductTile& tile);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_PRODUCT_FACTS_H_
