#ifndef OPLENS_OPS_FAMILIES_MULTI_HEAD_ATTENTION_H_
#define OPLENS_OPS_FAMILIES_MULTI_HEAD_ATTENTION_H_

#include <string_view>
#include <vector>

#include "ops/op_model.h"
#include "parse/model/op_call.h"

namespace oplens::ops {

/// The matrix products of torch.nn.functional.multi_head_attention_forward in launch order: the
/// projections of query, key and value (one product if all three may be one tensor, two if key and
/// value may be, otherwise three), scores Q K^T and values P V over all heads (batched), and the
/// output projection. Each has two gradients of its size. Empty if the call has no price.
std::vector<MatrixProduct> ProductsOfMultiHeadAttention(const OpCall& call);

/// The model of that function. Query, key and value of equal shape count as one tensor.
PriceResult PriceMultiHeadAttention(std::string_view op, const OpCall& call);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_MULTI_HEAD_ATTENTION_H_
