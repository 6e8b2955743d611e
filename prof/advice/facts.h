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
#include "parse/model/family.h"
#include "prof/run/idle_gaps.h"
#include "prof/verdicts/steady_steps.h"

namespace oplens::prof::advice {

/// Sums over similar work, or over all of it.
struct Sums {
  int64_t count = 0;
  int64_t time_ns = 0;
  int64_t gain_ns = 0;  ///< Upper bound on the time that can be saved.

  void Add(const Sums& more);
};

/// What the time that a change would save is about. A nanosecond of a kernel, and of the GPU's idle
/// time, belongs to one topic.
enum class Topic : uint8_t {
  // Kernels: of each, the topic with the largest gain.
  kPad,        ///< Products whose sizes the fast kernels do not support well. Gain: to the roof.
  kLayout,     ///< Layout changes next to convolutions. Gain: all of it.
  kFp32,       ///< fp32 products on CUDA cores. Gain: by the ratio of the roofs.
  kSmallGrid,  ///< Kernels with fewer blocks than multiprocessors. Gain: the idle multiprocessors.
  kLowOccupancy,  ///< Few resident warps, and far from the roofs. Gain: to the roof.
  kOptimizer,  ///< Optimizer kernels that update one tensor each. Gain: to the roof, and the waits
               ///< for the host before them.
  kRecompute,  ///< Recomputed forward kernels. Gain: all of it.
  // Idle time.
  kBlocking,     ///< API calls that wait for a GPU, which is idle after them. Gain: that idle time,
                 ///< up to the call's.
  kShort,        ///< Waits of at most kLaunchWaitNs for the host before kernels below
                 ///< kShortKernelNs, if most kernels are.
  kGraphLaunch,  ///< From a launch of a graph to its first work.
  kStepStart,    ///< From the start of a marked step to the launch of its first work.
  kHost,         ///< Other waits for the host to launch work.
  kDataLoader,   ///< Waits for the next batch.
  kAllocation,   ///< Waits in API calls that allocate or release memory at the driver, in steps.
  kApiCall,      ///< Waits in other long API calls.
  // Copies and communication.
  kPageable,         ///< Copies from or to pageable memory. Gain: what nothing hides.
  kPinned,           ///< Other copies between host and GPU. Gain: likewise.
  kCollective,       ///< Collective calls. Gain: what computation does not hide.
  kSmallCollective,  ///< Collective calls of small messages. Gain: likewise.
  // Kernels of a stream one after the other; these come before kPad, kSmallGrid and kLowOccupancy
  // (docs/advice.md).
  kQuantise,         ///< Quantisation beside products of few bits. Gain: all of it.
  kAttention,        ///< Attention in parts, or by a slower kernel. Gain: to the roof.
  kAttentionCopies,  ///< Copies and rotary embedding around attention. Gain: all of it.
  kCast,             ///< Casts and copies of what a product reads. Gain: all of it.
  kChain,            ///< Memory-bound kernels that one kernel could do. Gain: to its roof.
  kForeach,          ///< Passes of an optimizer over lists of tensors. Gain: to one pass.
  // Kernels that no other topic has.
  kFarFromRoof,  ///< Below kLeastOfRoof. Gain: to the roof.
  kMemoryBound,  ///< Memory-bound ones. Gain: unknown.
  kNone,         ///< Of rules whose gain is of no topic.
};
inline constexpr size_t kTopicCount = 27;

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
  /// By how much the steps are shorter if the critical path is replayed with the gain saved; not
  /// known without RankFacts::has_replay.
  int64_t saved_ns = 0;
  std::map<std::string, Sums, std::less<>> places;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->all, &self->saved_ns);
    TransferMap(bytes, &self->places, [&](std::string place, const Sums& sums) {
      if constexpr (Bytes::kReads) self->places[std::move(place)].Add(sums);
    });
  }

  void Add(std::string_view place, const Sums& sums);
  void DropGains();
  void Merge(const TopicFacts& more);
};

struct StepFact {
  int64_t start_ns = 0;  ///< From the first event of its rank.
  int64_t number = 0;
  int64_t total_ns = 0;
  int64_t dataloader_ns = 0;  ///< Time that only waits for a batch.
  StepState state = StepState::kSteady;

  friend auto operator<=>(const StepFact&, const StepFact&) = default;
};

