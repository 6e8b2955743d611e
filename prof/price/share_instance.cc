#include "prof/price/share_instance.h"

#include "base/hash.h"
#include "ops/kernels/kernel_name.h"

namespace oplens::prof {
namespace {

constexpr size_t kMaxSolo = 16384;

/// The gradient that a kernel is known to compute.
std::optional<ops::Part> PartOf(const WaitingRow& row) {
  const auto& gradient = row.resolution.gradient;
  return gradient ? std::optional(gradient->part) : std::nullopt;
}

void Charge(const ops::KernelShare& share, WaitingRow* waiting) {
  PricedKernel* const row = &waiting->row;
  row->share = share;
  if (const auto& gradient = waiting->resolution.gradient) {
    row->share.part = gradient->part;
    row->share.part_confidence = gradient->confidence;
  } else if (row->price != nullptr) {
    row->params = ops::ParamsOf(*row->price, PricedDirection(*waiting), share.part);
    row->extents = ops::ExtentsOf(*row->price, PricedDirection(*waiting), share.part);
  }
  row->reasons.Merge(share.reasons);
}

}  // namespace

bool IsProduct(const WaitingRow& row) {
  const ops::KernelKind kind =
      row.resolution.kind ? *row.resolution.kind : ops::KernelKindOf(row.record.long_name);
  return kind == ops::KernelKind::kMatrix;
}

size_t InstanceSharer::SoloKeyHash::operator()(const SoloKey& key) const {
  const auto both = (static_cast<uint64_t>(key.annotation_id) << 32) ^
                    (static_cast<uint64_t>(key.kernel_id) << 1) ^
                    static_cast<uint64_t>(key.direction);
  return MixHash(0, both);
}

void InstanceSharer::Share(const OpInstance& instance, ops::CoveredWork covered) {
  WaitingRow& first = *instance.rows.front();
  const bool solo = instance.rows.size() == 1 && first.resolution.kernel_id != 0 && !covered.main &&
                    !covered.epilogue;
  if (solo) {
    const SoloKey key{instance.annotation_id, first.resolution.kernel_id, instance.direction,
                      PartOf(first)};
    auto place = solo_.find(key);
    if (place == solo_.end()) {
      Compute(instance, covered);
      if (solo_.size() >= kMaxSolo) solo_.clear();
      place = solo_.emplace(key, shares_.front()).first;
    }
    return Charge(place->second, &first);
  }
  Compute(instance, covered);
  for (size_t i = 0; i < shares_.size(); ++i) Charge(shares_[i], instance.rows[i]);
}

void InstanceSharer::Compute(const OpInstance& instance, ops::CoveredWork covered) {
  kernels_.clear();
  for (const WaitingRow* row : instance.rows) {
    kernels_.push_back({row->record.long_name, row->record.grid, row->record.duration_ns,
                        row->resolution.kind, PartOf(*row)});
  }
  shares_.assign(kernels_.size(), {});
  ops::ShareWork(*instance.price, instance.direction, kernels_, shares_, covered);
}

}  // namespace oplens::prof
