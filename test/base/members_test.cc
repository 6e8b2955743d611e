#include "base/members.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/sums.h"

namespace oplens::members_test {
namespace {

struct Inner {
  int64_t a = 1;
  int64_t b = 2;
};
struct Outer {
  Inner inner;
  std::array<Sum, 3> sums;
  std::optional<int64_t> step;
  std::string text = "t";
  std::vector<Inner> list;
  std::map<std::string, Inner> by_name;
};
struct One {
  Balance only;
};
struct Most {
  int8_t a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t;
};
class Listed {
 public:
  explicit Listed(int64_t value) : own_(value) {}
  int64_t cache() const { return cache_; }

 private:
  int64_t own_;
  int64_t cache_ = 7;

 public:
  static constexpr std::tuple kMembers{&Listed::own_};
};
enum class Word : uint8_t { kOne };

static_assert(!HasMembers<int64_t> && !HasMembers<Word> && !HasMembers<std::string>);

TEST(MembersTest, OfAStructInTheOrderOfTheirDeclaration) {
  Outer outer;
  const auto members = MembersOf(outer);
  static_assert(std::tuple_size_v<decltype(members)> == 6);
  EXPECT_EQ(&std::get<0>(members), &outer.inner);  // Not its own members in its place.
  EXPECT_EQ(&std::get<1>(members), &outer.sums);
  EXPECT_EQ(&std::get<5>(members), &outer.by_name);
  std::get<2>(members) = 5;
  EXPECT_EQ(outer.step, 5);
}

TEST(MembersTest, OfOneAndOfTheMost) {
  const One one{3};
  EXPECT_EQ(int64_t{std::get<0>(MembersOf(one))}, 3);
  Most most{};
  most.t = 9;
  EXPECT_EQ(std::get<19>(MembersOf(most)), 9);
}

TEST(MembersTest, OfAClassThoseThatItLists) {
  const Listed listed(4);
  EXPECT_EQ(MembersOf(listed), std::tuple(4));
}

}  // namespace
}  // namespace oplens::members_test
