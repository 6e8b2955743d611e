#ifndef OPLENS_PROF_PRICE_OP_RESOLVER_H_
#define OPLENS_PROF_PRICE_OP_RESOLVER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/epochs.h"
#include "ops/gpu/gpu.h"
#include "ops/rules/rules.h"
#include "parse/model/kernel_record.h"
#include "parse/model/reason.h"
#include "prof/price/annotation.h"
#include "prof/price/forward_op.h"
#include "prof/price/kernel_facts.h"
#include "prof/price/link_backward.h"
#include "prof/price/nested_calls.h"
#include "prof/price/priced_kernel.h"
#include "prof/price/waiting_row.h"

namespace oplens::prof {

/// User's rules that match no calls of their ops, with the number of kernels affected.
class RuleMisfits {
 public:
  /// Later Add() calls belong to the next kernel. A rule counts once per kernel.
  void BeginKernel() { ++kernel_; }
  void Add(const ops::RuleMisfit& misfit);

  /// Adds the findings for other, later kernels.
  void Merge(const RuleMisfits& other);
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->found_);
  }

  /// One sentence per rule, in file order. `rules`: those that were tried.
  std::vector<std::string> Sentences(const ops::Rules& rules) const;

 private:
  struct Found {
    int64_t kernels = 0;
    std::string why;          // For the first of them.
    bool has_others = false;  // The reasons differ.
    int64_t last_kernel = 0;  // Within this process.

    template <typename Bytes, typename Self>
    static void Transfer(Bytes* bytes, Self* self) {
      bytes->Counts(&self->kernels);
      bytes->Values(&self->why, &self->has_others);
    }
  };

  std::map<uint64_t, Found> found_;  // By index of Rules::ops().
  int64_t kernel_ = 0;
};

/// Finds the op of each kernel: from its own annotations, or for a backward kernel without any, or
/// with names only, from its forward op. Each distinct text is parsed and priced once.
///
/// Memory: its parts', at most about 60 MB, plus what live resolutions still pin.
class OpResolver {
 public:
  /// `gpu`: the GPU of all kernels; null: as recorded. `rules`: the user's, or null. `misfits`:
  /// collects rules that do not match; may be null. All must outlive this object.
  explicit OpResolver(OpChoice choice, const ops::Gpu* gpu = nullptr,
                      const ops::Rules* rules = nullptr, RuleMisfits* misfits = nullptr);

  /// Fills all fields of `row` except index, flops and bytes, and `outer` unless null, with the
  /// priced calls around the chosen one. Call in record order. What they and the resolution point
  /// to lives as long as `record`, this object and the resolution.
  Resolution Resolve(const KernelRecord& record, PricedKernel* row,
                     std::vector<OuterCall>* outer = nullptr);

 private:
  Resolution ResolveOp(const KernelRecord& record, PricedKernel* row,
                       std::vector<OuterCall>* outer);
  /// Source of a kernel's annotations: its own record, or its forward op.
  struct Source {
    const std::vector<std::string_view>* texts;
    const std::vector<std::string_view>* ops;
    const std::vector<std::string_view>* mods;
    std::optional<Reason> why_none = {};  ///< Why there are no annotations.
    const ForwardOp* around = nullptr;    ///< Enclosing forward op of an annotated kernel.
  };

  /// Fills what does not depend on the op.
  void FillKernel(const KernelRecord& record, PricedKernel* row, Resolution* resolution);
  /// Fills calls_ with relevant annotations, and the row's layer and stack from a forward op.
  Source FindCalls(const KernelRecord& record, PricedKernel* row, Resolution* resolution);
  /// As FindCalls, for a backward kernel without arguments of its own; `own` is its source so far.
  Source TakeForwardOp(const KernelRecord& record, const Source& own, PricedKernel* row,
                       Resolution* resolution);
  /// Reports rules that match no call, unless a rule priced the chosen one (null: none).
  void ReportMisfits(const NestedCalls::Call* chosen) const;
  /// Fills the row from the chosen call.
  void ShowCall(const NestedCalls::Call& chosen, const Source& source, PricedKernel* row) const;
  /// Fills the resolution from a priced call, and `outer`.
  void Price(const NestedCalls::Call& chosen, const Source& source, const KernelRecord& record,
             Resolution* resolution, std::vector<OuterCall>* outer);
  /// Adds the priced calls around the chosen one to `outer`.
  void CollectOuter(const NestedCalls::Call& chosen, const std::vector<int64_t>& starts_ns,
                    std::vector<OuterCall>* outer) const;

  Epochs epochs_;  // First: the others retire entries into it.
  Annotations annotations_;
  KernelFactsCache kernels_;
  Gpus gpus_;
  BackwardLinker linker_;
  NestedCalls calls_;  // Scratch.
  RuleMisfits* misfits_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_OP_RESOLVER_H_
