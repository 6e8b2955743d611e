#include "parse/model/marker_text.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include "base/affixes.h"
#include "base/ascii.h"
#include "base/literal.h"
#include "parse/model/sized_call.h"

namespace oplens {
namespace {

// Recomputation under gradient checkpointing nests whole forward passes in this node, so its
// sequence number would match the wrong ops.
constexpr std::string_view kMisleading = "CheckpointFunctionBackward";

// Paths of the framework's frames: PyProf's list, in its order, and the new name of
// torch/tensor.py. The remaining frames of a stack are the user's own code.
constexpr std::string_view kFrameworkPaths[] = {
    "/torch/nn/modules/",
    "/torch/nn/functional.py",
    "/torch/tensor.py",
    "/torch/_tensor.py",
    "/torch/autograd/__init__.py",
    "/torch/_jit_internal.py",
    "/pyprof/nvtx/nvmarker.py",
    "/apex/optimizers/",
    "/torch/_utils.py",
    "/torch/optim/",
};

bool IsFrameworkFrame(std::string_view frame) {
  for (size_t at = frame.find('/'); at != frame.npos; at = frame.find('/', at + 1)) {
    const std::string_view rest = frame.substr(at);
    const auto begins_rest = [rest](std::string_view path) { return rest.starts_with(path); };
    if (std::any_of(std::begin(kFrameworkPaths), std::end(kFrameworkPaths), begins_rest))
      return true;
  }
  return false;
}

/// Removes the digits at the end of `text` and returns them.
std::string_view DropDigits(std::string_view* text) {
  size_t first = text->size();
  while (first > 0 && IsDigit((*text)[first - 1])) --first;
  const std::string_view digits = text->substr(first);
  text->remove_suffix(digits.size());
  return digits;
}

void ReadExtents(LiteralScanner* in) {
  in->EnterSequence();
  while (in->NextItem()) {
    int64_t value = 0;
    if (in->Peek() == LiteralKind::kInteger) {
      in->ReadInteger(&value);
      continue;
    }
    in->EnterSequence();
    while (in->NextItem()) in->ReadInteger(&value);
  }
}

/// Removes `mark` + " [...]" from the end of `text` and returns the brackets, if they hold only
/// lists or pairs of integers, or lists of these. Otherwise leaves `text` and returns "".
std::string_view DropList(std::string_view mark, std::string_view* text) {
  if (!text->ends_with(']')) return {};
  // No list holds an equals sign, so the last one is the mark's.
  const size_t list = text->rfind('=') + 1;
  if (list == 0 || !text->substr(0, list).ends_with(mark)) return {};
  const std::string_view brackets = text->substr(list);
  LiteralScanner in(brackets);
  in.EnterSequence();
  while (in.NextItem()) ReadExtents(&in);
  if (!in.Finish()) return {};
  text->remove_suffix(brackets.size() + mark.size());
  return brackets;
}

/// MmBackward, MulBackward0, torch::autograd::XBackward12, relu_backward.
bool SaysBackward(std::string_view name) {
  if (name.ends_with("backward")) return true;
  DropDigits(&name);
  return name.ends_with("Backward");
}

/// Matches "NAME[, op_id = N][, sizes = [..]]"; `text` is the part before the sizes. A name alone
/// must be PyTorch's: "add" and "Engine::run" may be anybody's labels.
void ClassifyOperator(std::string_view text, std::string_view sizes, MarkerText* out) {
  std::string_view name = text;
  const bool has_id = !DropDigits(&name).empty() && DropSuffix(", op_id = ", &name);
  if (!has_id) name = text;
  const bool sure = has_id || !sizes.empty() || text.starts_with("aten::");
  if (!sure || !NamesOperator(name)) return;
  out->kind = MarkerKind::kOperator;
  out->name = name;
  out->sizes = sizes;
  out->backward = SaysBackward(name);
}

/// Matches "NAME, seq = N" and its variants; leaves `out` unchanged otherwise.
void ClassifySeq(std::string_view text, std::string_view sizes, MarkerText* out) {
  std::string_view number = DropDigits(&text);
  if (number.empty()) return;
  if (DropSuffix(", op_id = ", &text)) {
    number = DropDigits(&text);
    if (number.empty()) return;
  }
  // "seq = 7", or "seq=7" in torch 1.0.
  DropSuffix(" ", &text);
  if (!DropSuffix("=", &text)) return;
  DropSuffix(" ", &text);
  if (!DropSuffix("seq", &text)) return;
  DropSuffix("stashed ", &text);
  if (!DropSuffix(", ", &text)) return;
  int64_t seq = 0;
  const char* const end = number.data() + number.size();
  if (std::from_chars(number.data(), end, seq).ec != std::errc{}) return;
  out->kind = MarkerKind::kSeq;
  out->name = text;
  out->sizes = sizes;
  out->seq = seq;
  out->backward = SaysBackward(text);
}

/// Reads the call number at the end of the part before the sizes.
void ReadCallNumber(std::string_view text, std::string_view sizes, MarkerText* out) {
  const std::string_view number = DropDigits(&text);
  if (!DropSuffix(", op_id = ", &text)) return;
  std::from_chars(number.data(), number.data() + number.size(), out->op_id);
  if (out->op_id == 0 || out->kind != MarkerKind::kFree) return;
  out->name = text;
  out->sizes = sizes;
}

/// Matches PyTorch's annotations of its operators.
void ClassifyTorch(std::string_view text, MarkerText* out) {
  DropList(", input_op_ids =", &text);
  const std::string_view sizes = DropList(", sizes =", &text);
  ClassifySeq(text, sizes, out);
  if (out->kind == MarkerKind::kFree) ClassifyOperator(text, sizes, out);
  ReadCallNumber(text, sizes, out);
}

/// The values of the keys that decide what a literal is.
class LiteralMarker {
 public:
  /// Texts go to `out`. Its storage is sized first, because views point into it.
  LiteralMarker(std::string_view text, MarkerText* out) : in_(text), out_(out) {
    if (text.find('\\') != text.npos) out_->storage.resize(1);
  }

