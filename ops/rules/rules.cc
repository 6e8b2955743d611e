#include "ops/rules/rules.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "base/append_format.h"
#include "ops/dtype.h"
#include "ops/op_name.h"
#include "ops/pricing.h"

namespace oplens::ops {
namespace {

// Only this many bytes of a name are searched; kernel names are shorter.
constexpr size_t kRulesReach = size_t{1} << 16;

bool Finds(const re2::RE2& pattern, std::string_view name) {
  name = name.substr(0, kRulesReach);
  return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), pattern);
}

Reason ReasonOf(FormulaFault fault) {
  if (fault == FormulaFault::kOverflow) return Reason::kCostOverflow;
  return fault == FormulaFault::kUnknownDType ? Reason::kUnknownDType : Reason::kRuleFault;
}

class RulePricer {
 public:
  RulePricer(const OpRule& rule, const CallPattern::Binding& binding)
      : rule_(rule), binding_(binding) {}

  PriceResult Price() {
    const PartWork forward = Compute(rule_.forward);
    std::vector<PartWork> backward;
    for (const PartFormulas& part : rule_.backward) backward.push_back(Compute(part));
    if (reason_) return Unpriced(*reason_);
    PriceResult result = Priced(Params(), forward.work, std::move(backward));
    PricedOp& op = *result.price;
    op.matmul_like = rule_.forward.mma.MayBeMoreThanZero();
    op.mma_estimated = rule_.estimate;
    op.vec_estimated = rule_.estimate;
    op.bytes_known = bytes_known_;
    return CheckRange(std::move(result));
  }

 private:
  PartWork Compute(const PartFormulas& part) {
    PartWork result;
    result.part = part.part;
    result.work.mma = Require(part.mma);
    result.work.vec = Require(part.vec);
    FormulaFault fault;
    const auto bytes = part.bytes.Compute(binding_.values, binding_.tensors, &fault);
    if (bytes) {
      result.work.bytes = *bytes;
    } else if (fault == FormulaFault::kUnknownDType) {
      bytes_known_ = false;
    } else {
      Fail(fault);
    }
    return result;
  }

  int64_t Require(const Formula& formula) {
    FormulaFault fault;
    const auto value = formula.Compute(binding_.values, binding_.tensors, &fault);
    if (!value) Fail(fault);
    return value.value_or(0);
  }

  void Fail(FormulaFault fault) {
    if (!reason_) reason_ = ReasonOf(fault);
  }

  /// "B=2,S=3,fp16"
  std::string Params() const {
    std::string text;
    for (const size_t name : rule_.params) {
      AppendFormat(&text, "{}={},", rule_.pattern.value_names()[name], binding_.values[name]);
    }
    if (binding_.dtype) {
      text += DTypeWord(*binding_.dtype);
    } else if (!text.empty()) {
      text.pop_back();
    }
    return text;
  }

  const OpRule& rule_;
  const CallPattern::Binding& binding_;
  std::optional<Reason> reason_;
  bool bytes_known_ = true;
};

template <typename Rule>
const Rule* FindByName(const std::vector<Rule>& rules, std::string_view name) {
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&](const Rule& rule) { return Finds(*rule.pattern, name); });
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace

void Rules::Add(OpRule rule) {
  by_name_[rule.name].push_back(ops_.size());
  ops_.push_back(std::move(rule));
}

std::vector<size_t> Rules::RulesAbout(const OpCall& call) const {
  auto found = by_name_.find(call.op);
  if (found == by_name_.end() && !ops_.empty()) {
    const OpName name = ParseOpName(call.op);
    // A gradient does not call its op.
    if (!name.backward && !name.list) found = by_name_.find(name.name);
  }
  if (found == by_name_.end()) return {};
  std::vector<size_t> rules = found->second;
  std::erase_if(
      rules, [&](size_t index) { return !ops_[index].mod.empty() && ops_[index].mod != call.mod; });
  return rules;
}

std::optional<PriceResult> Rules::Price(const OpCall& call, RuleTrial* trial) const {
  std::optional<PriceResult> result;
  for (const size_t index : RulesAbout(call)) {
    CallPattern::Misfit misfit;
    if (call.cut > 0) {
      misfit.what = "the range holds only some of the arguments";
    } else if (call.args.empty()) {
      misfit.what = "the arguments were not recorded";
      result = Unpriced(Reason::kNoArguments);
    } else if (const auto binding = ops_[index].pattern.Match(call, &misfit)) {
      *trial = {.fits = true, .misfits = {}};
      return RulePricer(ops_[index], *binding).Price();
    } else {
      result = Unpriced(misfit.reason);
    }
    trial->misfits.push_back({index, std::move(misfit.what)});
  }
  return result;
}

const KernelRule* Rules::FindKernel(std::string_view long_name) const {
  return FindByName(kernels_, long_name);
}

const TensorCoreRule* Rules::FindTensorCore(std::string_view long_name) const {
  return FindByName(tensor_cores_, long_name);
}

PriceResult PriceCall(const OpCall& call, const Rules* rules, RuleTrial* trial) {
  if (rules == nullptr) return PriceCall(call);
  RuleTrial unasked;
  std::optional<PriceResult> result = rules->Price(call, trial == nullptr ? &unasked : trial);
  if (!result) return PriceCall(call);
  // The rule does not fit these arguments; a built-in model may.
  const bool fits = result->price || (result->reason != Reason::kUnsupportedArgs &&
                                      result->reason != Reason::kShapeMismatch);
  if (fits) return *std::move(result);
  PriceResult built_in = PriceCall(call);
  return built_in.price ? std::move(built_in) : *std::move(result);
}

KernelKind KernelKindOf(std::string_view long_name, const Rules* rules) {
  const KernelRule* rule = rules == nullptr ? nullptr : rules->FindKernel(long_name);
  return rule == nullptr ? KernelKindOf(long_name) : rule->kind;
}

TensorCoreVerdict TensorCoreVerdictOf(std::string_view long_name, const Rules* rules) {
  const TensorCoreRule* rule = rules == nullptr ? nullptr : rules->FindTensorCore(long_name);
  if (rule == nullptr) return TensorCoreVerdictOf(long_name);
  TensorCoreVerdict verdict;
  verdict.use = rule->use;
  verdict.rule = rule->id;
  verdict.math = FindMathType(rule->math);
  return verdict;
}

}  // namespace oplens::ops