/// Time of products by the type of their factors, ns.
struct ProductTimes {
  int64_t half_ns = 0;         ///< 16 bits and less.
  int64_t fp32_ns = 0;         ///< fp32 on CUDA cores.
  int64_t tensor_fp32_ns = 0;  ///< fp32 by TF32.
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
  bool has_replay = false;    ///< TopicFacts::saved_ns is known.
  bool file_cut = false;      ///< The file ends early.
  Family family = Family::kUnknown;

  // Times are of the steady time (SteadyTime) unless it says otherwise.
  int64_t total_ns = 0;            ///< Its length; 0 with records only.
  int64_t gpus = 0;                ///< GPUs that did something.
  std::vector<StepFact> steps;     ///< Steady ones; without any, all.
  std::vector<StepFact> left_out;  ///< The others that are not cut.

  int64_t dataloader_ns = 0;      ///< Parts of the view overview;
  int64_t comm_exposed_ns = 0;    ///< nothing but communication runs;
  int64_t compute_alone_ns = 0;   ///< computation runs and no communication;
  int64_t memcpy_exposed_ns = 0;  ///< nothing but copies run.

  // While all GPUs are idle.
  std::array<int64_t, kIdleCauseCount> idle_ns{};  ///< By cause, without cold start.
  int64_t longest_host_ns = 0;                     ///< The longest single wait for the host,
  std::string host_place;  ///< and where the host is most of all these times.

  Sums kernels;  ///< Without communication.
  ProductTimes products;
  int64_t multi_tensor_kernels = 0;  ///< Of the optimizer.
  std::array<TopicFacts, kTopicCount> topics;

  int compute_capability = 0;    ///< Largest of its GPUs; 0: unknown.
  int64_t link_bytes_per_s = 0;  ///< MostLinkBytesPerS of the GPU with most; 0: unknown.
  int64_t memory_bytes = 0;      ///< Of the GPU whose memory is fullest.
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
                  &self->has_phases, &self->has_memory, &self->has_steps, &self->has_replay);
    bytes->Values(&self->total_ns, &self->gpus, &self->steps, &self->left_out, &self->dataloader_ns,
                  &self->comm_exposed_ns, &self->compute_alone_ns, &self->memcpy_exposed_ns);
    bytes->Values(&self->idle_ns, &self->longest_host_ns, &self->host_place, &self->kernels,
                  &self->products, &self->multi_tensor_kernels, &self->topics);
    bytes->Values(&self->compute_capability, &self->memory_bytes, &self->peak_allocated_bytes,
                  &self->peak_reserved_bytes, &self->allocated_at_peak_bytes);
    bytes->Values(&self->data_parallel, &self->distributed_data_parallel, &self->nccl, &self->gloo,
                  &self->file_cut, &self->family, &self->link_bytes_per_s);
  }

  TopicFacts& At(Topic topic) { return topics[static_cast<size_t>(topic)]; }
  const TopicFacts& At(Topic topic) const { return topics[static_cast<size_t>(topic)]; }
  int64_t host_ns() const;  ///< Part of idle_ns: the host is late (IdleGroup::kHost).
  /// Denominator of shares of kernels: the steady time of all GPUs; with records only, the time of
  /// kernels.
  int64_t capacity_ns() const;

  void Merge(const RankFacts& more);
};

/// Collective calls of at least kSmallMessageBytes whose traffic over the bus is known.
struct LargeCalls {
  int64_t bus_bytes = 0;
  int64_t latency_ns = 0;
  int64_t transfer_ns =
      0;  ///< After the last rank arrived; 0: the calls of other ranks are unknown.
};

/// What is known of the collectives in the steady time of a rank.
struct CommunicationFacts {
  int64_t exposed_ns = 0;   ///< Of matched calls: no computation hides it.
  int64_t transfer_ns = 0;  ///< Upper bound on the part of it after the last rank arrived.
  int64_t waiting_ns = 0;   ///< The rest: the least that this rank waited for others.
  /// How much of waiting_ns is for a rank, longest first; without those that are unknown.
  std::vector<std::pair<int64_t, std::string>> waits_for;
  LargeCalls matched;  ///< On other ranks.
  LargeCalls alone;    ///< The others.
  std::string kind;  ///< Of the groups with most exposed time: "data", "tensor", ...; "": unknown.
};

}  // namespace oplens::prof::advice

#endif  // OPLENS_PROF_ADVICE_FACTS_H_
