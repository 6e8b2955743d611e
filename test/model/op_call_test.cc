#include "parse/model/op_call.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oplens::op_call_test {
namespace {

using namespace std::string_view_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Kind = OpArg::Kind;

OpCall Parsed(std::string_view text) {
  std::string error;
  const auto call = ParseOpCall(text, &error);
  EXPECT_TRUE(call.has_value()) << text << "\n" << error;
  return call.value_or(OpCall());
}

std::string ErrorOf(std::string_view text) {
  std::string error;
  const auto call = ParseOpCall(text, &error);
  EXPECT_FALSE(call.has_value()) << text;
  EXPECT_NE(error, "") << text;
  return error;
}

/// The argument of a call that has one, written as `arg`.
OpArg ParsedArg(std::string_view arg) {
  const OpCall call = Parsed(fmt::format("{{'mod': 'm', 'op': 'o', 'args': [{}]}}", arg));
  EXPECT_EQ(call.args.size(), 1u);
  return call.args.empty() ? OpArg() : call.args[0];
}

std::string ArgErrorOf(std::string_view arg) {
  return ErrorOf(fmt::format("{{'mod': 'm', 'op': 'o', 'args': [{}]}}", arg));
}

TEST(ParseOpCall, FlagsOfAListAreNumbers) {
  const OpArg mask = ParsedArg("{'name': '', 'type': 'list', 'value': [False, True, True]}");
  EXPECT_EQ(mask.kind, Kind::kIntList);
  EXPECT_THAT(mask.int_list, ElementsAre(0, 1, 1));
  const OpArg mixed = ParsedArg("{'name': '', 'type': 'list', 'value': [True, None, 2]}");
  EXPECT_EQ(mixed.kind, Kind::kOther);
  EXPECT_THAT(mixed.int_list, IsEmpty());
}

TEST(ParseOpCall, ReadsACallAsPyProfWritesIt) {
  const OpCall call = Parsed(
      "{'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': [{'name': '', 'type': 'tensor', "
      "'shape': (1, 128, 16, 16), 'dtype': 'float32'}, {'name': '', 'type': 'tensor', 'shape': "
      "(6,), 'dtype': 'float16'}, {'name': '', 'type': 'tuple', 'value': (1, 1)}, {'name': "
      "'groups', 'type': 'int', 'value': 1}, {'name': '', 'type': 'NoneType', 'value': None}, "
      "{'name': 'inplace', 'type': 'bool', 'value': False}, {'name': '', 'type': 'float', 'value': "
      "-2.5}, {'name': 'mode', 'type': 'str', 'value': 'mean'}]}");
  EXPECT_EQ(call.mod, "torch.nn.functional");
  EXPECT_EQ(call.op, "conv2d");
  ASSERT_EQ(call.args.size(), 8u);
  EXPECT_EQ(call.args[0].kind, Kind::kTensor);
  EXPECT_EQ(call.args[0].name, "");
  EXPECT_EQ(call.args[0].type, "tensor");
  EXPECT_THAT(call.args[0].shape, ElementsAre(1, 128, 16, 16));
  EXPECT_EQ(call.args[0].dtype, "float32");
  EXPECT_EQ(call.args[1].kind, Kind::kTensor);
  EXPECT_THAT(call.args[1].shape, ElementsAre(6));
  EXPECT_EQ(call.args[2].kind, Kind::kIntList);
  EXPECT_THAT(call.args[2].int_list, ElementsAre(1, 1));
  EXPECT_EQ(call.args[3].kind, Kind::kInt);
  EXPECT_EQ(call.args[3].name, "groups");
  EXPECT_EQ(call.args[3].int_value, 1);
  EXPECT_EQ(call.args[4].kind, Kind::kNone);
  EXPECT_EQ(call.args[4].type, "NoneType");
  EXPECT_EQ(call.args[5].kind, Kind::kBool);
  EXPECT_EQ(call.args[5].int_value, 0);
  EXPECT_EQ(call.args[6].kind, Kind::kFloat);
  EXPECT_EQ(call.args[6].float_value, -2.5);
  EXPECT_EQ(call.args[7].kind, Kind::kString);
  EXPECT_EQ(call.args[7].text, "mean");
}

TEST(ParseOpCall, AcceptsAnyOrderOfKeysUnknownKeysAndQuotes) {
  const OpCall call = Parsed(
      R"({"oplens": {'v': 1, 'in': [(1, -1)]}, "args": ({'value': [1,], 'x': {}, 'type': "list"},),)"
      R"( 'funcStack': '/A::f/g(2)', "op": 'it\'s', 'mod': "\x61\u20ac"})");
  EXPECT_EQ(call.mod, "a\xe2\x82\xac");
  EXPECT_EQ(call.op, "it's");
  ASSERT_EQ(call.args.size(), 1u);
  EXPECT_EQ(call.args[0].kind, Kind::kIntList);
  EXPECT_THAT(call.args[0].int_list, ElementsAre(1));
  EXPECT_EQ(call.args[0].name, "");
}

TEST(ParseOpCall, AcceptsNoArguments) {
  EXPECT_THAT(Parsed("{'mod': '', 'op': '', 'args': []}").args, IsEmpty());
}

TEST(ParseOpCall, KeepsManyArguments) {
  std::string args;
  for (int i = 0; i < 1000; ++i) args += fmt::format("{{'type': 'int', 'value': {}}}, ", i);
  const OpCall call = Parsed(fmt::format("{{'mod': 'm', 'op': 'o', 'args': [{}]}}", args));
  ASSERT_EQ(call.args.size(), 1000u);
  for (size_t i = 0; i < 1000; ++i) EXPECT_EQ(call.args[i].int_value, static_cast<int64_t>(i));
}

TEST(ParseOpCall, ReadsTensors) {
  const OpArg scalar = ParsedArg("{'type': 'tensor', 'shape': (), 'dtype': 'int64'}");
  EXPECT_EQ(scalar.kind, Kind::kTensor);
  EXPECT_THAT(scalar.shape, IsEmpty());
  const OpArg array =
      ParsedArg("{'dtype': 'x', 'shape': [0, 9223372036854775807], 'type': 'ndarray'}");
  EXPECT_EQ(array.kind, Kind::kTensor);
  EXPECT_EQ(array.type, "ndarray");
  EXPECT_THAT(array.shape, ElementsAre(0, INT64_MAX));
  // An unknown data type can still be told from its name later; a shape cannot be made up.
  EXPECT_EQ(ParsedArg("{'type': 'tensor', 'shape': (2, 3)}").dtype, "");
}

TEST(ParseOpCall, ReadsFloatsThatAreNoNumbers) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [text, value] : {std::pair{"'inf'"sv, infinity},
                                    {"inf"sv, infinity},
                                    {"'-inf'"sv, -infinity},
                                    {"-inf"sv, -infinity}}) {
    for (const std::string_view form :
         {"{{'type': 'float', 'value': {}}}"sv, "{{'value': {}, 'name': '', 'type': 'float'}}"sv}) {
      const OpArg arg = ParsedArg(fmt::format(fmt::runtime(form), text));
      EXPECT_EQ(arg.kind, Kind::kFloat) << text;
      EXPECT_EQ(arg.float_value, value) << text;
      EXPECT_EQ(arg.text, "");
    }
  }
  for (const std::string_view text : {"'nan'", "nan"}) {
    const OpArg arg = ParsedArg(fmt::format("{{'type': 'float', 'value': {}}}", text));
    EXPECT_EQ(arg.kind, Kind::kFloat);
    EXPECT_TRUE(std::isnan(arg.float_value));
  }
  EXPECT_EQ(ParsedArg("{'type': 'str', 'value': 'inf'}").kind, Kind::kString);
  EXPECT_EQ(ParsedArg("{'type': 'float', 'value': 'big'}").kind, Kind::kString);
}

