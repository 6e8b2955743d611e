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

namespace oplens::prof::advice {

/// What is alike, or all of it together.
struct Sums {
  int64_t count = 0;
  int64_t time_ns = 0;
  int64_t gain_ns = 0;  ///< Of its time at most so much can be saved.

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->count, &self->time_ns, &self->gain_ns);
  }

  void Add(const Sums& more);
};

/// What rules look at: some work or calls, and where they stand.
enum class Topic : uint8_t {
  kPad,     ///< Products whose extents the fast kernels do not like. Gain: to the roof.
  kLayout,  ///< Changes of layout beside convolutions. Gain: all of it.
  kShort,   ///< Kernels below kShortKernelNs. Gain: the waits for the host before each, where they
            ///< are at most kLaunchWaitNs.
  kFp32,    ///< Products of fp32 on CUDA cores. Gain: to the roof of Tensor Cores.
  kSmallGrid,        ///< Kernels with fewer blocks than multiprocessors. Gain: of those that idle.
  kLowOccupancy,     ///< Few resident warps, and far from the roofs. Gain: to the roof.
  kBlocking,         ///< API calls that wait, after which a GPU had nothing to do. Gain: that, at
                     ///< most as long as the call took.
  kPageable,         ///< Copies from or to pageable memory.
  kOptimizer,        ///< Kernels of the optimizer that update a tensor each. Gain: as kShort's and
                     ///< to the roof.
  kRecompute,        ///< Forward kernels that run once more. Gain: all of it.
  kCollective,       ///< Calls of collectives. Gain: what of them no computation hides.
  kSmallCollective,  ///< Those of little messages. Gain: the same.
  kAllocation,  ///< Calls that take memory from the driver or give it back, after a first step.
};
inline constexpr size_t kTopicCount = 13;

inline constexpr int64_t kShortKernelNs = 5'000;
inline constexpr int64_t kLongKernelNs = 10'000;  ///< More blocks or warps would help only these.
/// A GPU that waits longer for a launch does not wait because kernels are many.
inline constexpr int64_t kLaunchWaitNs = 100'000;
inline constexpr int64_t kColdLaunchNs = 1'000'000;
inline constexpr int64_t kSmallMessageBytes = int64_t{1} << 20;
/// A topic has no more places; what comes then counts in kOtherPlaces.
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

/// A step that the recording holds as a whole.
struct StepFact {
  int64_t start_ns = 0;  ///< From the first event of its rank.
  int64_t number = 0;
  int64_t total_ns = 0;
  int64_t dataloader_ns = 0;  ///< Of that nothing but waiting for a batch.

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->start_ns, &self->number, &self->total_ns, &self->dataloader_ns);
  }
  friend auto operator<=>(const StepFact&, const StepFact&) = default;
};

/// Products by what they are multiplied with, ns.
struct ProductTimes {
  int64_t half_ns = 0;         ///< Of 16 bits and less.
  int64_t fp32_ns = 0;         ///< fp32 on CUDA cores.
  int64_t tensor_fp32_ns = 0;  ///< fp32 by TF32.

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->half_ns, &self->fp32_ns, &self->tensor_fp32_ns);
  }
};

/// What is known of one rank: integers, so that the order of merging has no effect.
struct RankFacts {
  bool has_run = false;       ///< It is of a profile, not of records alone.
  bool has_launches = false;  ///< The profile tells which call launched what.
  bool has_prices = false;    ///< The cost of some kernel is known.
  bool has_roofs = false;     ///< The peaks of the GPU are known.
  bool has_phases = false;    ///< The phase of some kernel is known.
  bool has_memory = false;    ///< The framework's allocations are known.
  bool has_steps = false;     ///< Steps are marked, or a sequence of kernels repeats.

  int64_t window_ns = 0;  ///< What is looked at; 0 with records alone.
  int64_t gpus = 0;       ///< That did anything.
  std::vector<StepFact> steps;

  // Where the time of the whole steps went: parts of the view overview, and what was exposed.
  int64_t steps_ns = 0;
  int64_t dataloader_ns = 0;
  int64_t comm_exposed_ns = 0;
  int64_t memcpy_exposed_ns = 0;

  // Of all GPUs.
  std::array<int64_t, kIdleCauseCount> idle_ns{};
  /// Of idle_ns: launches, operators and Python before work, but for what calls that wait for a GPU
  /// held up, and for cold_ns.
  int64_t host_bound_ns = 0;
  int64_t cold_ns = 0;  ///< Of idle_ns: launches of at least kColdLaunchNs, which load code.

  Sums kernels;  ///< Without communication.
  ProductTimes products;
  int64_t multi_tensor_kernels = 0;  ///< Of the optimizer.
  std::array<TopicFacts, kTopicCount> topics;

  int compute_capability = 0;  ///< The largest of its GPUs; 0: not known.
  int64_t memory_bytes = 0;    ///< Of the GPU whose memory is fullest.
  int64_t peak_allocated_bytes = 0;
  int64_t peak_reserved_bytes = 0;
  int64_t allocated_at_peak_bytes = 0;  ///< When most was reserved.

  bool data_parallel = false;
  bool distributed_data_parallel = false;
  bool nccl = false;
  bool gloo = false;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->has_run, &self->has_launches, &self->has_prices, &self->has_roofs,
                  &self->has_phases, &self->has_memory, &self->has_steps);
    bytes->Values(&self->window_ns, &self->gpus, &self->steps, &self->steps_ns,
                  &self->dataloader_ns, &self->comm_exposed_ns, &self->memcpy_exposed_ns);
    bytes->Values(&self->idle_ns, &self->host_bound_ns, &self->cold_ns, &self->kernels,
                  &self->products, &self->multi_tensor_kernels, &self->topics);
    bytes->Values(&self->compute_capability, &self->memory_bytes, &self->peak_allocated_bytes,
                  &self->peak_reserved_bytes, &self->allocated_at_peak_bytes);
    bytes->Values(&self->data_parallel, &self->distributed_data_parallel, &self->nccl, &self->gloo);
  }

  TopicFacts& At(Topic topic) { return topics[static_cast<size_t>(topic)]; }
  const TopicFacts& At(Topic topic) const { return topics[static_cast<size_t>(topic)]; }
  int64_t IdleOf(IdleCause cause) const { return idle_ns[static_cast<size_t>(cause)]; }
  /// What shares are of: the time of all GPUs in the window without cold_ns; of records alone that
  /// of kernels.
  int64_t capacity_ns() const;

  void Merge(const RankFacts& more);
};

}  // namespace oplens::prof::advice

#endif  // OPLENS_PROF_ADVICE_FACTS_H_
