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

/// Use of a tensor in a compiled kernel, by the name of its parameter.
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

/// A parsed call of a compiled kernel.
struct CompiledCall {
  CompiledName name;
  std::vector<CompiledTensor> tensors;  ///< In parameter order.
  /// Points per loop, outermost first: ynumel, xnumel, r0_numel. Empty if not recorded.
  std::vector<int64_t> extents;
  std::optional<int64_t> flops;  ///< The compiler's count.
  std::optional<int64_t> bytes;  ///< The compiler's count.

  /// Of all loops; without loops, elements of the largest tensor.
  Checked points() const;
  /// For a reduction with known loops, points of the loops that are not reduced; otherwise 0.
  Checked rows() const;
};

/// Triton's launch hooks tell arguments by name, constants among them. Returns such a call as
/// TorchInductor tells it: arguments by position, their names as `signature`. nullopt for others.
std::optional<OpCall> CompiledCallByPosition(const OpCall& call);

/// nullopt with the reason for an unreadable argument. The result refers to `call`.
std::optional<CompiledCall> ReadCompiledCall(const OpCall& call, Reason* reason);

/// Prices the product that a template computes (mm, addmm, bmm, baddbmm, _scaled_mm, int_mm,
/// convolution); exact if only one product fits the three tensors' sizes. Without batches their
/// element counts suffice: K^2 = |A| |B| / |Y|. flex_attention counts all pairs, an upper bound.
/// Bytes and fused ops are left out. nullopt if the tensors do not fit.
std::optional<PricedOp> PriceTemplate(const CompiledCall& call);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_COMPILED_CALL_H_