TEST(ParseOpCall, ReadsAnIntegerOfFloatTypeAsFloat) {
  const OpArg arg = ParsedArg("{'type': 'float', 'value': 3}");
  EXPECT_EQ(arg.kind, Kind::kFloat);
  EXPECT_EQ(arg.float_value, 3.0);
  EXPECT_EQ(arg.int_value, 0);
}

TEST(ParseOpCall, KeepsOnlyTheTypeOfOtherValues) {
  for (const std::string_view value :
       {"{}", "{'a': 1}", "[1, 'x']", "['x']", "[1.0, None]", "[True, None]", "[[1]]", "(None,)",
        "9223372036854775808", "[1, 9223372036854775808]", "[9223372036854775808, 'x']"}) {
    const OpArg arg = ParsedArg(fmt::format("{{'type': 'T', 'value': {}, 'name': 'n'}}", value));
    EXPECT_EQ(arg.kind, Kind::kOther) << value;
    EXPECT_EQ(arg.type, "T");
    EXPECT_EQ(arg.name, "n");
    EXPECT_THAT(arg.int_list, IsEmpty());
  }
  EXPECT_THAT(ParsedArg("{'type': 'list', 'value': [1.0, 'x']}").float_list, IsEmpty());
  const OpArg empty = ParsedArg("{'type': 'list', 'value': []}");
  EXPECT_EQ(empty.kind, Kind::kIntList);
  EXPECT_THAT(empty.int_list, IsEmpty());
}

