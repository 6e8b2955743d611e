#ifndef OPLENS_OPS_FAMILIES_COMPILED_CALL_H_
#define OPLENS_OPS_FAMILIES_COMPILED_CALL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/checked.h"
#include "ops/families/compiled_name.h"
#include "ops/op_model.h"
#include "ops/tensor.h"
#include "parse/model/op_call.h"

namespace oplens::ops {

/// What a tensor is to a compiled kernel, by the name of its parameter.
enum class CompiledUse : uint8_t {
  kUnknown,
  kInput,   ///< in_ptr0, arg_A
  kOutput,  ///< out_ptr0
  kBoth,    ///< in_out_ptr0
};

struct CompiledTensor {
  Tensor tensor;
  CompiledUse use = CompiledUse::kUnknown;
};

/// A recorded call of a compiled kernel, taken apart.
struct CompiledCall {
  CompiledName name;
  std::vector<CompiledTensor> tensors;  ///< In order of the parameters.
  /// How many points each loop has, of the outermost first: ynumel, xnumel, r0_numel. Empty when
  /// the call does not tell.
  std::vector<int64_t> extents;
  std::optional<int64_t> flops;  ///< As the compiler counts them.
  std::optional<int64_t> bytes;  ///< As the compiler counts them.

  /// Of the loops; without them, elements of the largest tensor.
  Checked points() const;
  /// Of a reduction with known loops, the points of the loops that are not reduced; else 0.
  Checked rows() const;
};

/// nullopt with the reason when an argument is none that can be read.
std::optional<CompiledCall> ReadCompiledCall(const OpCall& call, Reason* reason);

/// The price of the product that a template computes (mm, addmm, bmm, baddbmm, _scaled_mm, int_mm,
/// convolution), exact where the sizes of the three tensors fit one product only, which they do
/// without batches by the numbers of their elements alone: K^2 = |A| |B| / |Y|. Of flex_attention
/// all pairs, an upper bound. nullopt where the tensors do not fit. Bytes and what is fused behind
/// the product are left out.
std::optional<PricedOp> PriceTemplate(const CompiledCall& call);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_COMPILED_CALL_H_
