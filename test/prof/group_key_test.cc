#include "prof/views/kernels/group_key.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/words.h"

namespace oplens::prof::group_key_test {
namespace {

constexpr Field kText = {"op", "Op", "", FieldType::kText, 5, ""};
constexpr Field kList = {"layer", "Layer", "", FieldType::kTextList, 5, "", Fold::kNone, ":"};

std::string Formed(std::string_view word, const Field& field, const Cell& cell) {
  std::string scratch;
  std::string text;
  const Cell formed = GroupWord::Read(word).form.Of(field, cell, &scratch);
  return IsUnknown(formed) ? "-" : std::string(CellText(field, formed, &text));
}

std::string OfText(std::string_view word, std::string_view text) {
  return Formed(word, kText, Text(text));
}

std::string OfList(std::string_view word, const std::vector<std::string_view>& items) {
  return Formed(word, kList, {Cell::Texts{items, 0}});
}

TEST(GroupKeyTest, Parts) {
  EXPECT_EQ(OfList("layer:2", {"net", "block", "attn"}), "net:block");
  EXPECT_EQ(OfList("layer:-1", {"net", "block", "attn"}), "attn");
  EXPECT_EQ(OfList("layer:-2", {"net", "block", "attn"}), "block:attn");
  EXPECT_EQ(OfList("layer:9", {"net", "block"}), "net:block");
  EXPECT_EQ(OfList("layer:1", {}), "-");
  EXPECT_EQ(OfText("mod:1", "torch.nn.functional"), "torch");
  EXPECT_EQ(OfText("mod:2", "torch.nn.functional"), "torch.nn");
  EXPECT_EQ(OfText("mod:3", "torch.nn.functional"), "torch.nn.functional");
  EXPECT_EQ(OfText("mod:-1", "torch.nn.functional"), "functional");
  EXPECT_EQ(OfText("mod:-2", "torch/nn.functional"), "nn.functional");
  EXPECT_EQ(OfText("mod:-9", "torch.nn.functional"), "torch.nn.functional");
  EXPECT_EQ(OfText("mod:-2", ".nn"), ".nn");
  EXPECT_EQ(OfText("mod:1", ""), "-");
}

TEST(GroupKeyTest, Labels) {
  EXPECT_EQ(OfText("range:label", "ProfilerStep#12"), "ProfilerStep#*");
  EXPECT_EQ(OfText("range:label", "token_7"), "token_*");
  EXPECT_EQ(OfText("range:label", "7x0012y"), "*x*y");
  EXPECT_EQ(OfList("layer:-1:label", {"net", "block.3"}), "block.*");
  EXPECT_EQ(OfList("layer:label", {"net1", "block.3"}), "net*:block.*");
  EXPECT_EQ(GroupWord::Read("label").key, "range");
  EXPECT_EQ(GroupWord::Read("label").name, "label");
}

TEST(GroupKeyTest, Patterns) {
  EXPECT_EQ(OfList(R"(layer~block\.(\d+))", {"net", "block.3", "block.4"}), "3");
  EXPECT_EQ(OfList(R"(layer~^block)", {"net", "block.3"}), "block");
  EXPECT_EQ(OfList(R"(layer~net:block)", {"net", "block.3"}), "net:block") << "the whole";
  EXPECT_EQ(OfList(R"(layer~conv)", {"net", "block.3"}), "(no match)");
  EXPECT_EQ(OfList(R"(layer~conv)", {}), "-") << "unknown stays unknown";
  EXPECT_EQ(OfText("op~(x)|m", "mm"), "m") << "the group took no part";
}

TEST(GroupKeyTest, WrongForms) {
  for (const char* word : {"layer:", "layer:0", "layer:x", "layer:1:2", "layer:label:1",
                           "layer:label:label", "layer~", "layer~(", "layer:99999999999", "a:1:"}) {
    EXPECT_THROW(GroupWord::Read(word), UsageError) << word;
  }
  Field number = kText;
  number.type = FieldType::kInteger;
  EXPECT_THROW(GroupWord::Read("step:1").RefuseIfNot(number), UsageError);
  EXPECT_NO_THROW(GroupWord::Read("step").RefuseIfNot(number));
}

TEST(GroupKeyTest, ACommaInsideAPatternIsItsOwn) {
  EXPECT_EQ(WordsOf("op,layer~(a,b), dir"),
            (std::vector<std::string_view>{"op", "layer~(a,b)", "dir"}));
  EXPECT_EQ(WordsOf(R"(a~x{1,2}[(,]\(\,,b)"),
            (std::vector<std::string_view>{R"(a~x{1,2}[(,]\(\,)", "b"}));
  EXPECT_EQ(WordsOf("a),b"), (std::vector<std::string_view>{"a)", "b"}));
}

RC_GTEST_PROP(GroupKeyProperty, LabelsOfTextsThatDifferInNumbersAreEqual,
              (const std::vector<std::string>& texts, uint32_t a, uint32_t b)) {
  std::string one;
  std::string other;
  for (const std::string& text : texts) {
    one += text + "#" + std::to_string(a);
    other += text + "#" + std::to_string(b);
  }
  std::string label_of_one;
  std::string label_of_other;
  AppendLabel(one, &label_of_one);
  AppendLabel(other, &label_of_other);
  RC_ASSERT(label_of_one == label_of_other);
}

RC_GTEST_PROP(GroupKeyProperty, AnyWordIsReadOrRefused,
              (const std::string& word, const std::string& text)) {
  try {
    OfText("op" + word, text);
    OfList("op:" + word, {text, "x"});
    OfList("op~" + word, {text, "x"});
  } catch (const UsageError&) {
  }
}

}  // namespace
}  // namespace oplens::prof::group_key_test