TEST(ParseOpCall, ReadsListsOfFloats) {
  const OpArg list = ParsedArg("{'type': 'list', 'value': [1, 2.5, 1e3]}");
  EXPECT_EQ(list.kind, Kind::kFloatList);
  EXPECT_EQ(list.float_list, (std::vector<double>{1, 2.5, 1000}));
  EXPECT_THAT(list.int_list, IsEmpty());
  EXPECT_EQ(ParsedArg("{'type': 'tuple', 'value': (2.0,)}").float_list, std::vector<double>{2});
}

TEST(ParseOpCall, NamesTheArgumentThatCannotBeUsed) {
  EXPECT_EQ(ArgErrorOf("{'type': 'int', 'value': 1}, {'value': 1}"), "argument 2 has no type");
  EXPECT_EQ(ArgErrorOf("{}"), "argument 1 has no type");
  EXPECT_EQ(ArgErrorOf("{'type': 'int'}"), "argument 1 has no value");
  EXPECT_EQ(ArgErrorOf("{'type': 'tensor', 'dtype': 'int8'}"),
            "argument 1 is a tensor without a shape");
  EXPECT_EQ(ArgErrorOf("{'type': 'tensor', 'shape': (2, -1), 'dtype': 'int8'}"),
            "argument 1 has a negative extent");
}

TEST(ParseOpCall, NamesTheKeyThatIsMissing) {
  EXPECT_EQ(ErrorOf("{}"), "the key 'mod' is missing");
  EXPECT_EQ(ErrorOf("{'mod': 'm', 'args': []}"), "the key 'op' is missing");
  EXPECT_EQ(ErrorOf("{'mod': 'm', 'op': 'o', 'arg': []}"), "the key 'args' is missing");
}

TEST(ParseOpCall, RefusesKeysThatStandTwice) {
  EXPECT_EQ(ErrorOf("{'op': 'o', 'op': 'o'}"), "a key stands twice, at column 19");
  EXPECT_EQ(ErrorOf("{'args': [], 'mod': 'm', 'op': 'o', 'args': []}"),
            "a key stands twice, at column 45");
  EXPECT_EQ(ArgErrorOf("{'type': 'int', 'type': 'int', 'value': 1}"),
            "a key stands twice, at column 58");
}

TEST(ParseOpCall, RefusesWrongTypes) {
  for (const std::string_view text :
       {"", "[]", "'x'", "{'mod': 1, 'op': 'o', 'args': []}",
        "{'mod': 'm', 'op': None, 'args': []}", "{'mod': 'm', 'op': 'o', 'args': {}}",
        "{'mod': 'm', 'op': 'o', 'args': 'x'}", "{'mod': 'm', 'op': 'o', 'args': [1]}",
        "{'mod': 'm', 'op': 'o', 'args': [[]]}", "{'mod': 'm', 'op': 'o', 'args': []} x",
        "{'mod': 'm', 'op': 'o', 'args': []", "{1: 2, 'mod': 'm', 'op': 'o', 'args': []}",
        "{'mod': 'm', 'op': 'o', 'args': [], 'x': y}", "{'mod': f(), 'op': 'o', 'args': []}"}) {
    ErrorOf(text);
  }
  for (const std::string_view arg :
       {"{'type': 1, 'value': 1}", "{'name': None, 'type': 'int', 'value': 1}",
        "{'type': 'tensor', 'shape': 3, 'dtype': 'int8'}",
        "{'type': 'tensor', 'shape': (3), 'dtype': 'int8'}",
        "{'type': 'tensor', 'shape': (1.0,), 'dtype': 'int8'}",
        "{'type': 'tensor', 'shape': (True,), 'dtype': 'int8'}",
        "{'type': 'tensor', 'shape': (9223372036854775808,), 'dtype': 'int8'}",
        "{'type': 'tensor', 'shape': (1,), 'dtype': 8}", "{'type': 'int', 'value': x}",
        "{'type': 'int', 'value': 1 + 1}", "{'type': 'int', 'value': }"}) {
    ArgErrorOf(arg);
  }
}

TEST(ParseOpCall, RefusesDeepNesting) {
  EXPECT_EQ(ArgErrorOf("{'type': 'list', 'value': " + std::string(100000, '[')),
            "the literal is nested too deeply, at column 89");
}

