#include "ops/kernels/kernel_family.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ops/kernels/communication.h"
#include "ops/kernels/family_rules.h"
#include "ops/kernels/function_name.h"
#include "ops/kernels/word_match.h"
#include "parse/model/demangle.h"

namespace oplens::ops {
namespace {

using enum KernelFamily;

// Only this many bytes of a signature are searched.
constexpr size_t kKernelFamilyReach = 2048;

constexpr std::string_view kKernelFamilyWords[kKernelFamilyCount] = {
    "other",       "gemm",      "grouped_gemm", "conv",       "attention", "norm",   "softmax",
    "elementwise", "reduction", "layout",       "embedding",  "sort_scan", "random", "optimizer",
    "quantise",    "routing",   "sampling",     "collective", "p2p",       "fill"};

/// Whether all op names in an Inductor kernel ("_cat_view_3") are among `names` (sorted).
bool AreAll(std::string_view ops, std::span<const std::string_view> names) {
  while (!ops.empty()) {
    // The longest match: "copy_" before "copy".
    const auto name = std::find_if(names.rbegin(), names.rend(), [&](std::string_view candidate) {
      return ops.starts_with(candidate) &&
             (ops.size() == candidate.size() || ops[candidate.size()] == '_');
    });
    if (name == names.rend()) return false;
    ops.remove_prefix(std::min(ops.size(), name->size() + 1));
  }
  return true;
}

/// An elementwise Inductor kernel, by its ops: only writes a constant, only moves, or neither.
KernelFamily FamilyOfFused(std::string_view name) {
  constexpr std::string_view kBefore = "triton_poi_fused_";
  if (!name.starts_with(kBefore)) return kElementwise;
  name.remove_prefix(kBefore.size());
  const size_t last = name.find_last_not_of("0123456789");
  if (last != std::string_view::npos && name[last] == '_') name = name.substr(0, last);
  if (name.empty() || last == std::string_view::npos) return kElementwise;
  if (AreAll(name, FillingOps())) return kFill;
  return AreAll(name, MovingOps()) ? kLayout : kElementwise;
}

/// Early Inductor kernels without names: "triton__0d1d2de3de" marks each argument as aligned (d),
/// and as a number too (e). Products have their sizes in the code and take tensors only;
/// elementwise kernels take one number, reductions two; an elementwise kernel that reads transposed
/// takes two and has rows of blocks.
std::optional<NamedFamily> FamilyOfUnnamed(std::string_view name) {
  constexpr std::string_view kBefore = "triton__0d";
  if (!name.starts_with(kBefore)) return std::nullopt;
  int numbers = 0;
  for (size_t i = kBefore.size(); i < name.size();) {
    const size_t digits = std::min(name.find_first_not_of("0123456789", i), name.size());
    if (digits == i) return std::nullopt;
    const size_t end = std::min(name.find_first_of("0123456789", digits), name.size());
    const std::string_view marks = name.substr(digits, end - digits);
    if (marks != "d" && marks != "de" && !marks.empty()) return std::nullopt;
    numbers += marks == "d" ? 0 : 1;
    i = end;
  }
  if (numbers == 0) return NamedFamily{kGemm, kGemm};
  return NamedFamily{numbers == 1 ? kElementwise : kReduction, kElementwise};
}

struct CompiledFamilyRule {
  explicit CompiledFamilyRule(const FamilyRule& rule)
      : family(rule.family),
        function(rule.function),
        anywhere(rule.anywhere),
        unless(rule.unless) {}

  KernelFamily family;
  WordPattern function, anywhere, unless;
};

using CompiledFamilyRules = std::vector<CompiledFamilyRule>;

/// The family of the first rule that matches.
std::optional<KernelFamily> FirstOf(const CompiledFamilyRules& rules, const WordText& function,
                                    const WordText& whole) {
  const auto rule =
      std::find_if(rules.begin(), rules.end(), [&](const CompiledFamilyRule& candidate) {
        return (candidate.function.empty() || candidate.function.Matches(function)) &&
               (candidate.anywhere.empty() || candidate.anywhere.Matches(whole)) &&
               !candidate.unless.Matches(function);
      });
  return rule == rules.end() ? std::nullopt : std::optional(rule->family);
}

NamedFamily FamilyByRule(std::string_view name, std::string_view signature) {
  const WordText function(AsWords(FunctionOf(name)));
  const WordText whole(AsWords(signature.substr(0, kKernelFamilyReach)));
  static const auto* const rules =
      new CompiledFamilyRules(FamilyRules().begin(), FamilyRules().end());
  static const auto* const word_rules =
      new CompiledFamilyRules(FamilyWordRules().begin(), FamilyWordRules().end());
  if (const auto family = FirstOf(*rules, function, whole)) return {*family, *family};
  const KernelFamily family = FirstOf(*word_rules, function, whole).value_or(kOther);
  return {family, family, true};
}

}  // namespace

std::string_view KernelFamilyWord(KernelFamily family) {
  return kKernelFamilyWords[static_cast<size_t>(family)];
}

NamedFamily KernelFamilyOf(std::string_view kernel_name) {
  kernel_name = kernel_name.substr(0, size_t{1} << 16);
  if (const auto kind = CommunicationKindOf(kernel_name)) {
    const KernelFamily family = *kind == CommunicationKind::kSendRecv ? kP2p : kCollective;
    return {family, family};  // Of no other kernels: see CommunicationKindOf() below.
  }
  if (const auto unnamed = FamilyOfUnnamed(kernel_name)) return *unnamed;
  const bool is_mangled = kernel_name.starts_with("_Z");
  NamedFamily named = FamilyByRule(
      kernel_name, is_mangled ? parse::Demangle(kernel_name) : std::string(kernel_name));
  if (named.family == kElementwise) named.family = named.tiled = FamilyOfFused(kernel_name);
  return named;
}

std::optional<CommunicationKind> CommunicationKindOf(std::string_view kernel_name,
                                                     const NamedFamily& family) {
  if (family.family != kP2p && family.family != kCollective) return std::nullopt;
  return CommunicationKindOf(kernel_name);
}

}  // namespace oplens::ops
