#ifndef OPLENS_PROF_ADVICE_FACTS_H_
#define OPLENS_PROF_ADVICE_FACTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_map.h"
#include "prof/run/idle_gaps.h"
#include "prof/verdicts/steady_steps.h"

namespace oplens::prof::advice {

/// Sums over similar work, or over all of it.
struct Sums {
  int64_t count = 0;
  int64_t time_ns = 0;
  int64_t gain_ns = 0;  ///< Upper bound on the time that can be saved.

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->count, &self->time_ns, &self->gain_ns);
  }

  void Add(const Sums& more);
};

enum class Topic : uint8_t {
  kPad,        ///< Products whose sizes the fast kernels do not support well. Gain: to the roof.
  kLayout,     ///< Layout changes next to convolutions. Gain: all of it.
  kShort,      ///< Kernels below kShortKernelNs. Gain: waits for the host of at most kLaunchWaitNs.
  kFp32,       ///< fp32 products on CUDA cores. Gain: to the roof of Tensor Cores.
  kSmallGrid,  ///< Kernels with fewer blocks than multiprocessors. Gain: the idle multiprocessors.
  kLowOccupancy,  ///< Few resident warps, and far from the roofs. Gain: to the roof.
  kBlocking,   ///< API calls that wait before a GPU is idle. Gain: the idle time, up to the call's.
  kPageable,   ///< Copies from or to pageable memory.
  kOptimizer,  ///< Optimizer kernels that update one tensor each. Gain: as kShort, and to the roof.
  kRecompute,  ///< Recomputed forward kernels. Gain: all of it.
  kCollective,       ///< Collective calls. Gain: what computation does not hide.
  kSmallCollective,  ///< Collective calls of small messages. Gain: likewise.
  kAllocation,       ///< Allocations and releases at the driver, after the first step.
  // Of groups of kernels that a stream runs one after the other; each kernel is in one of these.
  kQuantise,         ///< Quantisation beside products of few bits. Gain: all of it.
  kAttention,        ///< Attention in parts, or by a slower kernel. Gain: to the roof.
  kAttentionCopies,  ///< Copies and rotary embedding around attention. Gain: all of it.
  kCast,             ///< Casts and copies of what a product reads. Gain: all of it.
  kChain,            ///< Memory-bound kernels that one kernel could do. Gain: to its roof.
  kFarFromRoof,      ///< Other kernels below kLeastOfRoof. Gain: to the roof.
  kMemoryBound,      ///< Other memory-bound kernels. Gain: unknown.
  kForeach,          ///< Passes of an optimizer over lists of tensors. Gain: to one pass.
};
inline constexpr size_t kTopicCount = 21;

inline constexpr int64_t kShortKernelNs = 5'000;
/// Only longer kernels profit from more blocks or warps.
inline constexpr int64_t kLongKernelNs = 10'000;
/// A kernel below this share of its nearer roof is far from it.
inline constexpr double kLeastOfRoof = 0.50;
/// Longer waits for a launch are not caused by many kernels.
inline constexpr int64_t kLaunchWaitNs = 100'000;
inline constexpr int64_t kSmallMessageBytes = int64_t{1} << 20;
/// Maximum number of places of a topic; further ones count in kOtherPlaces.
inline constexpr size_t kMostPlaces = size_t{1} << 16;
inline constexpr std::string_view kOtherPlaces = "(other)";

struct TopicFacts {
  Sums all;
  std::map<std::string, Sums, std::less<>> places;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->all);
    TransferMap(bytes, &self->places, [&](std::string place, const Sums& sums) {
      if constexpr (Bytes::kReads) self->places[std::move(place)].Add(sums);
    });
  }

  void Add(std::string_view place, const Sums& sums);
  void Merge(const TopicFacts& more);
};

struct StepFact {
  int64_t start_ns = 0;  ///< From the first event of its rank.
  int64_t number = 0;
  int64_t total_ns = 0;
  int64_t dataloader_ns = 0;  ///< Time that only waits for a batch.
  StepState state = StepState::kSteady;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->start_ns, &self->number, &self->total_ns, &self->dataloader_ns,
                  &self->state);
  }
  friend auto operator<=>(const StepFact&, const StepFact&) = default;
};

