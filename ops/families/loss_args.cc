#include "ops/families/loss_args.h"

#include <algorithm>
#include <string_view>

namespace oplens::ops {
namespace {

struct LossArgsWord {
  std::string_view text;
  LossReduction reduction;
};

constexpr LossArgsWord kLossArgsWords[] = {
    {"none", LossReduction::kNone},
    {"mean", LossReduction::kMean},
    {"elementwise_mean", LossReduction::kMean},
    {"batchmean", LossReduction::kMean},
    {"sum", LossReduction::kSum},
};

std::optional<LossReduction> ParseReduction(const OpArg& arg) {
  if (arg.kind == OpArg::Kind::kInt && arg.int_value >= 0 && arg.int_value <= 2) {
    return static_cast<LossReduction>(arg.int_value);
  }
  if (arg.kind != OpArg::Kind::kString) return std::nullopt;
  for (const LossArgsWord& word : kLossArgsWords) {
    if (word.text == arg.text) return word.reduction;
  }
  return std::nullopt;
}

}  // namespace

LossReduction ReductionOf(CallArgs* args, size_t parameter) {
  const OpArg* arg = args->Find(parameter);
  if (arg == nullptr) return LossReduction::kMean;
  const std::optional<LossReduction> reduction = ParseReduction(*arg);
  if (!reduction) args->Fail(Reason::kUnsupportedArgs);
  return reduction.value_or(LossReduction::kMean);
}

LossReduction ReductionOf(CallArgs* args, size_t size_average, size_t reduce, size_t reduction) {
  if (args->Find(size_average) == nullptr && args->Find(reduce) == nullptr) {
    return ReductionOf(args, reduction);
  }
  if (!args->BoolOr(reduce, true)) return LossReduction::kNone;
  return args->BoolOr(size_average, true) ? LossReduction::kMean : LossReduction::kSum;
}

std::optional<OpCall> NameArguments(const OpCall& call, std::string_view functional,
                                    std::string_view native) {
  std::string_view names = call.mod == "torch.nn.functional" ? functional : native;
  OpCall named = call;
  for (OpArg& arg : named.args) {
    if (!arg.name.empty()) continue;
    if (names.empty()) return std::nullopt;
    const size_t blank = std::min(names.find(' '), names.size());
    arg.name = names.substr(0, blank);
    names.remove_prefix(std::min(blank + 1, names.size()));
  }
  return named;
}

}  // namespace oplens::ops
