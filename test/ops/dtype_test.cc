#include "ops/dtype.h"

#include <gtest/gtest.h>

#include <string>

namespace oplens::ops::dtype_test {
namespace {

TEST(DTypeTest, Spellings) {
  struct Row {
    const char* spelling;
    const char* word;  // Empty: not a type.
    int bits;
  };
  const Row rows[] = {
      {"float16", "fp16", 16},
      {"torch.float16", "fp16", 16},
      {"half", "fp16", 16},
      {"Half", "fp16", 16},
      {"fp16", "fp16", 16},
      {"c10::Half", "fp16", 16},
      {"at::Half", "fp16", 16},
      {"__half", "fp16", 16},
      {"torch.cuda.HalfTensor", "fp16", 16},
      {"bfloat16", "bf16", 16},
      {"c10::BFloat16", "bf16", 16},
      {"float", "fp32", 32},
      {"Float", "fp32", 32},
      {"float32", "fp32", 32},
      {"tf32", "tf32", 32},
      {"double", "fp64", 64},
      {"float64", "fp64", 64},
      {"long", "int64", 64},
      {"int64", "int64", 64},
      {"long int", "int64", 64},
      {"torch.LongTensor", "int64", 64},
      {"int", "int32", 32},
      {"int16", "int16", 16},
      {"char", "int8", 8},
      {"int8", "int8", 8},
      {"unsigned char", "uint8", 8},
      {"byte", "uint8", 8},
      {"quint8", "uint8", 8},
      {"bool", "bool", 8},
      {"float8_e4m3fn", "fp8e4m3", 8},
      {"c10::Float8_e4m3fn", "fp8e4m3", 8},
      {"float8_e5m2fnuz", "fp8e5m2", 8},
      {"float8_e8m0fnu", "fp8e8m0", 8},
      {"float4_e2m1fn_x2", "fp4", 4},
      {"int4", "int4", 4},
      {"complex32", "c32", 32},
      {"complex64", "c64", 64},
      {"c10::complex<float>", "c64", 64},
      {"c10::complex<c10::Half>", "c32", 32},
      {"complex128", "c128", 128},
      {"", "", 0},
      {"torch.", "", 0},
      {"Tensor", "", 0},
      {"float17", "", 0},
      {"float 16", "", 0},
      {" float", "", 0},
      {"floatfloat", "", 0},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.spelling);
    const std::optional<DType> type = ParseDType(row.spelling);
    EXPECT_EQ(type.has_value(), *row.word != '\0');
    if (!type) continue;
    EXPECT_EQ(DTypeWord(*type), row.word);
    EXPECT_EQ(BitsOf(*type), row.bits);
    EXPECT_EQ(ParseDType(DTypeWord(*type)), type);
  }
  EXPECT_EQ(ParseDType(std::string(1 << 20, 'f')), std::nullopt);
  EXPECT_EQ(ParseDType(std::string("float16\0", 8)), std::nullopt);
}

TEST(DTypeTest, BytesAreWhole) {
  EXPECT_EQ(BytesOf(5, DType::kFloat32).Value(), 20);
  EXPECT_EQ(BytesOf(5, DType::kInt4).Value(), 3);
  EXPECT_EQ(BytesOf(4, DType::kInt4).Value(), 2);
  EXPECT_EQ(BytesOf(0, DType::kInt4).Value(), 0);
  EXPECT_EQ(BytesOf(INT64_MAX, DType::kBool).Value(), INT64_MAX);
  EXPECT_EQ(BytesOf(INT64_MAX, DType::kFloat16).Value(), std::nullopt);
}

TEST(DTypeTest, PromotionIsCommutativeAndKnown) {
  struct Row {
    DType a, b, result;
  };
  const Row rows[] = {
      {DType::kFloat16, DType::kFloat16, DType::kFloat16},
      {DType::kFloat16, DType::kFloat32, DType::kFloat32},
      {DType::kFloat16, DType::kBFloat16, DType::kFloat32},
      {DType::kFloat16, DType::kInt64, DType::kFloat16},
      {DType::kBool, DType::kInt8, DType::kInt8},
      {DType::kUInt8, DType::kInt8, DType::kInt16},
      {DType::kUInt8, DType::kInt32, DType::kInt32},
      {DType::kInt32, DType::kInt64, DType::kInt64},
      {DType::kComplex64, DType::kFloat32, DType::kComplex64},
      {DType::kComplex64, DType::kFloat64, DType::kComplex128},
      {DType::kComplex32, DType::kFloat32, DType::kComplex64},
      {DType::kComplex64, DType::kInt64, DType::kComplex64},
      {DType::kComplex64, DType::kComplex128, DType::kComplex128},
      {DType::kFloat8E4m3, DType::kFloat8E5m2, DType::kFloat16},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(DTypeWord(row.a)) + " " + std::string(DTypeWord(row.b)));
    EXPECT_EQ(PromoteDTypes(row.a, row.b), row.result);
    EXPECT_EQ(PromoteDTypes(row.b, row.a), row.result);
  }
}

}  // namespace
}  // namespace oplens::ops::dtype_test