  /// Reads the whole literal; false if it is none.
  bool Read();
  MarkerKind Kind() const;

 private:
  void ReadKey(std::string_view key);
  /// Reads a text; if the value is something else, skips it and returns false.
  bool ReadText(std::string_view* text);
  bool ReadFrames();
  /// Reads what nvtx_annotate adds.
  void ReadOwn();
  void ReadNumber(int64_t* number);
  std::string* storage() { return out_->storage.empty() ? nullptr : out_->storage.data(); }

  LiteralScanner in_;
  MarkerText* out_;
  bool has_mod_ = false;
  bool has_op_ = false;
  bool has_args_ = false;
  bool has_frames_ = false;
  bool has_repr_ = false;
  bool has_node_ = false;
};

bool LiteralMarker::Read() {
  std::string_view key;
  in_.EnterDict();
  while (in_.NextKey(storage(), &key)) ReadKey(key);
  return in_.Finish();
}

void LiteralMarker::ReadKey(std::string_view key) {
  std::string_view unused;
  if (key == "mod") {
    has_mod_ = ReadText(&out_->mod);
  } else if (key == "op") {
    has_op_ = ReadText(&out_->op);
  } else if (key == "args") {
    const LiteralKind kind = in_.Peek();
    has_args_ = kind == LiteralKind::kList || kind == LiteralKind::kTuple;
    in_.Skip();
  } else if (key == "traceMarker") {
    has_frames_ = ReadFrames();
  } else if (key == "strRepr") {
    has_repr_ = ReadText(&unused);
  } else if (key == "oplens" && in_.Peek() == LiteralKind::kDict) {
    ReadOwn();
  } else {
    in_.Skip();
  }
}

bool LiteralMarker::ReadText(std::string_view* text) {
  if (in_.Peek() == LiteralKind::kString) return in_.ReadString(storage(), text);
  in_.Skip();
  return false;
}

void LiteralMarker::ReadOwn() {
  std::string_view key;
  in_.EnterDict();
  while (in_.NextKey(storage(), &key)) {
    if (key == "seq") {
      ReadNumber(&out_->seq);
    } else if (key == "tid") {
      ReadNumber(&out_->thread);
    } else if (key == "ftid") {
      ReadNumber(&out_->forward_thread);
    } else if (key == "h") {
      ReadNumber(&out_->handle);
    } else if (key == "fh") {
      ReadNumber(&out_->forward_handle);
    } else if (key == "aten") {
      ReadText(&out_->aten);
    } else if (key == "dir") {
      std::string_view direction;
      if (ReadText(&direction) && direction.size() == 1) out_->direction = direction.front();
    } else if (key == "node") {
      has_node_ = ReadText(&out_->name);
    } else {
      in_.Skip();
    }
  }
}

/// Leaves `number` unchanged if the value is no integer.
void LiteralMarker::ReadNumber(int64_t* number) {
  LiteralNumber value;
  if (in_.Peek() != LiteralKind::kInteger) {
    in_.Skip();
  } else if (in_.ReadNumber(&value) && value.fits) {
    *number = value.int_value;
  }
}

bool LiteralMarker::ReadFrames() {
  const LiteralKind kind = in_.Peek();
  if (kind != LiteralKind::kList && kind != LiteralKind::kTuple) {
    in_.Skip();
    return false;
  }
  bool all_texts = true;
  out_->frames.clear();
  in_.EnterSequence();
  while (in_.NextItem()) {
    std::string_view frame;
    if (!ReadText(&frame)) {
      all_texts = false;
    } else if (!IsFrameworkFrame(frame)) {
      out_->frames.push_back(frame);
    }
  }
  return all_texts;
}

MarkerKind LiteralMarker::Kind() const {
  if (has_mod_ && has_op_ && has_args_) return MarkerKind::kOp;
  if (has_frames_) return MarkerKind::kTrace;
  if (has_repr_) return MarkerKind::kRepr;
  if (has_node_) return MarkerKind::kNode;
  return MarkerKind::kFree;
}

int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Decodes a layer's name as passed to nvtx_annotate. A text with a '%' that begins no escape has
/// another origin and stays unchanged.
void DecodeLayer(MarkerText* out) {
  if (out->name.find('%') == std::string_view::npos) return;
  std::string decoded;
  for (size_t i = 0; i < out->name.size(); ++i) {
    if (out->name[i] != '%') {
      decoded += out->name[i];
      continue;
    }
    if (i + 2 >= out->name.size()) return;
    const int high = HexValue(out->name[i + 1]);
    const int low = HexValue(out->name[i + 2]);
    if (high < 0 || low < 0) return;
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  out->storage.push_back(std::move(decoded));
  out->name = out->storage.back();
}

bool IsLiteral(std::string_view text) {
  LiteralScanner in(text);
  in.Skip();
  return in.Finish();
}

MarkerText ClassifyLiteral(std::string_view text) {
  MarkerText out;
  LiteralMarker literal(text, &out);
  if (!literal.Read()) {
    // A dict with keys other than strings is somebody's label, and undamaged.
    out = MarkerText();
    out.damaged = !IsLiteral(text);
    return out;
  }
  out.kind = literal.Kind();
  // Drop the parts of a literal of another kind.
  if (out.kind != MarkerKind::kTrace) out.frames.clear();
  if (out.kind != MarkerKind::kOp) out.mod = out.op = out.aten = {};
  out.backward = out.kind == MarkerKind::kNode;
  if (out.kind != MarkerKind::kNode) out.name = {};
  if (out.kind != MarkerKind::kNode && out.kind != MarkerKind::kOp) out.seq = -1;
  return out;
}

}  // namespace

MarkerText ClassifyMarker(std::string_view text) {
  const bool misleading = text.find(kMisleading) != text.npos;
  if (!misleading && text.starts_with('{')) return ClassifyLiteral(text);
  MarkerText out;
  constexpr std::string_view kLayer = "layer:";
  if (misleading) {
    out.kind = MarkerKind::kIgnored;
  } else if (text.starts_with(kLayer)) {
    out.kind = MarkerKind::kLayer;
    out.name = text.substr(kLayer.size());
    DecodeLayer(&out);
  } else {
    ClassifyTorch(text, &out);
  }
  return out;
}

bool IsTorchFrame(std::string_view frame) {
  constexpr std::string_view kFolder = "torch/";
  return frame.starts_with(kFolder) || frame.find("/torch/") != frame.npos ||
         frame.starts_with("threading.py:") || frame.find("/threading.py:") != frame.npos;
}

}  // namespace oplens
