#include "nvtx_annotate/torch/node_names.h"

#include <cstdint>
#include <cstring>
#include <memory>

#include "nvtx_annotate/hot.h"
#include "nvtx_annotate/marker_text.h"

namespace oplens::annotate::torch {
namespace {

/// Names differ mostly at their end.
size_t NodeNamesHashOf(std::string_view text) {
  uint64_t hash = text.size();
  uint64_t bytes = 0;
  for (int i = 0; i < 3 && text.size() >= sizeof bytes; ++i) {
    text.remove_suffix(sizeof bytes);
    std::memcpy(&bytes, text.data() + text.size(), sizeof bytes);
    hash = (hash ^ bytes) * 0x9e3779b97f4a7c15;
  }
  return hash >> 40;
}

std::unique_ptr<const NodeName> Make(std::string_view text) {
  // FormatFree() writes at most four bytes per byte.
  char buffer[4 * markers::kMaxStringBytes + 1];
  auto name = std::make_unique<NodeName>();
  name->text = text;
  name->free.assign(buffer, markers::FormatFree(text, buffer));
  name->evaluate = RegisterText(name->free.c_str());
  const size_t colon = name->text.find(": ");
  const size_t node = colon == name->text.npos ? name->text.size() : colon + 2;
  name->node.names.op = name->text.c_str() + node;
  name->accumulates = IsAccumulation(name->node.names.op);
  return name;
}

}  // namespace

bool IsAccumulation(std::string_view node) noexcept {
  constexpr std::string_view kEnd = "AccumulateGrad";
  return node.size() >= kEnd.size() && node.substr(node.size() - kEnd.size()) == kEnd;
}

OPLENS_HOT const NodeName* NodeNames::FindKnown(std::string_view text) const noexcept {
  for (size_t slot = NodeNamesHashOf(text) % kSlots;; slot = (slot + 1) % kSlots) {
    const NodeName* const known = slots_[slot].load(std::memory_order_acquire);
    if (known == nullptr || known->text == text) return known;
  }
}

const NodeName* NodeNames::Find(std::string_view text) {
  size_t slot = NodeNamesHashOf(text) % kSlots;
  const NodeName* known = nullptr;
  for (;; slot = (slot + 1) % kSlots) {
    known = slots_[slot].load(std::memory_order_acquire);
    if (known == nullptr) break;
    if (known->text == text) return known;
  }
  if (text.size() > markers::kMaxStringBytes) return nullptr;
  if (used_.fetch_add(1, std::memory_order_relaxed) >= kSlots / 2) return nullptr;
  std::unique_ptr<const NodeName> added = Make(text);
  for (;; slot = (slot + 1) % kSlots) {
    known = nullptr;
    if (slots_[slot].compare_exchange_strong(known, added.get(), std::memory_order_acq_rel)) {
      return added.release();
    }
    if (known->text == text) return known;
  }
}

}  // namespace oplens::annotate::torch
