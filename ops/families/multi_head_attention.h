#ifndef OPLENS_OPS_FAMILIES_MULTI_HEAD_ATTENTION_H_
#define OPLENS_OPS_FAMILIES_MULTI_HEAD_ATTENTION_H_

#include <string_view>
#include <vector>

#include "ops/op_model.h"
#include "parse/model/op_call.h"

namespace oplens::ops {

/// The matrix products of a call of torch.nn.functional.multi_head_attention_forward, in the order
/// of their launches: the projections of query, key and value (one product when the three may be
/// one tensor, two when key and value may be, else three), the scores Q K^T and the values P V of
/// all heads (batched), and the projection of the output. Each one's two gradients are as large.
/// Empty when the call has no price.
std::vector<MatrixProduct> ProductsOfMultiHeadAttention(const OpCall& call);

/// The model of that function. A query, key and value of one shape are taken to be one tensor.
PriceResult PriceMultiHeadAttention(std::string_view op, const OpCall& call);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_MULTI_HEAD_ATTENTION_H_
