#ifndef OPLENS_OPS_NETWORK_CONVENTIONS_H_
#define OPLENS_OPS_NETWORK_CONVENTIONS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ops/network/network.h"

namespace oplens::ops {

/// What a training step computes again for its backward pass.
enum class Recompute : uint8_t {
  kNone,
  kSelective,  ///< Attention's scores and sums.
  kFull,       ///< The whole forward pass.
};

/// A published way to count the FLOPs of a model (docs/mfu.md).
struct Convention {
  std::string_view word;     ///< "A", "D''".
  std::string_view formula;  ///< FLOPs of a training step per token.
  std::string_view used_by;
  /// FLOPs of a training step per token; nullopt if the network does not say what it needs.
  std::optional<double> (*per_token)(const Network& network, int64_t sequence);
  /// What a recomputation adds per token; null: the convention has none of its own.
  std::optional<double> (*again)(const Network& network, int64_t sequence, Recompute recompute);
  /// It counts recomputed FLOPs, so that its quotient is an HFU and no MFU.
  bool counts_recomputation = false;
};

/// All, in the order of docs/mfu.md.
std::span<const Convention> Conventions();
/// Null if there is none of this name; case does not matter.
const Convention* FindConvention(std::string_view word);

/// What must be known of the network for a value, and what is not: "needs h"; "" if it has one.
std::string WhatIsMissing(const Convention& convention, const Network& network);

/// A remark that a reader of the figure needs, such as that experts that do not run are counted;
/// "" if there is none.
std::string RemarkOn(const Convention& convention, const Network& network);

/// FLOPs per token by a convention.
struct TokenFlops {
  std::optional<double> model;     ///< For an MFU.
  std::optional<double> hardware;  ///< For an HFU: with what is computed again.
};
TokenFlops FlopsPerToken(const Convention& convention, const Network& network, int64_t sequence,
                         Recompute recompute);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_NETWORK_CONVENTIONS_H_
