#ifndef OPLENS_BASE_CHECKED_H_
#define OPLENS_BASE_CHECKED_H_

// Public header: installed, docs/library.md.

#include <cstdint>
#include <optional>

namespace oplens {

/// An exact integer that does not wrap: 128-bit inside, 64-bit outside. A result beyond 128 bits is
/// an overflow, which all later results keep; Value() then returns nullopt, as it does for values
/// beyond 64 bits. Costs are computed with it.
class Checked {
 public:
  constexpr Checked() = default;
  constexpr Checked(int64_t value) : value_(value) {}  // NOLINT(google-explicit-constructor)

  friend constexpr Checked operator+(Checked a, Checked b) {
    Checked r;
    const bool overflow = __builtin_add_overflow(a.value_, b.value_, &r.value_);
    return r.OverflowIf(overflow || a.overflow() || b.overflow());
  }
  friend constexpr Checked operator-(Checked a, Checked b) {
    Checked r;
    const bool overflow = __builtin_sub_overflow(a.value_, b.value_, &r.value_);
    return r.OverflowIf(overflow || a.overflow() || b.overflow());
  }
  friend constexpr Checked operator*(Checked a, Checked b) {
    Checked r;
    const bool overflow = __builtin_mul_overflow(a.value_, b.value_, &r.value_);
    return r.OverflowIf(overflow || a.overflow() || b.overflow());
  }
  /// Rounds towards zero; a zero divisor is an overflow.
  friend constexpr Checked operator/(Checked a, Checked b) {
    if (b.value_ == 0 || a.overflow() || b.overflow()) return Checked().OverflowIf(true);
    Checked r;
    r.value_ = a.value_ / b.value_;
    return r;
  }
  constexpr Checked& operator+=(Checked b) { return *this = *this + b; }
  constexpr Checked& operator*=(Checked b) { return *this = *this * b; }
  friend constexpr bool operator==(Checked a, Checked b) { return a.value_ == b.value_; }

  /// The value, or nullopt after an overflow of 128 bits or when it does not fit into int64_t.
  constexpr std::optional<int64_t> Value() const {
    if (value_ > INT64_MAX || value_ < INT64_MIN) return std::nullopt;
    return static_cast<int64_t>(value_);
  }

  /// The full state, for storage.
  struct Parts {
    int64_t high = 0;  ///< Upper half of the 128 bits.
    uint64_t low = 0;
    bool overflow = false;
  };
  constexpr Parts parts() const {
    if (overflow()) return {0, 0, true};
    return {static_cast<int64_t>(value_ >> 64), static_cast<uint64_t>(value_), false};
  }
  constexpr explicit Checked(const Parts& parts)
      : value_(parts.overflow
                   ? kOverflow
                   : static_cast<Int128>(static_cast<Unsigned128>(parts.high) << 64 | parts.low)) {}

  /// The nearest double, for values beyond 64 bits; nullopt after an overflow of 128 bits.
  constexpr std::optional<double> Approximate() const {
    if (overflow()) return std::nullopt;
    return static_cast<double>(value_);
  }

 private:
  // Extensions of g++ and clang.
  __extension__ using Int128 = __int128;
  __extension__ using Unsigned128 = unsigned __int128;

  // Its least value stands for an overflow: objects of 16 bytes, of which tables of groups have
  // many.
  static constexpr Int128 kOverflow = static_cast<Int128>(static_cast<Unsigned128>(1) << 127);

  constexpr bool overflow() const { return value_ == kOverflow; }
  constexpr Checked OverflowIf(bool overflow) {
    if (overflow) value_ = kOverflow;
    return *this;
  }

  Int128 value_ = 0;
};

}  // namespace oplens

#endif  // OPLENS_BASE_CHECKED_H_