TEST(ParseOpCall, SurvivesEveryCut) {
  const std::string text =
      R"({'mod': 'm', 'op': 'o', 'args': [{'name': '', 'type': 'tensor', 'shape': (2, 3), )"
      R"('dtype': 'int8'}, {'name': 'x', 'type': 'float', 'value': -1.5}]})";
  Parsed(text);
  for (size_t size = 0; size < text.size(); ++size) ErrorOf(std::string(text, 0, size));
}

// ---- AppendOpCall ----

std::string Text(const OpCall& call) {
  std::string text;
  AppendOpCall(call, &text);
  return text;
}

OpArg Value(Kind kind, std::string type) {
  OpArg arg;
  arg.kind = kind;
  arg.type = std::move(type);
  return arg;
}

OpArg FloatValue(double value) {
  OpArg arg = Value(Kind::kFloat, "float");
  arg.float_value = value;
  return arg;
}

OpArg TensorValue(std::vector<int64_t> shape, std::string dtype) {
  OpArg arg = Value(Kind::kTensor, "tensor");
  arg.shape = std::move(shape);
  arg.dtype = std::move(dtype);
  return arg;
}

TEST(AppendOpCall, WritesPythonLiterals) {
  OpArg alpha = Value(Kind::kInt, "int");
  alpha.name = "alpha";
  alpha.int_value = -1;
  OpArg ints = Value(Kind::kIntList, "list");
  ints.int_list = {1, 2};
  OpArg flag = Value(Kind::kBool, "bool");
  flag.int_value = 1;
  EXPECT_EQ(Text({"torch", "mm", {TensorValue({2, 3}, "float32"), alpha}}),
            "{'mod': 'torch', 'op': 'mm', 'args': [{'name': '', 'type': 'tensor', 'shape': (2, 3), "
            "'dtype': 'float32'}, {'name': 'alpha', 'type': 'int', 'value': -1}]}");
  EXPECT_EQ(Text({"a", "b", {ints, flag, Value(Kind::kNone, "NoneType")}}),
            "{'mod': 'a', 'op': 'b', 'args': [{'name': '', 'type': 'list', 'value': [1, 2]}, "
            "{'name': '', 'type': 'bool', 'value': True}, {'name': '', 'type': 'NoneType', "
            "'value': None}]}");
  EXPECT_EQ(Text({"", "", {}}), "{'mod': '', 'op': '', 'args': []}");
}

TEST(AppendOpCall, TuplesOfOneHaveAComma) {
  EXPECT_NE(Text({"m", "o", {TensorValue({7}, "")}}).find("'shape': (7,), "), std::string::npos);
  EXPECT_NE(Text({"m", "o", {TensorValue({}, "")}}).find("'shape': (), "), std::string::npos);
  OpArg tuple = Value(Kind::kIntList, "tuple");
  tuple.int_list = {4};
  EXPECT_NE(Text({"m", "o", {tuple}}).find("'value': (4,)}"), std::string::npos);
}

