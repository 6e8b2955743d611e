#ifndef OPLENS_OPS_RULES_RULES_H_
#define OPLENS_OPS_RULES_RULES_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ops/kernels/kernel_name.h"
#include "ops/kernels/tensor_core.h"
#include "ops/op_model.h"
#include "ops/rules/call_pattern.h"
#include "ops/rules/formula.h"

namespace re2 {
class RE2;
}

namespace oplens::ops {

/// How much work a part of a user's op does.
struct PartFormulas {
  Part part = Part::kForward;
  Formula mma;
  Formula vec;
  Formula bytes;
};

/// The cost of an op that a user describes. Format: docs/rules.md.
struct OpRule {
  std::string place;  ///< Where it stands, for messages: "my.toml:12", without folders.
  std::string mod;    ///< "": of any module.
  std::string name;   ///< As recorded ("fused_mlp_"), or normalised ("fused_mlp").
  CallPattern pattern;
  PartFormulas forward;
  std::vector<PartFormulas> backward;  ///< Empty: the backward has no model.
  std::vector<size_t> params;          ///< What is printed: indices of pattern.value_names().
  bool estimate = false;               ///< The figures are no exact counts.
};

/// What a user says of kernels by their full name.
struct KernelRule {
  std::shared_ptr<const re2::RE2> pattern;
  KernelKind kind = KernelKind::kUnknown;
};

/// What a user says of the use of Tensor Cores by the full name of a kernel.
struct TensorCoreRule {
  std::shared_ptr<const re2::RE2> pattern;
  TensorCoreUse use = TensorCoreUse::kUnknown;
  std::string math;  ///< What they compute with: one of the words of docs/rules.md, or "".
  std::string id;    ///< For TensorCoreVerdict::rule: "rules:12", the line it stands in.
};

/// A rule of an op that does not fit a call of it.
struct RuleMisfit {
  size_t rule = 0;  ///< Index of Rules::ops().
  std::string why;  ///< "'w1' has 3 dimensions, not 2".
};

/// What rules had to do with a call.
struct RuleTrial {
  bool fits = false;                ///< One decided.
  std::vector<RuleMisfit> misfits;  ///< Else of each rule of the op, in their order.
};

/// The rules of a user, which go before the built-in ones. Read by ReadRules
/// (ops/rules/rules_file.h).
class Rules {
 public:
  void Add(OpRule rule);
  void Add(KernelRule rule) { kernels_.push_back(std::move(rule)); }
  void Add(TensorCoreRule rule) { tensor_cores_.push_back(std::move(rule)); }

  size_t size() const { return ops_.size() + kernels_.size() + tensor_cores_.size(); }
  const std::vector<OpRule>& ops() const { return ops_; }

  /// The price by the first rule of the op whose arguments fit; without one the reason of the last.
  /// nullopt: no rule is about the op, or the call was not recorded whole. Fills `trial`.
  std::optional<PriceResult> Price(const OpCall& call, RuleTrial* trial) const;
  /// The first rule whose pattern is found in the name, or nullptr.
  const KernelRule* FindKernel(std::string_view long_name) const;
  const TensorCoreRule* FindTensorCore(std::string_view long_name) const;

 private:
  std::vector<size_t> RulesAbout(const OpCall& call) const;

  std::vector<OpRule> ops_;
  std::unordered_map<std::string, std::vector<size_t>> by_name_;
  std::vector<KernelRule> kernels_;
  std::vector<TensorCoreRule> tensor_cores_;
};

/// As the functions of the same names, where the rules of a user do not decide. `rules`: null for
/// none. A rule of the op whose arguments do not fit leaves the call to a built-in model. Fills
/// `trial`, which may be null.
PriceResult PriceCall(const OpCall& call, const Rules* rules, RuleTrial* trial = nullptr);
KernelKind KernelKindOf(std::string_view long_name, const Rules* rules);
TensorCoreVerdict TensorCoreVerdictOf(std::string_view long_name, const Rules* rules);

/// A longer file of rules is refused.
inline constexpr size_t kMaxRulesBytes = size_t{1} << 20;

/// Reads the text of a file of rules, TOML as docs/rules.md has it. `file`: its name, for messages.
/// Throws UsageError with one line, "FILE:LINE:COLUMN: what is wrong; what to do".
Rules ReadRules(std::string_view text, std::string_view file);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_RULES_RULES_H_
