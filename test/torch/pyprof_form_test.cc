#include "nvtx_annotate/torch/pyprof_form.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "parse/model/op_call.h"

namespace oplens::annotate::torch::pyprof_form_test {
namespace {

using Values = std::vector<PyprofValue>;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

PyprofValue X(std::vector<int64_t> shape, const std::string& dtype = "float32") {
  return PyprofValue::Tensor(std::move(shape), dtype);
}
PyprofValue I(int64_t value) { return PyprofValue::Int(value); }
PyprofValue D(double value) { return PyprofValue::Float(value); }
PyprofValue B(bool value) { return PyprofValue::Bool(value); }
PyprofValue L(std::vector<int64_t> values) { return PyprofValue::Ints(std::move(values)); }
const PyprofValue kNone;

/// An argument of a schema; `name` with '*' before it is a keyword only.
struct P : PyprofParameter {
  P(const char* text) {  // NOLINT
    keyword_only = *text == '*';
    name = text + (keyword_only ? 1 : 0);
  }
  P(const char* text, PyprofValue value) : P(text) {
    has_default = true;
    fallback = std::move(value);
  }
};

PyprofForm Form(const std::string& name, const std::string& overload,
                const std::vector<P>& schema) {
  return PyprofForm("aten::" + name, overload, {schema.begin(), schema.end()});
}

/// O, with what all of them have in common left out: "torch.mm(tensor (2, 3) float32, int 2)".
std::string Short(std::string text) {
  const auto replace = [&text](const std::string& what, const std::string& by) {
    for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size())) {
      text.replace(at, what.size(), by);
    }
  };
  if (text.ends_with("]}")) text.replace(text.size() - 2, 2, ")");
  replace("{'mod': '", "");
  replace("', 'op': '", ".");
  replace("', 'args': [", "(");
  replace("{'name': '', 'type': ", "");
  replace("{'name': ", "");
  replace("'tensor', 'shape': ", "");
  replace(", 'dtype': '", " ");
  replace("'type': ", "");
  replace(", 'value': ", " ");
  replace("'}", "");
  replace("}", "");
  return text;
}

std::string Call(const PyprofForm& form, const Values& inputs, bool backward = false) {
  std::string error;
  const std::string text = form.Text(inputs, backward);
  EXPECT_TRUE(ParseOpCall(text, &error)) << text << ": " << error;
  return Short(text);
}

PyprofForm Unary(const std::string& name) { return Form(name, "", {"self"}); }
PyprofForm Binary(const std::string& name) { return Form(name, "Tensor", {"self", "other"}); }
PyprofForm Add(const std::string& name = "add") {
  return Form(name, "Tensor", {"self", "other", {"*alpha", I(1)}});
}

TEST(PyprofFormTest, WholeText) {
  EXPECT_EQ(
      Form("conv2d", "",
           {"input",
            "weight",
            {"bias", kNone},
            {"stride", L({1})},
            {"padding", L({0})},
            {"dilation", L({1})},
            {"groups", I(1)}})
          .Text({X({1, 3, 8, 8}), X({4, 3, 3, 3}), kNone, L({1, 1}), L({0, 1}), L({1, 1}), I(1)},
                false),
      "{'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': [{'name': '', 'type': 'tensor', "
      "'shape': (1, 3, 8, 8), 'dtype': 'float32'}, {'name': '', 'type': 'tensor', 'shape': "
      "(4, 3, 3, 3), 'dtype': 'float32'}, {'name': '', 'type': 'NoneType', 'value': None}, "
      "{'name': '', 'type': 'tuple', 'value': (1, 1)}, {'name': '', 'type': 'tuple', 'value': "
      "(0, 1)}, {'name': '', 'type': 'tuple', 'value': (1, 1)}, {'name': '', 'type': 'int', "
      "'value': 1}]}");
}

