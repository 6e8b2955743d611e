#include "prof/price/kernel_facts.h"

#include <bit>

#include "ops/kernels/communication.h"
#include "ops/kernels/name_variant.h"
#include "prof/price/priced_kernel.h"

namespace oplens::prof {
namespace {

constexpr size_t kMaxNameBytes = size_t{2} << 20;
constexpr size_t kMaxGpuBytes = size_t{1} << 20;

/// Separates a GPU's name and facts; occurs in neither.
constexpr char kGpuSeparator = '\n';

bool IsKeyOf(std::string_view key, std::string_view name, std::string_view facts) {
  return key.size() == name.size() + 1 + facts.size() && key.starts_with(name) &&
         key[name.size()] == kGpuSeparator && key.ends_with(facts);
}

}  // namespace

const ops::NamedFamily& KernelFacts::family() const {
  return family_.Get([this] { return ops::KernelFamilyOf(name); });
}

bool KernelFacts::communicates() const {
  return communicates_.Get([this] { return ops::IsCommunicationKernel(name); });
}

const ops::NameFacts& KernelFacts::parsed_name() const {
  return parsed_name_.Get([this] { return ops::NameFactsOf(name); });
}

std::string_view KernelFacts::name_facts() const {
  return name_facts_.Get([this] { return parsed_name().Text(); });
}

std::string_view KernelFacts::variant() const {
  return variant_.Get([this] { return ops::NameVariantOf(name); });
}

const ops::NamedOp& KernelFacts::named_op(int64_t rows) const {
  const Lazy<ops::NamedOp>& named = rows > 1 ? tiled_op_ : named_op_;
  return named.Get([&] { return ops::NamedOpOf(name, family(), rows); });
}

ops::KernelKind KernelFacts::named_kind() const {
  return named_kind_.Get([this] { return ops::KernelKindOf(name); });
}

const ops::LaunchRule& KernelFacts::launch_rule() const {
  return launch_rule_.Get([this] { return ops::LaunchRuleOf(name, family()); });
}

std::optional<ops::KernelFamily> FamilyOf(const PricedKernel& row) {
  if (row.facts == nullptr || row.facts->name.empty()) return std::nullopt;
  return row.facts->family().Of(row.record->grid.y);
}

KernelFactsCache::KernelFactsCache(Epochs* epochs, const ops::Rules* rules)
    : cache_(epochs, kMaxNameBytes), rules_(rules) {}

const KernelFacts* KernelFactsCache::Of(std::string_view long_name) {
  if (recent_generation_ != cache_.generation()) {
    recent_ = {};
    recent_generation_ = cache_.generation();
  }
  constexpr int kAlignment = 4;  // Of most addresses, in bits.
  Recent& recent = recent_[(std::bit_cast<uintptr_t>(long_name.data()) >> kAlignment) % kRecent];
  if (recent.address != long_name.data() || recent.facts == nullptr ||
      recent.facts->name != long_name) {
    const KernelFacts* const found = Find(long_name);
    // Find() may have begun a generation.
    if (recent_generation_ != cache_.generation()) return found;
    recent = {long_name.data(), found};
  }
  return recent.facts;
}

const KernelFacts* KernelFactsCache::Find(std::string_view long_name) {
  bool is_new = false;
  auto* const entry = cache_.Get(long_name, &is_new);
  KernelFacts& facts = entry->value;
  if (!is_new) return &facts;
  facts.id = entry->id;
  facts.name = entry->text;
  // The verdict's token is a view into the cached name.
  facts.verdict = ops::TensorCoreVerdictOf(entry->text, rules_);
  const ops::KernelRule* rule = rules_ != nullptr ? rules_->FindKernel(long_name) : nullptr;
  if (rule != nullptr) facts.ruled_kind = rule->kind;
  return &facts;
}

Gpus::Gpus(Epochs* epochs, const ops::Gpu* given) : given_(given), cache_(epochs, kMaxGpuBytes) {}

const ops::Gpu* Gpus::Of(const KernelRecord& record) {
  if (given_ != nullptr) return given_;
  const std::string_view name = record.device_name.value_or(std::string_view());
  const std::string_view facts = record.gpu.value_or(std::string_view());
  if (name.empty() && facts.empty()) return nullptr;
  if (last_ != nullptr && IsKeyOf(last_text_, name, facts)) return last_;
  last_text_.assign(name);
  last_text_ += kGpuSeparator;
  last_text_ += facts;
  bool is_new = false;
  auto* const entry = cache_.Get(last_text_, &is_new);
  if (is_new) entry->value = ops::ParseGpu(name, facts);
  last_ = &entry->value;
  return last_;
}

}  // namespace oplens::prof
