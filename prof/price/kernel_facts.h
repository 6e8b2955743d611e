#ifndef OPLENS_PROF_PRICE_KERNEL_FACTS_H_
#define OPLENS_PROF_PRICE_KERNEL_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/epochs.h"
#include "base/text_cache.h"
#include "ops/gpu/gpu.h"
#include "ops/kernels/kernel_family.h"
#include "ops/kernels/kernel_name.h"
#include "ops/kernels/tensor_core.h"
#include "ops/rules/rules.h"
#include "parse/model/kernel_record.h"

namespace oplens::prof {

/// What the full name of a kernel tells.
struct KernelFacts {
  int64_t id = 0;  ///< Differs between names.
  ops::TensorCoreVerdict verdict;
  std::optional<ops::KernelKind> ruled_kind;  ///< What a rule of the user says that it is.
  std::string_view name;                      ///< The name itself.

  /// Its family. Found when it is first asked for, which most runs do not.
  const ops::NamedFamily& family() const;

  /// Whether it is communication, by its name; the same holds.
  bool communicates() const;

  /// NameFacts::Text() of it; the same holds.
  std::string_view name_facts() const;

 private:
  mutable std::optional<bool> communicates_;
  mutable std::optional<std::string> name_facts_;
  mutable std::optional<ops::NamedFamily> family_;
};

struct PricedKernel;

/// What the kernel computes, by its name and launch; nullopt for one without a name.
std::optional<ops::KernelFamily> FamilyOf(const PricedKernel& row);

/// Judges the names of kernels, each distinct one once.
///
/// Memory: two generations of some 2 MB. An answer lives as long as a pin of `epochs` that was
/// taken before it was asked for.
class KernelFactsCache {
 public:
  /// `rules`: of the user, null for none. Both must outlive this.
  KernelFactsCache(Epochs* epochs, const ops::Rules* rules);

  const KernelFacts* Of(std::string_view long_name);

 private:
  TextCache<KernelFacts> cache_;
  const ops::Rules* rules_;
};

/// The GPUs that kernels ran on.
///
/// Memory: two generations of some 1 MB; else as KernelFactsCache.
class Gpus {
 public:
  /// `given`: that all kernels ran on, whatever their records say; null: what each record says.
  /// Both must outlive this.
  Gpus(Epochs* epochs, const ops::Gpu* given);

  /// Null when the record does not tell it.
  const ops::Gpu* Of(const KernelRecord& record);

 private:
  const ops::Gpu* given_;
  TextCache<ops::Gpu> cache_;       // By name and facts.
  std::string last_text_;           // Key of the last record's GPU,
  const ops::Gpu* last_ = nullptr;  // which is the next one's too as a rule.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_KERNEL_FACTS_H_