TEST(PyprofFormTest, AsTheModulesOfTorchNn) {
  EXPECT_EQ(Call(Form("linear", "", {"input", "weight", {"bias", kNone}}),
                 {X({2, 3}), X({4, 3}), X({4})}),
            "torch.nn.functional.linear((2, 3) float32, (4, 3) float32, (4,) float32)");
  EXPECT_EQ(Call(Form("batch_norm", "",
                      {"input", "weight", "bias", "running_mean", "running_var", "training",
                       "momentum", "eps", "cudnn_enabled"}),
                 {X({2, 3}), X({3}), kNone, X({3}, "float64"), X({3}), B(true), D(0.1), D(1e-5),
                  B(true)}),
            "torch.nn.functional.batch_norm((2, 3) float32, (3,) float64, (3,) float32, (3,) "
            "float32, 'NoneType' None, 'bool' True, 'float' 0.1, 'float' 1e-05)");
  EXPECT_EQ(Call(Unary("relu"), {X({2})}),
            "torch.nn.functional.relu((2,) float32, 'inplace', 'bool' False)");
  EXPECT_EQ(Call(Unary("relu_"), {X({2})}),
            "torch.nn.functional.relu((2,) float32, 'inplace', 'bool' True)");
  EXPECT_EQ(Call(Form("dropout", "", {"input", "p", "train"}), {X({2}), D(0.5), B(true)}),
            "torch.nn.functional.dropout((2,) float32, 'float' 0.5, 'bool' True, 'bool' False)");
  EXPECT_EQ(
      Call(Form("embedding", "",
                {"weight",
                 "indices",
                 {"padding_idx", I(-1)},
                 {"scale_grad_by_freq", B(false)},
                 {"sparse", B(false)}}),
           {X({9, 4}), X({2}, "int64"), I(-1), B(false), B(false)}),
      "torch.nn.functional.embedding((2,) int64, (9, 4) float32, 'NoneType' None, 'NoneType' None, "
      "'float' 2.0, 'bool' False, 'bool' False)");
  EXPECT_EQ(Call(Form("max_pool2d", "",
                      {"self",
                       "kernel_size",
                       {"stride", L({})},
                       {"padding", L({0})},
                       {"dilation", L({1})},
                       {"ceil_mode", B(false)}}),
                 {X({1, 2, 4, 4}), L({2, 2}), L({2, 1}), L({0, 0}), L({1, 1}), B(false)}),
            "torch.nn.functional.max_pool2d((1, 2, 4, 4) float32, 'int' 2, 'tuple' (2, 1), "
            "'padding', 'int' 0, 'dilation', 'int' 1, 'ceil_mode', 'bool' False, 'return_indices', "
            "'bool' False)");
  EXPECT_EQ(
      Call(Form("softmax", "int", {"self", "dim", {"dtype", kNone}}), {X({2, 3}), I(-1), kNone}),
      "torch.nn.functional.softmax((2, 3) float32, 'dim', 'int' -1)");
  EXPECT_EQ(
      Call(Form("lstm_cell", "", {"input", "hx", "w_ih", "w_hh", {"b_ih", kNone}, {"b_hh", kNone}}),
           {X({2, 3}), PyprofValue::Tensors({{{2, 4}, "float32"}, {{2, 4}, "float32"}}), X({16, 3}),
            X({16, 4}), X({16}), X({16})}),
      "LSTMCell.forward((2, 3) float32, (2, 4) float32, (2, 4) float32)");
}

TEST(PyprofFormTest, ReductionsAreWords) {
  const PyprofForm loss = Form("mse_loss", "", {"self", "target", {"reduction", I(1)}});
  EXPECT_EQ(Call(loss, {X({2}), X({2}), I(1)}),
            "torch.nn.functional.mse_loss((2,) float32, (2,) float32, 'reduction', 'str' 'mean)");
  EXPECT_THAT(Call(loss, {X({2}), X({2}), I(0)}), HasSubstr("'none"));
  EXPECT_THAT(Call(loss, {X({2}), X({2}), I(2)}), HasSubstr("'sum"));
  EXPECT_EQ(
      Call(Form("cross_entropy_loss", "",
                {"self",
                 "target",
                 {"weight", kNone},
                 {"reduction", I(1)},
                 {"ignore_index", I(-100)},
                 {"label_smoothing", D(0)}}),
           {X({2, 3}), X({2}, "int64"), kNone, I(1), I(-100), D(0)}),
      "torch.nn.functional.cross_entropy((2, 3) float32, (2,) int64, 'weight', 'NoneType' "
      "None, 'ignore_index', 'int' -100, 'reduction', 'str' 'mean, 'label_smoothing', 'float' "
      "0.0)");
}

