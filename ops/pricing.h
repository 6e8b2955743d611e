#ifndef OPLENS_OPS_PRICING_H_
#define OPLENS_OPS_PRICING_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op_model.h"

namespace oplens::ops {

/// An answer without a price.
PriceResult Unpriced(Reason reason);

/// An answer whose only part in each direction is `forward` and `backward`.
PriceResult Priced(std::string params, Work forward, Work backward);

/// An answer with the given backward parts; none: the backward has no model.
PriceResult Priced(std::string params, Work forward, std::vector<PartWork> backward);

/// The work of all parts together.
Work SumOf(const std::vector<PartWork>& parts);

/// Whether FLOPs and bytes are known and fit into 64 bits.
bool Fits(const Work& work);

/// kCostOverflow in place of a price whose figures, or their sum over the backward parts, do not
/// fit into 64 bits.
PriceResult CheckRange(PriceResult result);

/// The names of a family's table, whose rows have a field `name`: for OpModel::names.
template <typename Row, size_t N>
constexpr std::array<std::string_view, N> NamesOf(const Row (&rows)[N]) {
  std::array<std::string_view, N> names{};
  for (size_t i = 0; i < N; ++i) names[i] = rows[i].name;
  return names;
}

/// The row of that name, or nullptr.
template <typename Row, size_t N>
const Row* FindRow(const Row (&rows)[N], std::string_view name) {
  const auto* row = std::find_if(std::begin(rows), std::end(rows),
                                 [&](const Row& candidate) { return candidate.name == name; });
  return row == std::end(rows) ? nullptr : row;
}

}  // namespace oplens::ops

#endif  // OPLENS_OPS_PRICING_H_
