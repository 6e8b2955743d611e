#include "ops/rules/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "test/ops/cases.h"

namespace oplens::ops::rules_test {
namespace {

using test::Figures;
using test::FiguresOf;
using test::MakeCall;
using testing::HasSubstr;

Rules Read(std::string_view text) { return ReadRules(text, "my.toml"); }

/// The message of a wrong file; "" of a right one.
std::string ErrorOf(std::string_view text) {
  try {
    Read(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

constexpr std::string_view kMlp = R"toml(
[[op]]
name = "fused_mlp"
args = ["x[*rows,H]", "up[F,H]", "down[H,F]", "bias[H]?", "causal=0"]
params = ["rows", "H", "F"]
dgrad = { mma = "4*rows*H*F", vec = 0, bytes = "3*bytes(x)" }
wgrad = { mma = "4*rows*H*F", bytes = "bytes(up) + bytes(down)" }
[op.forward]
mma = "4*rows*H*F"
vec = "rows*F + elements(bias)"
bytes = "2*bytes(x) + bytes(up) + bytes(down) + bytes(bias)"
)toml";

TEST(Rules, PriceAnOpByTheFormulasOverItsExtents) {
  const Rules rules = Read(kMlp);
  const PriceResult result =
      PriceCall(MakeCall("fused_mlp", "[2,3,8]fp16 [32,8]fp16 [8,32]fp16"), &rules);
  ASSERT_TRUE(result.price);
  const PricedOp& op = *result.price;
  EXPECT_EQ(op.params, "rows=6,H=8,F=32,fp16");
  ASSERT_EQ(op.forward.size(), 1u);
  EXPECT_EQ(FiguresOf(op.forward[0].work),
            (Figures{4 * 6 * 8 * 32, 6 * 32, 2 * 2 * 48 + 2 * 256 + 2 * 256}));
  ASSERT_EQ(op.backward.size(), 2u);
  EXPECT_EQ(op.backward[0].part, Part::kDgrad);
  EXPECT_EQ(FiguresOf(op.backward[0].work), (Figures{4 * 6 * 8 * 32, 0, 3 * 96}));
  EXPECT_EQ(op.backward[1].part, Part::kWgrad);
  EXPECT_EQ(FiguresOf(op.backward[1].work), (Figures{4 * 6 * 8 * 32, 0, 4 * 256}));
  EXPECT_TRUE(op.matmul_like);
  EXPECT_TRUE(op.bytes_known);
  EXPECT_FALSE(op.vec_estimated);
  EXPECT_FALSE(op.mma_estimated);
}

TEST(Rules, TwiceTheRowsAreTwiceTheFlops) {
  const Rules rules = Read(kMlp);
  const auto mma = [&](std::string_view args) {
    return FiguresOf(PriceCall(MakeCall("fused_mlp", args), &rules).price->forward[0].work)->mma;
  };
  EXPECT_EQ(2 * mma("[5,8]fp16 [32,8]fp16 [8,32]fp16"), mma("[10,8]fp16 [32,8]fp16 [8,32]fp16"));
}

TEST(Rules, AnUnknownTypeLeavesTheFlops) {
  const Rules rules = Read(kMlp);
  const PriceResult result =
      PriceCall(MakeCall("fused_mlp", "[2,8]zzz [32,8]zzz [8,32]zzz"), &rules);
  ASSERT_TRUE(result.price);
  EXPECT_FALSE(result.price->bytes_known);
  EXPECT_EQ(FiguresOf(result.price->forward[0].work)->mma, 4 * 2 * 8 * 32);
  const Rules sized = Read("[[op]]\nname='f'\nargs=['x[N]']\nforward={vec='N*size(x)', bytes=0}\n");
  EXPECT_EQ(PriceCall(MakeCall("f", "[2]zzz"), &sized).reason, Reason::kUnknownDType);
}

TEST(Rules, ArgumentsThatDoNotFitHaveAReason) {
  const Rules rules = Read(kMlp);
  const auto reason = [&](std::string_view args) {
    const PriceResult result = PriceCall(MakeCall("fused_mlp", args), &rules);
    EXPECT_FALSE(result.price) << args;
    return result.reason;
  };
  EXPECT_EQ(reason("[2,8]fp16 [32,9]fp16 [8,32]fp16"), Reason::kShapeMismatch);
  EXPECT_EQ(reason("[2,8]fp16 [32,8]fp16"), Reason::kUnsupportedArgs);
  EXPECT_EQ(reason(""), Reason::kNoArguments);
  EXPECT_EQ(reason("[4611686018427387904,8]fp16 [32,8]fp16 [8,32]fp16"), Reason::kCostOverflow);
}

TEST(Rules, AFormulaWithoutAValueIsAReasonAndNoNumber) {
  const auto reason = [](std::string_view formula) {
    const Rules rules = Read("[[op]]\nname='f'\nargs=['x[A,B]']\nforward={vec='" +
                             std::string(formula) + "', bytes=0}\n");
    const PriceResult result = PriceCall(MakeCall("f", "[2,3]fp32"), &rules);
    EXPECT_FALSE(result.price) << formula;
    return result.reason;
  };
  EXPECT_EQ(reason("A - B"), Reason::kRuleFault);
  EXPECT_EQ(reason("A / (B - 3)"), Reason::kRuleFault);
  EXPECT_EQ(reason("B / A"), Reason::kRuleFault);
  EXPECT_EQ(reason("A * 9223372036854775807"), Reason::kCostOverflow);
  // Each fits, the sum does not.
  const Rules rules = Read(
      "[[op]]\nname='f'\nargs=['x[A]']\n"
      "forward={mma='9223372036854775807', vec='A', bytes=0}\n");
  const PriceResult sum = PriceCall(MakeCall("f", "[2]fp32"), &rules);
  EXPECT_FALSE(sum.price);
  EXPECT_EQ(sum.reason, Reason::kCostOverflow);
}

TEST(Rules, NamesAreAsRecordedOrNormalised) {
  const Rules rules = Read(
      "[[op]]\nname='zoo::rotate'\nargs=['x[N]']\nforward={vec='N', bytes=0}\n"
      "[[op]]\nname='turn'\nargs=['x[N]']\nforward={vec='2*N', bytes=0}\n");
  const auto vec = [&](std::string_view mod, std::string_view op) -> int64_t {
    OpCall call = MakeCall("op", "[5]fp32");
    call.mod = mod;
    call.op = op;
    const PriceResult result = PriceCall(call, &rules);
    return result.price ? FiguresOf(result.price->forward[0].work)->vec : -1;
  };
  EXPECT_EQ(vec("zoo", "rotate"), 5);
  EXPECT_EQ(vec("zoo", "rotate_"), 5);
  EXPECT_EQ(vec("farm", "rotate"), -1);
  EXPECT_EQ(vec("farm", "turn"), 10);
  EXPECT_EQ(vec("", "turn"), 10);
  EXPECT_EQ(vec("", "turn_backward"), -1);
  EXPECT_EQ(vec("", "_foreach_turn_"), -1);
}

TEST(Rules, GoBeforeBuiltInModelsWhereTheyFit) {
  const Rules rules =
      Read("[[op]]\nname='mm'\nargs=['a[M,64]', 'b[64,N]']\nforward={mma='7*M*N', bytes=0}\n");
  const auto mma = [&](std::string_view args) {
    return FiguresOf(PriceCall(MakeCall("torch.mm", args), &rules).price->forward[0].work)->mma;
  };
  EXPECT_EQ(mma("[2,64]fp32 [64,3]fp32"), 7 * 2 * 3);
  EXPECT_EQ(mma("[2,65]fp32 [65,3]fp32"), 2 * 2 * 65 * 3);
  // Without rules, and of other ops, nothing changes.
  const OpCall call = MakeCall("torch.mm", "[2,64]fp32 [64,3]fp32");
  EXPECT_EQ(FiguresOf(PriceCall(call, nullptr).price->forward[0].work),
            FiguresOf(PriceCall(call).price->forward[0].work));
  EXPECT_EQ(PriceCall(MakeCall("mystery", "1"), &rules).reason, Reason::kUnknownOp);
}

TEST(Rules, TheFirstOfAnOpThatFitsDecides) {
  const Rules rules = Read(
      "[[op]]\nname='f'\nargs=['x[A]']\nforward={vec=1, bytes=0}\n"
      "[[op]]\nname='f'\nargs=['x[A,B]']\nforward={vec=2, bytes=0}\n"
      "[[op]]\nname='f'\nargs=['x[A,B]']\nforward={vec=3, bytes=0}\n");
  const auto price = [&](std::string_view args) { return PriceCall(MakeCall("f", args), &rules); };
  EXPECT_EQ(FiguresOf(price("[4]fp32").price->forward[0].work)->vec, 1);
  EXPECT_EQ(FiguresOf(price("[4,5]fp32").price->forward[0].work)->vec, 2);
  EXPECT_EQ(price("[4,5,6]fp32").reason, Reason::kShapeMismatch);
}

TEST(Rules, EstimatesAreMarked) {
  const Rules rules =
      Read("[[op]]\nname='f'\nestimate=true\nargs=['x[A]']\nforward={mma='A', vec='A', bytes=0}\n");
  const PriceResult result = PriceCall(MakeCall("f", "[4]fp32"), &rules);
  EXPECT_TRUE(result.price->mma_estimated);
  EXPECT_TRUE(result.price->vec_estimated);
  EXPECT_EQ(result.price->params, "A=4,fp32");
}

TEST(Rules, KernelsAndTensorCoresByName) {
  const Rules rules = Read(R"toml(
[[kernel]]
pattern = "^void my_(mlp|glu)_kernel"
role = "main"
[[kernel]]
pattern = "my_"
role = "helper"
[[kernel]]
pattern = "gemm"
family = "copy"
[[tensor_core]]
pattern = "mlp.*half"
use = 1
math = "fp16"
[[tensor_core]]
pattern = "mlp"
use = 0
[[tensor_core]]
pattern = "sgemm"
use = "?"
)toml");
  EXPECT_EQ(KernelKindOf("void my_mlp_kernel<float>(float*)", &rules), KernelKind::kMatrix);
  EXPECT_EQ(KernelKindOf("my_mlp_kernel", &rules), KernelKind::kHelper);
  EXPECT_EQ(KernelKindOf("ampere_sgemm_128x64_tn", &rules), KernelKind::kCopy);
  EXPECT_EQ(KernelKindOf("ampere_sgemm_128x64_tn", nullptr), KernelKind::kMatrix);
  EXPECT_EQ(KernelKindOf("softmax_warp_forward", &rules), KernelKindOf("softmax_warp_forward"));

  const TensorCoreVerdict half = TensorCoreVerdictOf("void my_mlp_kernel<half>()", &rules);
  EXPECT_EQ(half.use, TensorCoreUse::kYes);
  EXPECT_EQ(half.rule, "rules:11");
  EXPECT_EQ(TensorCoreVerdictOf("void my_mlp_kernel<float>()", &rules).use, TensorCoreUse::kNo);
  EXPECT_EQ(TensorCoreVerdictOf("ampere_sgemm_128x64_tn", &rules).use, TensorCoreUse::kUnknown);
  EXPECT_EQ(TensorCoreVerdictOf("ampere_sgemm_128x64_tn", nullptr).use, TensorCoreUse::kNo);
  EXPECT_EQ(rules.FindTensorCore("mlp half")->math, "fp16");
  EXPECT_EQ(TensorCoreVerdictOf("mlp half", &rules).math, MathType::kFp16);
}

TEST(RulesFile, AWrongFileHasOneLineWithItsPlace) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"[[op]\nname = 'f'", "my.toml:1:"},
      {"x = 1", "my.toml:1:1: 'x' is no key of the file; the keys are op, kernel, tensor_core"},
      {"op = 1", "my.toml:1:6: 'op' is no list of tables; begin each with a line [[op]]"},
      {"[op]\nname = 'f'", "my.toml:1:1: 'op' is no list of tables; begin each with a line [[op]]"},
      {"kernel = [1]", "my.toml:1:11: 'kernel' is no list of tables"},
      {"\n[[op]]\nargs = []", "my.toml:2:1: 'name' is missing; give the op's name"},
      {"[[op]]\nname = 7", "my.toml:2:8: 'name' is no text; put it in quotes"},
      {"[[op]]\nname = ''", "my.toml:2:8: 'name' is empty"},
      {"[[op]]\nname = 'f'", "my.toml:1:1: 'args' is missing"},
      {"[[op]]\nname = 'f'\nargs = 'x[A]'", "my.toml:3:8: 'args' is no list"},
      {"[[op]]\nname = 'f'\nargs = []", "my.toml:3:8: 'args' is empty"},
      {"[[op]]\nname = 'f'\nargs = ['x[A]', 3]", "my.toml:3:17: 'args' is no text"},
      {"[[op]]\nname = 'f'\nargs = ['x[A]', 'y[A']", "my.toml:3:21: ',' or ']' is expected"},
      {"[[op]]\nname = 'f'\nargs = ['x[A]']", "my.toml:1:1: 'forward' is missing"},
      {"[[op]]\nname = 'f'\nargs = ['x[A]']\nforward = 'A'", "my.toml:4:11: 'forward' is no table"},
      {"[[op]]\nname = 'f'\nargs = ['x[A]']\nforward = {vec = 'A'}",
       "my.toml:4:11: 'bytes' is missing"},
      {"[[op]]\nname = 'f'\nargs = ['x[A]']\nforward = {vec = 'A * C', bytes = 0}",
       "my.toml:4:23: nothing is named 'C'; known are: A, x; correct the formula"},
      {"[[op]]\nname = 'f'\nargs = ['x[A]']\nforward = {vec = 'A +', bytes = 0}",
       "my.toml:4:22: a number, a name or '(' is expected"},
      {"[[op]]\nname = 'f'\nargs = ['x[A]']\nforward = {vec = 0.5, bytes = 0}",
       "my.toml:4:18: 'formula' is no text"},
      {"[[op]]\nname = 'f'\nargs = ['x[A]']\nforward = {vec = -1, bytes = 0}",
       "my.toml:4:18: the number is negative"},
      {"[[op]]\nname = 'f'\nargs = ['x[A]']\nforward = {flops = 1, bytes = 0}",
       "my.toml:4:12: 'flops' is no key of 'forward'; the keys are mma, vec, bytes"},
      {"[[op]]\nname = 'f'\nargs = ['x[A]']\nforward = {bytes = 0}\nparams = ['A', 'D']",
       "my.toml:5:16: nothing is named 'D'; the extents and numbers of 'args' are A"},
      {"[[op]]\nname = 'f'\nargs = ['x[A]']\nforward = {bytes = 0}\nestimate = 1",
       "my.toml:5:12: 'estimate' is neither true nor false"},
      {"[[op]]\nname = 'f'\nargs = ['x[A]']\nforward = {bytes = 0}\nbackward = {bytes = 0}\n"
       "dgrad = {bytes = 0}",
       "my.toml:6:9: 'backward' and its parts exclude each other"},
      {"[[op]]\nname = 'f'\nshape = 1", "my.toml:3:1: 'shape' is no key of [[op]]"},
      {"[[kernel]]\nrole = 'main'", "my.toml:1:1: 'pattern' is missing"},
      {"[[kernel]]\npattern = 'a(b'\nrole = 'main'", "my.toml:2:11: the pattern is wrong: "},
      {"[[kernel]]\npattern = 'a'", "my.toml:1:1: a kernel has either a role or a family"},
      {"[[kernel]]\npattern = 'a'\nrole = 'boss'",
       "my.toml:3:8: 'boss' is no role; write one of main, helper, layout, reduce, epilogue"},
      {"[[kernel]]\npattern = 'a'\nfamily = 'x'", "my.toml:3:10: 'x' is no family; write one of"},
      {"[[kernel]]\npattern = 'a'\nfamily = 'copy'\nrole = 'main'",
       "my.toml:1:1: a kernel has either a role or a family"},
      {"[[tensor_core]]\npattern = 'a'", "my.toml:1:1: 'use' is missing"},
      {"[[tensor_core]]\npattern = 'a'\nuse = 2", "my.toml:3:7: 'use' is none of its three values"},
      {"[[tensor_core]]\npattern = 'a'\nuse = 1\nmath = 'fp32'",
       "my.toml:4:8: 'fp32' is no type of Tensor Cores; write one of fp16, bf16"},
  };
  for (const auto& [text, begin] : cases) {
    const std::string error = ErrorOf(text);
    EXPECT_EQ(error.substr(0, begin.size()), begin) << text;
    EXPECT_EQ(error.find('\n'), std::string::npos) << text;
    EXPECT_THAT(error, HasSubstr("; ")) << text;
  }
}

TEST(Rules, SayWhyTheyDoNotFit) {
  const Rules rules = Read(
      "[[op]]\nname = 'f'\nargs = ['x[A,B]']\nforward = {bytes = 0}\n"
      "[[op]]\nname = 'f'\nargs = ['x[A]', 'n']\nforward = {bytes = 1}\n"
      "[[op]]\nname = 'zoo::f'\nargs = ['x[A]']\nforward = {bytes = 2}\n");
  EXPECT_EQ(rules.ops()[1].place, "my.toml:5");
  const auto whys = [&](const OpCall& call) {
    RuleTrial trial;
    PriceCall(call, &rules, &trial);
    std::string text = trial.fits ? "fits" : "";
    for (const RuleMisfit& misfit : trial.misfits) {
      text += std::to_string(misfit.rule) + ": " + misfit.why + ". ";
    }
    return text;
  };
  EXPECT_EQ(whys(MakeCall("f", "[2]fp32 3")), "fits");
  EXPECT_EQ(whys(MakeCall("f", "[2]fp32")), "0: 'x' has 1 dimension, not 2. 1: 'n' is missing. ");
  EXPECT_EQ(whys(MakeCall("f", "")),
            "0: the arguments were not recorded. 1: the arguments were not recorded. ");
  OpCall cut = MakeCall("f", "[2]fp32 3");
  cut.cut = 1;
  EXPECT_EQ(whys(cut),
            "0: the range holds only some of the arguments. 1: the range holds only some of the "
            "arguments. ");
  EXPECT_EQ(whys(MakeCall("g", "[2]fp32")), "");
}

TEST(RulesFile, AnEmptyOneHasNoRules) {
  EXPECT_EQ(Read("").size(), 0u);
  EXPECT_EQ(Read("# nothing\n").size(), 0u);
  EXPECT_EQ(Read(kMlp).size(), 1u);
}

/// "a.a.a"
std::string DeepKey(std::string_view part, size_t count) {
  std::string key(part);
  for (size_t i = 1; i < count; ++i) key.append(".").append(part);
  return key;
}

TEST(RulesFile, AKeyOfTooManyPartsHasItsPlace) {
  const std::string key = DeepKey("a", 9);
  EXPECT_EQ(ErrorOf("# " + key + "\n\n" + key + " = 1"),
            "my.toml:3:17: a key has more than 8 parts; the keys of rules have at most three, as "
            "in op.forward.mma");
  // One part less is read, and refused for what it says.
  EXPECT_THAT(ErrorOf(DeepKey("a", 8) + " = 1"), HasSubstr("'a' is no key of the file"));
  // Dots elsewhere are no key's.
  const std::string lines = std::string(3, '\'');
  EXPECT_EQ(Read("# " + key + "\n[[op]]\nname = '" + key +
                 "'\nargs = ['x[A]']\nforward = {bytes = 0}\n"
                 "[[kernel]]\nrole = 'main'\npattern = " +
                 lines + "\n" + key + "'" + key + lines + "\n")
                .size(),
            2u);
  EXPECT_THAT(ErrorOf("op = ['" + key + "', \"" + key + "\\\"" + key + "\"]"),
              HasSubstr("'op' is no list of tables"));
}

TEST(RulesFile, GarbageOfAnySizeIsRefusedInOneLine) {
  const std::string_view begin = "[[op]]\nname = 'f'\nargs = ['x[A]']\nforward = {bytes = '";
  const std::string cases[] = {
      std::string(kMaxRulesBytes + 1, '#'),
      std::string(100000, '['),
      "x = " + std::string(100000, '['),
      "x = " + std::string(10000, '{'),
      std::string("name = '\0'", 10),
      "\xff\xfe",
      "[[op]]\nname = \"\\u0000\n",
      std::string(begin) + std::string(100000, '(') + "'}",
      std::string(begin) + std::string(3000, '(') + "'}",
      "[[kernel]]\npattern = '" + std::string(100000, '(') + "'\nrole = 'main'",
      "[[kernel]]\npattern = '((a{1000}){1000}){1000}'\nrole = 'main'",
      DeepKey("a", 50000) + " = 1",
      DeepKey("'a'", 50000) + " = 1",
      DeepKey("\"a\\\"\"", 50000) + " = 1",
      "x = \"\"\"\n\\\"\"\"\"\"\n" + DeepKey(" a\t", 50000) + " = 1",
      "[[op]]\nforward = {" + DeepKey("a", 50000) + " = 1}",
      "[" + DeepKey("a", 50000) + "]",
      "[[" + DeepKey("a", 50000) + "]]",
      "[[op]]\nname = '" + std::string(100000, 'n') + "'\n" + std::string(100000, 'k') + " = 1",
  };
  for (const std::string& text : cases) {
    const std::string error = ErrorOf(text);
    EXPECT_EQ(error.substr(0, 8), "my.toml:") << error;
    EXPECT_LT(error.size(), 1000u);
    for (const char c : error) EXPECT_TRUE(c >= ' ' && c <= '~') << error;
  }
}

}  // namespace
}  // namespace oplens::ops::rules_test
