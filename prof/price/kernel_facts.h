#ifndef OPLENS_PROF_PRICE_KERNEL_FACTS_H_
#define OPLENS_PROF_PRICE_KERNEL_FACTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/epochs.h"
#include "base/lazy.h"
#include "base/text_cache.h"
#include "ops/gpu/gpu.h"
#include "ops/kernels/kernel_family.h"
#include "ops/kernels/kernel_name.h"
#include "ops/kernels/launch_sizes.h"
#include "ops/kernels/name_facts.h"
#include "ops/kernels/named_op.h"
#include "ops/kernels/tensor_core.h"
#include "ops/rules/rules.h"
#include "parse/model/kernel_record.h"

namespace oplens::prof {

/// What a kernel's full name says. Views in several threads may ask.
struct KernelFacts {
  int64_t id = 0;  ///< Unique per name.
  ops::TensorCoreVerdict verdict;
  std::optional<ops::KernelKind> ruled_kind;  ///< By a user's rule.
  std::string_view name;

  /// Computed on the first call, which most runs do not make.
  const ops::NamedFamily& family() const;

  /// Whether it is communication by its name; computed on the first call.
  bool communicates() const;

  /// Computed on the first call.
  const ops::NameFacts& parsed_name() const;
  /// Its text; computed on the first call.
  std::string_view name_facts() const;
  /// NameVariantOf the name; computed on the first call.
  std::string_view variant() const;

  /// What it says of the op of a kernel with `rows` blocks in y; computed on the first call.
  const ops::NamedOp& named_op(int64_t rows) const;

  /// Computed on the first call, whatever a user's rule says.
  ops::KernelKind named_kind() const;

  /// How it is launched; computed on the first call.
  const ops::LaunchRule& launch_rule() const;

 private:
  Lazy<bool> communicates_;
  Lazy<ops::KernelKind> named_kind_;
  Lazy<ops::NameFacts> parsed_name_;
  Lazy<std::string> name_facts_;
  Lazy<std::string> variant_;
  Lazy<ops::NamedFamily> family_;
  Lazy<ops::LaunchRule> launch_rule_;
  Lazy<ops::NamedOp> named_op_;
  Lazy<ops::NamedOp> tiled_op_;  ///< Of several rows of blocks.
};

struct PricedKernel;

/// What the kernel computes, by name and launch; nullopt without a name.
std::optional<ops::KernelFamily> FamilyOf(const PricedKernel& row);

/// Classifies kernel names, each distinct one once.
///
/// Memory: two generations of about 2 MB. A result lives as long as a pin of `epochs` taken before
/// the call of Of().
class KernelFactsCache {
 public:
  /// `rules`: the user's, or null. Both must outlive this.
  KernelFactsCache(Epochs* epochs, const ops::Rules* rules);

  const KernelFacts* Of(std::string_view long_name);

 private:
  const KernelFacts* Find(std::string_view long_name);

  /// The last name that lay at an address: profiles have each name once.
  struct Recent {
    const char* address = nullptr;
    const KernelFacts* facts = nullptr;
  };
  static constexpr size_t kRecent = 64;

  TextCache<KernelFacts> cache_;
  std::array<Recent, kRecent> recent_;
  int64_t recent_generation_ = 0;  // Of cache_.
  const ops::Rules* rules_;
};

/// The GPUs that kernels ran on.
///
/// Memory: two generations of about 1 MB; lifetimes as in KernelFactsCache.
class Gpus {
 public:
  /// `given`: the GPU of all kernels; null: as recorded. Both must outlive this.
  Gpus(Epochs* epochs, const ops::Gpu* given);

  /// Null if not recorded.
  const ops::Gpu* Of(const KernelRecord& record);

 private:
  const ops::Gpu* given_;
  TextCache<ops::Gpu> cache_;       // By name and facts.
  std::string last_text_;           // Key of the last record's GPU.
  const ops::Gpu* last_ = nullptr;  // Usually the next record's too.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_KERNEL_FACTS_H_