TEST(PyprofFormTest, OperatorsOfPython) {
  EXPECT_EQ(Call(Add(), {X({2}), X({2}), I(1)}), "Tensor.__add__((2,) float32, (2,) float32)");
  EXPECT_EQ(Call(Add(), {X({2}), D(0.5), I(2)}),
            "torch.add((2,) float32, 'float' 0.5, 'alpha', 'int' 2)");
  EXPECT_EQ(Call(Add("add_"), {X({2}), X({2}), D(0.1)}),
            "Tensor.add_((2,) float32, (2,) float32, 'alpha', 'float' 0.1)");
  EXPECT_EQ(Call(Binary("eq"), {X({2}), I(1)}), "Tensor.__eq__((2,) float32, 'int' 1)");
  EXPECT_EQ(Call(Form("pow", "Scalar", {"self", "exponent"}), {I(2), X({3})}),
            "torch.pow('int' 2, (3,) float32)");
}

TEST(PyprofFormTest, DefaultsAreLeftOut) {
  const PyprofForm topk =
      Form("topk", "", {"self", "k", {"dim", I(-1)}, {"largest", B(true)}, {"sorted", B(true)}});
  EXPECT_EQ(Call(topk, {X({4}), I(2), I(-1), B(true), B(true)}),
            "torch.topk((4,) float32, 'int' 2)");
  // What stands before another argument is not.
  EXPECT_EQ(Call(topk, {X({4}), I(2), I(-1), B(false), B(true)}),
            "torch.topk((4,) float32, 'int' 2, 'int' -1, 'bool' False)");
  const PyprofForm sum =
      Form("sum", "dim_IntList", {"self", "dim", {"keepdim", B(false)}, {"*dtype", kNone}});
  EXPECT_EQ(Call(sum, {X({2, 3}), L({1}), B(false), PyprofValue::DType("float64")}),
            "Tensor.sum((2, 3) float32, 'int' 1)");
  EXPECT_EQ(Call(sum, {X({2, 3}), L({0, 1}), B(true), kNone}),
            "Tensor.sum((2, 3) float32, 'tuple' (0, 1), 'keepdim', 'bool' True)");
  EXPECT_EQ(
      Call(Form("clamp", "", {"self", {"min", kNone}, {"max", kNone}}), {X({2}), kNone, I(1)}),
      "torch.clamp((2,) float32, 'max', 'int' 1)");
}

TEST(PyprofFormTest, Lists) {
  const PyprofForm cat = Form("cat", "", {"tensors", {"dim", I(0)}});
  const PyprofValue two = PyprofValue::Tensors({{{2}, "float32"}, {{3}, "float32"}});
  EXPECT_EQ(Call(cat, {two, I(0)}), "torch.cat((2,) float32, (3,) float32)");
  EXPECT_EQ(Call(cat, {two, I(1)}), "torch.cat((2,) float32, (3,) float32, 'dim', 'int' 1)");
  // PyProf's prof wants two arguments.
  EXPECT_EQ(Call(cat, {PyprofValue::Tensors({{{2}, "float32"}}), I(0)}),
            "torch.cat((2,) float32, 'dim', 'int' 0)");
  EXPECT_EQ(Call(Form("view", "", {"self", "size"}), {X({6}), L({2, -1})}),
            "Tensor.view((6,) float32, 'int' 2, 'int' -1)");
  EXPECT_EQ(Call(Form("zeros", "", {"size", {"*dtype", kNone}}), {L({}), kNone}),
            "torch.zeros('tuple' ())");
  EXPECT_EQ(Call(Form("flip", "", {"self", "dims"}), {X({6}), L({0})}),
            "torch.flip((6,) float32, 'list' [0])");
}

