#include "prof/views/path/advice_facts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/saturating.h"
#include "ops/dtype.h"
#include "ops/kernels/kernel_name.h"
#include "parse/model/compute_capability.h"
#include "parse/model/kernel_record.h"
#include "prof/advice/checks.h"
#include "prof/run/class_times.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/steady_idle.h"
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
  claims_.Begin(run);
  chains_.Begin(&facts_, &claims_);
  passes_.Begin();
  if (run != nullptr) GatherRunFacts(*run, &facts_, &claims_);
}

advice::RankFacts AdviceFacts::End(AdviceSteps* steps) {
  chains_.End();
  passes_.End(&facts_, &claims_);
  if (run_ != nullptr) {
    TakeWaits();
    claims_.Replay(&facts_);
    if (steps != nullptr) *steps = AdviceSteps(*run_, facts_, claims_);
  }
  claims_.Begin(nullptr);
  run_ = nullptr;
  return std::exchange(facts_, advice::RankFacts());
}

/// Gives each wait for the host to the topic that has a rule for it, the rest to kHost.
void AdviceFacts::TakeWaits() {
  // A rule that does not fire has no time.
  const auto fires = [&](std::optional<advice::Finding> (*check)(const advice::Case&)) {
    return check({facts_, {}}).has_value();
  };
  const bool optimizer = fires(advice::CheckPerTensorOptimizer);
  if (!optimizer) facts_.At(Topic::kOptimizer).DropGains();
  const bool recompute = fires(advice::CheckRecomputation);
  if (!recompute) facts_.At(Topic::kRecompute).DropGains();
  const bool few_short = !fires(advice::CheckShortKernels);
  if (few_short) facts_.At(Topic::kShort).DropGains();
  const SteadyIdle& idle = run_->steady_idle();
  for (uint32_t i = 0; i < claims_.wait_count(); ++i) {
    Topic& topic = claims_.OfWait(i);
    const bool gone = topic == Topic::kNone || (topic == Topic::kOptimizer && !optimizer) ||
                      (topic == Topic::kRecompute && !recompute) ||
                      (topic == Topic::kShort && few_short);
    if (gone) {
      const int64_t host_ns = idle.HostNs(i);
      topic = TopicOfHostWait(facts_, idle.late[i], host_ns);
      facts_.At(topic).Add({}, {1, host_ns, host_ns});
    }
    if (topic == Topic::kBlocking || topic == Topic::kGraphLaunch) continue;
    for (const Interval& part : idle.HostPartsOf(i)) claims_.TakeTime(topic, part);
  }
}

bool AdviceFacts::IsLooked(const PricedKernel& kernel) const {
  if (run_ == nullptr) return true;
  if (kernel.work == PricedKernel::kNoWork) return false;
  const Kernel& own = run_->trace().kernels[kernel.work];
  return run_->steady_idle().time.Holds(*run_, own, kernel.work) &&
         !run_->device_work().IsCommunication(kernel.work);
}

/// The op and its sizes; without an op, the kernel.
void AdviceFacts::SetPlace(const PricedKernel& kernel, std::string_view detail) {
  place_.assign(HasOwnOp(kernel) ? kernel.op : kernel.record->short_name);
  if (!kernel.params.empty()) place_.append(" ").append(kernel.params);
  place_.append(detail);
}

/// Of several topics the one with the largest gain takes the kernel.
void AdviceFacts::OfferTo(Topic topic, int64_t gain_ns, std::string_view detail) {
  if (gain_ns > offer_.gain_ns) offer_ = {topic, gain_ns, detail};
}

void AdviceFacts::Add(const PricedKernel& kernel) {
  const std::optional<int64_t> time_ns = TimeOf(kernel);
  const bool collective =
      kernel.price != nullptr && kernel.price->op_class == ops::OpClass::kCollective;
  if (!time_ns || !IsLooked(kernel) || collective) return chains_.Break(kernel);
  facts_.kernels.Add({1, *time_ns, 0});
  facts_.has_prices |= kernel.share.flops.has_value() && !kernel.sizes_by_launch;
  facts_.has_phases |= kernel.phase != Phase::kUnknown;
  if (kernel.gpu != nullptr) {
    facts_.compute_capability = std::max(facts_.compute_capability, kernel.gpu->compute_capability);
    facts_.has_roofs |= kernel.gpu->dram_bytes_per_s > 0;
    facts_.link_bytes_per_s =
        std::max(facts_.link_bytes_per_s, ops::MostLinkBytesPerS(*kernel.gpu));
  }
  offer_ = {};
  if (kernel.phase == Phase::kRecompute) OfferTo(Topic::kRecompute, *time_ns);
  if (kernel.phase == Phase::kOptimizer) OfferOptimizer(kernel, *time_ns);
  const bool convolution = kernel.price != nullptr && kernel.price->product &&
                           kernel.price->product->kind == ops::MatrixProduct::Kind::kConvolution;
  if (convolution && kernel.share.role == ops::Role::kLayout) OfferTo(Topic::kLayout, *time_ns);
  const int64_t mma_flops = kernel.share.flops_mma.value_or(0);
  if (mma_flops > 0) OfferProduct(kernel, *time_ns, mma_flops);
  if (*time_ns >= advice::kLongKernelNs) OfferFit(kernel, *time_ns);
  Take(kernel, *time_ns);
  TakeWait(kernel, *time_ns);
}

