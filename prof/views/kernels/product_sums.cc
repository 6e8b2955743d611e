#include "prof/views/kernels/product_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/saturating.h"
#include "ops/gpu/roofline.h"
#include "parse/model/kernel_record.h"
#include "parse/model/trace.h"
#include "prof/price/figures.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/run.h"
#include "prof/run/step_times.h"
#include "prof/run/steps.h"

namespace oplens::prof {
namespace {

/// Sizes beyond these of one rank are added up as ProductKind::kNone, the smallest first.
constexpr size_t kMostProducts = 4096;
constexpr size_t kMostNumberedLayers = 65536;

ProductKey ProductKeyOf(const PricedKernel& kernel) {
  if (kernel.price == nullptr || !kernel.price->product) return {};
  const ops::MatrixProduct& product = *kernel.price->product;
  ProductKey key{ProductKind::kNone, product.batch, product.m, product.n, product.k};
  switch (product.kind) {
    case ops::MatrixProduct::Kind::kGemm:
      key.kind = ProductKind::kGemm;
      if (key.batch == 1) key.m = 0;
      break;
    case ops::MatrixProduct::Kind::kConvolution:
      key.kind = ProductKind::kConvolution;
      key.m = 0;
      break;
    case ops::MatrixProduct::Kind::kAttention:
      key.kind = ProductKind::kAttention;
      break;
    case ops::MatrixProduct::Kind::kRecurrent:
      return {};
  }
  return key;
}

ProductType ProductTypeOf(const PricedKernel& kernel, double peak) {
  ops::DType type = ops::DType::kUnknown;
  if (kernel.price != nullptr && kernel.price->product) type = kernel.price->product->left;
  std::string word(type == ops::DType::kUnknown ? kernel.dtype : ops::DTypeWord(type));
  if (kernel.gpu != nullptr && peak > 0 && word == "fp32" &&
      peak == kernel.gpu->Peak(ops::MathUnit::kTensorTf32)) {
    word = "fp32 as tf32";
  }
  constexpr double kMost = 9e18;
  return {std::move(word), std::llround(std::clamp(peak, 0.0, kMost))};
}

/// "layers.3" and "Block_3": name and number; nullopt without a number at the end.
std::optional<std::pair<std::string_view, int64_t>> NumberAtEnd(std::string_view text) {
  const size_t digits = text.find_last_not_of("0123456789") + 1;
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data() + digits, text.data() + text.size(), number);
  if (digits == text.size() || error != std::errc()) return std::nullopt;
  return std::pair(text.substr(0, digits), number);
}

int64_t PicosecondsAt(double peak, int64_t flops) {
  constexpr double kMost = 9e18;
  return peak > 0 ? std::llround(std::clamp(static_cast<double>(flops) / peak * 1e12, 0.0, kMost))
                  : 0;
}

void Bound(std::map<ProductKey, ProductSums>* products) {
  if (products->size() <= kMostProducts) return;
  std::vector<std::pair<int64_t, ProductKey>> order;
  for (const auto& [key, sums] : *products) order.emplace_back(-(sums.Counted() + sums.again), key);
  std::ranges::sort(order);
  for (size_t i = kMostProducts; i < order.size(); ++i) {
    const auto found = products->find(order[i].second);
    MergeInto(&(*products)[ProductKey()], found->second);
    products->erase(found);
  }
}

}  // namespace

ProductSums ProductsOfRank::Total() const {
  ProductSums total;
  for (const auto& [key, sums] : products) MergeInto(&total, sums);
  return total;
}

void ProductGatherer::Begin(const Run& run) {
  run_ = &run;
  found_ = {};
  const std::span<const Step> steps = run.steps().all();
  const bool any_steady = std::ranges::any_of(steps, &Step::steady);
  counts_.assign(steps.size(), false);
  const bool marked = run.steps().source() != StepSource::kNone;
  found_.marked |= marked;
  found_.steady |= any_steady;
  const int64_t gpus = GpuCountOf(run.device_work());
  for (size_t i = 0; i < steps.size(); ++i) {
    if (any_steady && !steps[i].steady()) continue;
    counts_[i] = true;
    ++found_.steps;
    const int64_t length_ns = LengthOf(steps[i].span);
    found_.total_ns += length_ns;
    found_.capacity_ns += SaturatingProduct(length_ns, gpus);
    if (!steps[i].served) continue;
    found_.requests += std::max<int64_t>(steps[i].served->requests.value_or(0), 0);
    found_.tokens += std::max<int64_t>(steps[i].served->tokens.value_or(0), 0);
  }
  if (marked) return;
  for (const StepTimes& times : run.step_times()) found_.cold_ns += times.cold.value_or(0);
}

void ProductGatherer::Add(const PricedKernel& kernel) {
  if (run_ == nullptr || kernel.work == PricedKernel::kNoWork) return;
  const size_t step = run_->StepOf(run_->trace().kernels[kernel.work], kernel.work);
  if (step >= counts_.size() || !counts_[step]) return;
  const int64_t time_ns = TimeOf(kernel).value_or(0);
  found_.kernel_ns += time_ns;
  found_.forward |= kernel.record->direction == Direction::kForward;
  found_.backward |= kernel.record->direction == Direction::kBackward;
  const std::optional<int64_t> known = ModelFlopsOf(kernel);
  if (!known) found_.unknown_ns += time_ns;
  const int64_t flops = known.value_or(0);
  if (flops <= 0) return;

  const bool again = kernel.phase == Phase::kRecompute;
  ProductSums sums;
  if (again) {
    sums.again = flops;
  } else if (kernel.record->direction == Direction::kBackward) {
    sums.backward = flops;
  } else {
    sums.forward = flops;
  }
  sums.time_ns = time_ns;
  MergeInto(&found_.products[ProductKeyOf(kernel)], sums);

  const double peak = ProductPeakOf(kernel);
  TypeSums& type = found_.types[ProductTypeOf(kernel, peak)];
  (again ? type.again : type.flops) += flops;
  (again ? type.again_ideal_ps : type.ideal_ps) += PicosecondsAt(peak, flops);

  if (!by_layer_) return;
  std::string path;
  for (const std::string_view layer : kernel.layer) {
    if (const auto numbered = NumberAtEnd(layer)) {
      const NumberedLayer key{path + std::string(numbered->first), numbered->second};
      if (found_.layers.size() < kMostNumberedLayers || found_.layers.contains(key)) {
        MergeInto(&found_.layers[key], sums);
      }
    }
    path.append(layer).push_back('/');
  }
}

ProductsOfRank ProductGatherer::Take() {
  run_ = nullptr;
  Bound(&found_.products);
  return std::exchange(found_, {});
}

}  // namespace oplens::prof