TEST(AppendOpCall, FloatsAreShortAndNeverIntegers) {
  const auto written = [](double value) {
    const std::string text = Text({"m", "o", {FloatValue(value)}});
    const size_t begin = text.find("'value': ") + 9;
    return text.substr(begin, text.find('}', begin) - begin);
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(written(0.1), "0.1");
  EXPECT_EQ(written(2), "2.0");
  EXPECT_EQ(written(-0.0), "-0.0");
  EXPECT_EQ(written(1e300), "1e+300");
  EXPECT_EQ(written(std::numeric_limits<double>::lowest()), "-1.7976931348623157e+308");
  EXPECT_EQ(written(kInfinity), "'inf'");
  EXPECT_EQ(written(-kInfinity), "'-inf'");
  EXPECT_EQ(written(std::numeric_limits<double>::quiet_NaN()), "'nan'");
  EXPECT_EQ(written(-std::numeric_limits<double>::quiet_NaN()), "'nan'");
}

TEST(AppendOpCall, TypesThatWouldChangeTheKindAreCorrected) {
  const OpCall call = Parsed(Text({"m",
                                   "o",
                                   {Value(Kind::kOther, "tensor"), Value(Kind::kTensor, "int"),
                                    Value(Kind::kNone, "ndarray")}}));
  EXPECT_EQ(call.args[0].kind, Kind::kOther);
  EXPECT_EQ(call.args[0].type, "object");
  EXPECT_EQ(call.args[1].kind, Kind::kTensor);
  EXPECT_EQ(call.args[2].kind, Kind::kNone);
}

TEST(ParseOpCall, ReadsTheNumberOfAList) {
  const auto list_of = [](std::string_view value) {
    return ParsedArg(fmt::format(
                         "{{'name': '', 'type': 'tensor', 'shape': (2,), 'dtype': '', 'list': {}}}",
                         value))
        .list;
  };
  EXPECT_EQ(list_of("1"), 1);
  EXPECT_EQ(list_of("2147483647"), 2147483647);
  // Whatever else another program means by it.
  for (const char* other : {"0", "-1", "2147483648", "99999999999999999999", "1.0", "True", "None",
                            "'1'", "[1]", "{'a': 1}"}) {
    EXPECT_EQ(list_of(other), 0) << other;
  }
}

TEST(AppendOpCall, WritesTheNumberOfAList) {
  OpArg member = Value(Kind::kTensor, "tensor");
  member.shape = {2};
  member.dtype = "float32";
  member.list = 3;
  EXPECT_EQ(Text({"torch", "cat", {member}}),
            "{'mod': 'torch', 'op': 'cat', 'args': [{'name': '', 'type': 'tensor', 'shape': (2,), "
            "'dtype': 'float32', 'list': 3}]}");
}

/// Bytes that matter to a literal come as often as all others together.
std::string AnyText() {
  const std::string special("'\"\\\n\r\t\0\x7f\x80\xc3\xa9\xe2\x82\xac\xed\xb2\x80xuU0"sv);
  const auto byte = rc::gen::oneOf(rc::gen::arbitrary<char>(), rc::gen::elementOf(special));
  return *rc::gen::container<std::string>(byte);
}

OpArg AnyArg() {
  OpArg arg =
      Value(*rc::gen::element(Kind::kTensor, Kind::kInt, Kind::kFloat, Kind::kBool, Kind::kNone,
                              Kind::kString, Kind::kIntList, Kind::kFloatList, Kind::kOther),
            "x" + AnyText());
  arg.name = AnyText();
  switch (arg.kind) {
    case Kind::kTensor:
      arg.type = "tensor";
      arg.shape = *rc::gen::container<std::vector<int64_t>>(rc::gen::nonNegative<int64_t>());
      arg.dtype = AnyText();
      arg.list = *rc::gen::inRange(0, std::numeric_limits<int32_t>::max());
      break;
    case Kind::kInt:
      arg.int_value = *rc::gen::arbitrary<int64_t>();
      break;
    case Kind::kFloat:
      arg.type = "float";
      arg.float_value = *rc::gen::element(0.5, 1e-320, -1e308, 3.0, 1e22,
                                          std::numeric_limits<double>::infinity()) *
                        *rc::gen::arbitrary<double>();
      if (std::isnan(arg.float_value)) arg.float_value = 0;
      break;
    case Kind::kBool:
      arg.int_value = *rc::gen::arbitrary<bool>() ? 1 : 0;
      break;
    case Kind::kString:
      arg.text = AnyText();
      break;
    case Kind::kIntList:
      arg.type = *rc::gen::element<std::string>("list", "tuple");
      arg.int_list = *rc::gen::arbitrary<std::vector<int64_t>>();
      break;
    case Kind::kFloatList:
      arg.type = *rc::gen::element<std::string>("list", "tuple");
      arg.float_list = {0.5, 3.0, std::numeric_limits<double>::infinity()};
      arg.float_list.resize(*rc::gen::inRange<size_t>(1, 4));
      break;
    case Kind::kNone:
    case Kind::kOther:
      break;
  }
  return arg;
}

RC_GTEST_PROP(AppendOpCallProperty, ParseReadsItBack, ()) {
  OpCall call{AnyText(), AnyText(), {}};
  for (int n = *rc::gen::inRange(0, 5); n > 0; --n) call.args.push_back(AnyArg());
  const std::string text = Text(call);
  RC_ASSERT(text.find('\n') == std::string::npos);
  std::string error;
  const std::optional<OpCall> read = ParseOpCall(text, &error);
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->mod == call.mod);
  RC_ASSERT(read->op == call.op);
  RC_ASSERT(read->args.size() == call.args.size());
  for (size_t i = 0; i < call.args.size(); ++i) {
    const OpArg& a = call.args[i];
    const OpArg& b = read->args[i];
    RC_ASSERT(b.name == a.name);
    RC_ASSERT(b.kind == a.kind);
    RC_ASSERT(b.type == a.type);
    RC_ASSERT(b.shape == a.shape);
    RC_ASSERT(b.dtype == a.dtype);
    RC_ASSERT(b.int_value == a.int_value);
    RC_ASSERT(b.float_value == a.float_value);
    RC_ASSERT(b.text == a.text);
    RC_ASSERT(b.int_list == a.int_list);
    RC_ASSERT(b.list == a.list);
  }
}

}  // namespace
}  // namespace oplens::op_call_test
