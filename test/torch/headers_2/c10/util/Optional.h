#ifndef OPLENS_TEST_TORCH_HEADERS_2_C10_UTIL_OPTIONAL_H_
#define OPLENS_TEST_TORCH_HEADERS_2_C10_UTIL_OPTIONAL_H_

#include <optional>
#include <utility>

namespace c10 {

#if OPLENS_STAND_IN_MINOR >= 4
using std::nullopt;
using std::optional;
#else
struct nullopt_t {};
inline constexpr nullopt_t nullopt;

/// Like that of the standard library, and another type.
template <typename T>
class optional {
 public:
  optional(nullopt_t) {}
  optional(T value) : value_(std::move(value)) {}
  bool has_value() const { return value_.has_value(); }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
};
#endif

}  // namespace c10

#endif  // OPLENS_TEST_TORCH_HEADERS_2_C10_UTIL_OPTIONAL_H_
