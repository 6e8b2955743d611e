#ifndef OPLENS_BASE_MEMBERS_H_
#define OPLENS_BASE_MEMBERS_H_

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace oplens {

namespace members_internal {

/// Converts to anything; never evaluated.
struct AnyValue {
  template <typename T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};

template <typename T, size_t... i>
constexpr bool TakesValues(std::index_sequence<i...> /*values*/) {
  return requires { T{(static_cast<void>(i), AnyValue{})...}; };
}

/// The number of members of an aggregate: how many values it takes in braces.
template <typename T, size_t count = 0>
constexpr size_t CountMembers() {
  if constexpr (TakesValues<T>(std::make_index_sequence<count + 1>())) {
    return CountMembers<T, count + 1>();
  } else {
    return count;
  }
}

}  // namespace members_internal

template <typename T>
concept ListsMembers = requires {
  T::kMembers;
};

/// A type whose members are known: a struct without base classes, constructors and private members,
/// or a class that lists its members in a tuple, kMembers:
///     static constexpr std::tuple kMembers{&Own::name_, &Own::lengths_};
template <typename T>
concept HasMembers = ListsMembers<T> ||(std::is_class_v<T>&& std::is_aggregate_v<T>);

/// References to the members of an object, as a tuple in the order of their declaration or of
/// kMembers.
template <typename T>
requires HasMembers<std::remove_const_t<T>>
constexpr auto MembersOf(T& object) {
  using Type = std::remove_const_t<T>;
  if constexpr (ListsMembers<Type>) {
    return std::apply([&](auto... member) { return std::tie(object.*member...); }, Type::kMembers);
  } else {
    constexpr size_t kCount = members_internal::CountMembers<Type>();
    static_assert(kCount > 0 && kCount <= 20, "a struct of 1 to 20 members");
// clang-format off
#define OPLENS_MEMBERS(count, ...) \
    if constexpr (kCount == (count)) { auto& [__VA_ARGS__] = object; return std::tie(__VA_ARGS__); }
    OPLENS_MEMBERS(1, a)
    OPLENS_MEMBERS(2, a, b)
    OPLENS_MEMBERS(3, a, b, c)
    OPLENS_MEMBERS(4, a, b, c, d)
    OPLENS_MEMBERS(5, a, b, c, d, e)
    OPLENS_MEMBERS(6, a, b, c, d, e, f)
    OPLENS_MEMBERS(7, a, b, c, d, e, f, g)
    OPLENS_MEMBERS(8, a, b, c, d, e, f, g, h)
    OPLENS_MEMBERS(9, a, b, c, d, e, f, g, h, i)
    OPLENS_MEMBERS(10, a, b, c, d, e, f, g, h, i, j)
    OPLENS_MEMBERS(11, a, b, c, d, e, f, g, h, i, j, k)
    OPLENS_MEMBERS(12, a, b, c, d, e, f, g, h, i, j, k, l)
    OPLENS_MEMBERS(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
    OPLENS_MEMBERS(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
    OPLENS_MEMBERS(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
    OPLENS_MEMBERS(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    OPLENS_MEMBERS(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
    OPLENS_MEMBERS(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
    OPLENS_MEMBERS(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
    OPLENS_MEMBERS(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
#undef OPLENS_MEMBERS
    // clang-format on
  }
}

}  // namespace oplens

#endif  // OPLENS_BASE_MEMBERS_H_
