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

/// The smaller of two counts; one that overflowed is the larger.
Checked Least(Checked a, Checked b);

/// Whether `inner` lies within `outer`: as many dimensions, none longer. A 0-d one is as one of
/// length 1.
bool Covers(Shape outer, Shape inner);

/// The elements of the slices of `x` that an index vector names along the dimension in a parameter.
/// Which dimension it is does not matter for a vector. nullopt when it was not recorded otherwise;
/// a bad one fails.
std::optional<Checked> SliceElements(const CallArgs& args, size_t dim, const Tensor& x,
                                     const Tensor& index);

/// What x[i, j, ..] picks.
struct Picked {
  Checked elements;
  Checked index_bytes;
};

/// What the indices of the leading dimensions pick: tensors of integers, which are broadcast; masks
/// (bool, uint8), which stand for as many dimensions as they have, and at most pick them whole;
/// None, which takes the whole dimension. nullopt and the reason when they do not fit.
std::optional<Picked> PickedByIndices(const Tensor& x, std::span<const OpArg> indices,
                                      Reason* reason);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_INDEXING_H_
