// TensorRT runs each layer of an engine in a range of the domain "TensorRT" that has the layer's
// name. Names come from the network definition, so from ONNX, TensorFlow, Torch-TensorRT or
// TensorRT-LLM; TensorRT joins those of layers that it fuses, and adds layers that copy.

#include <algorithm>
#include <string>
#include <utility>

#include "base/affixes.h"
#include "base/ascii.h"
#include "parse/model/range_vocabulary.h"
#include "parse/model/vocabulary_ops.h"

namespace oplens {
namespace {

/// Removes "_12" from the end.
std::string_view WithoutNumber(std::string_view name) {
  std::string_view rest = name;
  while (!rest.empty() && IsDigit(rest.back())) rest.remove_suffix(1);
  return rest.size() < name.size() && DropSuffix("_", &rest) ? rest : name;
}

/// Removes `word` and the number after it from the end: "_output_0".
bool DropNumbered(std::string_view word, std::string_view* text) {
  std::string_view rest = *text;
  while (!rest.empty() && IsDigit(rest.back())) rest.remove_suffix(1);
  if (rest.size() == text->size() || !DropSuffix(word, &rest)) return false;
  *text = rest;
  return true;
}

/// Takes the next name off a list of fused layers: "A + PWN(B, PWN(C)) || D". A name may have
/// brackets of its own, "(Unnamed Layer* 3) [Shuffle]"; brackets of PWN that stay unbalanced end up
/// nowhere.
class FusedNames {
 public:
  explicit FusedNames(std::string_view text) : rest_(text) {}

  bool Next(std::string_view* name) {
    while (DropPrefix("PWN(", &rest_) || DropPrefix(" + ", &rest_) || DropPrefix(" || ", &rest_) ||
           DropPrefix(", ", &rest_) || DropPrefix(")", &rest_)) {
    }
    if (rest_.empty()) return false;
    size_t end = 0;
    int brackets = 0;
    for (; end < rest_.size(); ++end) {
      const char c = rest_[end];
      if (c == '(') ++brackets;
      if (c == ')' && brackets-- == 0) break;
      if (brackets > 0 || (c != ' ' && c != ',')) continue;
      const std::string_view here = rest_.substr(end);
      if (here.starts_with(" + ") || here.starts_with(" || ") || here.starts_with(", ")) break;
    }
    *name = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return true;
  }

 private:
  std::string_view rest_;
};

/// A name of Torch-TensorRT: "[CONVOLUTION]-[aten_ops.convolution.default]-[/conv1/convolution]".
struct TorchTensorRtName {
  std::string_view op;
  std::string_view path;

  bool Read(std::string_view name) {
    if (!name.starts_with('[') || !name.ends_with(']')) return false;
    constexpr std::string_view kJoint = "]-[";
    const size_t first = name.find(kJoint);
    if (first == std::string_view::npos) return false;
    const size_t second = name.find(kJoint, first + kJoint.size());
    if (second == std::string_view::npos) return false;
    std::string_view target = name.substr(first + kJoint.size(), second - first - kJoint.size());
    if (!DropPrefix("aten_ops.", &target) && !DropPrefix("acc_ops.", &target)) return false;
    op = target.substr(0, target.find('.'));
    path = name.substr(second + kJoint.size());
    path.remove_suffix(1);
    const bool plain = !op.empty() && std::all_of(op.begin(), op.end(), IsNameCharacter);
    return plain && path.find(']') == std::string_view::npos;
  }
};

/// The type of a node that a name ends with: "Conv" of "/conv1/Conv_2", "Gemm" of
/// "lm_head/PLUGIN_V2_Gemm_0".
const VocabularyOp* OpOfNode(std::string_view node) {
  node = WithoutNumber(node);
  for (const std::string_view plugin : {"PLUGIN_V2_", "PLUGIN_V3_"}) {
    if (DropPrefix(plugin, &node)) break;
  }
  return FindVocabularyOp(node);
}

class TensorRtRange {
 public:
  /// False if the text names no layer of a network.
  bool Read(std::string_view text) {
    const bool copies = DropCopy(&text);
    const bool shapes = !copies && DropShuffle(&text);
    // A part of the network that Myelin compiled, by its first and last node: no single op.
    const bool whole_part = text.starts_with("{ForeignNode[");
    FusedNames names(text);
    for (std::string_view name; !whole_part && names.Next(&name);) Take(name);
    words_.op = copies ? "copy" : shapes ? "reshape" : ops_.Joined();
    words_.layer = LayerOfNode(ops_.empty() ? first_path_ : ops_.MainPath());
    return !words_.op.empty() || !words_.layer.empty();
  }
  RangeWords Words() && { return std::move(words_); }

