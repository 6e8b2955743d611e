#ifndef OPLENS_OPS_DTYPE_H_
#define OPLENS_OPS_DTYPE_H_

// Public header: installed, docs/library.md.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/checked.h"

namespace oplens::ops {

/// Element types of tensors.
enum class DType : uint8_t {
  kBool,
  kUInt4,
  kInt4,
  kUInt8,
  kInt8,
  kUInt16,
  kInt16,
  kUInt32,
  kInt32,
  kUInt64,
  kInt64,
  kFloat4E2m1,
  kFloat8E4m3,
  kFloat8E5m2,
  kFloat8E8m0,
  kFloat16,
  kBFloat16,
  kTFloat32,
  kFloat32,
  kFloat64,
  kComplex32,
  kComplex64,
  kComplex128,
  kUnknown,  ///< Not recorded, or no type that we know: counts as a float of no size.
};

/// Promotion order: a higher category wins whatever the widths.
enum class DTypeCategory : uint8_t { kBool, kInteger, kFloat, kComplex };

/// The type of a spelling as PyTorch, ATen, C++ or CUDA write it ("torch.float16", "half",
/// "c10::Half", "long int"); nullopt for anything else.
std::optional<DType> ParseDType(std::string_view spelling);

/// Size of one element in bits; 4 for the packed 4-bit types.
int BitsOf(DType type);

/// The printed word, e.g. "fp16", "bf16", "int64", "c64".
std::string_view DTypeWord(DType type);

DTypeCategory CategoryOf(DType type);

/// Bytes of `elements` elements: whole bytes, rounded up for 4-bit types.
Checked BytesOf(Checked elements, DType type);

/// Result type of an operation on tensors of the two types, by PyTorch's promotion rule: the higher
/// category, then the wider type; two types of which none holds the other widen (fp16 with bf16 is
/// fp32, int8 with uint8 is int16).
DType PromoteDTypes(DType a, DType b);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_DTYPE_H_
