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

/// Work of one part of a user's op.
struct PartFormulas {
  Part part = Part::kForward;
  Formula mma;
  Formula vec;
  Formula bytes;
};

/// Cost of an op as a user describes it. Format: docs/rules.md.
struct OpRule {
  std::string place;  ///< For messages, without folders: "my.toml:12".
  std::string mod;    ///< "": any module.
  std::string name;   ///< As recorded ("fused_mlp_"), or normalised ("fused_mlp").
  CallPattern pattern;
  PartFormulas forward;
  std::vector<PartFormulas> backward;  ///< Empty: the backward has no model.
  std::vector<size_t> params;          ///< What to print: indices of pattern.value_names().
  bool estimate = false;               ///< The figures are estimates.
};

/// A user's classification of kernels by full name.
struct KernelRule {
  std::shared_ptr<const re2::RE2> pattern;
  KernelKind kind = KernelKind::kUnknown;
};

/// A user's statement, by full kernel name, on the use of Tensor Cores.
struct TensorCoreRule {
  std::shared_ptr<const re2::RE2> pattern;
  TensorCoreUse use = TensorCoreUse::kUnknown;
  std::string math;  ///< The math type, a word of docs/rules.md, or "".
  std::string id;    ///< For TensorCoreVerdict::rule: "rules:12" with the line number.
};

/// Why a rule of an op does not match a call.
struct RuleMisfit {
  size_t rule = 0;  ///< Index of Rules::ops().
  std::string why;  ///< "'w1' has 3 dimensions, not 2".
};

/// How a call was matched against the rules.
struct RuleTrial {
  bool fits = false;                ///< A rule decided.
  std::vector<RuleMisfit> misfits;  ///< Otherwise one per rule of the op, in order.
};

/// A user's rules, which take precedence over the built-in ones.
class Rules {
 public:
  void Add(OpRule rule);
  void Add(KernelRule rule) { kernels_.push_back(std::move(rule)); }
  void Add(TensorCoreRule rule) { tensor_cores_.push_back(std::move(rule)); }

  size_t size() const { return ops_.size() + kernels_.size() + tensor_cores_.size(); }
  const std::vector<OpRule>& ops() const { return ops_; }

  /// The price by the first rule whose arguments match, otherwise the reason of the last. nullopt:
  /// no rule for the op, or the recorded arguments were truncated. Fills `trial`.
  std::optional<PriceResult> Price(const OpCall& call, RuleTrial* trial) const;
  /// The first rule whose pattern occurs in the name, or nullptr.
  const KernelRule* FindKernel(std::string_view long_name) const;
  const TensorCoreRule* FindTensorCore(std::string_view long_name) const;

 private:
  std::vector<size_t> RulesAbout(const OpCall& call) const;

  std::vector<OpRule> ops_;
  std::unordered_map<std::string, std::vector<size_t>> by_name_;
  std::vector<KernelRule> kernels_;
  std::vector<TensorCoreRule> tensor_cores_;
};

/// As without `rules`, but the user's rules (may be null) take precedence. If no rule of the op
/// matches the arguments, the built-in model is tried. `trial` may be null.
PriceResult PriceCall(const OpCall& call, const Rules* rules, RuleTrial* trial = nullptr);
KernelKind KernelKindOf(std::string_view long_name, const Rules* rules);
TensorCoreVerdict TensorCoreVerdictOf(std::string_view long_name, const Rules* rules);

/// Longer files are rejected.
inline constexpr size_t kMaxRulesBytes = size_t{1} << 20;

/// Parses a file of rules (TOML, docs/rules.md). `file`: its name, for messages. Throws UsageError
/// with one line, "FILE:LINE:COLUMN: what is wrong; remedy".
Rules ReadRules(std::string_view text, std::string_view file);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_RULES_RULES_H_
