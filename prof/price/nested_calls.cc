#include "prof/price/nested_calls.h"

#include <algorithm>
#include <optional>

#include "ops/kernels/share_work.h"
#include "ops/op_model.h"
#include "ops/pricing.h"
#include "prof/price/forward_op.h"

namespace oplens::prof {
namespace {

constexpr size_t kMaxCalls = 256;

bool HasFlops(const ops::PricedOp& op) {
  return std::any_of(op.forward.begin(), op.forward.end(), [](const ops::PartWork& part) {
    return part.work.mma != 0 || part.work.vec != 0;
  });
}

/// Whether `inner` does the work of the enclosing `outer`, rather than work beside it. Bytes do not
/// count: the data types of `inner` are unknown.
bool DoesWorkOf(const ops::PricedOp& inner, const ops::PricedOp& outer) {
  if (!HasFlops(outer)) return !HasFlops(inner);
  const ops::CoveredWork covered = ops::CoveredBy(outer, inner);
  return covered.main || covered.epilogue;
}

/// Whether both only move data, and `outer` moves less, but not nothing.
bool MovesLess(const ops::PricedOp& outer, const ops::PricedOp& inner) {
  const auto moves_only = [](const ops::PricedOp& op) {
    return op.bytes_known && op.op_class == ops::OpClass::kCompute && !HasFlops(op);
  };
  if (!moves_only(outer) || !moves_only(inner)) return false;
  const int64_t less = ops::SumOf(outer.forward).bytes.Value().value_or(0);
  return less > 0 && less < ops::SumOf(inner.forward).bytes.Value().value_or(0);
}

}  // namespace

void NestedCalls::Collect(const std::vector<std::string_view>& texts, Direction direction) {
  calls_.clear();
  const size_t skipped = texts.size() - std::min(texts.size(), kMaxCalls);
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i == kMaxCalls / 2) i += skipped;
    const Annotation* annotation = annotations_.Of(texts[i]);
    // PyProf's choice includes them.
    if (annotation->is_noise && choice_ == OpChoice::kInner) continue;
    if (annotation->is_backward_pass && direction == Direction::kBackward) continue;
    calls_.push_back({annotation, i});
  }
}

void NestedCalls::DropInsideOfNode(const std::vector<std::string_view>& node_texts) {
  if (calls_.size() < 2) return;
  const auto made_node = [&](const Call& call) {
    return FitsNode(call.annotation->op, node_texts);
  };
  const auto inner = std::find_if(calls_.rbegin(), calls_.rend(), made_node);
  if (inner != calls_.rend()) calls_.erase(inner.base(), calls_.end());
}

bool NestedCalls::MayHaveNode(const std::vector<std::string_view>& node_texts) const {
  if (!HasPrice() || node_texts.empty()) return true;
  const Annotation& chosen = *Chosen()->annotation;
  return !chosen.price->backward.empty() || FitsNode(chosen.op, node_texts);
}

bool NestedCalls::NamesOnly() const {
  return std::all_of(calls_.begin(), calls_.end(),
                     [](const Call& call) { return call.annotation->names_only; });
}

bool NestedCalls::HasPrice() const {
  const Call* chosen = Chosen();
  return chosen != nullptr && chosen->annotation->price.has_value();
}

const NestedCalls::Call* NestedCalls::Chosen() const {
  if (calls_.empty()) return nullptr;
  if (choice_ == OpChoice::kOuter) return &calls_.front();
  for (size_t i = calls_.size(); i-- > 0;) {
    if (calls_[i].annotation->price) return WithFewerBytes(WithTypes(&calls_[i]));
  }
  return &calls_.back();
}

const NestedCalls::Call* NestedCalls::WithTypes(const Call* inner) const {
  if (inner->annotation->has_types || !inner->annotation->has_shapes) return inner;
  for (auto i = static_cast<size_t>(inner - calls_.data()); i-- > 0;) {
    const Annotation& around = *calls_[i].annotation;
    if (around.has_types && around.price && DoesWorkOf(*inner->annotation->price, *around.price)) {
      return &calls_[i];
    }
  }
  return inner;
}

const NestedCalls::Call* NestedCalls::WithFewerBytes(const Call* inner) const {
  const ops::PricedOp& work = *inner->annotation->price;
  for (auto i = static_cast<size_t>(inner - calls_.data()); i-- > 0;) {
    const std::optional<ops::PricedOp>& around = calls_[i].annotation->price;
    if (around && MovesLess(*around, work)) return &calls_[i];
  }
  return inner;
}

}  // namespace oplens::prof
