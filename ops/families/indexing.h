#ifndef OPLENS_OPS_FAMILIES_INDEXING_H_
#define OPLENS_OPS_FAMILIES_INDEXING_H_

#include <cstddef>
#include <optional>
#include <span>

#include "base/checked.h"
#include "ops/call_args.h"
#include "ops/tensor.h"
#include "parse/model/op_call.h"
#include "parse/model/reason.h"

namespace oplens::ops {

/// The smaller count; one that overflowed is larger.
Checked Least(Checked a, Checked b);

/// Whether `inner` lies within `outer`: equal rank, no longer extent. Rank 0 counts as one element.
bool Covers(Shape outer, Shape inner);

/// Elements of the slices of `x` that `index` selects along the dimension in parameter `dim`, which
/// does not matter for a vector. nullopt if the dimension is unrecorded or invalid.
std::optional<Checked> SliceElements(const CallArgs& args, size_t dim, const Tensor& x,
                                     const Tensor& index);

/// What x[i, j, ..] selects.
struct Picked {
  Checked elements;
  Checked index_bytes;
};

/// What indices of the leading dimensions select: integer tensors are broadcast; masks (bool,
/// uint8) cover as many dimensions as they have and select at most all of them; None keeps a whole
/// dimension. nullopt and the reason if they do not fit.
std::optional<Picked> PickedByIndices(const Tensor& x, std::span<const OpArg> indices,
                                      Reason* reason);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_INDEXING_H_
