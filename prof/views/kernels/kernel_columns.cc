#include "prof/views/kernels/kernel_columns.h"

#include "ops/gpu/roofline.h"
#include "ops/kernels/gradient_evidence.h"
#include "parse/model/kernel_counters.h"
#include "prof/price/kernel_facts.h"
#include "prof/price/product_facts.h"
#include "prof/views/common/view.h"

namespace oplens::prof {
namespace {

using enum FieldType;

Cell List(const std::vector<int64_t>& values) { return {std::span<const int64_t>(values)}; }
Cell List(std::span<const std::string_view> texts, int64_t more = 0) {
  return {Cell::Texts{texts, more}};
}

Cell Extent(const Dim3& extent) { return extent.known() ? Cell{extent} : Cell{}; }

using SizeRange = std::optional<ops::KernelShare::Range>;

std::optional<int64_t> LowOf(const SizeRange& range) {
  return range ? std::optional(range->low) : std::nullopt;
}

std::optional<int64_t> HighOf(const SizeRange& range) {
  return range ? std::optional(range->high) : std::nullopt;
}

Cell ThreadId(const PricedKernel& row) {
  // Kernels without a launch hold 0 there, for PyProf.
  if (row.record->reasons.LacksLaunch()) return {};
  return Integer(row.record->thread_id);
}

Cell DirectionOf(const PricedKernel& row) {
  return IsDirectionKnown(row) ? Text(DirectionWord(row.record->direction)) : Cell{};
}

Cell SubSeqId(const PricedKernel& row) {
  const KernelRecord& record = *row.record;
  if (record.seq_ids.empty() && record.alt_seq_ids.empty()) return {};
  return Integer(record.sub_seq_id);
}

Cell DurationNs(const PricedKernel& row) {
  return row.record->timed() ? Integer(row.record->duration_ns) : Cell{};
}

/// A time of the kernel's own; untimed kernels have none.
Cell MomentOf(const PricedKernel& row, const std::optional<int64_t>& moment_ns) {
  return row.record->reasons.Has(Reason::kUntimed) ? Cell{} : Integer(moment_ns);
}

Cell KernelColumnsPhaseOf(const PricedKernel& row) {
  // Accumulation is work on gradients.
  const Phase phase = row.phase == Phase::kAccumulate ? Phase::kGradient : row.phase;
  return Text(PhaseWord(phase));
}

bool HasGradient(const PricedKernel& row) {
  return row.phase == Phase::kAccumulate || !ops::GradientWord(row.share.part).empty();
}

std::string_view GradientWord(const PricedKernel& row) {
  return row.phase == Phase::kAccumulate ? "accum" : ops::GradientWord(row.share.part);
}

Cell GradientConfidence(const PricedKernel& row) {
  if (!HasGradient(row)) return {};
  if (row.phase == Phase::kAccumulate) return Text("high");
  return Text(ops::ConfidenceWord(row.share.part_confidence));
}

ops::LatencyWhy BoundWhyOf(const PricedKernel& row) {
  const Figures& figures = FiguresOf(row);
  ops::LatencyCase kernel;
  kernel.roofline = &figures.roofline;
  kernel.gpu = row.gpu;
  kernel.grid = row.record->grid;
  kernel.waves = figures.waves;
  kernel.duration_ns = TimeOf(row);
  return ops::LatencyWhyOf(kernel);
}

/// A figure that the hardware counted of the kernel.
template <auto member>
Cell Counted(const PricedKernel& row) {
  if (row.counters == nullptr) return {};
  const auto& value = row.counters->*member;
  return value ? Cell{*value} : Cell{};
}

std::optional<int64_t> MeasuredFlops(const PricedKernel& row) {
  return row.counters == nullptr ? std::nullopt : row.counters->flops();
}

Cell ModelOverMeasured(std::optional<int64_t> model, std::optional<int64_t> measured) {
  if (!model || !measured || *measured == 0) return {};
  return Cell{static_cast<double>(*model) / static_cast<double>(*measured)};
}

Cell MeasuredWord(std::optional<int64_t> value, bool measured) {
  return value ? Text(measured ? "measured" : "modelled") : Cell{};
}

Cell FamilyCell(const PricedKernel& row) {
  const auto family = FamilyOf(row);
  return family ? Text(ops::KernelFamilyWord(*family)) : Cell{};
}

Cell NameFacts(const PricedKernel& row) {
  return row.facts == nullptr ? Cell{} : Text(row.facts->name_facts());
}

Cell VariantCell(const PricedKernel& row) {
  return row.facts == nullptr ? Cell{} : Text(row.facts->variant());
}

Cell StrideOf(const PricedKernel& row) {
  if (row.price == nullptr || !row.price->product || row.price->product->stride.empty()) return {};
  return List(row.price->product->stride);
}

Cell TensorCore(const PricedKernel& row) {
  switch (TensorCoreUseOf(row)) {
    case ops::TensorCoreUse::kNo:
      return Integer(0);
    case ops::TensorCoreUse::kYes:
      return Integer(1);
    case ops::TensorCoreUse::kUnknown:
      break;
  }
  return {};
}

// Headers and widths of the first 20 are PyProf's.
constexpr KernelColumn kColumns[] = {
    {{"idx", "Idx", "", kInteger, 7, "number of the input line, from 1"},
     [](const PricedKernel& row) { return Integer(row.index); }},
    {{"seq", "SeqId", "", kIntegerList, 7, "PyTorch sequence ids", Fold::kNone, ",", ""},
     [](const PricedKernel& row) { return List(row.record->seq_ids); },
     Need::kSequence},
    {{"altseq", "AltSeqId", "", kIntegerList, 7, "sequence ids nested in those of seq", Fold::kNone,
      ",", ""},
     [](const PricedKernel& row) { return List(row.record->alt_seq_ids); },
     Need::kAlternative},
    {{"tid", "TId", "", kInteger, 12, "host thread that launched the kernel", Fold::kKey},
     ThreadId,
     Need::kLaunch},
    {{"layer", "Layer", "", kTextList, 10, "names of the enclosing layers, outermost first",
      Fold::kNone, ":", ""},
     [](const PricedKernel& row) { return List(row.layer); },
     Need::kLayer},
    {{"trace", "Trace", "", kFileList, 25, "call stack, outermost frame first", Fold::kNone, ",",
      ""},
     [](const PricedKernel& row) { return List(row.trace); },
     Need::kStack},
    {{"dir", "Direction", "", kText, 5, "fprop (forward) or bprop (backward)", Fold::kKey},
     DirectionOf,
     Need::kDirection},
    {{"sub", "Sub", "", kInteger, 3, "number of the kernel within its sequence id, from 0"},
     SubSeqId,
     Need::kSubSequence},
    {{"mod", "Module", "", kText, 15, "module or class of the op", Fold::kKey},
     [](const PricedKernel& row) { return Text(row.mod); },
     Need::kModule},
    {{"op", "Op", "", kText, 15, "op that the kernel belongs to", Fold::kKey},
     [](const PricedKernel& row) { return Text(row.op); },
     Need::kOp},
    {{"kernel", "Kernel", "", kName, Field::kShared, "short kernel name", Fold::kKey},
     [](const PricedKernel& row) { return Text(row.record->short_name); },
     Need::kName},
    {{"params", "Params", "", kText, Field::kShared, "sizes and data type of the op", Fold::kKey},
     [](const PricedKernel& row) { return Text(row.params); },
     Need::kCost},
    {{"sil", "Sil(ns)", "ns", kInteger, 10, "time on the GPU", Fold::kSum},
     DurationNs,
     Need::kTime},
    {{"tc", "TC", "", kText, 2, "1: uses Tensor Cores, 0: does not, ?: the name does not decide",
      Fold::kKey, "", "?"},
     TensorCore,
     Need::kTensorCoreName},
    {{"device", "Device", "", kInteger, 3, "GPU number", Fold::kKey},
     [](const PricedKernel& row) { return Integer(row.record->device_id); }},
    {{"stream", "Stream", "", kInteger, 3, "CUDA stream number", Fold::kKey},
     [](const PricedKernel& row) { return Integer(row.record->stream_id); }},
    {{"grid", "Grid", "blocks", kExtent, 12, "blocks of the launch, x,y,z", Fold::kKey, ",", ""},
     [](const PricedKernel& row) { return Extent(row.record->grid); },
     Need::kLaunchConfiguration},
    {{"block", "Block", "threads", kExtent, 12, "threads per block, x,y,z", Fold::kKey, ",", ""},
     [](const PricedKernel& row) { return Extent(row.record->block); },
     Need::kLaunchConfiguration},
    {{"flops", "FLOPs", "FLOP", kInteger, 12,
      "floating point operations, a multiply-add is two; the kernel's share of its op", Fold::kSum},
     [](const PricedKernel& row) { return Integer(row.share.flops); },
     Need::kCost},
    {{"bytes", "Bytes", "B", kInteger, 12,
      "least DRAM traffic: each input read once, each output written once", Fold::kSum},
     [](const PricedKernel& row) { return Integer(row.share.bytes); },
     Need::kCost},
    {{"path", "Path", "", kTextList, 20, "annotated ops, outermost > innermost", Fold::kNone, " > ",
      ""},
     [](const PricedKernel& row) { return List(row.path); },
     Need::kMarker},
    {{"range", "Range", "", kTextList, 20, "enclosing free-text ranges, outermost first",
      Fold::kNone, " > ", ""},
     [](const PricedKernel& row) { return List(row.record->range, row.record->range_cut); },
     Need::kRange},
    {{"rank", "Rank", "", kText, 8, "rank of the process, or the file of the kernel", Fold::kKey},
     [](const PricedKernel& row) { return Text(row.record->rank.value_or(std::string_view())); },
     Need::kRank},
    {{"pid", "PId", "", kInteger, 7, "host process that launched the kernel"},
     [](const PricedKernel& row) { return Integer(row.record->process_id); },
     Need::kProcess},
    {{"phase", "Phase", "", kText, 9,
      "forward, backward, recompute, gradient (sums of gradients) or optimizer", Fold::kKey},
     KernelColumnsPhaseOf,
     Need::kPhase},
    {{"grad", "Grad", "", kText, 5,
      "gradient that the kernel computes: dgrad, wgrad, bgrad; accum: adds one to a parameter's",
      Fold::kKey},
     [](const PricedKernel& row) { return Text(GradientWord(row)); },
     Need::kGradient},
    {{"grad_conf", "GradConf", "", kText, 6, "how sure grad is: high, medium or low", Fold::kKey},
     GradientConfidence,
     Need::kGradient},
    {{"inst", "Inst", "", kInteger, 7,
      "number of the op call; its kernels' FLOPs and bytes sum to the call's"},
     [](const PricedKernel& row) { return row.instance > 0 ? Cell{row.instance} : Cell{}; },
     Need::kCostShare},
    {{"role", "Role", "", kText, 8, "part in its op: main, helper, layout, reduce or epilogue",
      Fold::kKey},
     [](const PricedKernel& row) { return Text(ops::RoleWord(row.share.role)); },
     Need::kCostShare},
    {{"share", "Share", "", kDecimal, 6,
      "fraction of the FLOPs of its gradient or op (of the bytes if it has no FLOPs), 0 to 1"},
     [](const PricedKernel& row) { return Decimal(row.share.share); },
     Need::kCostShare},
    {{"flops_kind", "FLOPsKind", "", kText, 8,
      "exact, estimate (weights of docs/costs.md), bound, none (0 FLOPs) or unknown", Fold::kKey},
     [](const PricedKernel& row) { return Text(ops::FlopsKindWord(row.share.flops_kind)); }},
    {{"flops_bound", "FLOPsBound", "FLOP", kInteger, 12,
      "bound of the FLOPs, in place of flops where their number is unknown; in no sum"},
     [](const PricedKernel& row) { return Integer(row.share.flops_bound); },
     Need::kCostKinds},
    {{"flops_mma", "FLOPsMma", "FLOP", kInteger, 12,
      "part of flops in matrix products, which Tensor Cores can do"},
     [](const PricedKernel& row) { return Integer(row.share.flops_mma); },
     Need::kCostKinds},
    {{"flops_vec", "FLOPsVec", "FLOP", kInteger, 12, "all other flops"},
     [](const PricedKernel& row) { return Integer(row.share.flops_vec); },
     Need::kCostKinds},
    {{"aux_bytes", "AuxBytes", "B", kInteger, 12,
      "traffic beyond the least, where it can be derived"},
     [](const PricedKernel& row) { return Integer(row.share.aux_bytes); },
     Need::kCostKinds},
    {AsRatio({"ai", "AI", "FLOP/B", kDecimal, 9, "arithmetic intensity: flops / bytes"},
             {"flops", "bytes", 1}),
     [](const PricedKernel& row) { return Decimal(FiguresOf(row).roofline.flops_per_byte); },
     Need::kRate},
    {AsRatio({"tflops", "TFLOP/s", "TFLOP/s", kDecimal, 9, "flops / time, 10^12 per second"},
             {"flops", "sil", 1e-3}),
     [](const PricedKernel& row) { return Decimal(FiguresOf(row).roofline.tera_flops_per_s); },
     Need::kRate},
    {{"gbps", "GB/s", "GB/s", kDecimal, 9,
      "bytes / time, 10^9 per second; for a collective: its bus bandwidth"},
     [](const PricedKernel& row) { return Decimal(FiguresOf(row).roofline.giga_bytes_per_s); },
     Need::kRate},
    {{"pct_math", "%Math", "%", kDecimal, 7,
      "tflops as a share of the GPU's peak for the units that the kernel uses"},
     [](const PricedKernel& row) { return Decimal(FiguresOf(row).roofline.percent_of_math); },
     Need::kRoofline},
    {{"pct_dram", "%DRAM", "%", kDecimal, 7, "gbps as a share of the GPU's DRAM bandwidth"},
     [](const PricedKernel& row) { return Decimal(FiguresOf(row).roofline.percent_of_dram); },
     Need::kRoofline},
    {{"bound", "Bound", "", kText, 7,
      "math or dram: it reaches 60 % of that roof or more; latency: of neither", Fold::kKey},
     [](const PricedKernel& row) { return Text(ops::BoundWord(FiguresOf(row).roofline.bound)); },
     Need::kRoofline},
    {{"bound_why", "BoundWhy", "", kText, 10,
      "why latency: few-blocks, tail, short; unknown where neither grid nor time shows it",
      Fold::kKey},
     [](const PricedKernel& row) { return Text(ops::LatencyWhyWord(BoundWhyOf(row))); },
     Need::kRoofline},
    {{"tc_elig", "TCElig", "", kText, 6,
      "could its op run on Tensor Cores? 1, 0, ? or - (not a product)", Fold::kKey},
     [](const PricedKernel& row) {
       return Text(ops::TensorCoreFitnessWord(FiguresOf(row).tensor_core.fitness));
     },
     Need::kName},
    {{"tc_why", "TCWhy", "", kText, 24,
      "rule that decided tc, type that is multiplied, causes and advice for tc_elig", Fold::kKey},
     [](const PricedKernel& row) { return Text(FiguresOf(row).tensor_core.why); },
     Need::kName},
    {{"theoretical_occupancy_pct", "TheoreticalOccupancy(%)", "%", kDecimal, 9,
      "warps that fit by registers, shared memory and block, as a share of the maximum"},
     [](const PricedKernel& row) { return Decimal(FiguresOf(row).theoretical_occupancy_pct); },
     Need::kOccupancy},
    {{"waves", "Waves", "", kDecimal, 9, "how often the grid fills the GPU"},
     [](const PricedKernel& row) { return Decimal(FiguresOf(row).waves); },
     Need::kOccupancy},
    {{"start", "Start(ns)", "ns", kInteger, 19, "start on the GPU, on the file's own clock"},
     [](const PricedKernel& row) { return MomentOf(row, row.record->start_ns); },
     Need::kTime},
    {{"end", "End(ns)", "ns", kInteger, 19, "end on the GPU, on the same clock"},
     [](const PricedKernel& row) { return MomentOf(row, row.record->end_ns); },
     Need::kTime},
    {{"step", "Step", "", kInteger, 5, "number of the training step", Fold::kKey},
     [](const PricedKernel& row) { return Integer(row.record->step); },
     Need::kStep},
    {{"shape", "Shape", "", kText, 24, "shapes of the op's tensors", Fold::kKey},
     [](const PricedKernel& row) { return Text(row.shapes); },
     Need::kShapes},
    {{"dtype", "DType", "", kText, 6, "data type of the op's first tensor", Fold::kKey},
     [](const PricedKernel& row) { return Text(row.dtype); },
     Need::kShapes},
    {{"corr", "Corr", "", kInteger, 8, "correlation id that the kernel shares with its launch"},
     [](const PricedKernel& row) { return Integer(row.record->correlation_id); },
     Need::kCorrelation},
    {{"name_full", "FullName", "", kText, 40, "whole kernel name, demangled", Fold::kKey},
     [](const PricedKernel& row) { return Text(row.record->long_name); },
     Need::kName},
    {{"launch_delay", "LaunchDelay(ns)", "ns", kInteger, 15,
      "start - end of the launch call, at least 0 (the kernel may begin before the call returns)"},
     [](const PricedKernel& row) { return Integer(LaunchDelayNs(*row.record)); },
     Need::kLaunchedAndTimed},
    {{"api", "API", "", kText, 20, "API call that launched the kernel", Fold::kKey},
     [](const PricedKernel& row) {
       return Text(row.record->launch_api.value_or(std::string_view()));
     },
     Need::kLaunch},
    {{"family", "Family", "", kText, 12,
      "what the kernel computes, from its name and launch: gemm, conv, attention, norm ... or "
      "other",
      Fold::kKey},
     FamilyCell,
     Need::kName},
    {{"name_facts", "NameFacts", "", kText, 24,
      "types, tile, layout and sizes in the name of a product's kernel", Fold::kKey},
     NameFacts,
     Need::kTensorCoreName},
    {{"variant", "Variant", "", kText, 24,
      "functor or tile that only the template arguments in the kernel's name say", Fold::kKey},
     VariantCell,
     Need::kTensorCoreName},
    {{"evidence", "Evidence", "", kText, 10,
      "where the op comes from: range, capture, vocabulary; inferred: repetition, reference, name",
      Fold::kKey},
     [](const PricedKernel& row) { return Text(EvidenceWord(EvidenceOf(row))); },
     Need::kOp},
    {{"confidence", "Confidence", "", kText, 10, "how sure an inferred op is: high, medium or low",
      Fold::kKey},
     [](const PricedKernel& row) { return Text(ConfidenceWord(ConfidenceOf(row))); },
     Need::kOp},
    {{"sizes_evidence", "SizesEvidence", "", kText, 10,
      "where params, flops and bytes come from: as evidence, or sizes (of the launch)", Fold::kKey},
     [](const PricedKernel& row) { return Text(SizesEvidenceWord(row)); },
     Need::kOp},
    {{"layer_evidence", "LayerEvidence", "", kText, 10,
      "where the layer comes from: as evidence, or order (of the kernels)", Fold::kKey},
     [](const PricedKernel& row) { return Text(LayerEvidenceWord(row)); },
     Need::kLayer},
    {{"flops_low", "FLOPsLow", "FLOP", kInteger, 12,
      "fewest that flops may be, where sizes of the launch tell them"},
     [](const PricedKernel& row) { return Integer(LowOf(row.share.flops_range)); },
     Need::kCostKinds},
    {{"flops_high", "FLOPsHigh", "FLOP", kInteger, 12, "most that they may be"},
     [](const PricedKernel& row) { return Integer(HighOf(row.share.flops_range)); },
     Need::kCostKinds},
    {{"bytes_low", "BytesLow", "B", kInteger, 12,
      "fewest that bytes may be, where sizes of the launch tell them"},
     [](const PricedKernel& row) { return Integer(LowOf(row.share.bytes_range)); },
     Need::kCostKinds},
    {{"bytes_high", "BytesHigh", "B", kInteger, 12, "most that they may be"},
     [](const PricedKernel& row) { return Integer(HighOf(row.share.bytes_range)); },
     Need::kCostKinds},
    {{"measured_flops", "MeasuredFLOPs", "FLOP", kInteger, 13,
      "floating point operations that the hardware counted (--counters)", Fold::kSum},
     [](const PricedKernel& row) { return Integer(MeasuredFlops(row)); },
     Need::kCounters},
    {{"core_flops", "CoreFLOPs", "FLOP", kInteger, 13,
      "part of measured_flops by instructions of CUDA cores, fp32 and fp64", Fold::kSum},
     Counted<&KernelCounters::core_flops>,
     Need::kCounters},
    {{"measured_bytes", "MeasuredBytes", "B", kInteger, 13,
      "DRAM traffic that the hardware counted", Fold::kSum},
     Counted<&KernelCounters::dram_bytes>,
     Need::kCounters},
    {{"l2_bytes", "L2Bytes", "B", kInteger, 13, "traffic through the L2 that it counted",
      Fold::kSum},
     Counted<&KernelCounters::l2_bytes>,
     Need::kCounters},
    {{"tensor_insts", "TensorInsts", "", kInteger, 12, "Tensor Core instructions that it counted",
      Fold::kSum},
     Counted<&KernelCounters::tensor_instructions>,
     Need::kCounters},
    {{"achieved_occupancy_pct", "AchievedOccupancy(%)", "%", kDecimal, 9,
      "measured: warps that ran on a multiprocessor, as a share of the maximum"},
     Counted<&KernelCounters::achieved_occupancy_pct>,
     Need::kCounters},
    {AsRatio({"flops_ratio", "FLOPsRatio", "", kDecimal, 9, "flops / measured_flops"},
             {"flops", "measured_flops", 1}),
     [](const PricedKernel& row) { return ModelOverMeasured(row.share.flops, MeasuredFlops(row)); },
     Need::kCounters},
    {AsRatio({"bytes_ratio", "BytesRatio", "", kDecimal, 9, "bytes / measured_bytes"},
             {"bytes", "measured_bytes", 1}),
     [](const PricedKernel& row) {
       const auto* counters = row.counters;
       return ModelOverMeasured(row.share.bytes,
                                counters == nullptr ? std::nullopt : counters->dram_bytes);
     },
     Need::kCounters},
    {{"flops_by", "FLOPsBy", "", kText, 8,
      "whether tflops, pct_math and bound use measured or modelled FLOPs", Fold::kKey},
     [](const PricedKernel& row) {
       const RatedWork work = RatedWorkOf(row);
       return MeasuredWord(work.flops, work.flops_measured);
     },
     Need::kRate},
    {{"bytes_by", "BytesBy", "", kText, 8,
      "whether gbps, pct_dram and bound use measured or modelled bytes", Fold::kKey},
     [](const PricedKernel& row) {
       const RatedWork work = RatedWorkOf(row);
       return MeasuredWord(work.bytes, work.bytes_measured);
     },
     Need::kRate},
    {{"m", "M", "", kInteger, 6,
      "of a product of matrices: M of the column-major product, as in params", Fold::kKey},
     [](const PricedKernel& row) { return Integer(SizeOf(row, "m")); },
     Need::kCost},
    {{"n", "N", "", kInteger, 6, "of a product of matrices: N, as in params", Fold::kKey},
     [](const PricedKernel& row) { return Integer(SizeOf(row, "n")); },
     Need::kCost},
    {{"k", "K", "", kInteger, 6, "of a product of matrices: K, as in params", Fold::kKey},
     [](const PricedKernel& row) { return Integer(SizeOf(row, "k")); },
     Need::kCost},
    {{"batch", "Batch", "", kInteger, 6, "products of a batch; of attention: sequences",
      Fold::kKey},
     [](const PricedKernel& row) { return Integer(SizeOf(row, "batch")); },
     Need::kCost},
    {{"layout", "Layout", "", kText, 6,
      "of a product of matrices: which factors are transposed for BLAS, NN, NT, TN or TT",
      Fold::kKey},
     [](const PricedKernel& row) { return Text(LayoutOf(row)); },
     Need::kTensorCoreName},
    {{"conv_n", "ConvN", "", kInteger, 6, "of a convolution: images of the batch", Fold::kKey},
     [](const PricedKernel& row) { return Integer(SizeOf(row, "conv_n")); },
     Need::kCost},
    {{"conv_c", "ConvC", "", kInteger, 6, "of a convolution: channels of the input", Fold::kKey},
     [](const PricedKernel& row) { return Integer(SizeOf(row, "conv_c")); },
     Need::kCost},
    {{"conv_h", "ConvH", "", kInteger, 6, "of a convolution: height of the input", Fold::kKey},
     [](const PricedKernel& row) { return Integer(SizeOf(row, "conv_h")); },
     Need::kCost},
    {{"conv_w", "ConvW", "", kInteger, 6, "of a convolution: width of the input", Fold::kKey},
     [](const PricedKernel& row) { return Integer(SizeOf(row, "conv_w")); },
     Need::kCost},
    {{"conv_k", "ConvK", "", kInteger, 6, "of a convolution: channels of the output", Fold::kKey},
     [](const PricedKernel& row) { return Integer(SizeOf(row, "conv_k")); },
     Need::kCost},
    {{"conv_r", "ConvR", "", kInteger, 6, "of a convolution: height of the filter", Fold::kKey},
     [](const PricedKernel& row) { return Integer(SizeOf(row, "conv_r")); },
     Need::kCost},
    {{"conv_s", "ConvS", "", kInteger, 6, "of a convolution: width of the filter", Fold::kKey},
     [](const PricedKernel& row) { return Integer(SizeOf(row, "conv_s")); },
     Need::kCost},
    {{"conv_g", "ConvG", "", kInteger, 6, "of a convolution: groups of channels", Fold::kKey},
     [](const PricedKernel& row) { return Integer(SizeOf(row, "conv_g")); },
     Need::kCost},
    {{"conv_stride", "ConvStride", "", kIntegerList, 10,
      "of a convolution: steps of the filter, one a dimension", Fold::kKey, "x", ""},
     StrideOf,
     Need::kCost},
    {{"heads", "Heads", "", kInteger, 6, "of attention: heads of the queries", Fold::kKey},
     [](const PricedKernel& row) { return Integer(SizeOf(row, "heads")); },
     Need::kCost},
    {{"sq", "Sq", "", kInteger, 6,
      "of attention: queries of a sequence; of different lengths: the most", Fold::kKey},
     [](const PricedKernel& row) { return Integer(SizeOf(row, "sq")); },
     Need::kCost},
    {{"sk", "Sk", "", kInteger, 6,
      "of attention: keys of a sequence; of different lengths: the most", Fold::kKey},
     [](const PricedKernel& row) { return Integer(SizeOf(row, "sk")); },
     Need::kCost},
    {{"head_dim", "HeadDim", "", kInteger, 7, "of attention: width of a head", Fold::kKey},
     [](const PricedKernel& row) { return Integer(SizeOf(row, "head_dim")); },
     Need::kCost},
    {{"causal", "Causal", "", kInteger, 6,
      "of attention: 1: a query sees no later keys, 0: it sees all", Fold::kKey},
     [](const PricedKernel& row) { return Integer(SizeOf(row, "causal")); },
     Need::kCost},
    {{"reason", "Reason", "", kTextList, 16, "what is missing, and why a cost is unknown",
      Fold::kNone, ",", ""},
     [](const PricedKernel& row) { return Cell{row.reasons}; }},
};

class KernelStream : public ViewStream {
 public:
  KernelStream(const std::vector<size_t>& places, Sink* sink)
      : table_(ColumnsAt(places, KernelColumns()), sink) {}
  void Add(const PricedKernel& kernel) override { table_.Add(kernel); }

 private:
  TableOf<PricedKernel> table_;
};

}  // namespace

std::span<const KernelColumn> KernelColumns() { return kColumns; }

std::vector<ColumnNeed> KernelColumnNeeds() {
  std::vector<ColumnNeed> needs;
  for (const KernelColumn& column : kColumns) needs.push_back({column.key, column.need});
  return needs;
}

Columns<PricedKernel> SelectKernelColumns(std::string_view list) {
  return SelectColumns(list, KernelColumns());
}

extern constexpr View kKernelsView = {
    .name = "kernels",
    .help = "one row per kernel: op, cost, Tensor Cores",
    .fields = FieldsWithoutBy<kColumns>,
    .stream = [](const std::vector<size_t>& places, Sink* sink) -> std::unique_ptr<ViewStream> {
      return std::make_unique<KernelStream>(places, sink);
    },
    .some = kDefaultColumns,
    .important = kImportantColumns};

}  // namespace oplens::prof
