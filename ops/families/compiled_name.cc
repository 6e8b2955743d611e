#include "ops/families/compiled_name.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/ascii.h"
#include "ops/op_model.h"
#include "ops/op_name.h"

namespace oplens::ops {
namespace {

struct KindWord {
  std::string_view word;
  CompiledKind kind;
};

constexpr KindWord kKinds[] = {
    {"poi", CompiledKind::kPointwise},  {"red", CompiledKind::kReduction},
    {"per", CompiledKind::kPersistent}, {"spl", CompiledKind::kReduction},
    {"tem", CompiledKind::kTemplate},
};

// Autotuning candidates are named after the template only: "triton_mm_7".
constexpr std::string_view kCompiledNameTemplates[] = {
    "mm",     "addmm",   "bmm",        "baddbmm",        "scaled_mm",     "_scaled_mm",
    "int_mm", "_int_mm", "mm_plus_mm", "flex_attention", "convolution2d", "convolution3d"};

// Ops without a cost model that compute nothing or are templates.
constexpr std::string_view kWithoutModel[] = {
    "_assert_async", "alias",          "broadcast_in_dim", "constant",       "convert_element_type",
    "copy",          "device_put",     "empty_strided",    "flex_attention", "full_like",
    "iota",          "lift_fresh",     "lift_fresh_copy",  "new_empty",      "new_empty_strided",
    "scalar_tensor", "select_scatter", "slice_scatter",    "squeeze",        "sym_size",
};

constexpr std::string_view kPrefix = "triton_";
constexpr std::string_view kFused = "fused_";
constexpr size_t kMostWords = 8;  // Per op name.
constexpr size_t kMostText = 4096;

template <size_t N>
bool HoldsCompiledName(const std::string_view (&list)[N], std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

bool IsCompiledNameNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

bool ConsumeCompiledName(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// Removes the trailing number that distinguishes kernels of equal names.
void DropNumber(std::string_view* text) {
  const size_t at = text->rfind('_');
  const size_t begin = at == std::string_view::npos ? 0 : at + 1;
  if (IsCompiledNameNumber(text->substr(begin)))
    *text = text->substr(0, at == std::string_view::npos ? 0 : at);
}

bool FindFused(std::string_view word, CompiledName::Fused* fused) {
  // Part of many op names, and PyProf's name of a recurrent layer.
  constexpr std::string_view kForward = "forward";
  if (word.empty() || word.back() == '_' || word == kForward) return false;
  OpName name = ParseOpName(word);
  if (FindOpModel(name.name) == nullptr && !HoldsCompiledName(kWithoutModel, word)) return false;
  *fused = {std::move(name.name), name.backward};
  return true;
}

void SplitFused(std::string_view text, std::vector<CompiledName::Fused>* ops) {
  std::vector<size_t> ends;  // Of each word: position of its '_' or the end.
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || text[i] == '_') ends.push_back(i);
  }
  size_t begin = 0;
  for (size_t word = 0; word < ends.size();) {
    size_t last = std::min(word + kMostWords, ends.size());
    CompiledName::Fused fused;
    while (last > word && !FindFused(text.substr(begin, ends[last - 1] - begin), &fused)) --last;
    if (last == word) {
      ++last;  // No known op starts here.
    } else {
      ops->push_back(std::move(fused));
    }
    word = last;
    begin = ends[last - 1] + 1;
  }
}

}  // namespace

CompiledName ParseCompiledName(std::string_view name) {
  CompiledName result;
  name = name.substr(0, kMostText);
  if (!ConsumeCompiledName(&name, kPrefix)) return result;
  DropNumber(&name);
  for (const KindWord& kind : kKinds) {
    if (!name.starts_with(kind.word) || !name.substr(kind.word.size()).starts_with('_')) continue;
    result.kind = kind.kind;
    name.remove_prefix(kind.word.size() + 1);
    break;
  }
  if (!ConsumeCompiledName(&name, kFused) && result.kind == CompiledKind::kOther &&
      HoldsCompiledName(kCompiledNameTemplates, name)) {
    result.kind = CompiledKind::kTemplate;
  }
  SplitFused(name, &result.ops);
  return result;
}

bool ParseNodeName(std::string_view node, CompiledName::Fused* fused) {
  for (node = node.substr(0, kMostText); !node.empty();) {
    if (FindFused(node, fused)) return true;
    const size_t at = node.rfind('_');
    if (at == std::string_view::npos) return false;
    node = node.substr(0, at);
  }
  return false;
}

}  // namespace oplens::ops
