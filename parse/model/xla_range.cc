// XLA runs each of its thunks in a range of the domain "TSL" that names the HLO instruction and,
// if it is known, the operation of the user's program: "Thunk:#name=PATH,hlo_op=NAME#".

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/affixes.h"
#include "base/ascii.h"
#include "parse/model/range_vocabulary.h"
#include "parse/model/vocabulary_ops.h"

namespace oplens {
namespace {

/// Parts of a path beyond these are left out.
constexpr size_t kMaxParts = 64;

/// "dot.12.clone" -> "dot"
std::string_view WithoutSuffixes(std::string_view name) { return name.substr(0, name.find('.')); }

bool IsPlainName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return IsNameCharacter(c) || c == '.' || c == '-';
  });
}

/// Whether the instruction runs several: then the path is only what these have in common, or none
/// of them is a kernel's.
bool IsFusion(std::string_view instruction) {
  return instruction.find("fusion") != std::string_view::npos;
}
bool RunsOthers(std::string_view instruction) {
  constexpr std::string_view kOthers[] = {"while",          "conditional", "call",
                                          "command_buffer", "async-start", "async-done"};
  return std::find(std::begin(kOthers), std::end(kOthers), instruction) != std::end(kOthers);
}

/// The ops in a fusion's name: "loop_add_multiply_fusion", "wrapped_add". False unless each part is
/// known.
bool AddFused(std::string_view instruction, NamedOps* ops) {
  constexpr std::string_view kFusion = "_fusion";
  std::string_view names = instruction;
  if (names.starts_with("gemm_fusion")) {
    ops->Add("mm", OpWeight::kProduct, {});
    return true;
  }
  const bool wrapped = DropPrefix("wrapped_", &names);
  if (!wrapped) {
    const bool kind = DropPrefix("loop_", &names) || DropPrefix("input_", &names);
    if (!kind || !names.ends_with(kFusion)) return false;
    names.remove_suffix(kFusion.size());
  }
  std::vector<const VocabularyOp*> found;
  while (!names.empty() && found.size() < kMaxParts) {
    const std::string_view name = names.substr(0, names.find('_'));
    found.push_back(FindVocabularyOp(name));
    if (found.back() == nullptr) return false;
    names.remove_prefix(std::min(names.size(), name.size() + 1));
  }
  for (const VocabularyOp* op : found) ops->Add(op->op, op->weight, {});
  return !found.empty();
}

/// The module in a part of the path: "Dense_0", also of "transpose(jvp(Dense_0))"; "" for what JAX
/// and compilers add: "jit(f)", "while", "body".
std::string_view ModuleOf(std::string_view part) {
  constexpr std::string_view kAdded[] = {"while",
                                         "body",
                                         "cond",
                                         "scan",
                                         "checkpoint",
                                         "remat",
                                         "closed_call",
                                         "core_call",
                                         "pjit",
                                         "shard_map",
                                         "custom_jvp_call",
                                         "custom_vjp_call",
                                         "rematted_computation",
                                         "~",
                                         "jit"};
  constexpr std::string_view kWrappers[] = {"transpose(", "jvp(", "vmap(", "remat(", "checkpoint("};
  bool unwrapped = true;
  while (unwrapped) {
    unwrapped = false;
    for (const std::string_view wrapper : kWrappers) {
      if (!part.ends_with(')') || !DropPrefix(wrapper, &part)) continue;
      part.remove_suffix(1);
      unwrapped = true;
    }
  }
  const bool plain = !part.empty() && std::all_of(part.begin(), part.end(), IsNameCharacter);
  const bool added = std::find(std::begin(kAdded), std::end(kAdded), part) != std::end(kAdded) ||
                     part.starts_with("branch_");
  return plain && !added ? part : std::string_view();
}

/// The path of an operation of the user's program, "jit(f)/jit(main)/Dense_0/dot_general".
struct ProgramPath {
  std::string_view operation;  ///< The last part.
  std::string layer;           ///< The modules before it.

  explicit ProgramPath(std::string_view path) {
    const size_t last = path.rfind('/');
    operation = path.substr(last == std::string_view::npos ? 0 : last + 1);
    if (last == std::string_view::npos) return;
    path = path.substr(0, last);
    for (size_t parts = 0; !path.empty() && parts < kMaxParts; ++parts) {
      const std::string_view part = path.substr(0, path.find('/'));
      path.remove_prefix(std::min(path.size(), part.size() + 1));
      const std::string_view module = ModuleOf(part);
      if (module.empty()) continue;
      if (!layer.empty()) layer += '.';
      layer += module;
    }
  }
};

}  // namespace

std::optional<RangeWords> ReadXlaRange(std::string_view text) {
  if (!DropPrefix("Thunk:#", &text) || !text.ends_with('#')) return std::nullopt;
  text.remove_suffix(1);
  constexpr std::string_view kInstruction = "hlo_op=";
  std::string_view program;
  if (DropPrefix("name=", &text)) {
    const size_t at = text.rfind(",hlo_op=");
    if (at == std::string_view::npos) return std::nullopt;
    program = text.substr(0, at);
    text.remove_prefix(at + 1);
  }
  if (!DropPrefix(kInstruction, &text)) return std::nullopt;
  const std::string_view whole = text.substr(0, text.find(','));
  if (!IsPlainName(whole)) return std::nullopt;
  const std::string_view instruction = WithoutSuffixes(whole);
  if (RunsOthers(instruction)) return std::nullopt;
  const ProgramPath path(program);
  NamedOps ops;
  const VocabularyOp* op = FindVocabularyOp(instruction);
  if (op == nullptr && !AddFused(instruction, &ops) && !IsFusion(instruction)) {
    op = FindVocabularyOp(path.operation);
  }
  if (op != nullptr) ops.Add(op->op, op->weight, {});
  RangeWords words{ops.Joined(), path.layer};
  if (words.op.empty() && words.layer.empty()) return std::nullopt;
  return words;
}

}  // namespace oplens
