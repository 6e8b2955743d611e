#include "base/near_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::near_words_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kColumns[] = {"idx",   "layer", "trace", "dir",   "mod",
                                         "op",    "sil",   "flops", "bytes", "kernel",
                                         "phase", "share", "role",  "tc",    "launch_delay"};

TEST(NearWordsTest, AliasesStandForWhatIsThere) {
  EXPECT_EQ(kColumns[FindName("time", kColumns)], "sil");
  EXPECT_EQ(kColumns[FindName("stack", kColumns)], "trace");
  EXPECT_EQ(kColumns[FindName("duration", kColumns)], "sil");
  EXPECT_EQ(kColumns[FindName("op", kColumns)], "op");
  EXPECT_EQ(FindName("colour", kColumns), std::size(kColumns));
  // A name of its own comes before any alias.
  constexpr std::string_view kOwn[] = {"sil", "time", "total"};
  EXPECT_EQ(kOwn[FindName("time", kOwn)], "time");
  constexpr std::string_view kFigures[] = {"count", "total", "mean"};
  EXPECT_EQ(kFigures[FindName("time", kFigures)], "total");
  constexpr std::string_view kNone[] = {"count"};
  EXPECT_EQ(FindName("time", kNone), 1u);
  EXPECT_EQ(FindName("", kColumns), std::size(kColumns));
}

TEST(NearWordsTest, EveryAliasStandsForAName) {
  for (const Alias& alias : Aliases()) {
    const std::string_view names[] = {alias.name};
    EXPECT_EQ(FindName(alias.word, names), 0u) << alias.word;
    EXPECT_NE(alias.word, alias.name);
  }
}

TEST(NearWordsTest, WhatMeansTheSame) {
  EXPECT_THAT(NearNames("module", kColumns), ElementsAre("layer", "mod"));
  EXPECT_THAT(NearNames("modul", kColumns), ElementsAre("layer", "mod"));
  EXPECT_THAT(NearNames("direction", kColumns), ElementsAre("dir"));
  EXPECT_THAT(NearNames("tensorcores", kColumns), ElementsAre("tc"));
}

TEST(NearWordsTest, WhatIsSpeltAlmostAlike) {
  EXPECT_THAT(NearNames("tim", kColumns), ElementsAre("time"));
  EXPECT_THAT(NearNames("kernell", kColumns), ElementsAre("kernel"));
  EXPECT_THAT(NearNames("kenrel", kColumns), ElementsAre("kernel")) << "swapped letters";
  EXPECT_THAT(NearNames("Flops", kColumns), ElementsAre("flops"));
  EXPECT_THAT(NearNames("flop", kColumns), ElementsAre("flops"));
  EXPECT_THAT(NearNames("launch", kColumns), ElementsAre("launch_delay")) << "its beginning";
  EXPECT_THAT(NearNames("tracee", kColumns), ElementsAre("trace"));
}

TEST(NearWordsTest, WhatIsLikeNothing) {
  EXPECT_THAT(NearNames("", kColumns), IsEmpty());
  EXPECT_THAT(NearNames("zebra", kColumns), IsEmpty());
  EXPECT_THAT(NearNames("x", kColumns), IsEmpty()) << "every short name is one letter away";
  EXPECT_THAT(NearNames(std::string(100'000, 'k'), kColumns), IsEmpty());
  EXPECT_THAT(NearNames("kernel", {}), IsEmpty());
}

TEST(NearWordsTest, TheSentence) {
  EXPECT_EQ(NoSuchName("column", "tim", kColumns, "the columns are"),
            "there is no column 'tim': time?");
  EXPECT_EQ(NoSuchName("column", "module", kColumns, "the columns are"),
            "there is no column 'module': layer or mod?");
  constexpr std::string_view kWords[] = {"inner", "outer"};
  EXPECT_EQ(NoSuchName("choice", "middle", kWords, "the choices are"),
            "there is no choice 'middle'; the choices are inner,outer");
  constexpr std::string_view kAlike[] = {"aaab", "aaac", "aaad", "aaae"};
  EXPECT_EQ(NoSuchName("word", "aaaa", kAlike, ""), "there is no word 'aaaa': aaab, aaac or aaad?");
  EXPECT_EQ(NoSuchName("word", "\x1b[31m", kWords, "give"),
            "there is no word '?[31m'; give inner,outer");
}

RC_GTEST_PROP(NearWordsTest, OneWrongLetterIsFound, (size_t which, size_t at, char letter)) {
  const std::string_view name = kColumns[which % std::size(kColumns)];
  RC_PRE(name.size() >= 5);
  std::string word(name);
  word[at % word.size()] = letter;
  const std::vector<std::string_view> near = NearNames(word, kColumns);
  RC_ASSERT(std::find(near.begin(), near.end(), name) != near.end());
}

}  // namespace
}  // namespace oplens::near_words_test
