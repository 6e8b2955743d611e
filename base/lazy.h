#ifndef OPLENS_BASE_LAZY_H_
#define OPLENS_BASE_LAZY_H_

#include <optional>

#include "base/once.h"

namespace oplens {

/// A value that is made on first use, by whichever thread that is.
template <typename T>
class Lazy {
 public:
  /// `make()` returns the value; the same on each call. It may use other lazy values.
  template <typename Make>
  T& Get(Make make) const {
    once_.Do([&] { value_.emplace(make()); });
    return *value_;
  }

 private:
  mutable Once once_;
  mutable std::optional<T> value_;
};

}  // namespace oplens

#endif  // OPLENS_BASE_LAZY_H_
