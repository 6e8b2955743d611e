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

/// The rules of a user that do not fit calls of their ops, and how many kernels it is about.
class RuleMisfits {
 public:
  /// What is added from now on is of the next kernel. A rule counts once a kernel.
  void BeginKernel() { ++kernel_; }
  void Add(const ops::RuleMisfit& misfit);

  /// Adds what was found of other kernels, which come after these.
  void Merge(const RuleMisfits& other);
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->found_);
  }

  /// A sentence a rule, in the order of the file. `rules`: those that were tried.
  std::vector<std::string> Sentences(const ops::Rules& rules) const;

 private:
  struct Found {
    int64_t kernels = 0;
    std::string why;          // Of the first of them.
    bool has_others = false;  // Not all are for the same reason.
    int64_t last_kernel = 0;  // Of those of this process.

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
/// with names only, from its forward op. Texts repeat, so each is parsed and priced once.
///
/// Memory: that of its parts, some 60 MB at most whatever comes, and what they forgot while
/// resolutions from before are kept.
class OpResolver {
 public:
  /// `gpu`: that all kernels ran on, whatever their records say; null: what each record says.
  /// `rules`: of the user, null for none. `misfits`: takes those that do not fit, null for nobody.
  /// Both must outlive this object.
  explicit OpResolver(OpChoice choice, const ops::Gpu* gpu = nullptr,
                      const ops::Rules* rules = nullptr, RuleMisfits* misfits = nullptr);

  /// Fills every field of `row` but index, flops and bytes. Call it in the order of the records.
  /// What row and resolution point to lives as long as `record`, this object and the resolution.
  Resolution Resolve(const KernelRecord& record, PricedKernel* row);

 private:
  Resolution ResolveOp(const KernelRecord& record, PricedKernel* row);
  /// Where the annotations of a kernel come from: its own record, or its forward op.
  struct Source {
    const std::vector<std::string_view>* texts;
    const std::vector<std::string_view>* ops;
    const std::vector<std::string_view>* mods;
    std::optional<Reason> why_none = {};  ///< Why a kernel without annotations has none.
    const ForwardOp* around = nullptr;    ///< Of a kernel with an annotation of its own.
  };

  /// What is known of the kernel whatever its op is.
  void FillKernel(const KernelRecord& record, PricedKernel* row, Resolution* resolution);
  /// Fills calls_ with the annotations that count; layer and stack of the row with those of the
  /// forward op where it has one.
  Source FindCalls(const KernelRecord& record, PricedKernel* row, Resolution* resolution);
  /// The same of a backward kernel without arguments of its own, whose source is `own` so far.
  Source TakeForwardOp(const KernelRecord& record, const Source& own, PricedKernel* row,
                       Resolution* resolution);
  /// Tells of rules that fit none of the calls, where no rule priced the chosen one (null: none).
  void TellMisfits(const NestedCalls::Call* chosen) const;
  /// Fills the row with the chosen call.
  void ShowCall(const NestedCalls::Call& chosen, const Source& source, PricedKernel* row) const;
  /// Fills the resolution with a priced one.
  void Price(const NestedCalls::Call& chosen, const Source& source, const KernelRecord& record,
             Resolution* resolution);
  /// Fills outer_ with the priced calls around the chosen one.
  void CollectOuter(const NestedCalls::Call& chosen, const std::vector<int64_t>& starts_ns);

  Epochs epochs_;  // First: the others retire into it.
  Annotations annotations_;
  KernelFactsCache kernels_;
  Gpus gpus_;
  BackwardLinker linker_;
  NestedCalls calls_;             // Scratch.
  std::vector<OuterCall> outer_;  // Scratch: outermost first.
  RuleMisfits* misfits_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_OP_RESOLVER_H_
