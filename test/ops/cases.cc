#include "test/ops/cases.h"

#include <gtest/gtest.h>

#include <charconv>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "ops/op_name.h"

namespace oplens::ops::test {
namespace {

using ArgKind = OpArg::Kind;

std::vector<int64_t> ParseIntegers(std::string_view list) {
  std::vector<int64_t> values;
  std::istringstream in{std::string(list)};
  for (std::string item; std::getline(in, item, ',');) {
    if (!item.empty()) values.push_back(std::stoll(item));
  }
  return values;
}

std::optional<OpArg> ParseWord(std::string_view text) {
  OpArg arg;
  if (text == "None") {
    arg.kind = ArgKind::kNone;
    arg.type = "NoneType";
  } else if (text.front() == '?') {
    arg.kind = ArgKind::kOther;
    arg.type = text.size() == 1 ? "dtype" : text.substr(1);
  } else if (text == "True" || text == "False") {
    arg.kind = ArgKind::kBool;
    arg.type = "bool";
    arg.int_value = text == "True";
  } else if (text.front() == '\'') {
    arg.kind = ArgKind::kString;
    arg.type = "str";
    arg.text = text.substr(1, text.size() - 2);
  } else {
    return std::nullopt;
  }
  return arg;
}

// "[2,3]fp32", "[2,3]", "(2,3)"
OpArg ParseSequence(std::string_view text) {
  const size_t end = text.find_first_of("])");
  OpArg arg;
  if (end + 1 == text.size() && text.find('.') != std::string_view::npos) {
    arg.kind = ArgKind::kFloatList;
    arg.type = text.front() == '(' ? "tuple" : "list";
    std::istringstream in{std::string(text.substr(1, end - 1))};
    for (std::string item; std::getline(in, item, ',');) arg.float_list.push_back(std::stod(item));
    return arg;
  }
  const std::vector<int64_t> values = ParseIntegers(text.substr(1, end - 1));
  if (end + 1 == text.size()) {
    arg.kind = ArgKind::kIntList;
    arg.type = text.front() == '(' ? "tuple" : "list";
    arg.int_list = values;
  } else {
    arg.kind = ArgKind::kTensor;
    arg.type = "tensor";
    arg.shape = values;
    arg.dtype = text.substr(end + 1);
  }
  return arg;
}

OpArg ParseNumber(std::string_view text) {
  OpArg arg;
  const char* end = text.data() + text.size();
  if (std::from_chars(text.data(), end, arg.int_value).ptr == end) {
    arg.kind = ArgKind::kInt;
    arg.type = "int";
  } else if (std::from_chars(text.data(), end, arg.float_value).ptr == end) {
    arg.kind = ArgKind::kFloat;
    arg.type = "float";
  } else {
    throw std::invalid_argument("no argument: " + std::string(text));
  }
  return arg;
}

OpArg ParseArg(std::string_view text) {
  if (const size_t colon = text.find(":["); colon != std::string_view::npos) {
    OpArg member = ParseArg(text.substr(colon + 1));
    member.list = std::stoi(std::string(text.substr(0, colon)));
    return member;
  }
  std::string name;
  const size_t equals = text.find('=');
  if (equals != std::string_view::npos) {
    name = text.substr(0, equals);
    text.remove_prefix(equals + 1);
  }
  std::optional<OpArg> arg = ParseWord(text);
  if (!arg)
    arg = text.front() == '[' || text.front() == '(' ? ParseSequence(text) : ParseNumber(text);
  arg->name = name;
  return *arg;
}

void CheckPrice(const Case& expected, const PricedOp& price) {
  EXPECT_EQ(price.params, expected.params);
  // A gradient function computes gradients: the row holds their sum.
  if (!ParseOpName(expected.op).backward) {
    ASSERT_EQ(price.forward.size(), 1u);
    EXPECT_EQ(price.forward[0].part, Part::kForward);
  }
  Work forward;
  for (const PartWork& part : price.forward) {
    forward.mma += part.work.mma;
    forward.vec += part.work.vec;
    forward.bytes += part.work.bytes;
  }
  EXPECT_EQ(FiguresOf(forward), expected.forward);
  ASSERT_EQ(price.backward.size(), expected.backward.size());
  for (size_t i = 0; i < expected.backward.size(); ++i) {
    SCOPED_TRACE("gradient " + std::to_string(i));
    EXPECT_EQ(price.backward[i].part, expected.backward[i].part);
    EXPECT_EQ(FiguresOf(price.backward[i].work), expected.backward[i].figures);
  }
}

}  // namespace

OpCall MakeCall(std::string_view op, std::string_view args) {
  OpCall call;
  const size_t dot = op.find('.');
  const std::string_view mod = op.substr(0, dot == std::string_view::npos ? 0 : dot);
  if (mod == "F" || mod == "torch" || mod == "Tensor") {
    call.mod = mod == "F" ? "torch.nn.functional" : mod;
    op.remove_prefix(dot + 1);
  }
  call.op = op;
  std::istringstream in{std::string(args)};
  for (std::string item; in >> item;) call.args.push_back(ParseArg(item));
  return call;
}

std::ostream& operator<<(std::ostream& out, const Figures& figures) {
  return out << "{mma " << figures.mma << ", vec " << figures.vec << ", bytes " << figures.bytes
             << "}";
}

std::optional<Figures> FiguresOf(const Work& work) {
  const auto mma = work.mma.Value();
  const auto vec = work.vec.Value();
  const auto bytes = work.bytes.Value();
  if (!mma || !vec || !bytes) return std::nullopt;
  return Figures{*mma, *vec, *bytes};
}

void CheckCases(const std::vector<Case>& cases) {
  for (const Case& expected : cases) {
    SCOPED_TRACE(expected.op + "(" + expected.args + ")");
    const PriceResult result = PriceCall(MakeCall(expected.op, expected.args));
    if (expected.reason == Reason::kUnknownDType && result.price) {
      // The FLOPs are known all the same.
      EXPECT_EQ(result.price->bytes_known, result.price->op_class == OpClass::kView);
    } else if (expected.reason) {
      EXPECT_FALSE(result.price.has_value()) << result.price->params;
      EXPECT_EQ(ReasonWord(result.reason), ReasonWord(*expected.reason));
    } else if (!result.price) {
      ADD_FAILURE() << "no price: " << ReasonWord(result.reason);
    } else {
      CheckPrice(expected, *result.price);
    }
  }
}

}  // namespace oplens::ops::test