TEST(PyprofFormTest, ManyTensorsAreWholeOrNotPriced) {
  const PyprofForm cat = Form("cat", "", {"tensors", {"dim", I(0)}});
  const auto tensors = [](size_t count) {
    return PyprofValue::Tensors(std::vector<PyprofTensor>(count, {{100}, "float32"}));
  };
  const std::string whole = cat.Text({tensors(300), I(0)}, false);
  size_t count = 0;
  for (size_t at = whole.find("(100,)"); at != whole.npos; at = whole.find("(100,)", at + 1))
    ++count;
  EXPECT_EQ(count, 300u);
  const std::string cut = cat.Text({tensors(3000), I(0)}, false);
  EXPECT_THAT(cut, StartsWith("{'mod': 'torch', 'op': 'aten::cat', 'args': [{'name'"));
  EXPECT_LT(cut.size(), 200u);
}

TEST(PyprofFormTest, NumbersAsPythonPrintsThem) {
  const PyprofForm form = Binary("mul");
  const std::pair<double, std::string> kNumbers[] = {
      {1e-5, "1e-05"},        {0.0001, "0.0001"},
      {100000, "100000.0"},   {1e15, "1000000000000000.0"},
      {1e16, "1e+16"},        {1.5e300, "1.5e+300"},
      {0.1, "0.1"},           {-0.0, "-0.0"},
      {1e23, "1e+23"},        {123456789.125, "123456789.125"},
      {kInfinity, "'inf'"},   {-kInfinity, "'-inf'"},
      {std::nan(""), "'nan'"}};
  for (const auto& [number, text] : kNumbers) {
    EXPECT_THAT(form.Text({X({2}), D(number)}, false),
                HasSubstr("{'name': '', 'type': 'float', 'value': " + text + "}]}"));
  }
}

