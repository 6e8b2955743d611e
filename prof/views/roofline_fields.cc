#include "prof/views/roofline_fields.h"

#include <fmt/format.h>

#include <span>

#include "base/error.h"

namespace oplens::prof {
namespace {

constexpr Field kRooflineFields[] = {
    {"op", "Op", "", FieldType::kText, Field::kShared, "op that the kernels belong to", Fold::kKey},
    {"shape", "Shape", "", FieldType::kText, Field::kShared, "shapes of the op's tensors",
     Fold::kKey},
    {"dir", "Dir", "", FieldType::kText, 5, "fprop (forward) or bprop (backward)", Fold::kKey},
    {"dtype", "DType", "", FieldType::kText, 6, "data type of the op's first tensor", Fold::kKey},
    {"gpu", "GPU", "", FieldType::kText, 14, "that the kernels ran on", Fold::kKey},
    {"count", "Count", "", FieldType::kInteger, 7, "kernels", Fold::kSum},
    {"time_ns", "Time(ns)", "ns", FieldType::kInteger, 13, "sum of their durations", Fold::kSum},
    {"flops", "FLOPs", "FLOP", FieldType::kInteger, 18, "of the kernels that have a time",
     Fold::kSum},
    {"bytes", "Bytes", "B", FieldType::kInteger, 16,
     "that the ops of these read and write at least", Fold::kSum},
    AsRatio({"ai", "AI", "FLOP/B", FieldType::kDecimal, 9, "arithmetic intensity: flops / bytes"},
            {"flops", "bytes", 1}),
    AsRatio(
        {"tflops", "TFLOP/s", "TFLOP/s", FieldType::kDecimal, 9, "flops / time_ns, 10^12 a second"},
        {"flops", "time_ns", 1e-3}),
    AsRatio({"gbps", "GB/s", "GB/s", FieldType::kDecimal, 9, "bytes / time_ns, 10^9 a second"},
            {"bytes", "time_ns", 1}),
    {"unit", "Unit", "", FieldType::kText, 12,
     "arithmetic whose peak counts: that the kernels use, or could use of Tensor Cores (tc_); of "
     "several that with most FLOPs"},
    {"peak_tflops", "Peak(TFLOP/s)", "TFLOP/s", FieldType::kDecimal, 10, "the GPU's peak of unit"},
    {"peak_gbps", "Peak(GB/s)", "GB/s", FieldType::kDecimal, 10, "bandwidth of the GPU's memory"},
    {"bound", "Bound", "", FieldType::kText, 7,
     "compute or memory: efficiency_pct of that roof is 60 or more; latency: of neither"},
    {"roof_ns", "Roof(ns)", "ns", FieldType::kInteger, 13,
     "time at the roof: the larger of FLOPs / peak (with Tensor Cores of matrix FLOPs) and bytes / "
     "bandwidth",
     Fold::kSum},
    AsRatio(
        {"efficiency_pct", "Efficiency(%)", "%", FieldType::kDecimal, 8, "roof_ns / time_ns * 100"},
        {"roof_ns", "time_ns", 100}),
    {"gap_ns", "Gap(ns)", "ns", FieldType::kInteger, 13, "time_ns - roof_ns", Fold::kSum},
    OnRequest({"inferred_ns", "Inferred(ns)", "ns", FieldType::kInteger, 13,
               "of time_ns: of kernels whose op is inferred, not recorded", Fold::kSum}),
    OnRequest(AsRatio({"inferred_pct", "Inferred(%)", "%", FieldType::kDecimal, 11,
                       "inferred_ns / time_ns * 100"},
                      {"inferred_ns", "time_ns", 100})),
};

constexpr RooflineKey kRooflineFieldsKeyWords[] = {
    {RooflineKey::Kind::kRank,
     {"rank", "Rank", "", FieldType::kText, 6, "rank of the process", Fold::kKey}},
    {RooflineKey::Kind::kPhase,
     {"phase", "Phase", "", FieldType::kText, 10,
      "forward, backward, recompute, gradient, accumulate or optimizer", Fold::kKey}},
    {RooflineKey::Kind::kLayer,
     {"layer", "Layer", "", FieldType::kText, Field::kShared,
      "names of the enclosing layers, outermost first", Fold::kKey}},
};

}  // namespace

const RooflineKey& RooflineKeyOf(std::string_view word) {
  for (const RooflineKey& known : kRooflineFieldsKeyWords) {
    if (known.field.key == word) return known;
  }
  throw UsageError(fmt::format("--by {}: the view roofline takes rank, phase and layer", word));
}

std::span<const Field> RooflineFields() { return kRooflineFields; }

}  // namespace oplens::prof
