#ifndef OPLENS_OPS_KERNELS_GRADIENT_EVIDENCE_H_
#define OPLENS_OPS_KERNELS_GRADIENT_EVIDENCE_H_

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/kernels/share_work.h"

namespace oplens::ops {

struct GradientGuess {
  Part part = Part::kBackward;  ///< kDgrad or kWgrad; kBackward: undecided.
  double confidence = 0;        ///< Probability of `part`, 0.5 to 1.
};

/// Output tile of one block, from a matrix kernel's name.
struct Tile {
  int64_t a = 0;
  int64_t b = 0;
  friend bool operator==(const Tile&, const Tile&) = default;
};

/// "128x64" of "volta_sgemm_128x64_nt", "128x128x32" of "..tilesize128x128x32.."; ignores
/// instruction shapes ("s64x128x16gemm"), slices ("sliced1x4") and stages. nullopt without a tile.
std::optional<Tile> TileOf(std::string_view kernel_name);

/// Guesses which main kernels of a matrix op's backward compute the data gradient (dgrad) and which
/// the weight gradient (wgrad). Sums log-odds, strongest evidence first: words in the name; the
/// output size that tile and grid fit; the operands' layout, if the product's is known; split-K
/// beside a long reduction; launch order. Two kernels that differ in name, grid or layout compute
/// one gradient each, unless words in both names say the same one. `product` may be null. Source:
/// docs/costs.md, "dgrad or wgrad".
std::vector<GradientGuess> GuessGradients(const MatrixProduct* product,
                                          std::span<const InstanceKernel> kernels);

/// The gradient that a product nested in the backward of `forward` computes, by the length of its
/// sum: the outputs for dgrad, the rows for wgrad. nullopt if its sizes fit neither.
std::optional<GradientGuess> GradientOfInner(const MatrixProduct& forward,
                                             const MatrixProduct& inner);

/// "high" from 0.95, "medium" from 0.8, otherwise "low".
std::string_view ConfidenceWord(double confidence);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_GRADIENT_EVIDENCE_H_
