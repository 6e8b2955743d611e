#include "nvtx_annotate/torch/call_form.h"

#include <gmock/gmock.h>

namespace oplens::annotate::torch::call_form_test {
namespace {

using ::testing::ElementsAre;

std::string Names(const CallForm& form) { return form.mod + "." + form.op + " " + form.aten; }

/// "input", "name=input", "name:dtype=input".
std::vector<std::string> Parameters(const CallForm& form) {
  std::vector<std::string> texts;
  for (const Parameter& parameter : form.parameters) {
    std::string text = parameter.name;
    if (parameter.use == Parameter::Use::kDType) text += ":dtype";
    if (parameter.use == Parameter::Use::kDTypeOrInput) text += ":dtype~";
    if (parameter.use == Parameter::Use::kFloat32Flag) text += ":flag";
    if (!text.empty()) text += "=";
    texts.push_back(text + std::to_string(parameter.input));
  }
  return texts;
}

TEST(CallFormTest, NamesOfPythonUsers) {
  const auto names = [](const char* name, const char* overload = "") {
    return Names(FormOfOperator(name, overload, {{"self"}}));
  };
  EXPECT_EQ(names("aten::mm", "out"), "torch.mm aten::mm.out");
  EXPECT_EQ(names("aten::conv2d"), "torch.nn.functional.conv2d aten::conv2d");
  EXPECT_EQ(names("aten::add_", "Tensor"), "Tensor.add_ aten::add_.Tensor");
  EXPECT_EQ(names("aten::_softmax"), "torch.nn.functional.softmax aten::_softmax");
  EXPECT_EQ(names("aten::lift_fresh"), "aten.lift_fresh aten::lift_fresh");
  EXPECT_EQ(names("_C::rms_norm"), "_C.rms_norm _C::rms_norm");
  EXPECT_EQ(Names(FormOfFunction("MyFunction", 1)), "autograd.MyFunction ");
}

TEST(CallFormTest, ArgumentsInTheOrderOfPython) {
  EXPECT_THAT(
      Parameters(FormOfOperator("aten::addmm", "",
                                {{"self"}, {"mat1"}, {"mat2"}, {"beta", true}, {"alpha", true}})),
      ElementsAre("0", "1", "2", "beta=3", "alpha=4"));
  EXPECT_THAT(Parameters(FormOfOperator(
                  "aten::embedding", "",
                  {{"weight"}, {"indices"}, {"padding_idx"}, {"scale_grad_by_freq"}, {"sparse"}})),
              ElementsAre("1", "0", "padding_idx=2", "scale_grad_by_freq=3", "sparse=4"));
  EXPECT_THAT(Parameters(FormOfOperator("aten::_to_copy", "",
                                        {{"self"}, {"dtype", true}, {"layout", true}})),
              ElementsAre("0", "dtype:dtype~=1"));
  EXPECT_THAT(
      Parameters(FormOfOperator("aten::_softmax", "", {{"self"}, {"dim"}, {"half_to_float"}})),
      ElementsAre("0", "1", "dtype:flag=2"));
}

TEST(CallFormTest, OverloadsOfTheSameLength) {
  EXPECT_THAT(Parameters(FormOfOperator("aten::div", "Tensor_mode",
                                        {{"self"}, {"other"}, {"rounding_mode", true}})),
              ElementsAre("0", "1", "rounding_mode=2"));
  EXPECT_THAT(
      Parameters(FormOfOperator("aten::div", "out", {{"self"}, {"other"}, {"out", true, true}})),
      ElementsAre("0", "1", "out=2"));
}

TEST(CallFormTest, UnknownOperatorsAsTheirSchemaHasThem) {
  EXPECT_THAT(
      Parameters(FormOfOperator(
          "my::op", "",
          {{"x"}, {"n"}, {"dtype", true}, {"layout", true}, {"device", true}, {"scale", true}})),
      ElementsAre("0", "1", "dtype:dtype=2", "scale=5"));
}

TEST(CallFormTest, MinorOperators) {
  EXPECT_TRUE(FormOfOperator("aten::empty_strided", "", {}).minor);
  EXPECT_TRUE(FormOfOperator("aten::resolve_conj", "", {}).minor);
  EXPECT_FALSE(FormOfOperator("aten::mm", "", {}).minor);
  EXPECT_FALSE(FormOfOperator("my::empty", "", {}).minor);
}

}  // namespace
}  // namespace oplens::annotate::torch::call_form_test
