#ifndef OPLENS_TEST_TORCH_HEADERS_2_C10_UTIL_ARRAYREF_H_
#define OPLENS_TEST_TORCH_HEADERS_2_C10_UTIL_ARRAYREF_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace c10 {

/// A view of elements that lie elsewhere.
template <typename T>
class ArrayRef final {
 public:
  ArrayRef() = default;
  ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  template <typename U>
  ArrayRef(const std::vector<U>& list) : data_(list.data()), size_(list.size()) {}

  const T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  const T& operator[](size_t i) const { return data_[i]; }
  ArrayRef slice(size_t first) const { return {data_ + first, size_ - first}; }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

using IntArrayRef = ArrayRef<int64_t>;

}  // namespace c10

#endif  // OPLENS_TEST_TORCH_HEADERS_2_C10_UTIL_ARRAYREF_H_
