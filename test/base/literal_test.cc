#include "base/literal.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oplens::literal_test {
namespace {

using namespace std::string_view_literals;

std::string Repeat(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

/// The value of a text that is one string, or "error: ..." .
std::string ReadWholeString(std::string_view text) {
  LiteralScanner in(text);
  std::string storage;
  std::string_view value;
  in.ReadString(&storage, &value);
  return in.Finish() ? std::string(value) : fmt::format("error: {}", in.ErrorText());
}

/// "" if the text is one literal, else what is wrong with it.
std::string SkipWhole(std::string_view text) {
  LiteralScanner in(text);
  in.Skip();
  in.Finish();
  return in.ErrorText();
}

struct StringCase {
  std::string_view text;
  std::string_view value;
};

TEST(LiteralString, DecodesAsPythonDoes) {
  const StringCase cases[] = {
      {"''", ""},
      {"\"\"", ""},
      {"'a'", "a"},
      {"\"it's\"", "it's"},
      {"'say \"x\"'", "say \"x\""},
      {"  'blanks around'\t ", "blanks around"},
      {R"('a\'b\"c\\d')", "a'b\"c\\d"},
      {R"('\n\r\t\a\b\f\v')", "\n\r\t\a\b\f\v"},
      {R"('\0')", "\0"sv},
      {R"('\08')", "\0008"sv},
      {R"('\101\1012\7')", "AA2\a"},
      {R"('\377')", "\xc3\xbf"},
      {R"('\777')", "\xc7\xbf"},
      {R"('\x41\x7f')", "A\x7f"},
      {R"('\xe9')", "\xc3\xa9"},
      {R"('\u20ac')", "\xe2\x82\xac"},
      {R"('\u20AC')", "\xe2\x82\xac"},
      {R"('\U0001f600')", "\xf0\x9f\x98\x80"},
      {R"('\U0010ffff')", "\xf4\x8f\xbf\xbf"},
      {R"('\udc80\udcff')", "\x80\xff"},
      {R"('\U0000dcc3\udca9')", "\xc3\xa9"},
      {R"('\udc7f')", "\xef\xbf\xbd"},
      {R"('\ud83d\ude00')", "\xef\xbf\xbd\xef\xbf\xbd"},
      {R"('\d\%\q')", "\\d\\%\\q"},
      {"'raw \xff\xc3\xa9 bytes'", "raw \xff\xc3\xa9 bytes"},
      {"'\x01\t\x0b'", "\x01\t\x0b"},
      {"'0123456789abcdef'", "0123456789abcdef"},
      {"'0123456789abcde\t\\n0123456789abcdef0'", "0123456789abcde\t\n0123456789abcdef0"},
  };
  for (const StringCase& c : cases) EXPECT_EQ(ReadWholeString(c.text), c.value) << c.text;
}

TEST(LiteralString, RefusesWhatIsNotOneString) {
  const StringCase cases[] = {
      {"", "error: a string is expected, at column 1, where the text ends"},
      {"  ", "error: a string is expected, at column 3, where the text ends"},
      {"x'41'", "error: a string is expected, at column 1"},
      {"b'x'", "error: a string is expected, at column 1"},
      {"5", "error: a string is expected, at column 1"},
      {"'abc", "error: a closing quote is missing, at column 5, where the text ends"},
      {"'abc\"", "error: a closing quote is missing, at column 6, where the text ends"},
      {"'abc\\", "error: a closing quote is missing, at column 5"},
      {"'abc\\'", "error: a closing quote is missing, at column 7, where the text ends"},
      {"'a\nb'", "error: a line break stands inside a string, at column 3"},
      {"'a\rb'", "error: a line break stands inside a string, at column 3"},
      {"'a\0b'"sv, "error: a NUL byte stands inside a string, at column 3"},
      {"'a\\\nb'", "error: an escape is not supported, at column 3"},
      {"'a\\\0b'"sv, "error: an escape is not supported, at column 3"},
      {R"('\N{DASH}')", "error: an escape is not supported, at column 2"},
      {R"('\x4')", "error: a hexadecimal digit of an escape is missing, at column 2"},
      {R"('\xg0')", "error: a hexadecimal digit of an escape is missing, at column 2"},
      {R"('\u12')", "error: a hexadecimal digit of an escape is missing, at column 2"},
      {R"('\U0011000)", "error: a hexadecimal digit of an escape is missing, at column 2"},
      {R"('\U00110000')", "error: an escape is beyond the last code point, at column 2"},
      {R"('\Uffffffff')", "error: an escape is beyond the last code point, at column 2"},
      {"'a' 'b'", "error: something follows the literal, at column 5"},
      {"'''a'''", "error: something follows the literal, at column 3"},
  };
  for (const StringCase& c : cases) EXPECT_EQ(ReadWholeString(c.text), c.value) << c.text;
}

// The block search must find the end wherever it lies within its sixteen bytes.
TEST(LiteralString, FindsTheEndAtEveryOffset) {
  for (size_t length = 0; length < 70; ++length) {
    const std::string x(length, 'x');
    EXPECT_EQ(ReadWholeString(fmt::format("'{}'", x)), x);
    EXPECT_EQ(ReadWholeString(fmt::format("\"{}\"{:40}", x, "")), x);
    EXPECT_EQ(ReadWholeString(fmt::format("'{}\\x41{}'", x, x)), fmt::format("{}A{}", x, x));
    EXPECT_EQ(ReadWholeString(fmt::format("'{}\t\x0c{}'", x, x)), fmt::format("{}\t\x0c{}", x, x));
    EXPECT_EQ(ReadWholeString(fmt::format("'{}\n{}'", x, x)),
              fmt::format("error: a line break stands inside a string, at column {}", length + 2));
  }
}

TEST(LiteralString, IsAViewIntoTheInputUnlessItHasEscapes) {
  const std::string text = R"(['plain', 'one\n', 'two\n', 'plain again'])";
  LiteralScanner in(text);
  std::string storage;
  std::string_view value[4];
  in.EnterSequence();
  for (auto& v : value) ASSERT_TRUE(in.NextItem() && in.ReadString(&storage, &v));
  EXPECT_FALSE(in.NextItem());
  EXPECT_TRUE(in.Finish());
  const auto lies_in = [](std::string_view part, const std::string& whole) {
    return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
  };
  EXPECT_TRUE(lies_in(value[0], text));
  EXPECT_TRUE(lies_in(value[1], storage));
  EXPECT_TRUE(lies_in(value[2], storage));
  EXPECT_TRUE(lies_in(value[3], text));
  EXPECT_EQ(value[1], "one\n");
  EXPECT_EQ(value[2], "two\n");
}

TEST(LiteralString, ViewsIntoStorageDoNotMove) {
  const size_t kCount = 2000;
  const std::string text = fmt::format("[{}]", Repeat(R"('\udcff\u20ac\777\d', )", kCount));
  LiteralScanner in(text);
  std::string storage = "from before";
  std::vector<std::string_view> values;
  in.EnterSequence();
  const char* data = nullptr;
  while (in.NextItem()) {
    ASSERT_TRUE(in.ReadString(&storage, &values.emplace_back()));
    if (data == nullptr) data = storage.data();
    ASSERT_EQ(storage.data(), data);
  }
  ASSERT_TRUE(in.Finish());
  ASSERT_EQ(values.size(), kCount);
  for (const std::string_view value : values) ASSERT_EQ(value, "\xff\xe2\x82\xac\xc7\xbf\\d");
}

TEST(LiteralInteger, ReadsWhatFits) {
  const std::pair<std::string_view, int64_t> cases[] = {
      {"0", 0},
      {"-0", 0},
      {"000", 0},
      {"+7", 7},
      {"-7", -7},
      {" 42 ", 42},
      {"999999999999999999", 999999999999999999},
      {"9223372036854775807", INT64_MAX},
      {"-9223372036854775807", -INT64_MAX},
      {"-9223372036854775808", INT64_MIN},
  };
  for (const auto& [text, expected] : cases) {
    // Alone, and followed by what ends an item: the two ways through the code.
    const std::string item = fmt::format("[{}, {}]", text, text);
    int64_t value = -1;
    LiteralScanner alone(text);
    EXPECT_TRUE(alone.ReadInteger(&value) && alone.Finish()) << text << alone.ErrorText();
    EXPECT_EQ(value, expected);
    LiteralScanner list(item);
    list.EnterSequence();
    while (list.NextItem()) {
      value = -1;
      EXPECT_TRUE(list.ReadInteger(&value)) << text;
      EXPECT_EQ(value, expected);
    }
    EXPECT_TRUE(list.Finish()) << text;
  }
}

TEST(LiteralInteger, RefusesWhatDoesNotFit) {
  const std::string long_digits(100000, '9');
  for (const std::string_view text :
       {"9223372036854775808"sv, "-9223372036854775809"sv, "18446744073709551615"sv,
        "99999999999999999999"sv, std::string_view(long_digits)}) {
    for (const std::string& item : {std::string(text), std::string(text) + ","}) {
      LiteralScanner in(item);
      int64_t value = 5;
      EXPECT_FALSE(in.ReadInteger(&value)) << item.substr(0, 30);
      EXPECT_EQ(in.ErrorText(), "an integer is out of range, at column 1");
      EXPECT_EQ(value, 5);
    }
    EXPECT_EQ(SkipWhole(text), "");
  }
}

TEST(LiteralInteger, RefusesOtherThings) {
  for (const std::string_view text :
       {"", "1.0", "1e3", "007", "0x10", "1_000", "1a", "--1", "- 1", "+", "-", "'1'", "True",
        "None", "inf", "1.2.3", "[1]", "1\xc3\xa9"}) {
    LiteralScanner in(text);
    int64_t value = 0;
    EXPECT_FALSE(in.ReadInteger(&value)) << text;
    EXPECT_TRUE(in.ErrorText().starts_with("an integer is expected, at column 1")) << text;
  }
}

TEST(LiteralNumber, ReadsFloats) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string thousand_zeros(1000, '0');
  const std::string large = "1" + thousand_zeros + ".0";
  const std::string small = "0." + thousand_zeros + "1";
  const std::string large_for_all_its_minus = "1" + thousand_zeros + "e-2";
  const std::string small_for_all_its_plus = "0." + thousand_zeros + "1e+2";
  const std::pair<std::string_view, double> cases[] = {
      {"1.0", 1},
      {"-2.5", -2.5},
      {"+2.5", 2.5},
      {"1.", 1},
      {".5", 0.5},
      {"1e3", 1000},
      {"1E+3", 1000},
      {"25e-1", 2.5},
      {"14.142135623730951", 14.142135623730951},
      {"1e308", 1e308},
      {"1e309", infinity},
      {"-1e309", -infinity},
      {"1e99999999999999999999", infinity},
      {"1e-400", 0},
      {"1e-99999999999999999999", 0},
      {"0e99999999999999999999", 0},
      {"0.0", 0},
      {large, infinity},
      {small, 0},
      {large_for_all_its_minus, infinity},
      {small_for_all_its_plus, 0},
      {"inf", infinity},
      {"-inf", -infinity},
      {"+inf", infinity},
  };
  for (const auto& [text, expected] : cases) {
    LiteralScanner in(text);
    LiteralNumber number;
    EXPECT_EQ(in.Peek(), LiteralKind::kFloat) << text.substr(0, 30);
    EXPECT_TRUE(in.ReadNumber(&number) && in.Finish()) << text.substr(0, 30) << in.ErrorText();
    EXPECT_EQ(number.float_value, expected) << text.substr(0, 30);
    EXPECT_FALSE(number.is_integer);
    EXPECT_FALSE(number.fits);
  }
  LiteralScanner in("nan");
  LiteralNumber number;
  EXPECT_TRUE(in.ReadNumber(&number));
  EXPECT_TRUE(std::isnan(number.float_value));
}

TEST(LiteralNumber, ReadsIntegersAsBoth) {
  LiteralScanner in("[-3, 9223372036854775808, 3]");
  LiteralNumber number;
  in.EnterSequence();
  ASSERT_TRUE(in.NextItem() && in.ReadNumber(&number));
  EXPECT_TRUE(number.is_integer && number.fits);
  EXPECT_EQ(number.int_value, -3);
  EXPECT_EQ(number.float_value, -3.0);
  ASSERT_TRUE(in.NextItem() && in.ReadNumber(&number));
  EXPECT_TRUE(number.is_integer);
  EXPECT_FALSE(number.fits);
  EXPECT_EQ(number.int_value, 0);
  EXPECT_EQ(number.float_value, 9223372036854775808.0);
  ASSERT_TRUE(in.NextItem() && in.ReadNumber(&number));
  EXPECT_EQ(number.int_value, 3);
}

TEST(LiteralNumber, RefusesOtherThings) {
  for (const std::string_view text : {"", ".", "e5", "1e", "1e+", "1.5x", "infinity", "-nan",
                                      "nano", "1j", "0b1", "1.2.3", "-", "'1'", "True"}) {
    LiteralScanner in(text);
    LiteralNumber number;
    EXPECT_FALSE(in.ReadNumber(&number)) << text;
    EXPECT_TRUE(in.failed());
  }
}

TEST(LiteralWords, AreReadWhole) {
  LiteralScanner in("[True, False, None]");
  bool value = false;
  in.EnterSequence();
  ASSERT_TRUE(in.NextItem());
  EXPECT_FALSE(in.TakeNone());
  EXPECT_TRUE(in.ReadBool(&value) && value);
  ASSERT_TRUE(in.NextItem());
  EXPECT_TRUE(in.ReadBool(&value) && !value);
  ASSERT_TRUE(in.NextItem());
  EXPECT_EQ(in.Peek(), LiteralKind::kNone);
  EXPECT_TRUE(in.TakeNone());
  EXPECT_FALSE(in.NextItem());
  EXPECT_TRUE(in.Finish());
  for (const std::string_view text : {"Truely", "true", "False_", "null", "Nonesuch", "Tru", "N"}) {
    EXPECT_EQ(LiteralScanner(text).Peek(), LiteralKind::kNothing) << text;
    EXPECT_NE(SkipWhole(text), "") << text;
  }
}

TEST(LiteralPeek, TellsKinds) {
  const std::pair<std::string_view, LiteralKind> cases[] = {
      {"{}", LiteralKind::kDict},      {"[]", LiteralKind::kList},
      {"()", LiteralKind::kTuple},     {"'", LiteralKind::kString},
      {"\"x\"", LiteralKind::kString}, {"12", LiteralKind::kInteger},
      {"-12", LiteralKind::kInteger},  {"1.", LiteralKind::kFloat},
      {"-inf", LiteralKind::kFloat},   {"nan", LiteralKind::kFloat},
      {"True", LiteralKind::kBool},    {"False", LiteralKind::kBool},
      {"None", LiteralKind::kNone},    {"", LiteralKind::kNothing},
      {" \t ", LiteralKind::kNothing}, {"]", LiteralKind::kNothing},
      {"012", LiteralKind::kNothing},  {"x", LiteralKind::kNothing},
      {"\0"sv, LiteralKind::kNothing},
  };
  for (const auto& [text, kind] : cases) {
    LiteralScanner in(text);
    EXPECT_EQ(in.Peek(), kind) << text;
    EXPECT_FALSE(in.failed());
  }
}

TEST(LiteralContainers, WalkADict) {
  const std::string_view text =
      "{ 'a' : [1, 2,] ,\"b\":(3,), 'skip': {1: {'x': None}, -2.5: ()}, 'e\\x41': [] , }\r";
  LiteralScanner in(text);
  std::string storage;
  std::string_view key;
  std::string keys;
  int64_t sum = 0;
  for (in.EnterDict(); in.NextKey(&storage, &key);) {
    keys.append(key).push_back(';');
    if (key == "skip") {
      in.Skip();
      continue;
    }
    for (in.EnterSequence(); in.NextItem();) {
      int64_t value = 0;
      in.ReadInteger(&value);
      sum += value;
    }
  }
  EXPECT_TRUE(in.Finish()) << in.ErrorText();
  EXPECT_EQ(keys, "a;b;skip;eA;");
  EXPECT_EQ(sum, 6);
}

TEST(LiteralContainers, TakeKeyMatchesExactly) {
  LiteralScanner in("{'ab': 1, 'cd' : 2}");
  std::string storage;
  std::string_view key;
  in.EnterDict();
  ASSERT_TRUE(in.NextItem());
  EXPECT_FALSE(in.TakeKey("'a':"));
  EXPECT_FALSE(in.TakeKey("'cd':"));
  EXPECT_TRUE(in.TakeKey("'ab':"));
  EXPECT_TRUE(in.Skip() && in.NextItem());
  EXPECT_FALSE(in.TakeKey("'cd':"));
  EXPECT_TRUE(in.ReadKey(&storage, &key));
  EXPECT_EQ(key, "cd");
  EXPECT_TRUE(in.Skip());
  EXPECT_FALSE(in.NextItem());
  EXPECT_TRUE(in.Finish());
  LiteralScanner cut("'ab'");
  EXPECT_FALSE(cut.TakeKey("'ab':"));
}

TEST(LiteralSkip, AcceptsLiterals) {
  for (const std::string_view text :
       {"{}", "[]", "()", "[[], (), {}]", "(1,)", "(1, 2)", "(1, 2,)", "[1,]", "{'a': 1,}",
        "{1: 2, 2.5: 3, None: 4, True: 5, nan: 6}", "[inf, -inf, nan, 1., 1e5]", "'\\x41'",
        " [ 1 ,\t2\f, \n3\r] ", "99999999999999999999999999999999", "{'a': {'a': {'a': ()}}}"}) {
    EXPECT_EQ(SkipWhole(text), "") << text;
  }
}

TEST(LiteralSkip, RefusesOthers) {
  const StringCase cases[] = {
      {"", "a value is expected, at column 1, where the text ends"},
      {"[1", "a comma or a closing bracket is expected, at column 3, where the text ends"},
      {"[1,", "a value is expected, at column 4, where the text ends"},
      {"[,]", "a value is expected, at column 2"},
      {"[1,,2]", "a value is expected, at column 4"},
      {"[1 2]", "a comma or a closing bracket is expected, at column 4"},
      {"[1)", "a comma or a closing bracket is expected, at column 3"},
      {"(1)", "a comma is expected, at column 3"},
      {"(,)", "a value is expected, at column 2"},
      {"{1}", "a colon is expected, at column 3"},
      {"{'a'}", "a colon is expected, at column 5"},
      {"{'a': }", "a value is expected, at column 7"},
      {"{'a': 1 'b': 2}", "a comma or a closing bracket is expected, at column 9"},
      {"{[]: 1}", "a dict key must be a string, a number or a word, at column 2"},
      {"{(): 1}", "a dict key must be a string, a number or a word, at column 2"},
      {"{}{}", "something follows the literal, at column 3"},
      {"[1]#", "something follows the literal, at column 4"},
      {"1+2", "something follows the literal, at column 2"},
      {"print('x')", "a value is expected, at column 1"},
      {"__import__('os')", "a value is expected, at column 1"},
      {"['a' 'b']", "a comma or a closing bracket is expected, at column 6"},
      {"[1, \0]"sv, "a value is expected, at column 5"},
      {"[u'x']", "a value is expected, at column 2"},
      {"[1j]", "a value is expected, at column 2"},
      {"[\\\n1]", "a value is expected, at column 2"},
  };
  for (const StringCase& c : cases) EXPECT_EQ(SkipWhole(c.text), c.value) << c.text;
}

TEST(LiteralSkip, LimitsTheDepth) {
  constexpr size_t kMax = LiteralScanner::kMaxDepth;
  EXPECT_EQ(SkipWhole(Repeat("[", kMax) + Repeat("]", kMax)), "");
  EXPECT_EQ(SkipWhole(Repeat("{1:", kMax - 1) + "()" + Repeat("}", kMax - 1)), "");
  const std::string error =
      "the literal is nested too deeply, at column " + std::to_string(kMax + 1);
  EXPECT_EQ(SkipWhole(Repeat("[", kMax + 1) + Repeat("]", kMax + 1)), error);
  EXPECT_EQ(SkipWhole(Repeat("(", 1000000)), error);
  EXPECT_EQ(SkipWhole(Repeat("[", 1000000)), error);
  EXPECT_TRUE(SkipWhole(Repeat("{1:", 1000000)).starts_with("the literal is nested too deeply"));
}

TEST(LiteralFailure, Sticks) {
  LiteralScanner in("[1, 'x', 2]");
  int64_t value = 0;
  std::string storage;
  std::string_view text;
  LiteralNumber number;
  bool flag = false;
  in.EnterSequence();
  ASSERT_TRUE(in.NextItem() && in.ReadInteger(&value));
  ASSERT_TRUE(in.NextItem());
  EXPECT_FALSE(in.ReadInteger(&value));
  EXPECT_TRUE(in.failed());
  EXPECT_FALSE(in.NextItem());
  EXPECT_FALSE(in.NextKey(&storage, &text));
  EXPECT_FALSE(in.ReadString(&storage, &text));
  EXPECT_FALSE(in.ReadInteger(&value));
  EXPECT_FALSE(in.ReadNumber(&number));
  EXPECT_FALSE(in.ReadBool(&flag));
  EXPECT_FALSE(in.TakeNone());
  EXPECT_FALSE(in.EnterDict());
  EXPECT_FALSE(in.EnterSequence());
  EXPECT_FALSE(in.Skip());
  EXPECT_FALSE(in.Refuse("something else"));
  EXPECT_FALSE(in.Finish());
  EXPECT_EQ(in.Peek(), LiteralKind::kNothing);
  EXPECT_EQ(in.ErrorText(), "an integer is expected, at column 5");
  EXPECT_EQ(in.column(), 5u);
  EXPECT_STREQ(in.what(), "an integer is expected");
}

TEST(LiteralFailure, CanComeFromTheCaller) {
  LiteralScanner in("[  7]");
  in.EnterSequence();
  in.NextItem();
  EXPECT_FALSE(in.Refuse("this is not wanted"));
  EXPECT_EQ(in.ErrorText(), "this is not wanted, at column 4");
  EXPECT_FALSE(in.Finish());
}

// Every text cut short, and every byte replaced: nothing may be read beyond the end (the sanitizer
// build watches), and a cut literal is never a whole one.
TEST(LiteralFailure, SurvivesEveryCutAndEveryByte) {
  const std::string whole =
      R"({'a': [1, -2.5, (3,), "q\x41\u20ac\udc80\n"], 'b': {'c': None, 'd': True}, 'e': inf})";
  ASSERT_EQ(SkipWhole(whole), "");
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string cut(whole, 0, size);
    EXPECT_NE(SkipWhole(std::string_view(cut.data(), size)), "") << cut;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(byte);
      const std::string error = SkipWhole(damaged);
      EXPECT_TRUE(error.empty() || error.find(", at column ") != error.npos);
    }
  }
}

}  // namespace
}  // namespace oplens::literal_test