/// Gives the kernel to a topic, or leaves it to its neighbours with the best offer.
void AdviceFacts::Take(const PricedKernel& kernel, int64_t time_ns) {
  const Topic topic = offer_.topic;
  if (kernel.phase == Phase::kOptimizer && IsMultiTensor(kernel.record->long_name) &&
      passes_.Add(kernel, time_ns)) {
    return chains_.Add(kernel, time_ns, {.claimed = true});
  }
  SetPlace(kernel, offer_.detail);
  const bool of_group = topic == Topic::kPad || topic == Topic::kFp32 ||
                        topic == Topic::kSmallGrid || topic == Topic::kLowOccupancy ||
                        topic == Topic::kNone;
  if (of_group) {
    return chains_.Add(kernel, time_ns,
                       {.topic = topic, .gain_ns = offer_.gain_ns, .place = place_});
  }
  chains_.Add(kernel, time_ns, {.claimed = true});
  facts_.At(offer_.topic).Add(place_, {1, time_ns, offer_.gain_ns});
  claims_.TakeKernel(kernel.work, offer_.topic, offer_.gain_ns);
}

/// The wait for the host before a kernel, unless a call that waited has it.
void AdviceFacts::TakeWait(const PricedKernel& kernel, int64_t time_ns) {
  const bool is_short = time_ns < advice::kShortKernelNs;
  const bool of_rule = offer_.topic == Topic::kOptimizer || offer_.topic == Topic::kRecompute;
  if (!is_short && !of_rule) return;
  int64_t wait_ns = 0;
  const uint32_t late = run_ == nullptr ? AdviceClaims::kNoWait : claims_.WaitBefore(kernel.work);
  const Topic topic = of_rule ? offer_.topic : Topic::kShort;
  if (late != AdviceClaims::kNoWait && claims_.OfWait(late) == Topic::kNone) {
    const int64_t host_ns = run_->steady_idle().HostNs(late);
    // Longer waits are not caused by a launch; what is recomputed is launched for that alone.
    if (host_ns <= advice::kLaunchWaitNs || topic == Topic::kRecompute) {
      claims_.OfWait(late) = topic;
      wait_ns = host_ns;
    }
  }
  SetPlace(kernel, {});
  if (is_short) facts_.At(Topic::kShort).Add(place_, {1, time_ns, of_rule ? 0 : wait_ns});
  if (of_rule) facts_.At(topic).Add(place_, {0, 0, wait_ns});
}

void AdviceFacts::OfferProduct(const PricedKernel& kernel, int64_t time_ns, int64_t mma_flops) {
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
    padding_.assign(": ").append(judged.why, judged.padding_at);
    OfferTo(Topic::kPad, peak > 0 ? Above(time_ns, roof_ns) : 0, padding_);
  }
  using ops::DType;
  if (type == DType::kFloat32 && tensor) {
    SaturatingAdd(&facts_.products.tensor_fp32_ns, time_ns);
  } else if (type == DType::kFloat32 && judged.use == ops::TensorCoreUse::kNo &&
             judged.fitness != ops::TensorCoreFitness::kNotAsked) {
    SaturatingAdd(&facts_.products.fp32_ns, time_ns);
    if (gpu.compute_capability < kFirstWithTensorCores) return;
    const bool tf32 = gpu.compute_capability >= kFirstWithTf32;
    const double peak = gpu.Peak(tf32 ? ops::MathUnit::kTensorTf32 : ops::MathUnit::kTensorFp16);
    const double own_peak = gpu.Peak(ops::MathUnit::kVectorFp32);
    // It keeps its distance from its roof; one that memory bounds gains nothing.
    const double before_ns = std::max(AdviceFactsNsOf(flops, own_peak), memory_ns);
    const double after_ns = std::max(AdviceFactsNsOf(flops, peak), memory_ns);
    const bool known = peak > 0 && own_peak > 0 && before_ns > 0;
    const double left_ns = known ? static_cast<double>(time_ns) * after_ns / before_ns : 0;
    if (known && after_ns >= before_ns) return;
    OfferTo(Topic::kFp32, known ? Above(time_ns, left_ns) : 0);
  } else if (type != DType::kUnknown && ops::BitsOf(type) <= kMostHalfBits) {
    SaturatingAdd(&facts_.products.half_ns, time_ns);
  }
}

void AdviceFacts::OfferFit(const PricedKernel& kernel, int64_t time_ns) {
  if (run_ == nullptr) return;
  const Trace& trace = run_->trace();
  const auto blocks = BlocksPerSm(trace, trace.kernels[kernel.work], kernel.gpu);
  if (blocks && *blocks < 1) {
    // At most up to the nearer roof, if known; as many blocks as fit can share a multiprocessor.
    const bool priced = kernel.gpu != nullptr && kernel.share.bytes.has_value();
    const Kernel& own = trace.kernels[kernel.work];
    const double room = ResidentBlocks(trace, own, kernel.gpu).value_or(1);
    const double used = std::max(*blocks / room, priced ? NearestRoofOf(kernel) : 0.0);
    const double used_ns = static_cast<double>(time_ns) * used;
    return OfferTo(Topic::kSmallGrid, Above(time_ns, used_ns));
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
  OfferTo(Topic::kLowOccupancy, Above(time_ns, static_cast<double>(time_ns) * nearest));
}

void AdviceFacts::OfferOptimizer(const PricedKernel& kernel, int64_t time_ns) {
  if (IsMultiTensor(kernel.record->long_name)) {
    ++facts_.multi_tensor_kernels;
    return;
  }
  double memory_ns = 0;
  if (kernel.gpu != nullptr && kernel.share.bytes) {
    memory_ns = AdviceFactsNsOf(static_cast<double>(*kernel.share.bytes),
                                static_cast<double>(kernel.gpu->dram_bytes_per_s));
  }
  OfferTo(Topic::kOptimizer, Above(time_ns, memory_ns));
}

}  // namespace oplens::prof
