#include "prof/views/operator_sums.h"

#include "base/ratio.h"
#include "base/saturating.h"
#include "parse/model/kernel_record.h"
#include "prof/views/group_sums.h"

namespace oplens::prof {
namespace {

constexpr uint8_t OperatorSumsBitOf(ops::TensorCoreFitness fitness) {
  return static_cast<uint8_t>(1u << static_cast<uint8_t>(fitness));
}

/// As in Figures, which most kernels need not have for it: they are no products.
ops::TensorCoreFitness FitnessOf(const PricedKernel& kernel, ops::TensorCoreUse use,
                                 bool named_product) {
  const bool product =
      kernel.price == nullptr
          ? named_product || use == ops::TensorCoreUse::kYes
          : kernel.price->matmul_like && kernel.price->op_class == ops::OpClass::kCompute;
  if (!product) return ops::TensorCoreFitness::kNotAsked;
  return FiguresOf(kernel).tensor_core.fitness;
}

}  // namespace

void KernelTime::Add(const KernelTime& other) {
  SaturatingAdd(&device_ns, other.device_ns);
  SaturatingAdd(&tensor_core_ns, other.tensor_core_ns);
  SaturatingAdd(&known_ns, other.known_ns);
  fitness |= other.fitness;
}

std::optional<double> KernelTime::TensorCorePercent() const {
  return Percent(tensor_core_ns, known_ns);
}

std::string_view KernelTime::Eligible() const {
  using Fitness = ops::TensorCoreFitness;
  if ((fitness & OperatorSumsBitOf(Fitness::kYes)) != 0) return "yes";
  return fitness == 0 || (fitness & OperatorSumsBitOf(Fitness::kUnknown)) != 0 ? "" : "no";
}

void OperatorSums::Add(const OperatorSums& other) {
  calls += other.calls;
  launches += other.launches;
  SaturatingAdd(&device_busy_ns, other.device_busy_ns);
  SaturatingAdd(&host_self_ns, other.host_self_ns);
  SaturatingAdd(&host_total_ns, other.host_total_ns);
  SaturatingAdd(&length_ns, other.length_ns);
  with_flops += other.with_flops;
  with_bytes += other.with_bytes;
  flops += other.flops;
  bytes += other.bytes;
  self.Add(other.self);
  total.Add(other.total);
  lengths.Merge(other.lengths);
}

void OperatorSums::AddPrice(std::optional<int64_t> more_flops, std::optional<int64_t> more_bytes) {
  if (more_flops) {
    ++with_flops;
    flops += *more_flops;
  }
  if (more_bytes) {
    ++with_bytes;
    bytes += *more_bytes;
  }
}

KernelTime TensorCoreTimeOf(const PricedKernel& kernel, bool named_product) {
  KernelTime time;
  const ops::TensorCoreUse use = TensorCoreUseOf(kernel);
  time.fitness = OperatorSumsBitOf(FitnessOf(kernel, use, named_product));
  if (use == ops::TensorCoreUse::kUnknown || !kernel.record->timed()) return time;
  time.known_ns = kernel.record->duration_ns;
  if (use == ops::TensorCoreUse::kYes) time.tensor_core_ns = time.known_ns;
  return time;
}

}  // namespace oplens::prof
