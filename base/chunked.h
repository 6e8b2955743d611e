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
  size_t size() const {
    return empty() ? 0 : (chunks_.size() - 1) * kChunk + chunks_.back().size();
  }
  bool empty() const { return chunks_.empty(); }
  T& operator[](size_t i) { return chunks_[i / kChunk][i % kChunk]; }
  const T& operator[](size_t i) const { return chunks_[i / kChunk][i % kChunk]; }

  void push_back(T value) {
    if (empty()) {
      chunks_.emplace_back();
    } else if (chunks_.back().size() == kChunk) {
      chunks_.emplace_back().reserve(kChunk);
    }
    chunks_.back().push_back(std::move(value));
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
  Iterator end() const { return {this, size()}; }

 private:
  // Chunks of values of 64 bytes or more are given back when they are freed: GiveBackWhatIsFreed().
  static constexpr size_t kChunk = size_t{1} << 14;

  std::vector<std::vector<T>> chunks_;
};

}  // namespace oplens

#endif  // OPLENS_BASE_CHUNKED_H_
