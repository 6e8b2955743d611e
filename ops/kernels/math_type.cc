#include "ops/kernels/math_type.h"

namespace oplens::ops {
namespace {

constexpr uint32_t Bit(MathType type) { return uint32_t{1} << static_cast<uint32_t>(type); }

template <typename... Types>
constexpr uint32_t Bits(Types... types) {
  return (Bit(types) | ...);
}

using enum MathType;

/// Types from this compute capability up to the next. fp64 at a quarter of its usual rate or less
/// (8.6, 8.7, 8.9, 12.0) does not count.
struct Generation {
  int first;
  uint32_t types;
};

constexpr Generation kGenerations[] = {
    {70, Bits(kFp16)},
    {72, Bits(kFp16, kInt8)},
    {75, Bits(kFp16, kInt8, kInt4, kBinary)},
    {80, Bits(kFp16, kBf16, kTf32, kFp64, kInt8, kInt4, kBinary)},
    {86, Bits(kFp16, kBf16, kTf32, kInt8, kInt4, kBinary)},
    {89, Bits(kFp16, kBf16, kTf32, kFp8, kInt8, kInt4, kBinary)},
    {90, Bits(kFp16, kBf16, kTf32, kFp64, kFp8, kInt8, kBinary)},
    {100, Bits(kFp16, kBf16, kTf32, kFp64, kFp8, kFp4, kInt8)},
    {110, Bits(kFp16, kBf16, kTf32, kFp8, kFp4, kInt8)},
};

MathType MathTypeOfFactor(DType type) {
  switch (type) {
    case DType::kFloat16:
    case DType::kComplex32:
      return kFp16;
    case DType::kBFloat16:
      return kBf16;
    case DType::kTFloat32:
    case DType::kFloat32:
    case DType::kComplex64:
      return kTf32;
    case DType::kFloat64:
    case DType::kComplex128:
      return kFp64;
    case DType::kFloat8E4m3:
    case DType::kFloat8E5m2:
      return kFp8;
    case DType::kFloat4E2m1:
      return kFp4;
    case DType::kInt8:
    case DType::kUInt8:
      return kInt8;
    case DType::kInt4:
    case DType::kUInt4:
      return kInt4;
    default:
      return kUnknown;
  }
}

bool IsWide(MathType math) {
  return math == kFp16 || math == kBf16 || math == kTf32 || math == kFp64;
}

bool IsMathTypeNarrowInteger(MathType math) { return math == kInt8 || math == kInt4; }

}  // namespace

std::string_view MathTypeWord(MathType type) {
  switch (type) {
    case MathType::kFp16:
      return "fp16";
    case MathType::kBf16:
      return "bf16";
    case MathType::kTf32:
      return "tf32";
    case MathType::kThreeTf32:
      return "3xtf32";
    case MathType::kFp8:
      return "fp8";
    case MathType::kFp4:
      return "fp4";
    case MathType::kInt8:
      return "int8";
    case MathType::kInt4:
      return "int4";
    case MathType::kFp64:
      return "fp64";
    case MathType::kBinary:
      return "b1";
    case MathType::kUnknown:
      break;
  }
  return "";
}

MathType FindMathType(std::string_view word) {
  for (auto type = MathType::kFp16; type <= MathType::kBinary;
       type = static_cast<MathType>(static_cast<uint8_t>(type) + 1)) {
    if (MathTypeWord(type) == word) return type;
  }
  return MathType::kUnknown;
}

MathType MathTypeOf(DType left, DType right, bool* known) {
  *known = left != DType::kUnknown && right != DType::kUnknown;
  if (!*known) return kUnknown;
  const MathType a = MathTypeOfFactor(left);
  const MathType b = MathTypeOfFactor(right);
  if (a == b) return a;
  if (a == kUnknown || b == kUnknown) return kUnknown;
  // fp8 with fp4 runs as fp8; quantized weights are widened to the type of the activations.
  if ((a == kFp8 && b == kFp4) || (a == kFp4 && b == kFp8)) return kFp8;
  if (IsWide(a) && !IsWide(b)) return a;
  if (IsWide(b) && !IsWide(a)) return b;
  if (IsMathTypeNarrowInteger(a) && IsMathTypeNarrowInteger(b)) return kInt8;
  if (!IsWide(a)) return kUnknown;
  bool unused = false;
  const DType both = PromoteDTypes(left, right);
  return MathTypeOf(both, both, &unused);
}

bool HasTensorCoreFor(int compute_capability, MathType math) {
  if (math == kThreeTf32) math = kTf32;
  if (math == kUnknown) return false;
  uint32_t types = 0;
  for (const Generation& generation : kGenerations) {
    if (compute_capability >= generation.first) types = generation.types;
  }
  return (types & Bit(math)) != 0;
}

int64_t AlignmentOf(MathType math) {
  switch (math) {
    case kFp16:
    case kBf16:
      return 8;
    case kTf32:
    case kThreeTf32:
      return 4;
    case kFp8:
    case kInt8:
      return 16;
    case kFp4:
    case kInt4:
      return 32;
    case kFp64:
      return 2;
    default:
      return 1;
  }
}

}  // namespace oplens::ops
