#ifndef OPLENS_TEST_TORCH_HEADERS_2_C10_CORE_TENSORIMPL_H_
#define OPLENS_TEST_TORCH_HEADERS_2_C10_CORE_TENSORIMPL_H_

#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace c10 {

/// The numbers of element types; those that are used have names.
enum class ScalarType : int8_t {
  Byte = 0,
  Char = 1,
  Short = 2,
  Int = 3,
  Long = 4,
  Half = 5,
  Float = 6,
  Double = 7,
  ComplexFloat = 9,
  ComplexDouble = 10,
  Bool = 11,
  BFloat16 = 15,
  Float8_e4m3fn = 24,
  UInt16 = 27,
};
inline const char* toString(ScalarType type) {
  return type == ScalarType::BFloat16 ? "BFloat16" : "Float";
}

}  // namespace c10

namespace caffe2 {

class TypeMeta final {
 public:
  explicit TypeMeta(c10::ScalarType type) : type_(type) {}
  bool isScalarType() const { return true; }
  c10::ScalarType toScalarType() { return type_; }

 private:
  c10::ScalarType type_;
};

}  // namespace caffe2

namespace c10 {

class TensorImpl {
 public:
  TensorImpl(std::vector<int64_t> sizes, ScalarType type, bool symbolic = false)
      : sizes_(std::move(sizes)), type_(type), symbolic_(symbolic) {}
  virtual ~TensorImpl() = default;
  IntArrayRef sizes() const { return sizes_; }
  caffe2::TypeMeta dtype() const { return caffe2::TypeMeta(type_); }
  bool has_symbolic_sizes_strides() const { return symbolic_; }
  bool is_nested() const { return false; }
  bool is_python_dispatch() const { return false; }
  bool is_cpu() const { return true; }
  bool is_wrapped_number() const { return false; }
  int64_t dim() const { return static_cast<int64_t>(sizes_.size()); }
  bool has_storage() const { return false; }
  const void* data() const { return nullptr; }
  bool requires_grad() const { return false; }

 private:
  std::vector<int64_t> sizes_;
  ScalarType type_;
  bool symbolic_;
};

}  // namespace c10

namespace at {
using c10::TensorImpl;
}  // namespace at

#endif  // OPLENS_TEST_TORCH_HEADERS_2_C10_CORE_TENSORIMPL_H_
