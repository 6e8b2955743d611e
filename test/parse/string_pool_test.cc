#include "parse/model/string_pool.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "parse/model/kernel_shapes.h"

namespace oplens::string_pool_test {
namespace {

TEST(StringPool, OneIdForEqualTexts) {
  StringPool pool;
  EXPECT_EQ(pool.Intern(""), 0u);
  const StringId a = pool.Intern("relu");
  EXPECT_EQ(pool.Intern("relu"), a);
  EXPECT_NE(pool.Intern("relu6"), a);
  EXPECT_EQ(pool.View(a), "relu");
  const std::string_view with_nul("a\0b", 3);
  EXPECT_EQ(pool.View(pool.Intern(with_nul)), with_nul);
}

TEST(KernelShapes, OneNumberForEqualShapes) {
  KernelShapes shapes;
  EXPECT_EQ(shapes.Add({}), 0u);
  const uint32_t unknown = shapes.Add(KernelShape::Unknown());
  const uint32_t some = shapes.Add({{4, 2, 1}, {64, 1, 1}, 40, 0, 512});
  EXPECT_EQ(shapes.Add(KernelShape::Unknown()), unknown);
  EXPECT_NE(some, shapes.Add({{4, 2, 1}, {64, 1, 1}, 40, 0, 511}));
  EXPECT_EQ(shapes[some].block[0], 64);
  EXPECT_EQ(shapes[unknown].grid[2], -1);
  EXPECT_EQ(shapes[0], KernelShape());
}

TEST(StringPool, ViewsSurviveGrowthAndMoves) {
  StringPool pool;
  const std::string long_text(3 << 20, 'x');
  const std::string_view first = pool.View(pool.Intern("first"));
  const std::string_view big = pool.View(pool.Intern(long_text));
  for (int i = 0; i < 20000; ++i) pool.Intern("text number " + std::to_string(i));
  const StringPool moved = std::move(pool);
  EXPECT_EQ(first, "first");
  EXPECT_EQ(big, long_text);
  EXPECT_EQ(moved.size(), 20003u);
  EXPECT_EQ(moved.View(20002), "text number 19999");
}

TEST(StringPool, FindsTextsFromBeforeItsIndexWasFreed) {
  StringPool pool;
  const StringId a = pool.Intern("a");
  const StringId b = pool.Intern("b");
  pool.FreeIndex();
  EXPECT_EQ(pool.View(a), "a");
  EXPECT_EQ(pool.Intern("b"), b);
  EXPECT_EQ(pool.Intern("c"), b + 1);
  EXPECT_EQ(pool.Intern("a"), a);
}

}  // namespace
}  // namespace oplens::string_pool_test
