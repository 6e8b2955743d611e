#ifndef OPLENS_OPS_FAMILIES_QUANTIZED_H_
#define OPLENS_OPS_FAMILIES_QUANTIZED_H_

#include <cstddef>
#include <cstdint>

#include "base/checked.h"
#include "ops/call_args.h"
#include "ops/dtype.h"
#include "ops/op_model.h"

namespace oplens::ops {

/// Y[m,n] = A[m,k] B[k,n].
struct Sizes {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
};

/// The product of operands of different types.
MatrixProduct ProductOf(const Sizes& sizes, DType left, DType right, DType output);

/// Bytes of a scale; one recorded as a number is one fp32 element. Absent: 0.
Checked ScaleBytes(CallArgs* args, size_t parameter);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_QUANTIZED_H_
