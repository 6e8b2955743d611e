#include "prof/views/common/repetition.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "test/prof/rows.h"

namespace oplens::prof::repetition_test {
namespace {

/// The repetition of kernels named by letters, as "PERIODxCOUNT"; "" for none.
std::string Find(std::string_view kernels) {
  RepetitionFinder finder;
  for (const char& name : kernels) {
    KernelRecord record = test::PlainRecord();
    record.long_name = std::string_view(&name, 1);
    finder.Add(record, 0);
  }
  const auto found = finder.Find();
  return found ? std::to_string(found->period) + "x" + std::to_string(found->count) : "";
}

TEST(RepetitionTest, FindsTheSequenceThatEndsTheRun) {
  EXPECT_EQ(Find("abcabcabc"), "3x3");
  EXPECT_EQ(Find("xyzabcabcabcabc"), "3x4");  // What came before differs.
  EXPECT_EQ(Find("cabcabcabc"), "3x3");       // A cut first one.
  EXPECT_EQ(Find("aabaabaab"), "3x3");        // Not the repetition inside.
  EXPECT_EQ(Find("abbbabbbabbb"), "4x3");     // Not the one at the end.
}

TEST(RepetitionTest, WantsEnough) {
  EXPECT_EQ(Find(""), "");
  EXPECT_EQ(Find("a"), "");
  EXPECT_EQ(Find("abcabc"), "");            // Twice.
  EXPECT_EQ(Find("aaaaaaaa"), "");          // One kernel.
  EXPECT_EQ(Find("0123456789ababab"), "");  // Less than half of all.
  EXPECT_EQ(Find("abcabcabcx"), "");        // Not until the end.
  EXPECT_EQ(Find("abcabdabcabeabc"), "");
}

TEST(RepetitionTest, TheGridCounts) {
  RepetitionFinder finder;
  for (int64_t i = 0; i < 12; ++i) {
    KernelRecord record = test::PlainRecord();
    record.grid = {1 + i % 4, 1, 1};
    finder.Add(record, 0);
  }
  const auto found = finder.Find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->period, 4);
}

TEST(RepetitionTest, SeveralShareOne) {
  RepetitionFinder finder(2);
  for (uint32_t i = 0; i < 12; ++i) {
    KernelRecord record = test::PlainRecord();
    record.grid = {1 + i % 3, 1, 1};
    record.duration_ns = 10 + i;
    finder.Add(record, i % 3, 0);
    finder.Add(record, i / 6, 1);  // Not of what is alike.
  }
  const auto found = finder.Find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->period, 3);
  std::map<uint32_t, int64_t> first_ns;
  std::map<uint32_t, int64_t> second_ns;
  finder.ForEachRepeated(*found, 0, [&](uint32_t group, int64_t ns) { first_ns[group] += ns; });
  finder.ForEachRepeated(*found, 1, [&](uint32_t group, int64_t ns) { second_ns[group] += ns; });
  EXPECT_EQ(first_ns, (std::map<uint32_t, int64_t>{{0, 58}, {1, 62}, {2, 66}}));
  EXPECT_EQ(second_ns, (std::map<uint32_t, int64_t>{{0, 75}, {1, 111}}));
}

TEST(RepetitionTest, NotOverGpusOrRanks) {
  for (const bool ranks : {false, true}) {
    RepetitionFinder finder;
    for (int64_t i = 0; i < 12; ++i) {
      KernelRecord record = test::PlainRecord();
      record.grid = {1 + i % 2, 1, 1};
      if (i == 6 && ranks) record.rank = "1";
      if (i == 6 && !ranks) record.device_id = 1;
      finder.Add(record, 0);
    }
    EXPECT_FALSE(finder.Find());
  }
}

}  // namespace
}  // namespace oplens::prof::repetition_test
