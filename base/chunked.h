#ifndef OPLENS_BASE_CHUNKED_H_
#define OPLENS_BASE_CHUNKED_H_

#include <cstddef>
#include <utility>
#include <vector>

namespace oplens {

/// A list that grows at its end without a copy of all of it, of which the old one would be kept
/// meanwhile: values lie in chunks. For many large values.
template <typename T>
class Chunked {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return chunks_[i / kChunk][i % kChunk]; }
  const T& operator[](size_t i) const { return chunks_[i / kChunk][i % kChunk]; }

  T& push_back(T value) {
    if (size_ % kChunk == 0) {
      chunks_.emplace_back();
      if (size_ > 0) chunks_.back().reserve(kChunk);
    }
    chunks_.back().push_back(std::move(value));
    ++size_;
    return chunks_.back().back();
  }

  class Iterator {
   public:
    Iterator(const Chunked* of, size_t place) : of_(of), place_(place) {}
    const T& operator*() const { return (*of_)[place_]; }
    Iterator& operator++() {
      ++place_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return place_ == other.place_; }

   private:
    const Chunked* of_;
    size_t place_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size_}; }

 private:
  // Chunks of values of 64 bytes are given back when they are freed: GiveBackWhatIsFreed().
  static constexpr size_t kChunk = size_t{1} << 14;

  std::vector<std::vector<T>> chunks_;
  size_t size_ = 0;
};

}  // namespace oplens

#endif  // OPLENS_BASE_CHUNKED_H_