/// Time of products by the type of their factors, ns.
struct ProductTimes {
  int64_t half_ns = 0;         ///< 16 bits and less.
  int64_t fp32_ns = 0;         ///< fp32 on CUDA cores.
  int64_t tensor_fp32_ns = 0;  ///< fp32 by TF32.

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->half_ns, &self->fp32_ns, &self->tensor_fp32_ns);
  }
};

/// Facts of one rank: integers, so that the order of merging has no effect.
struct RankFacts {
  bool has_run = false;       ///< From a profile, not from records only.
  bool has_launches = false;  ///< The profile records which call launched what.
  bool has_prices = false;    ///< The cost of some kernel is known.
  bool has_roofs = false;     ///< The peaks of the GPU are known.
  bool has_phases = false;    ///< The phase of some kernel is known.
  bool has_memory = false;    ///< The framework's allocations are known.
  bool has_steps = false;     ///< Steps are marked.

  int64_t window_ns = 0;           ///< Observed time; 0 with records only.
  int64_t gpus = 0;                ///< GPUs that did something.
  std::vector<StepFact> steps;     ///< Steady ones; without any, all.
  std::vector<StepFact> left_out;  ///< The others that are not cut.

  // Sums over `steps`: parts of the view overview, and exposed times.
  int64_t steps_ns = 0;
  int64_t dataloader_ns = 0;
  int64_t comm_exposed_ns = 0;
  int64_t memcpy_exposed_ns = 0;

  // Over all GPUs.
  std::array<int64_t, kIdleCauseCount> idle_ns{};
  /// Part of idle_ns: launches, operators and Python before work, except delays by calls that wait
  /// for a GPU, and cold_ns.
  int64_t host_bound_ns = 0;
  int64_t cold_ns = 0;  ///< Part of idle_ns: cold start, and launches that load code.

  Sums kernels;  ///< Without communication.
  ProductTimes products;
  int64_t multi_tensor_kernels = 0;  ///< Of the optimizer.
  std::array<TopicFacts, kTopicCount> topics;

  int compute_capability = 0;  ///< Largest of its GPUs; 0: unknown.
  int64_t memory_bytes = 0;    ///< Of the GPU whose memory is fullest.
  int64_t peak_allocated_bytes = 0;
  int64_t peak_reserved_bytes = 0;
  int64_t allocated_at_peak_bytes = 0;  ///< At the peak of reserved memory.

  bool data_parallel = false;
  bool distributed_data_parallel = false;
  bool nccl = false;
  bool gloo = false;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->has_run, &self->has_launches, &self->has_prices, &self->has_roofs,
                  &self->has_phases, &self->has_memory, &self->has_steps);
    bytes->Values(&self->window_ns, &self->gpus, &self->steps, &self->left_out, &self->steps_ns,
                  &self->dataloader_ns, &self->comm_exposed_ns, &self->memcpy_exposed_ns);
    bytes->Values(&self->idle_ns, &self->host_bound_ns, &self->cold_ns, &self->kernels,
                  &self->products, &self->multi_tensor_kernels, &self->topics);
    bytes->Values(&self->compute_capability, &self->memory_bytes, &self->peak_allocated_bytes,
                  &self->peak_reserved_bytes, &self->allocated_at_peak_bytes);
    bytes->Values(&self->data_parallel, &self->distributed_data_parallel, &self->nccl, &self->gloo);
  }

  TopicFacts& At(Topic topic) { return topics[static_cast<size_t>(topic)]; }
  const TopicFacts& At(Topic topic) const { return topics[static_cast<size_t>(topic)]; }
  /// Denominator of shares: the time of all GPUs in the window without cold_ns; with records only,
  /// the time of kernels.
  int64_t capacity_ns() const;

  void Merge(const RankFacts& more);
};

}  // namespace oplens::prof::advice

#endif  // OPLENS_PROF_ADVICE_FACTS_H_
