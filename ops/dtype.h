#ifndef OPLENS_OPS_DTYPE_H_
#define OPLENS_OPS_DTYPE_H_

// Public header: installed, docs/library.md.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/checked.h"

namespace oplens::ops {

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
  kUnknown,  ///< Not recorded or not recognised: counts as a float of size 0.
};

/// Promotion order: a higher category wins regardless of width.
enum class DTypeCategory : uint8_t { kBool, kInteger, kFloat, kComplex };

/// Parses a spelling of PyTorch, ATen, C++ or CUDA ("torch.float16", "half", "c10::Half", "long
/// int"); nullopt for anything else.
std::optional<DType> ParseDType(std::string_view spelling);

/// Size of one element in bits; 4 for the packed 4-bit types.
int BitsOf(DType type);

/// The printed name: "fp16", "bf16", "int64", "c64".
std::string_view DTypeWord(DType type);

DTypeCategory CategoryOf(DType type);

/// Whole bytes, rounded up for 4-bit types.
Checked BytesOf(Checked elements, DType type);

/// Result type under PyTorch's promotion: the higher category, then the wider type. If neither type
/// can hold the other, the next wider one (fp16 with bf16 is fp32, int8 with uint8 is int16).
DType PromoteDTypes(DType a, DType b);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_DTYPE_H_
