#include "prof/views/kernel_prices.h"

#include "ops/kernels/kernel_name.h"
#include "parse/model/kernel_record.h"

namespace oplens::prof {

void KernelPrices::Add(const PricedKernel& kernel) {
  const size_t kernels = run_.trace().kernels.size();
  if (kernel.work >= kernels) return;
  if (prices_.empty()) prices_.reserve(kernels);
  const KernelTime time = TensorCoreTimeOf(kernel, IsNamedProduct(kernel));
  prices_.push_back({.flops = kernel.share.flops.value_or(0),
                     .bytes = kernel.share.bytes.value_or(0),
                     .known_ns = time.known_ns,
                     .kernel = kernel.work,
                     .with_flops = kernel.share.flops.has_value(),
                     .with_bytes = kernel.share.bytes.has_value(),
                     .tensor_core = time.tensor_core_ns > 0,
                     .fitness = time.fitness});
}

bool KernelPrices::IsNamedProduct(const PricedKernel& kernel) {
  uint8_t& known = product_names_[run_.trace().kernels[kernel.work].name];
  if (known == 0) {
    known = ops::KernelKindOf(kernel.record->long_name) == ops::KernelKind::kMatrix ? 2 : 1;
  }
  return known == 2;
}

}  // namespace oplens::prof
