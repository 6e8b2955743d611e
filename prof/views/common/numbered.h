#ifndef OPLENS_PROF_VIEWS_COMMON_NUMBERED_H_
#define OPLENS_PROF_VIEWS_COMMON_NUMBERED_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"

namespace oplens::prof {

/// Values with Transfer, each once, by number: of what many calls have in common each keeps the
/// number alone.
template <typename T>
class Numbered {
 public:
  Numbered() = default;
  // Numbers stand for keys of the map.
  Numbered(const Numbered&) = delete;
  Numbered& operator=(const Numbered&) = delete;
  Numbered(Numbered&&) noexcept = default;
  Numbered& operator=(Numbered&&) noexcept = default;

  uint32_t NumberOf(const T& value) {
    const auto [at, fresh] = numbers_.try_emplace(value, static_cast<uint32_t>(values_.size()));
    if (fresh) values_.push_back(&at->first);
    return at->second;
  }
  /// Lives as long as this object.
  const T& operator[](uint32_t number) const { return *values_[number]; }
  size_t size() const { return values_.size(); }

  /// Takes those of another: the number here of each.
  std::vector<uint32_t> Merge(const Numbered& other) {
    std::vector<uint32_t> numbers;
    numbers.reserve(other.size());
    for (const T* value : other.values_) numbers.push_back(NumberOf(*value));
    return numbers;
  }

  void Save(ByteWriter* bytes) const {
    bytes->Number(values_.size());
    for (const T* value : values_) bytes->Values(value);
  }
  /// The number here of each that was saved; two may have become one.
  std::vector<uint32_t> Load(ByteReader* bytes) {
    std::vector<uint32_t> numbers;
    for (size_t left = bytes->Size(T::kLeastBytes); left > 0; --left) {
      T value;
      bytes->Values(&value);
      numbers.push_back(NumberOf(value));
    }
    return numbers;
  }

 private:
  std::map<T, uint32_t> numbers_;
  std::vector<const T*> values_;  // Keys of `numbers_`.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COMMON_NUMBERED_H_
