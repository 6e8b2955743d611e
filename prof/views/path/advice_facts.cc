#include "prof/views/path/advice_facts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/saturating.h"
#include "ops/dtype.h"
#include "ops/kernels/kernel_name.h"
#include "ops/op_name.h"
#include "parse/model/compute_capability.h"
#include "parse/model/kernel_record.h"
#include "prof/run/class_times.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/views/streams/gpu_launch.h"

namespace oplens::prof {

using advice::Topic;

namespace {

constexpr int kMostHalfBits = 16;
constexpr double kFewWarpsPct = 25;

/// Type of the product's factors.
ops::DType AdviceFactsTypeOf(const PricedKernel& kernel) {
  if (kernel.price != nullptr && kernel.price->product &&
      kernel.price->product->left != ops::DType::kUnknown) {
    return kernel.price->product->left;
  }
  return ops::ParseDType(kernel.dtype).value_or(ops::DType::kUnknown);
}

/// Time of an amount at a rate, ns; 0 if the rate is unknown.
double AdviceFactsNsOf(double amount, double per_second) {
  return per_second > 0 ? amount / per_second * 1e9 : 0;
}

/// How far a time exceeds its lower bound.
int64_t Above(int64_t time_ns, double bound_ns) {
  if (!(bound_ns < static_cast<double>(time_ns))) return 0;
  return time_ns - std::llround(std::max(bound_ns, 0.0));
}

/// Share of the nearer roof that it reaches; 1 is at the roof.
double NearestRoofOf(const PricedKernel& kernel) {
  const ops::Roofline& roof = FiguresOf(kernel).roofline;
  return std::max(roof.percent_of_dram.value_or(0), roof.percent_of_math.value_or(0)) / 100;
}

/// Whether it updates many tensors at once (torch.optim's foreach and fused, apex, DeepSpeed).
bool IsMultiTensor(std::string_view name) {
  return name.find("multi_tensor") != name.npos || name.find("MultiTensor") != name.npos ||
         name.find("triton_") != name.npos;
}

}  // namespace

void AdviceFacts::Begin(const Run* run) {
  run_ = run;
  facts_ = advice::RankFacts();
  waits_ns_.clear();
  passes_ = advice::TopicFacts();
  pass_instance_ = pass_bytes_ = most_pass_bytes_ = 0;
  chains_.Begin(&facts_);
  if (run == nullptr) return;
  window_ = run->window();
  GatherRunFacts(*run, &facts_, &waits_ns_);
}

advice::RankFacts AdviceFacts::End() {
  run_ = nullptr;
  chains_.End();
  AddPassGains();
  return std::exchange(facts_, advice::RankFacts());
}

bool AdviceFacts::IsLooked(const PricedKernel& kernel) const {
  if (run_ == nullptr) return true;
  if (kernel.work == PricedKernel::kNoWork) return false;
  const Kernel& own = run_->trace().kernels[kernel.work];
  return own.start_ns >= window_.start_ns && own.start_ns < window_.end_ns &&
         !run_->device_work().IsCommunication(kernel.work);
}

/// The op and its sizes; without an op, the kernel.
const std::string& AdviceFacts::PlaceOf(const PricedKernel& kernel) {
  const std::string_view name = kernel.op.empty() ? kernel.record->short_name : kernel.op;
  place_.assign(name);
  if (!kernel.params.empty()) place_.append(" ").append(kernel.params);
  return place_;
}

void AdviceFacts::AddTo(Topic topic, const PricedKernel& kernel, int64_t time_ns, int64_t gain_ns) {
  facts_.At(topic).Add(PlaceOf(kernel), {1, time_ns, gain_ns});
  claimed_ |= topic != Topic::kShort && gain_ns > 0;
}

void AdviceFacts::AddLater(Topic topic, const PricedKernel& kernel, int64_t gain_ns) {
  later_.push_back({topic, gain_ns, PlaceOf(kernel)});
}

void AdviceFacts::Add(const PricedKernel& kernel) {
  const std::optional<int64_t> time_ns = TimeOf(kernel);
  const bool collective =
      kernel.price != nullptr && kernel.price->op_class == ops::OpClass::kCollective;
  if (!time_ns || !IsLooked(kernel) || collective) return chains_.Break(kernel);
  claimed_ = false;
  later_.clear();
  facts_.kernels.Add({1, *time_ns, 0});
  facts_.has_prices |= kernel.share.flops.has_value();
  facts_.has_phases |= kernel.phase != Phase::kUnknown;
  if (kernel.gpu != nullptr) {
    facts_.compute_capability = std::max(facts_.compute_capability, kernel.gpu->compute_capability);
    facts_.has_roofs |= kernel.gpu->dram_bytes_per_s > 0;
  }
  const int64_t wait_ns = waits_ns_.empty() ? 0 : int64_t{waits_ns_[kernel.work]};
  if (*time_ns < advice::kShortKernelNs) AddTo(Topic::kShort, kernel, *time_ns, wait_ns);
  if (kernel.phase == Phase::kRecompute) AddTo(Topic::kRecompute, kernel, *time_ns, *time_ns);
  if (kernel.phase == Phase::kOptimizer) AddOptimizer(kernel, *time_ns, wait_ns);
  const bool convolution = kernel.price != nullptr && kernel.price->product &&
                           kernel.price->product->kind == ops::MatrixProduct::Kind::kConvolution;
  if (convolution && kernel.share.role == ops::Role::kLayout) {
    AddTo(Topic::kLayout, kernel, *time_ns, *time_ns);
  }
  const int64_t mma_flops = kernel.share.flops_mma.value_or(0);
  if (mma_flops > 0) AddProduct(kernel, *time_ns, mma_flops);
  if (*time_ns >= advice::kLongKernelNs) AddFit(kernel, *time_ns);
  chains_.Add(kernel, *time_ns, claimed_, later_);
}

void AdviceFacts::AddProduct(const PricedKernel& kernel, int64_t time_ns, int64_t mma_flops) {
  const ops::TensorCoreJudgement& judged = FiguresOf(kernel).tensor_core;
  const ops::DType type = AdviceFactsTypeOf(kernel);
  const bool tensor = judged.use == ops::TensorCoreUse::kYes;
  const auto flops = static_cast<double>(mma_flops);
  const auto bytes = static_cast<double>(kernel.share.bytes.value_or(0));
  const ops::Gpu none;
  const ops::Gpu& gpu = kernel.gpu != nullptr ? *kernel.gpu : none;
  const double memory_ns = AdviceFactsNsOf(bytes, static_cast<double>(gpu.dram_bytes_per_s));
  if (judged.padding_at != std::string::npos) {
    const double peak = ProductPeakOf(kernel);
    const double roof_ns = std::max(AdviceFactsNsOf(flops, peak), memory_ns);
    place_.assign(kernel.op).append(" ").append(kernel.params).append(": ");
    place_.append(judged.why, judged.padding_at);
    later_.push_back({Topic::kPad, peak > 0 ? Above(time_ns, roof_ns) : 0, place_});
  }
  using ops::DType;
  if (type == DType::kFloat32 && tensor) {
    SaturatingAdd(&facts_.products.tensor_fp32_ns, time_ns);
  } else if (type == DType::kFloat32 && judged.use == ops::TensorCoreUse::kNo &&
             judged.fitness != ops::TensorCoreFitness::kNotAsked) {
    SaturatingAdd(&facts_.products.fp32_ns, time_ns);
    if (gpu.compute_capability < kFirstWithTensorCores) return;
    // A vector times a matrix gains nothing: it is bound by memory.
    const auto& product = kernel.price->product;
    if (product && product->kind == ops::MatrixProduct::Kind::kGemm &&
        std::min(product->m, product->n) == 1) {
      return;
    }
    const bool tf32 = gpu.compute_capability >= kFirstWithTf32;
    const double peak = gpu.Peak(tf32 ? ops::MathUnit::kTensorTf32 : ops::MathUnit::kTensorFp16);
    // 16-bit types halve the bytes moved.
    const double roof_ns = std::max(AdviceFactsNsOf(flops, peak), tf32 ? memory_ns : memory_ns / 2);
    AddTo(Topic::kFp32, kernel, time_ns, peak > 0 ? Above(time_ns, roof_ns) : 0);
  } else if (type != DType::kUnknown && ops::BitsOf(type) <= kMostHalfBits) {
    SaturatingAdd(&facts_.products.half_ns, time_ns);
  }
}

void AdviceFacts::AddFit(const PricedKernel& kernel, int64_t time_ns) {
  if (run_ == nullptr) return;
  const Trace& trace = run_->trace();
  const auto blocks = BlocksPerSm(trace, trace.kernels[kernel.work], kernel.gpu);
  if (blocks && *blocks < 1) {
    // At most up to the nearer roof, if known.
    const bool priced = kernel.gpu != nullptr && kernel.share.bytes.has_value();
    const double used = std::max(*blocks, priced ? NearestRoofOf(kernel) : 0.0);
    const double used_ns = static_cast<double>(time_ns) * used;
    return AddLater(Topic::kSmallGrid, kernel, Above(time_ns, used_ns));
  }
  // Products run best with few warps, which hold their tiles in registers.
  if (kernel.gpu == nullptr || !kernel.share.bytes || kernel.share.flops_mma.value_or(1) != 0) {
    return;
  }
  const Figures& figures = FiguresOf(kernel);
  if (!figures.theoretical_occupancy_pct || *figures.theoretical_occupancy_pct >= kFewWarpsPct)
    return;
  const double nearest = NearestRoofOf(kernel);
  if (!figures.roofline.percent_of_dram || 100 * nearest >= ops::kLeastRoofPct) return;
  const double best_ns = static_cast<double>(time_ns) * nearest;
  AddLater(Topic::kLowOccupancy, kernel, Above(time_ns, best_ns));
}

void AdviceFacts::AddOptimizer(const PricedKernel& kernel, int64_t time_ns, int64_t wait_ns) {
  if (IsMultiTensor(kernel.record->long_name)) {
    ++facts_.multi_tensor_kernels;
    return AddPass(kernel, time_ns);
  }
  double memory_ns = 0;
  if (kernel.gpu != nullptr && kernel.share.bytes) {
    memory_ns = AdviceFactsNsOf(static_cast<double>(*kernel.share.bytes),
                                static_cast<double>(kernel.gpu->dram_bytes_per_s));
  }
  AddTo(Topic::kOptimizer, kernel, time_ns, SaturatingSum(Above(time_ns, memory_ns), wait_ns));
}

void AdviceFacts::AddPass(const PricedKernel& kernel, int64_t time_ns) {
  const bool known = kernel.instance != 0 && kernel.gpu != nullptr && kernel.share.bytes;
  if (!known || !ops::ParseOpName(kernel.op).list) return;
  const bool begins = kernel.instance != pass_instance_;
  if (begins) pass_bytes_ = 0;
  pass_instance_ = kernel.instance;
  SaturatingAdd(&pass_bytes_, *kernel.share.bytes);
  most_pass_bytes_ = std::max(most_pass_bytes_, pass_bytes_);
  pass_bytes_per_s_ = static_cast<double>(kernel.gpu->dram_bytes_per_s);
  passes_.Add(kernel.op, {begins ? 1 : 0, time_ns, 0});
  claimed_ = true;
}

/// One pass reads at least one list of tensors and writes one: half of what a call on up to three
/// lists moves, of which all but one may be temporary.
void AdviceFacts::AddPassGains() {
  const auto steps = static_cast<double>(std::max<size_t>(facts_.steps.size(), 1));
  const double least_ns =
      steps * AdviceFactsNsOf(static_cast<double>(most_pass_bytes_) / 2, pass_bytes_per_s_);
  const auto all_ns = static_cast<double>(passes_.all.time_ns);
  const double gain = pass_bytes_per_s_ > 0 && least_ns < all_ns ? 1 - least_ns / all_ns : 0;
  for (const auto& [op, sums] : passes_.places) {
    const auto time_ns = static_cast<double>(sums.time_ns);
    facts_.At(Topic::kForeach).Add(op, {sums.count, sums.time_ns, std::llround(gain * time_ns)});
  }
}

}  // namespace oplens::prof
