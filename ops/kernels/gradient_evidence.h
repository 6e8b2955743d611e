#ifndef OPLENS_OPS_KERNELS_GRADIENT_EVIDENCE_H_
#define OPLENS_OPS_KERNELS_GRADIENT_EVIDENCE_H_

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/kernels/share_work.h"

namespace oplens::ops {

/// Which gradient a kernel computes.
struct GradientGuess {
  Part part = Part::kBackward;  ///< kDgrad or kWgrad; kBackward: not told apart.
  double confidence = 0;        ///< 0.5 to 1: the probability of this answer against the other.
};

/// The output tile in a matrix kernel's name: rows and columns of one block.
struct Tile {
  int64_t a = 0;
  int64_t b = 0;
  friend bool operator==(const Tile&, const Tile&) = default;
};

/// "128x64" of "volta_sgemm_128x64_nt", "128x128x32" of "..tilesize128x128x32.."; not instruction
/// shapes ("s64x128x16gemm"), slices ("sliced1x4") or stages. nullopt: the name has none.
std::optional<Tile> TileOf(std::string_view kernel_name);

/// Tells which of the main kernels of a matrix op's backward compute the gradient of the data
/// (dgrad) and which that of the weight (wgrad). Evidence is summed as log-odds, strongest first:
/// words in the name; the output size that tile and grid fit; the operands' layout, where the
/// product's is known; a split-K launch beside a long reduction; the order of launches. Two kernels
/// of different names, grids or layouts compute one gradient each. `product` may be null. Source:
/// docs/costs.md, "dgrad or wgrad".
std::vector<GradientGuess> GuessGradients(const MatrixProduct* product,
                                          std::span<const InstanceKernel> kernels);

/// The gradient that a product inside the backward of another is, by the length of its sum: dgrad
/// sums over the outputs, wgrad over the rows. nullopt when its sizes are not those of either.
std::optional<GradientGuess> GradientOfInner(const MatrixProduct& forward,
                                             const MatrixProduct& inner);

/// "high" from 0.95, "medium" from 0.8, else "low".
std::string_view ConfidenceWord(double confidence);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_GRADIENT_EVIDENCE_H_
