#include "ops/dtype.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/ascii.h"

namespace oplens::ops {
namespace {

struct Traits {
  std::string_view word;
  int bits;
  DType type;
  DTypeCategory category;
};

// In the order of the enumerators.
constexpr Traits kTraits[] = {
    {"bool", 8, DType::kBool, DTypeCategory::kBool},
    {"uint4", 4, DType::kUInt4, DTypeCategory::kInteger},
    {"int4", 4, DType::kInt4, DTypeCategory::kInteger},
    {"uint8", 8, DType::kUInt8, DTypeCategory::kInteger},
    {"int8", 8, DType::kInt8, DTypeCategory::kInteger},
    {"uint16", 16, DType::kUInt16, DTypeCategory::kInteger},
    {"int16", 16, DType::kInt16, DTypeCategory::kInteger},
    {"uint32", 32, DType::kUInt32, DTypeCategory::kInteger},
    {"int32", 32, DType::kInt32, DTypeCategory::kInteger},
    {"uint64", 64, DType::kUInt64, DTypeCategory::kInteger},
    {"int64", 64, DType::kInt64, DTypeCategory::kInteger},
    {"fp4", 4, DType::kFloat4E2m1, DTypeCategory::kFloat},
    {"fp8e4m3", 8, DType::kFloat8E4m3, DTypeCategory::kFloat},
    {"fp8e5m2", 8, DType::kFloat8E5m2, DTypeCategory::kFloat},
    {"fp8e8m0", 8, DType::kFloat8E8m0, DTypeCategory::kFloat},
    {"fp16", 16, DType::kFloat16, DTypeCategory::kFloat},
    {"bf16", 16, DType::kBFloat16, DTypeCategory::kFloat},
    {"tf32", 32, DType::kTFloat32, DTypeCategory::kFloat},
    {"fp32", 32, DType::kFloat32, DTypeCategory::kFloat},
    {"fp64", 64, DType::kFloat64, DTypeCategory::kFloat},
    {"c32", 32, DType::kComplex32, DTypeCategory::kComplex},
    {"c64", 64, DType::kComplex64, DTypeCategory::kComplex},
    {"c128", 128, DType::kComplex128, DTypeCategory::kComplex},
    {"?", 0, DType::kUnknown, DTypeCategory::kFloat},
};

constexpr bool InOrder() {
  for (size_t i = 0; i < std::size(kTraits); ++i) {
    if (kTraits[i].type != static_cast<DType>(i)) return false;
  }
  return true;
}
static_assert(InOrder());

struct Spelling {
  std::string_view text;
  DType type;
};

// Lower case, without the prefixes and suffixes that Bare removes.
constexpr Spelling kSpellings[] = {
    {"bool", DType::kBool},
    {"uint8", DType::kUInt8},
    {"uint8_t", DType::kUInt8},
    {"byte", DType::kUInt8},
    {"unsigned char", DType::kUInt8},
    {"quint8", DType::kUInt8},
    {"int8", DType::kInt8},
    {"int8_t", DType::kInt8},
    {"char", DType::kInt8},
    {"signed char", DType::kInt8},
    {"qint8", DType::kInt8},
    {"uint16", DType::kUInt16},
    {"unsigned short", DType::kUInt16},
    {"int16", DType::kInt16},
    {"short", DType::kInt16},
    {"short int", DType::kInt16},
    {"uint32", DType::kUInt32},
    {"unsigned int", DType::kUInt32},
    {"int32", DType::kInt32},
    {"int", DType::kInt32},
    {"qint32", DType::kInt32},
    {"uint64", DType::kUInt64},
    {"unsigned long", DType::kUInt64},
    {"int64", DType::kInt64},
    {"int64_t", DType::kInt64},
    {"long", DType::kInt64},
    {"long int", DType::kInt64},
    {"long long", DType::kInt64},
    {"int4", DType::kInt4},
    {"uint4", DType::kUInt4},
    {"quint4x2", DType::kUInt4},
    {"fp4", DType::kFloat4E2m1},
    {"float4_e2m1fn", DType::kFloat4E2m1},
    {"float4_e2m1fn_x2", DType::kFloat4E2m1},
    {"float8_e4m3", DType::kFloat8E4m3},
    {"float8_e4m3fn", DType::kFloat8E4m3},
    {"float8_e4m3fnuz", DType::kFloat8E4m3},
    {"fp8e4m3", DType::kFloat8E4m3},
    {"__nv_fp8_e4m3", DType::kFloat8E4m3},
    {"float8_e5m2", DType::kFloat8E5m2},
    {"float8_e5m2fnuz", DType::kFloat8E5m2},
    {"fp8e5m2", DType::kFloat8E5m2},
    {"__nv_fp8_e5m2", DType::kFloat8E5m2},
    {"float8_e8m0fnu", DType::kFloat8E8m0},
    {"fp8e8m0", DType::kFloat8E8m0},
    {"float16", DType::kFloat16},
    {"half", DType::kFloat16},
    {"fp16", DType::kFloat16},
    {"__half", DType::kFloat16},
    {"bfloat16", DType::kBFloat16},
    {"bf16", DType::kBFloat16},
    {"__nv_bfloat16", DType::kBFloat16},
    {"tf32", DType::kTFloat32},
    {"tfloat32", DType::kTFloat32},
    {"float32", DType::kFloat32},
    {"float", DType::kFloat32},
    {"fp32", DType::kFloat32},
    {"float64", DType::kFloat64},
    {"double", DType::kFloat64},
    {"fp64", DType::kFloat64},
    {"complex32", DType::kComplex32},
    {"complexhalf", DType::kComplex32},
    {"c32", DType::kComplex32},
    {"chalf", DType::kComplex32},
    {"complex<half>", DType::kComplex32},
    {"complex64", DType::kComplex64},
    {"complexfloat", DType::kComplex64},
    {"cfloat", DType::kComplex64},
    {"complex<float>", DType::kComplex64},
    {"c64", DType::kComplex64},
    {"complex128", DType::kComplex128},
    {"complexdouble", DType::kComplex128},
    {"cdouble", DType::kComplex128},
    {"complex<double>", DType::kComplex128},
    {"c128", DType::kComplex128},
};

constexpr std::string_view kDtypePrefixes[] = {"torch.cuda.", "torch.", "c10::", "at::", "numpy."};
constexpr std::string_view kTensorSuffix = "tensor";  // "torch.cuda.HalfTensor"
constexpr size_t kLongestSpelling = 48;

const Traits& TraitsOf(DType type) { return kTraits[static_cast<size_t>(type)]; }

// "c10::complex<c10::Half>" -> "complex<half>", stored in `buffer`. Empty if too long.
std::string_view Bare(std::string_view spelling, std::array<char, kLongestSpelling>* buffer) {
  if (spelling.size() > buffer->size()) return {};
  size_t length = 0;
  for (size_t i = 0; i < spelling.size();) {
    const bool at_word = i == 0 || spelling[i - 1] == '<';
    const auto* prefix =
        std::find_if(std::begin(kDtypePrefixes), std::end(kDtypePrefixes),
                     [&](auto p) { return at_word && spelling.substr(i).starts_with(p); });
    if (prefix != std::end(kDtypePrefixes)) {
      i += prefix->size();
      if (i >= spelling.size()) break;
    }
    (*buffer)[length++] = ToLower(spelling[i++]);
  }
  std::string_view bare(buffer->data(), length);
  if (bare.ends_with(kTensorSuffix)) bare.remove_suffix(kTensorSuffix.size());
  return bare;
}

DType WiderComplex(int component_bits) {
  if (component_bits <= 16) return DType::kComplex32;
  return component_bits <= 32 ? DType::kComplex64 : DType::kComplex128;
}

bool IsUnsigned(DType type) {
  return type == DType::kUInt4 || type == DType::kUInt8 || type == DType::kUInt16 ||
         type == DType::kUInt32 || type == DType::kUInt64;
}

// The narrowest signed integer type wider than `bits` unsigned bits.
DType SignedAbove(int bits) {
  if (bits <= 8) return DType::kInt16;
  return bits <= 16 ? DType::kInt32 : DType::kInt64;
}

}  // namespace

std::optional<DType> ParseDType(std::string_view spelling) {
  for (const Traits& traits : kTraits) {  // Most are our own words.
    if (traits.word == spelling && traits.type != DType::kUnknown) return traits.type;
  }
  std::array<char, kLongestSpelling> buffer;
  const std::string_view bare = Bare(spelling, &buffer);
  for (const Spelling& known : kSpellings) {
    if (known.text == bare) return known.type;
  }
  return std::nullopt;
}

int BitsOf(DType type) { return TraitsOf(type).bits; }

std::string_view DTypeWord(DType type) { return TraitsOf(type).word; }

DTypeCategory CategoryOf(DType type) { return TraitsOf(type).category; }

Checked BytesOf(Checked elements, DType type) { return (elements * BitsOf(type) + 7) / 8; }

DType PromoteDTypes(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::kUnknown || b == DType::kUnknown) return DType::kUnknown;
  if (CategoryOf(a) < CategoryOf(b)) std::swap(a, b);
  if (CategoryOf(a) == DTypeCategory::kComplex) {
    const int b_bits = CategoryOf(b) == DTypeCategory::kComplex ? BitsOf(b) / 2 : BitsOf(b);
    return CategoryOf(b) < DTypeCategory::kFloat ? a
                                                 : WiderComplex(std::max(BitsOf(a) / 2, b_bits));
  }
  if (CategoryOf(a) != CategoryOf(b)) return a;
  if (BitsOf(a) < BitsOf(b) || (BitsOf(a) == BitsOf(b) && IsUnsigned(b))) std::swap(a, b);
  // An unsigned type of at least the signed one's width fits into neither.
  if (CategoryOf(a) == DTypeCategory::kInteger) {
    return IsUnsigned(a) && !IsUnsigned(b) ? SignedAbove(BitsOf(a)) : a;
  }
  // Two floats of equal width, such as fp16 and bf16: the next width holds both.
  if (BitsOf(a) == BitsOf(b)) return BitsOf(a) < 16 ? DType::kFloat16 : DType::kFloat32;
  return a;
}

}  // namespace oplens::ops
