#ifndef OPLENS_PROF_PRICE_SHARE_INSTANCE_H_
#define OPLENS_PROF_PRICE_SHARE_INSTANCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ops/kernels/share_work.h"
#include "prof/price/op_instance.h"

namespace oplens::prof {

/// Whether the kernel is a matrix product, by its name or a rule of the user.
bool IsProduct(const WaitingRow& row);

/// Shares the work of op calls over their kernels, and fills what of their rows depends on it.
///
/// Memory: what calls of one kernel cost is remembered for the last 16,384 at most, some 4 MB.
class InstanceSharer {
 public:
  /// `covered`: what of its work calls inside it do.
  void Share(const OpInstance& instance, ops::CoveredWork covered);

 private:
  /// A call of one kernel: what it costs depends on nothing else.
  struct SoloKey {
    int64_t annotation_id;
    int64_t kernel_id;
    Direction direction;
    std::optional<ops::Part> part;
    friend bool operator==(const SoloKey&, const SoloKey&) = default;
  };
  struct SoloKeyHash {
    size_t operator()(const SoloKey& key) const;
  };

  /// Fills shares_.
  void Compute(const OpInstance& instance, ops::CoveredWork covered);

  std::unordered_map<SoloKey, ops::KernelShare, SoloKeyHash> solo_;
  std::vector<ops::InstanceKernel> kernels_;  // Scratch.
  std::vector<ops::KernelShare> shares_;      // Scratch.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_SHARE_INSTANCE_H_
