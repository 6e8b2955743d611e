#ifndef OPLENS_PROF_VIEWS_KERNELS_GPU_LIST_H_
#define OPLENS_PROF_VIEWS_KERNELS_GPU_LIST_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/gpu/gpu.h"
#include "parse/model/family.h"

namespace oplens::prof {

/// The distinct GPUs of a view's rows, by what rates and roofs depend on.
class GpuList {
 public:
  static constexpr uint32_t kNone = 0;  ///< The number of an unknown GPU.

  /// The number of a GPU, which is added if it is new; kNone for null.
  uint32_t NumberOf(const ops::Gpu* gpu);
  /// Null for kNone.
  const ops::Gpu* At(uint32_t number) const {
    return number == kNone ? nullptr : &gpus_[number - 1];
  }
  const std::vector<ops::Gpu>& all() const { return gpus_; }

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self);

 private:
  std::vector<ops::Gpu> gpus_;
  uint32_t last_ = kNone;
};

/// Orders GPUs by what tells them apart; null counts as one without facts.
bool GpuBefore(const ops::Gpu* a, const ops::Gpu* b);

/// What a reader of roofs must know: that no kernel has a cost, or that the GPU's roofs are
/// unknown.
std::vector<std::string> RoofNotes(std::string_view view, int64_t kernels, int64_t priced,
                                   const GpuList& gpus, Family family);

template <typename Bytes, typename Gpu>
void TransferGpu(Bytes* bytes, Gpu* gpu) {
  bytes->Values(&gpu->name);
  bytes->Word(&gpu->maker, ops::kMakerCount);
  bytes->Values(&gpu->dram_bytes_per_s);
  // New units are appended, so a file may have fewer.
  if constexpr (Bytes::kReads) {
    const size_t units = bytes->Size(sizeof(double));
    bytes->Check(units <= gpu->peaks_per_s.size(), "a GPU has units that do not exist");
    for (size_t i = 0; i < units; ++i) bytes->Values(&gpu->peaks_per_s[i]);
  } else {
    bytes->Number(gpu->peaks_per_s.size());
    for (const double& peak : gpu->peaks_per_s) bytes->Values(&peak);
  }
}

template <typename Bytes, typename Self>
void GpuList::Transfer(Bytes* bytes, Self* self) {
  if constexpr (Bytes::kReads) {
    self->gpus_.resize(bytes->Size(sizeof(double) * ops::kMathUnitCount));
    for (ops::Gpu& gpu : self->gpus_) TransferGpu(bytes, &gpu);
  } else {
    bytes->Number(self->gpus_.size());
    for (const ops::Gpu& gpu : self->gpus_) TransferGpu(bytes, &gpu);
  }
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_GPU_LIST_H_
