#include "parse/counters/counter_metrics.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace oplens::parse {
namespace {

using enum CounterMetric;

constexpr std::pair<std::string_view, CounterMetric> kMetricsByUnit[] = {
    {"sass_thread_inst_executed_op_fadd_pred_on.sum", kFadd},
    {"sass_thread_inst_executed_op_fmul_pred_on.sum", kFmul},
    {"sass_thread_inst_executed_op_ffma_pred_on.sum", kFfma},
    {"sass_thread_inst_executed_op_dadd_pred_on.sum", kDadd},
    {"sass_thread_inst_executed_op_dmul_pred_on.sum", kDmul},
    {"sass_thread_inst_executed_op_dfma_pred_on.sum", kDfma},
    {"sass_thread_inst_executed_op_hfma_pred_on.sum", kHfma},
    {"inst_executed_pipe_tensor.sum", kTensorInstructions},
    {"warps_active.avg.pct_of_peak_sustained_active", kAchievedOccupancy},
};

constexpr std::pair<std::string_view, CounterMetric> kMetricsByName[] = {
    {"dram__bytes.sum", kDramBytes},
    {"dram__bytes_read.sum", kDramBytesRead},
    {"dram__bytes_write.sum", kDramBytesWritten},
    {"dram__sectors_read.sum", kDramSectorsRead},
    {"dram__sectors_write.sum", kDramSectorsWritten},
    {"lts__t_bytes.sum", kL2Bytes},
    {"lts__t_sectors.sum", kL2Sectors},
    {"gpu__time_duration.sum", kDuration},
    // Of the page details.
    {"Duration", kDuration},
    {"Achieved Occupancy", kAchievedOccupancy},
    {"Grid Size", kBlocks},
    {"Block Size", kThreads},
};

constexpr std::string_view kSum = ".sum";
constexpr std::string_view kTensorPath = "ops_path_tensor_";
// Of the same operations, by types, and by the kind of instruction and types.
constexpr std::string_view kTensorPathByTypes = "ops_path_tensor_src_";
// HFMA2, which on GA100 and later also runs in the pipe of Tensor Cores.
constexpr std::string_view kVectorKind = "inst_executed_pipe_tensor_op_hmma_type_hfma2.sum";
// Counted as hmma too.
constexpr std::string_view kGroupKind = "inst_executed_pipe_tensor_op_gmma.sum";
constexpr std::string_view kTensorKind = "inst_executed_pipe_tensor_op_";
constexpr std::string_view kSparsity = "_sparsity_o";  // _on, _off: parts of the one without.
constexpr double kSectorBytes = 32;

/// Matrix instructions by the words of libraries' kernel names: FLOPs of one.
constexpr std::pair<std::string_view, double> kTensorShapes[] = {
    {"16816", 4096}, {"161616", 4096}, {"1688", 2048}, {"s884", 512}, {"h884", 512}, {"d884", 512},
};

/// Words of kernels that may multiply matrices.
constexpr std::string_view kMatrixWords[] = {"gemm",  "mma",  "tensor", "conv",
                                             "nvjet", "attn", "flash",  "attention"};

bool IsWord(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

std::optional<int64_t> ToWhole(std::optional<double> value) {
  constexpr double kMost = 9e18;
  if (!value || !(*value >= 0 && *value <= kMost)) return std::nullopt;
  return static_cast<int64_t>(std::llround(*value));
}

/// Both, or nothing.
std::optional<double> SumOfBoth(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

}  // namespace

std::optional<CounterMetric> CounterMetricOf(std::string_view name) {
  for (const auto& [word, metric] : kMetricsByName) {
    if (name == word) return metric;
  }
  std::string_view rest = name;
  if (rest.starts_with("smsp__")) {
    rest.remove_prefix(6);
  } else if (rest.starts_with("sm__")) {
    rest.remove_prefix(4);
  } else {
    return std::nullopt;
  }
  for (const auto& [word, metric] : kMetricsByUnit) {
    if (rest == word) return metric;
  }
  if (rest == kVectorKind) return kTensorInstructionsOfKind;
  if (!rest.ends_with(kSum)) return std::nullopt;
  rest.remove_suffix(kSum.size());
  if (rest.starts_with(kTensorPath)) return kTensorOps;
  if (rest.starts_with(kTensorKind) && IsWord(rest.substr(kTensorKind.size()))) {
    return kTensorInstructionsOfKind;
  }
  return std::nullopt;
}

void MetricValues::Set(CounterMetric metric, std::string_view name, double value) {
  if (metric == kTensorInstructionsOfKind || metric == kTensorOps) {
    std::vector<Part>& parts = parts_[metric == kTensorOps ? 1 : 0];
    const std::string_view bare = name.substr(name.find("__") + 2);
    const bool known = std::any_of(parts.begin(), parts.end(),
                                   [&](const Part& part) { return part.name == bare; });
    if (!known) parts.push_back({std::string(bare), value});
    return;
  }
  std::optional<double>& own = values_[static_cast<size_t>(metric)];
  if (!own) own = value;
}

std::optional<int64_t> MetricValues::Whole(CounterMetric metric) const {
  return ToWhole(Of(metric));
}

std::optional<double> MetricValues::CoreFlops() const {
  double flops = 0;
  for (const auto& [metric, each] :
       {std::pair{kFadd, 1}, {kFmul, 1}, {kFfma, 2}, {kDadd, 1}, {kDmul, 1}, {kDfma, 2}}) {
    const std::optional<double> value = Of(metric);
    if (!value) return std::nullopt;
    flops += *value * each;
  }
  return flops;
}

std::optional<double> MetricValues::TensorOps() const {
  const std::vector<Part>& parts = parts_[1];
  if (parts.empty()) return std::nullopt;
  const auto by_types = [](const Part& part) { return part.name.starts_with(kTensorPathByTypes); };
  const bool any_by_types = std::any_of(parts.begin(), parts.end(), by_types);
  double sum = 0;
  for (const Part& part : parts) {
    if (any_by_types && !by_types(part)) continue;
    const size_t at = part.name.find(kSparsity);
    const std::string whole = part.name.substr(0, at) + std::string(kSum);
    const bool counted = at != std::string::npos &&
                         std::any_of(parts.begin(), parts.end(),
                                     [&](const Part& other) { return other.name == whole; });
    if (!counted) sum += part.value;
  }
  return sum;
}

std::optional<double> MetricValues::TensorInstructions(std::string_view kernel) const {
  std::optional<double> all = Of(kTensorInstructions);
  std::optional<double> vectors;
  std::optional<double> groups;
  for (const Part& part : parts_[0]) {
    if (part.name == kVectorKind) {
      vectors = part.value;
    } else if (part.name == kGroupKind) {
      groups = part.value;
    } else if (!Of(kTensorInstructions)) {
      all = all.value_or(0) + part.value;
    }
  }
  if (!all) return groups;
  if (vectors) return std::max(*all - *vectors, 0.0);
  // Without that count, they are HFMA2 if as many of these were executed: by nearly all lanes of a
  // warp each, where the kernel may be a product.
  constexpr double kNearlyAllLanes = 31;
  const bool may_multiply = std::any_of(
      std::begin(kMatrixWords), std::end(kMatrixWords),
      [&](std::string_view word) { return kernel.find(word) != std::string_view::npos; });
  return Of(kHfma).value_or(-1) >= *all * (may_multiply ? kNearlyAllLanes : 1) ? 0 : all;
}

std::optional<double> MetricValues::TensorFlops(std::string_view kernel) const {
  const std::optional<double> ops = TensorOps();
  if (ops && *ops > 0) return ops;
  const std::optional<double> instructions = TensorInstructions(kernel);
  if (!instructions || *instructions == 0) return instructions;
  for (const auto& [word, flops] : kTensorShapes) {
    if (kernel.find(word) != std::string_view::npos) return *instructions * flops;
  }
  return std::nullopt;
}

std::optional<double> MetricValues::DramBytes() const {
  if (const auto all = Of(kDramBytes)) return all;
  if (const auto both = SumOfBoth(Of(kDramBytesRead), Of(kDramBytesWritten))) return both;
  const auto sectors = SumOfBoth(Of(kDramSectorsRead), Of(kDramSectorsWritten));
  return sectors ? std::optional(*sectors * kSectorBytes) : std::nullopt;
}

KernelCounters MetricValues::Counters(std::string_view kernel) const {
  KernelCounters counters;
  counters.core_flops = ToWhole(CoreFlops());
  counters.tensor_flops = ToWhole(TensorFlops(kernel));
  counters.tensor_instructions = ToWhole(TensorInstructions(kernel));
  counters.dram_bytes = ToWhole(DramBytes());
  counters.l2_bytes = Whole(kL2Bytes);
  if (const auto sectors = Of(kL2Sectors); sectors && !counters.l2_bytes) {
    counters.l2_bytes = ToWhole(*sectors * kSectorBytes);
  }
  counters.duration_ns = Whole(kDuration);
  counters.achieved_occupancy_pct = Of(kAchievedOccupancy);
  return counters;
}

}  // namespace oplens::parse
