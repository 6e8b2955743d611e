#ifndef OPLENS_BASE_SUMS_H_
#define OPLENS_BASE_SUMS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>

#include "base/members.h"
#include "base/saturating.h"

namespace oplens {

// Sums that can be merged, saved and loaded, and so can a struct of them: its members are merged by
// their types, and saved in the order of their declaration (base/byte_writer.h):
//     struct CopySums {
//       Sum bytes;
//       Max<int64_t> longest_ns;
//     };
//
// The order of merging does not matter.

enum class SavedAs : uint8_t { kSum, kCount, kNumber };

/// A sum that saturates at the range of int64_t.
template <SavedAs saved_as>
class BasicSum {
 public:
  constexpr BasicSum(int64_t value = 0) : value_(value) {}  // NOLINT(google-explicit-constructor)
  constexpr operator int64_t() const { return value_; }     // NOLINT(google-explicit-constructor)

  constexpr BasicSum& operator+=(int64_t more) {
    SaturatingAdd(&value_, more);
    return *this;
  }
  constexpr BasicSum& operator++() { return *this += 1; }
  constexpr void Merge(const BasicSum& other) { *this += other.value_; }

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    if constexpr (saved_as == SavedAs::kSum) bytes->Sums(&self->value_);
    if constexpr (saved_as == SavedAs::kCount) bytes->Counts(&self->value_);
    if constexpr (saved_as == SavedAs::kNumber) bytes->Values(&self->value_);
  }

 private:
  int64_t value_;
};
using Sum = BasicSum<SavedAs::kSum>;         ///< Of non-negative values: times, bytes.
using Count = BasicSum<SavedAs::kCount>;     ///< At most 2^48 when read.
using Balance = BasicSum<SavedAs::kNumber>;  ///< Of values of any sign.

/// The largest value added, at least T(). An empty optional is less than any value.
template <typename T>
struct Max {
  T value{};

  void Add(const T& other) { value = std::max(value, other); }
  void Merge(const Max& other) { Add(other.value); }
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->value);
  }
};

/// The smallest value added; the maximum of int64_t if there is none.
struct Min {
  int64_t value = std::numeric_limits<int64_t>::max();

  void Add(int64_t other) { value = std::min(value, other); }
  void Merge(const Min& other) { Add(other.value); }
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->value);
  }
};

/// Bits that any of the values has.
template <typename T>
struct BitsOfAny {
  T value{};

  constexpr operator T() const { return value; }  // NOLINT(google-explicit-constructor)
  void Add(T bits) { value |= bits; }
  BitsOfAny& operator|=(T bits) {
    Add(bits);
    return *this;
  }
  void Merge(const BitsOfAny& other) { Add(other.value); }
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->value);
  }
};
/// Whether any value is true.
using Any = BitsOfAny<bool>;

template <typename T>
void MergeInto(T* own, const T& more);

/// Merges each member with MergeInto.
template <HasMembers T>
void MergeMembers(T* own, const T& more) {
  const auto others = MembersOf(more);
  std::apply(
      [&](auto&... members) {
        std::apply([&](const auto&... other) { (MergeInto(&members, other), ...); }, others);
      },
      MembersOf(*own));
}

/// Whether all values are true.
struct All {
  bool value = true;

  constexpr operator bool() const { return value; }  // NOLINT(google-explicit-constructor)
  All& operator&=(bool other) {
    value &= other;
    return *this;
  }
  void Merge(const All& other) { value &= other.value; }
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->value);
  }
};

/// Merges `more` into `*own`: by Merge, member by member, maps by key, sets by union, arrays
/// element by element, lists by appending, otherwise with +=.
template <typename T>
void MergeInto(T* own, const T& more) {
  if constexpr (requires { own->Merge(more); }) {
    own->Merge(more);
  } else if constexpr (ListsMembers<T>) {
    MergeMembers(own, more);
  } else if constexpr (requires { typename T::mapped_type; }) {
    for (const auto& [key, value] : more) MergeInto(&(*own)[key], value);
  } else if constexpr (requires { typename T::key_type; }) {
    own->insert(more.begin(), more.end());
  } else if constexpr (requires { own->push_back(more.front()); }) {
    own->insert(own->end(), more.begin(), more.end());
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    for (size_t i = 0; i < more.size(); ++i) MergeInto(&(*own)[i], more[i]);
  } else if constexpr (HasMembers<T>) {
    MergeMembers(own, more);
  } else {
    *own += more;
  }
}

}  // namespace oplens

#endif  // OPLENS_BASE_SUMS_H_