 private:
  /// Takes off what a layer says that TensorRT added to copy a tensor into another format or into
  /// its part of a concatenation.
  static bool DropCopy(std::string_view* text) {
    std::string_view rest = *text;
    if (DropPrefix("Reformatting CopyNode for ", &rest)) {
      const size_t to = rest.find(" to ");
      const bool named = rest.starts_with("Input Tensor ") || rest.starts_with("Output Tensor ");
      if (!named || to == std::string_view::npos) return false;
      *text = rest.substr(to + 4);
      return true;
    }
    if (DropNumbered(" input reformatter ", text) || DropNumbered(" output reformatter ", text)) {
      return true;
    }
    std::string_view tensor = *text;
    if (!DropSuffix(" copy", &tensor)) return false;
    DropNumbered("_output_", &tensor);
    *text = tensor;
    return true;
  }

  /// Likewise for layers that give a tensor another shape.
  static bool DropShuffle(std::string_view* text) {
    std::string_view rest = *text;
    DropPrefix("copied_", &rest);
    for (const std::string_view what : {"squeeze_after_", "squeeze_before_", "unsqueeze_after_",
                                        "unsqueeze_before_", "reshape_after_", "reshape_before_"}) {
      if (!DropPrefix(what, &rest)) continue;
      *text = rest;
      return true;
    }
    return false;
  }

  void Take(std::string_view name) {
    TorchTensorRtName torch;
    if (torch.Read(name)) return TakeTorch(torch);
    if (name.starts_with("(Unnamed Layer* ")) return TakeUnnamed(name);
    if (name.starts_with("__my")) return;  // Myelin's own numbering.
    const size_t slash = name.rfind('/');
    const VocabularyOp* const op =
        OpOfNode(slash == std::string_view::npos ? name : name.substr(slash + 1));
    if (slash != std::string_view::npos && first_path_.empty()) first_path_ = name;
    if (op == nullptr) return;
    ops_.Add(op->op, op->weight, slash == std::string_view::npos ? std::string_view() : name);
  }

  /// Names of ATen's operators are those that are recorded.
  void TakeTorch(const TorchTensorRtName& torch) {
    const VocabularyOp* const op = FindVocabularyOp(torch.op);
    if (first_path_.empty()) first_path_ = torch.path;
    ops_.Add(op == nullptr ? torch.op : op->op, op == nullptr ? OpWeight::kPointwise : op->weight,
             torch.path);
  }

  /// "(Unnamed Layer* 3) [Fully Connected]"
  void TakeUnnamed(std::string_view name) {
    const size_t open = name.rfind(" [");
    if (open == std::string_view::npos || !DropSuffix("]", &name)) return;
    const VocabularyOp* const op = FindVocabularyOp(name.substr(open + 2));
    if (op != nullptr) ops_.Add(op->op, op->weight, {});
  }

  NamedOps ops_;
  std::string_view first_path_;
  RangeWords words_;
};

}  // namespace

std::optional<RangeWords> ReadTensorRtRange(std::string_view text) {
  TensorRtRange range;
  if (!range.Read(text)) return std::nullopt;
  return std::move(range).Words();
}

}  // namespace oplens
