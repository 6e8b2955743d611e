#ifndef OPLENS_PROF_VIEWS_OPERATOR_SUMS_H_
#define OPLENS_PROF_VIEWS_OPERATOR_SUMS_H_

#include <cstdint>
#include <optional>

#include "base/checked.h"
#include "prof/price/priced_kernel.h"
#include "prof/views/histogram.h"

namespace oplens::prof {

/// Time of kernels, and of those of them that use Tensor Cores.
struct KernelTime {
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Sums(&self->device_ns, &self->tensor_core_ns, &self->known_ns);
    bytes->Values(&self->fitness);
  }

  int64_t device_ns = 0;       ///< Of device events of all kinds.
  int64_t tensor_core_ns = 0;  ///< Of kernels that use Tensor Cores.
  int64_t known_ns = 0;        ///< Of kernels that are known to use them or not.
  uint8_t fitness = 0;         ///< Bits of what its kernels could: 1 << TensorCoreFitness.

  void Add(const KernelTime& other);
  /// Percent of `known_ns`; nullopt where that is 0.
  std::optional<double> TensorCorePercent() const;
  /// Whether a kernel runs on Tensor Cores or could ("yes"), none could ("no"), or that is not
  /// known ("").
  std::string_view Eligible() const;
};

/// What the calls of one operator cost. Sums saturate.
struct OperatorSums {
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Counts(&self->calls, &self->launches);
    bytes->Sums(&self->device_busy_ns, &self->host_self_ns, &self->host_total_ns, &self->length_ns);
    bytes->Counts(&self->with_flops, &self->with_bytes);
    bytes->Values(&self->flops, &self->bytes, &self->self, &self->total, &self->lengths);
  }

  int64_t calls = 0;
  int64_t launches = 0;
  int64_t device_busy_ns = 0;
  int64_t host_self_ns = 0;
  int64_t host_total_ns = 0;
  int64_t length_ns = 0;  ///< Of all calls, also those inside of others of the operator.
  int64_t with_flops = 0;
  int64_t with_bytes = 0;
  Checked flops;
  Checked bytes;
  KernelTime self;
  KernelTime total;
  Histogram lengths;

  void Add(const OperatorSums& other);
  /// Of a kernel that a call of it launched itself.
  void AddPrice(std::optional<int64_t> flops, std::optional<int64_t> bytes);
};

/// What a kernel adds to the time of Tensor Cores, without `device_ns`. `named_product`: its name
/// is that of a matrix product; asked where its op has no price.
KernelTime TensorCoreTimeOf(const PricedKernel& kernel, bool named_product);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_OPERATOR_SUMS_H_
