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
struct KernelCounters;
struct KernelRecord;
}  // namespace oplens

namespace oplens::prof {

struct KernelFacts;

/// One kernel with its op and price: everything a column can show. Pointees live until its turn in
/// the sink ends. An empty text is unknown.
struct PricedKernel {
  static constexpr uint32_t kNoWork = UINT32_MAX;

  int64_t index = 0;                     ///< Number of the input line, from 1, without blank lines.
  const KernelRecord* record = nullptr;  ///< As written by parse.
  /// For profiles: index in Trace::kernels, or for a replay in Trace::graph_replays.
  uint32_t work = kNoWork;
  /// What the hardware counted of it; null: nothing.
  const KernelCounters* counters = nullptr;

  /// A CUDA graph replay whose kernels the file hides: record has span and launch; no op or cost.
  bool replay = false;

  // The kernel's own, or its forward op's for a backward kernel without an annotation.
  std::string_view op;
  /// `op` is only what the kernel's name says (Evidence::kName).
  bool op_by_name = false;
  Confidence name_confidence = Confidence::kUnknown;  ///< Of such an op.
  std::string_view mod;
  std::string_view params;  ///< Of the priced op: "M=700,N=800,K=200,fp32".
  /// Of the product of the kernel's part of the op, named as in `params`.
  std::span<const ops::NamedExtent> extents;
  std::string_view op_layout;  ///< Of that product by the op's definition (ops::LayoutOf).
  std::span<const std::string_view> layer;
  bool layer_by_order = false;  ///< The layer is inferred from the sequence of kernels.
  std::span<const std::string_view> trace;
  std::vector<std::string_view> path;  ///< Annotated ops, outermost first.

  /// `params`, and what is known of `share`, come from the launch and the name alone.
  bool sizes_by_launch = false;
  bool has_shapes = false;  ///< The op's call has a tensor argument.
  /// All tensors outside lists have known types; profiles record none for members.
  bool has_all_types = false;
  std::string_view shapes;  ///< Of its tensors: "(32,128,768);(3072,768)".
  std::string_view dtype;   ///< Of its first tensor: "fp16".
  Phase phase = Phase::kUnknown;
  const ops::PricedOp* price = nullptr;  ///< Of the op's call; null if none.
  /// Equal for rows of one op call in one direction, from 1; 0: no priced call.
  int64_t instance = 0;
  ops::KernelShare share;  ///< The kernel's part of its call: role, FLOPs, bytes, gradient.
  ops::TensorCoreUse tensor_core = ops::TensorCoreUse::kUnknown;  ///< By the kernel's name.
  const ops::TensorCoreVerdict* verdict = nullptr;                ///< `tensor_core` with its rule.
  const KernelFacts* facts = nullptr;                             ///< What its name says.
  const ops::Gpu* gpu = nullptr;  ///< That it ran on; null if unknown.
  /// Cache of FiguresOf(), reset when the kernel's turn begins.
  mutable std::optional<Figures> figures;
  ReasonSet reasons;  ///< The record's, and why a cost is unknown.
};

bool IsDirectionKnown(const PricedKernel& row);

/// From the end of the launch call to the kernel's start; 0 for a kernel that started before its
/// call returned. nullopt if a time is missing or the difference overflows.
std::optional<int64_t> LaunchDelayNs(const KernelRecord& record);

/// What identifies the kernel's op; kNone without one.
Evidence EvidenceOf(const PricedKernel& row);

/// How certain an inferred op is; kUnknown for a recorded one.
Confidence ConfidenceOf(const PricedKernel& row);

/// What its sizes, and so its work, rest on: a word of EvidenceWord, "sizes" (of the launch) or "".
std::string_view SizesEvidenceWord(const PricedKernel& row);

/// What its layer rests on: a word of EvidenceWord, "order" (of the kernels) or "".
std::string_view LayerEvidenceWord(const PricedKernel& row);

/// Whether the kernel has an op that its name does not say already.
inline bool HasOwnOp(const PricedKernel& row) { return !row.op.empty() && !row.op_by_name; }
/// Whether the kernel has an op, and that is inferred.
bool HasInferredOp(const PricedKernel& row);

/// What follows the name of an op or module in rows of inferred work.
inline constexpr std::string_view kInferredMark = " (inferred)";

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_PRICED_KERNEL_H_
