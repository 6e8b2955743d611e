#ifndef OPLENS_PROF_PRICE_PRICED_KERNEL_H_
#define OPLENS_PROF_PRICE_PRICED_KERNEL_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/gpu/gpu.h"
#include "ops/kernels/share_work.h"
#include "ops/kernels/tensor_core.h"
#include "ops/op_model.h"
#include "parse/model/evidence.h"
#include "parse/model/phase.h"
#include "parse/model/reason.h"
#include "prof/price/figures.h"

namespace oplens {
struct KernelRecord;
}  // namespace oplens

namespace oplens::prof {

struct KernelFacts;

/// One kernel with its op and its price: all that a column can show. What it points to lives as
/// long as its turn in the sink. An empty text is unknown.
struct PricedKernel {
  static constexpr uint32_t kNoWork = UINT32_MAX;

  int64_t index = 0;  ///< Number of the input line, from 1, blank lines left out.
  const KernelRecord* record = nullptr;  ///< What parse wrote.
  /// Of a kernel of a profile: its place in Trace::kernels, of a replay in Trace::graph_replays.
  uint32_t work = kNoWork;

  /// A replay of a CUDA graph whose kernels the file hides, and no kernel: the record has its span
  /// and its launch, the members of ops and costs are empty.
  bool replay = false;

  // The kernel's own, or its forward op's when a backward kernel has no annotation of its own.
  std::string_view op;
  std::string_view mod;
  std::string_view params;                    ///< Of the priced op, e.g. "M=700,N=800,K=200,fp32".
  std::span<const ops::NamedExtent> extents;  ///< Of its product, under the names of `params`.
  std::span<const std::string_view> layer;
  std::span<const std::string_view> trace;
  std::vector<std::string_view> path;  ///< Annotated ops, outermost first.

  bool has_shapes = false;  ///< The call of `op` has a tensor argument.
  /// The types of its tensors are known but those of members of lists, which no profile records.
  bool has_all_types = false;
  std::string_view shapes;  ///< Of its tensors: "(32,128,768);(3072,768)".
  std::string_view dtype;   ///< Of its first tensor: "fp16".
  Phase phase = Phase::kUnknown;
  const ops::PricedOp* price = nullptr;  ///< Of the call of `op`; null when it has none.
  /// Rows of one call of an op (in one direction) have the same number, from 1; 0: no priced call.
  int64_t instance = 0;
  ops::KernelShare share;  ///< The kernel's part of its call: role, FLOPs, bytes, gradient.
  ops::TensorCoreUse tensor_core = ops::TensorCoreUse::kUnknown;  ///< By the kernel's name.
  const ops::TensorCoreVerdict* verdict = nullptr;                ///< The same with its rule.
  const KernelFacts* facts = nullptr;                             ///< All that its name tells.
  const ops::Gpu* gpu = nullptr;  ///< That the kernel ran on; null when nothing is known of it.
  /// Of FiguresOf(); emptied when the kernel's turn begins.
  mutable std::optional<Figures> figures;
  ReasonSet reasons;  ///< The record's, and why a cost is unknown.
};

/// Whether the direction of the row is known.
bool IsDirectionKnown(const PricedKernel& row);

/// From the end of the launch call to the start of the kernel, at least 0: one that began before
/// its call returned waited for nothing. Unknown without a time of either, or where the distance
/// does not fit.
std::optional<int64_t> LaunchDelayNs(const KernelRecord& record);

/// What tells the op of a kernel; kNone where it has none.
Evidence EvidenceOf(const PricedKernel& row);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_PRICED_KERNEL_H_
