#ifndef OPLENS_BASE_LAZY_H_
#define OPLENS_BASE_LAZY_H_

#include <atomic>
#include <mutex>
#include <optional>

namespace oplens {

/// A value that is made on first use, by whichever thread that is.
template <typename T>
class Lazy {
 public:
  /// `make()` returns the value; the same on each call. It may use other lazy values.
  template <typename Make>
  T& Get(Make make) const {
    if (!is_made_.load(std::memory_order_acquire)) {
      std::call_once(once_, [&] {
        value_.emplace(make());
        is_made_.store(true, std::memory_order_release);
      });
    }
    return *value_;
  }

 private:
  mutable std::once_flag once_;
  mutable std::atomic<bool> is_made_{false};
  mutable std::optional<T> value_;
};

}  // namespace oplens

#endif  // OPLENS_BASE_LAZY_H_
