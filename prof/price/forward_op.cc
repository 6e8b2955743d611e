#include "prof/price/forward_op.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "parse/model/node_name.h"

namespace oplens::prof {
namespace {

constexpr size_t kMaxOpBytes = size_t{20} << 20;

// --- A ForwardOp as one flat text: per list its length, then each text with its length. ---

void AppendSize(size_t size, std::string* out) {
  char bytes[sizeof size];
  std::memcpy(bytes, &size, sizeof size);
  out->append(bytes, sizeof size);
}

void AppendText(std::string_view text, std::string* out) {
  AppendSize(text.size(), out);
  out->append(text);
}

void AppendList(std::span<const std::string_view> texts, std::string* out,
                size_t count = SIZE_MAX) {
  texts = texts.first(std::min(count, texts.size()));
  AppendSize(texts.size(), out);
  for (std::string_view text : texts) AppendText(text, out);
}

size_t TakeSize(std::string_view* flat) {
  size_t size = 0;
  std::memcpy(&size, flat->data(), sizeof size);
  flat->remove_prefix(sizeof size);
  return size;
}

void TakeList(std::string_view* flat, std::vector<std::string_view>* texts) {
  texts->resize(TakeSize(flat));
  for (std::string_view& text : *texts) {
    const size_t size = TakeSize(flat);
    text = flat->substr(0, size);
    flat->remove_prefix(size);
  }
}

}  // namespace

bool FitsNode(std::string_view op, const std::vector<std::string_view>& node_texts) {
  const std::string bare_op = BareName(op);
  return std::any_of(node_texts.begin(), node_texts.end(), [&](std::string_view text) {
    return text.find("Backward") != std::string_view::npos && NamesFit(BareName(text), bare_op);
  });
}

ForwardOps::ForwardOps(Epochs* epochs) : ops_(epochs, kMaxOpBytes) {}

const ForwardOp* ForwardOps::Of(const KernelRecord& forward, size_t annotations) {
  key_.clear();
  AppendList(forward.markers, &key_, annotations);
  AppendList(forward.layer, &key_);
  AppendList(forward.trace, &key_);
  AppendList(forward.mod, &key_, annotations);
  AppendList(forward.op, &key_, annotations);
  AppendSize(forward.seq_markers.size(), &key_);
  for (std::string_view text : forward.seq_markers) AppendText(WithoutSequence(text), &key_);
  return Find();
}

const ForwardOp* ForwardOps::DescribedBy(const KernelRecord& backward) {
  key_.clear();
  for (const auto* list : {&backward.forward_markers, &backward.forward_layer,
                           &backward.forward_trace, &backward.forward_mod, &backward.forward_op}) {
    AppendList(*list, &key_);
  }
  AppendSize(0, &key_);
  return Find();
}

const ForwardOp* ForwardOps::Find() {
  bool is_new = false;
  auto* const entry = ops_.Get(key_, &is_new);
  ForwardOp& op = entry->value;
  if (!is_new) return &op;
  op.id = entry->id;
  std::string_view flat = entry->text;
  for (auto* list : {&op.markers, &op.layer, &op.trace, &op.mod, &op.op, &op.seq_names}) {
    TakeList(&flat, list);
  }
  return &op;
}

}  // namespace oplens::prof
