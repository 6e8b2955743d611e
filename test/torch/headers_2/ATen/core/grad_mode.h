#ifndef OPLENS_TEST_TORCH_HEADERS_2_ATEN_CORE_GRAD_MODE_H_
#define OPLENS_TEST_TORCH_HEADERS_2_ATEN_CORE_GRAD_MODE_H_

namespace at {

struct GradMode {
  static bool is_enabled() { return false; }
};

}  // namespace at

#endif  // OPLENS_TEST_TORCH_HEADERS_2_ATEN_CORE_GRAD_MODE_H_
