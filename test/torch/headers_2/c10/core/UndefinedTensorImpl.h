#ifndef OPLENS_TEST_TORCH_HEADERS_2_C10_CORE_UNDEFINEDTENSORIMPL_H_
#define OPLENS_TEST_TORCH_HEADERS_2_C10_CORE_UNDEFINEDTENSORIMPL_H_

#include <c10/core/TensorImpl.h>

namespace c10 {

/// What an undefined tensor refers to.
class UndefinedTensorImpl final : public TensorImpl {
 public:
  static TensorImpl* singleton() {
    static UndefinedTensorImpl only;
    return &only;
  }

 private:
  UndefinedTensorImpl() : TensorImpl({}, ScalarType::Float) {}
};

}  // namespace c10

#endif  // OPLENS_TEST_TORCH_HEADERS_2_C10_CORE_UNDEFINEDTENSORIMPL_H_