TEST(PyprofFormTest, TextsAreLiterals) {
  const PyprofForm einsum = Form("einsum", "", {"equation", "tensors", {"*path", kNone}});
  const auto text = [&](const std::string& equation) {
    return einsum.Text(
        {PyprofValue::Text(equation), PyprofValue::Tensors({{{2}, "float32"}}), kNone}, false);
  };
  EXPECT_THAT(text("ij->i"), HasSubstr("'type': 'str', 'value': 'ij->i'}"));
  EXPECT_THAT(text("it's"), HasSubstr("'value': \"it's\"}"));
  EXPECT_THAT(text("'\"\\\n\x01\xff"), HasSubstr(R"('value': '\'"\\\n\x01\xff'})"));
}

TEST(PyprofFormTest, DataTypes) {
  const PyprofForm to = Form(
      "to", "dtype",
      {"self", "dtype", {"non_blocking", B(false)}, {"copy", B(false)}, {"memory_format", kNone}});
  const auto converted = [&](const char* dtype) {
    return Call(to, {X({2}), PyprofValue::DType(dtype), B(false), B(false), kNone});
  };
  EXPECT_EQ(converted("float16"), "Tensor.half((2,) float32)");
  EXPECT_EQ(converted("int64"), "Tensor.long((2,) float32)");
  EXPECT_EQ(converted("complex64"), "Tensor.to((2,) float32)");
  // Of the size that it has; PyProf does not know its name.
  EXPECT_EQ(Call(Add(), {X({2}, "bfloat16"), X({2}, "bfloat16"), I(1)}),
            "Tensor.__add__((2,) half, (2,) half)");
  EXPECT_EQ(Call(Form("gelu", "", {"self", {"*approximate", PyprofValue::Text("none")}}),
                 {X({2}, "bfloat16"), PyprofValue::Text("none")}),
            "torch.nn.functional.gelu((2,) bfloat16, 'approximate', 'str' 'none)");
  EXPECT_EQ(Call(Add(), {X({2}, "complex64"), X({2}), I(1)}),
            "Tensor.aten::add((2,) complex64, (2,) float32)");
}

TEST(PyprofFormTest, TensorsWithoutDimensions) {
  EXPECT_EQ(Call(Form("ones_like", "", {"self", {"*dtype", kNone}}), {X({}), kNone}),
            "torch.ones_like(() float32)");
  EXPECT_EQ(Call(Binary("mul"), {X({2, 3}), X({})}), "Tensor.__mul__((2, 3) float32, () float32)");
}

TEST(PyprofFormTest, NamesThatAreForwardOnly) {
  const auto name = [](const PyprofForm& form, bool backward) {
    const std::string text = Call(form, {X({2}), X({2})}, backward);
    return text.substr(0, text.find('('));
  };
  EXPECT_EQ(name(Binary("mul"), true), "Tensor.__mul__");
  EXPECT_EQ(name(Binary("mul_"), false), "Tensor.mul_");
  EXPECT_EQ(name(Binary("mul_"), true), "Tensor.__imul__");
  EXPECT_EQ(name(Add("add_"), true), "Tensor.__add__");
  EXPECT_EQ(name(Add("rsub"), false), "Tensor.__rsub__");
  EXPECT_EQ(name(Add("rsub"), true), "Tensor.__sub__");
  EXPECT_EQ(name(Binary("div_"), true), "Tensor.__truediv__");
  // Without a name that prof prices in both directions.
  EXPECT_EQ(name(Binary("fmod"), false), "torch.fmod");
  EXPECT_EQ(name(Binary("fmod"), true), "torch.aten::fmod");
  EXPECT_EQ(name(Binary("gt"), false), "Tensor.__gt__");
  EXPECT_EQ(name(Binary("gt"), true), "Tensor.aten::gt");
}

TEST(PyprofFormTest, WhatProfWouldAbortAtHasTheDispatchersName) {
  const auto is_shown = [](const PyprofForm& form, const Values& inputs) {
    const std::string text = Call(form, inputs);
    return text.find(".aten::") != text.npos;
  };
  EXPECT_TRUE(is_shown(Form("lerp", "Scalar", {"self", "end", "weight"}), {X({2}), X({2}), D(1)}));
  EXPECT_TRUE(is_shown(Binary("atan2"), {X({2}), X({2})}));
  EXPECT_TRUE(is_shown(Binary("mul"), {X({2}), B(true)}));
  EXPECT_FALSE(is_shown(Binary("mul"), {X({2, 1}), X({3})}));
  const PyprofForm select = Form("masked_select", "", {"self", "mask"});
  EXPECT_TRUE(is_shown(select, {X({2}), X({2}, "bool")}));
  EXPECT_FALSE(is_shown(select, {X({2}), X({2}, "uint8")}));
  const PyprofForm index = Form("index_select", "", {"self", "dim", "index"});
  EXPECT_TRUE(is_shown(index, {X({2, 2}), I(0), X({2}, "int32")}));
  EXPECT_FALSE(is_shown(index, {X({2, 2}), I(0), X({2}, "int64")}));
  const PyprofForm copy = Form("copy_", "", {"self", "src", {"non_blocking", B(false)}});
  EXPECT_TRUE(is_shown(copy, {X({2, 2}), X({2}), B(false)}));
  EXPECT_FALSE(is_shown(copy, {X({2}), X({2}, "int64"), B(true)}));
  const PyprofForm cat = Form("cat", "", {"tensors", {"dim", I(0)}});
  EXPECT_TRUE(is_shown(cat, {PyprofValue::Tensors({{{2}, "float32"}, {{2}, "int64"}}), I(0)}));
  const PyprofForm conv = Form("conv1d", "",
                               {"input",
                                "weight",
                                {"bias", kNone},
                                {"stride", L({1})},
                                {"padding", L({0})},
                                {"dilation", L({1})},
                                {"groups", I(1)}});
  const auto grouped = [](int64_t groups, PyprofValue padding) -> Values {
    return {X({2, 4, 8}), X({4, 4 / groups, 3}), kNone, L({1}), std::move(padding), L({1}),
            I(groups)};
  };
  EXPECT_FALSE(is_shown(conv, grouped(1, L({1}))));
  EXPECT_TRUE(is_shown(conv, grouped(2, L({1}))));
  EXPECT_TRUE(is_shown(conv, grouped(1, PyprofValue::Text("same"))));
  const PyprofForm linear = Form("linear", "", {"input", "weight", {"bias", kNone}});
  EXPECT_TRUE(is_shown(linear, {X({2, 3}), X({3}), kNone}));
  EXPECT_TRUE(is_shown(linear, {X({2, 3}), X({4, 3}, "float64"), kNone}));
  const PyprofForm full = Form("full", "", {"size", "fill_value", {"*dtype", kNone}});
  EXPECT_TRUE(is_shown(full, {L({2}), B(true), kNone}));
  EXPECT_FALSE(is_shown(full, {L({2}), D(1.5), kNone}));
}

TEST(PyprofFormTest, ProductsOfExpandedBatches) {
  const PyprofForm matmul = Form("matmul", "", {"self", "other"});
  const Values expanded = {X({5, 1, 2, 3}), X({4, 3, 6})};
  EXPECT_EQ(Call(matmul, expanded), "torch.matmul((5, 1, 2, 3) float32, (4, 3, 6) float32)");
  EXPECT_EQ(Call(matmul, expanded, true), "torch.bmm((20, 2, 3) float32, (20, 3, 6) float32)");
  EXPECT_EQ(Call(matmul, {X({4, 2, 3}), X({4, 3, 6})}, true),
            "torch.matmul((4, 2, 3) float32, (4, 3, 6) float32)");
}

TEST(PyprofFormTest, FormsOfOtherOperators) {
  EXPECT_EQ(Short(PyprofForm("my::add", "", {P("x"), P("n"), P("*scale", D(1)), P("*device")})
                      .Text({X({2}), I(3), D(2), PyprofValue()}, false)),
            "my.add((2,) float32, 'int' 3, 'scale', 'float' 2.0)");
  EXPECT_TRUE(Form("empty", "memory_format", {"size"}).hidden());
  EXPECT_FALSE(Unary("clone").hidden());
  EXPECT_FALSE(PyprofForm("my::empty", "", {}).hidden());
  EXPECT_FALSE(Binary("gt").numbered());
  EXPECT_TRUE(Binary("mul").numbered());
}

TEST(PyprofFormTest, Sequences) {
  EXPECT_EQ(PyprofSequence("aten::add_", 3, false), "add_, seq = 3");
  EXPECT_EQ(PyprofSequence("MulBackward1", 12, true), "MulBackward, seq = 12");
  EXPECT_EQ(PyprofSequence("torch::autograd::CopySlices", 0, true), "CopySlicesBackward, seq = 0");
  EXPECT_EQ(PyprofSequence("torch::autograd::CopyBackwards", 0, true), "CopyBackward, seq = 0");
  EXPECT_EQ(PyprofSequence("My, own = Function", 0, false), "My_ own _ Function, seq = 0");
  EXPECT_TRUE(IsPythonNode("CubeBackward"));
  EXPECT_FALSE(IsPythonNode("MulBackward0"));
  EXPECT_FALSE(IsPythonNode("torch::autograd::CppNode<Square>"));
}

TEST(PyprofFormTest, LabelsThatPyprofWouldTakeForItsOwn) {
  EXPECT_EQ(PyprofLabel("Optimizer.step#SGD.step"), "Optimizer.step#SGD.step");
  EXPECT_EQ(PyprofLabel("model of type T: its op has args"), "model of type T: its op has _rgs");
  EXPECT_EQ(PyprofLabel("a, seq = b"), "a, seq: b");
  EXPECT_EQ(PyprofLabel("traceMarker"), "trace_Marker");
}

}  // namespace
}  // namespace oplens::annotate::torch::pyprof_form_test
