#include "prof/views/path/kernel_groups.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "base/saturating.h"

namespace oplens::prof {
namespace {

using advice::Topic;
using ops::KernelFamily;

/// How far apart kernels of a group start, in kernels of their stream.
constexpr size_t kProductReach = 8;
constexpr size_t kScoreReach = 24;
constexpr size_t kAttentionReach = 64;
constexpr size_t kMostNamedOps = 8;

using Indices = std::vector<size_t>;

/// Time of an amount at a rate, ns; 0 if the rate is unknown.
double GroupNsOf(double amount, double per_second) {
  return per_second > 0 ? amount / per_second * 1e9 : 0;
}

int64_t RoundedNs(double ns) { return std::llround(std::clamp(ns, 0.0, 9e18)); }

bool Contains(const std::vector<int64_t>& sizes, int64_t size) {
  return std::find(sizes.begin(), sizes.end(), size) != sizes.end();
}

class GroupClaims {
 public:
  GroupClaims(std::span<StreamKernel> kernels, const TextIds& texts, advice::RankFacts* facts,
              AdviceClaims* claims)
      : kernels_(kernels), texts_(texts), facts_(*facts), claims_(*claims) {}

  void ClaimAll() {
    ClaimQuantising();
    ClaimAttention();
    ClaimAttentionCopies();
    ClaimCasts();
    ClaimChains();
    ClaimOffers();
    ClaimFarFromRoof();
    ClaimMemoryBound();
  }

 private:
  std::string_view LayerOf(const StreamKernel& kernel) const { return texts_.View(kernel.layer); }

  void Claim(Topic topic, std::string_view place, StreamKernel* kernel, int64_t gain_ns) {
    kernel->claimed = true;
    facts_.At(topic).Add(place, {1, kernel->time_ns, gain_ns});
    claims_.TakeKernel(kernel->index, topic, gain_ns);
  }

  /// "copy_ T=(8,64),bf16,bf16 in OAIAttention".
  std::string InLayer(std::string place, const StreamKernel& kernel) const {
    const std::string_view layer = LayerName(LayerOf(kernel));
    if (!layer.empty()) place.append(" in ").append(layer);
    if (IsBackwardPhase(kernel.phase)) place.append(", ").append(PhaseWord(kernel.phase));
    return place;
  }

  // ---- quantisation ----

  bool IsBesideFewBits(size_t at) const {
    const auto fits = [&](size_t other) {
      const StreamKernel& kernel = kernels_[other];
      return kernel.few_bits && kernel.phase == kernels_[at].phase;
    };
    const size_t first = at > kProductReach ? at - kProductReach : 0;
    const size_t end = std::min(kernels_.size(), at + kProductReach + 1);
    for (size_t i = first; i < end; ++i) {
      if (fits(i)) return true;
    }
    return false;
  }

  void ClaimQuantising() {
    for (size_t i = 0; i < kernels_.size(); ++i) {
      StreamKernel& kernel = kernels_[i];
      if (kernel.claimed || kernel.work != StreamWork::kQuantise || !IsBesideFewBits(i)) continue;
      Claim(Topic::kQuantise, InLayer(std::string(texts_.View(kernel.name)), kernel), &kernel,
            kernel.time_ns);
    }
  }

  // ---- attention ----

  static std::array<int64_t, 3> OperandsOf(const StreamKernel& product) {
    const auto size = [&](int64_t rows, int64_t columns) {
      return (Checked(product.batch) * rows * columns).Value().value_or(-1);
    };
    return {size(product.m, product.k), size(product.k, product.n), size(product.m, product.n)};
  }

  static bool HasOperand(const StreamKernel& product, int64_t size) {
    const std::array<int64_t, 3> operands = OperandsOf(product);
    return std::find(operands.begin(), operands.end(), size) != operands.end();
  }

  static bool IsBatched(const StreamKernel& kernel) {
    return kernel.work == StreamWork::kProduct && kernel.is_main && kernel.batch > 1 &&
           kernel.mma_flops > 0;
  }

  bool IsScoreSoftmax(const StreamKernel& kernel) const {
    const std::string_view op = texts_.View(kernel.op);
    return kernel.family == KernelFamily::kSoftmax && kernel.work == StreamWork::kMemory &&
           kernel.largest > 0 && op.find("softmax") != op.npos &&
           op.find("log_softmax") == op.npos && op.find("cross") == op.npos;
  }

  /// Kernels from `at` on, in steps of `step`, that compute on as many scores as its softmax; up to
  /// the last batched product of scores.
  Indices ScoreKernels(size_t at, ptrdiff_t step) const {
    const StreamKernel& softmax = kernels_[at];
    Indices found;
    size_t until_product = 0;
    for (size_t n = 1; n <= kScoreReach; ++n) {
      const ptrdiff_t other = static_cast<ptrdiff_t>(at) + step * static_cast<ptrdiff_t>(n);
      if (other < 0 || other >= std::ssize(kernels_)) break;
      const StreamKernel& kernel = kernels_[static_cast<size_t>(other)];
      if (kernel.phase != softmax.phase || IsScoreSoftmax(kernel) ||
          AttentionLayerOf(LayerOf(kernel)) != AttentionLayerOf(LayerOf(softmax))) {
        break;
      }
      if (IsBatched(kernel)) {
        if (!HasOperand(kernel, softmax.largest)) break;
        found.push_back(static_cast<size_t>(other));
        until_product = found.size();
      } else if (kernel.work != StreamWork::kMemory) {
        break;
      } else if (kernel.largest == softmax.largest && !kernel.claimed) {
        found.push_back(static_cast<size_t>(other));
      }
    }
    found.resize(until_product);
    return found;
  }

  /// Least time of one kernel that does a composed attention: the FLOPs of its products on Tensor
  /// Cores, half of them if scores are masked, and for each product the smaller of its operands
  /// that are no scores. nullopt: unknown.
  std::optional<double> FusedAttentionNs(const Indices& group, int64_t scores) const {
    double flops = 0;
    double bytes = 0;
    double peak = 0;
    double bandwidth = 0;
    bool masked = false;
    for (const size_t i : group) {
      const StreamKernel& kernel = kernels_[i];
      const std::string_view op = texts_.View(kernel.op);
      masked |= op == "add" || op == "masked_fill" || op == "where" || op == "baddbmm";
      if (!IsBatched(kernel)) continue;
      if (kernel.peak_per_s <= 0 || kernel.dram_bytes_per_s <= 0) return std::nullopt;
      flops += static_cast<double>(kernel.mma_flops);
      peak = std::max(peak, kernel.tensor_peak_per_s);
      bandwidth = kernel.dram_bytes_per_s;
      std::array<int64_t, 3> operands = OperandsOf(kernel);
      *std::find(operands.begin(), operands.end(), scores) = INT64_MAX;
      const int64_t least = *std::min_element(operands.begin(), operands.end());
      bytes += static_cast<double>(least) * kernel.element_bits / 8;
    }
    if (masked) flops /= 2;
    return std::max(GroupNsOf(flops, peak), GroupNsOf(bytes, bandwidth));
  }

  void ClaimComposed(const Indices& group, int64_t scores) {
    const std::optional<double> fused_ns = FusedAttentionNs(group, scores);
    if (!fused_ns) return;
    int64_t open_ns = 0;
    int64_t claimed_ns = 0;
    for (const size_t i : group) {
      SaturatingAdd(kernels_[i].claimed ? &claimed_ns : &open_ns, kernels_[i].time_ns);
    }
    const int64_t rest_ns =
        std::max<int64_t>(SaturatingDifference(RoundedNs(*fused_ns), claimed_ns), 0);
    if (open_ns <= rest_ns) return;
    const auto product =
        std::find_if(group.begin(), group.end(), [&](size_t i) { return IsBatched(kernels_[i]); });
    std::string place = OpsOf(group);
    place.append(" ").append(texts_.View(kernels_[*product].params));
    ClaimTogether(Topic::kAttention, InLayer(std::move(place), kernels_[*product]), group, open_ns,
                  open_ns - rest_ns);
  }

  void ClaimAttention() {
    for (size_t i = 0; i < kernels_.size(); ++i) {
      StreamKernel& kernel = kernels_[i];
      if (kernel.could_flash && !kernel.claimed && kernel.roof_ns >= 0 &&
          kernel.roof_ns < kernel.time_ns) {
        Claim(Topic::kAttention, texts_.View(kernel.place), &kernel,
              kernel.time_ns - kernel.roof_ns);
      }
      if (!IsScoreSoftmax(kernel)) continue;
      Indices group = ScoreKernels(i, -1);
      const Indices after = ScoreKernels(i, 1);
      if (group.empty() || after.empty()) continue;
      kernel.is_core = true;
      std::reverse(group.begin(), group.end());
      group.push_back(i);
      group.insert(group.end(), after.begin(), after.end());
      for (const size_t member : group) {
        if (IsBatched(kernels_[member])) score_products_.push_back(member);
      }
      ClaimComposed(group, kernel.largest);
    }
    std::sort(score_products_.begin(), score_products_.end());
  }

  // ---- around attention ----

  bool IsScoreProduct(size_t at) const {
    return std::binary_search(score_products_.begin(), score_products_.end(), at);
  }

  bool IsOfAttention(const StreamKernel& kernel, const StreamKernel& core) const {
    if (kernel.phase != core.phase) return false;
    return core.layer == 0 ? kernel.layer == 0
                           : EnclosesLayer(AttentionLayerOf(LayerOf(core)), LayerOf(kernel));
  }

  bool IsRopePart(const StreamKernel& kernel) const {
    constexpr std::string_view kOps[] = {"mul", "add", "sub", "neg", "cat", "stack", "sin", "cos"};
    return std::find(std::begin(kOps), std::end(kOps), texts_.View(kernel.op)) != std::end(kOps);
  }

  /// Memory-bound kernels of the layer of an attention; without layers, those that only others such
  /// separate from it.
  Indices KernelsAround(size_t core) const {
    Indices found;
    for (const ptrdiff_t step : {-1, 1}) {
      for (size_t n = 1; n <= kAttentionReach; ++n) {
        const ptrdiff_t at = static_cast<ptrdiff_t>(core) + step * static_cast<ptrdiff_t>(n);
        if (at < 0 || at >= std::ssize(kernels_)) break;
        const auto other = static_cast<size_t>(at);
        const StreamKernel& kernel = kernels_[other];
        if (!IsOfAttention(kernel, kernels_[core])) break;
        if (kernel.is_core && kernel.layer == 0) break;
        if (kernel.work != StreamWork::kMemory && kernel.layer == 0 && !IsScoreProduct(other)) {
          break;
        }
        if (kernel.work == StreamWork::kMemory && !kernel.claimed) found.push_back(other);
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  /// Sizes of the tensors of an attention: of its one kernel, or of its products.
  std::vector<int64_t> SizesOfAttention(size_t core) const {
    std::vector<int64_t> sizes = kernels_[core].sizes;
    const auto near = std::lower_bound(score_products_.begin(), score_products_.end(), core);
    const auto add = [&](size_t at) {
      const std::array<int64_t, 3> operands = OperandsOf(kernels_[at]);
      sizes.insert(sizes.end(), operands.begin(), operands.end());
    };
    if (kernels_[core].work != StreamWork::kMemory) return sizes;
    if (near != score_products_.end()) add(*near);
    if (near != score_products_.begin()) add(*std::prev(near));
    return sizes;
  }

  void ClaimAttentionCopies() {
    for (size_t core = 0; core < kernels_.size(); ++core) {
      if (!kernels_[core].is_core) continue;
      const Indices around = KernelsAround(core);
      const std::vector<int64_t> sizes = SizesOfAttention(core);
      const bool has_rope = std::any_of(around.begin(), around.end(), [&](size_t i) {
        const std::string_view op = texts_.View(kernels_[i].op);
        return kernels_[i].is_rope || kernels_[i].is_complex || op == "neg" || op == "cat";
      });
      for (const size_t i : around) {
        StreamKernel& kernel = kernels_[i];
        const bool part = kernel.is_copy || kernel.is_rope || (has_rope && IsRopePart(kernel));
        if (!part || (kernel.layer == 0 && !Contains(sizes, kernel.largest))) continue;
        Claim(Topic::kAttentionCopies, InLayer(std::string(texts_.View(kernel.place)), kernel),
              &kernel, kernel.time_ns);
      }
    }
  }

  // ---- before products ----

  bool IsConversion(const StreamKernel& kernel) const {
    constexpr std::string_view kOps[] = {"copy",     "clone", "contiguous", "to",
                                         "_to_copy", "half",  "bfloat16",   "float"};
    return kernel.work == StreamWork::kMemory && kernel.is_copy &&
           std::find(std::begin(kOps), std::end(kOps), texts_.View(kernel.op)) != std::end(kOps);
  }

  /// Whether a copy of the same layer, or of one around it, is as large as a factor.
  bool FeedsProduct(const StreamKernel& copy, const StreamKernel& product) const {
    const bool together =
        copy.layer == 0 ? product.layer == 0 : EnclosesLayer(LayerOf(copy), LayerOf(product));
    return together && copy.phase == product.phase && Contains(product.sizes, copy.largest);
  }

  /// Copies directly before a product.
  void ClaimCasts() {
    for (size_t product = 0; product < kernels_.size(); ++product) {
      if (kernels_[product].work != StreamWork::kProduct || !kernels_[product].is_main) continue;
      for (size_t n = 1; n <= std::min(product, kProductReach); ++n) {
        StreamKernel& copy = kernels_[product - n];
        if (!IsConversion(copy)) break;
        if (copy.claimed || !FeedsProduct(copy, kernels_[product])) continue;
        Claim(Topic::kCast, InLayer(std::string(texts_.View(copy.place)), copy), &copy,
              copy.time_ns);
      }
    }
  }

  // ---- chains ----

  bool CanChain(const StreamKernel& kernel) const {
    const std::string_view op = texts_.View(kernel.op);
    return kernel.work == StreamWork::kMemory && !kernel.claimed && kernel.largest > 0 &&
           kernel.phase != Phase::kOptimizer && kernel.phase != Phase::kGradient &&
           kernel.phase != Phase::kAccumulate && op.find("pool") == op.npos;
  }

  /// Whether its largest tensor is as large as one that the chain reads or writes. The same call
  /// again, or a copy after a copy, hardly depends on the one before.
  bool Continues(const Indices& chain, const StreamKernel& next) const {
    const StreamKernel& last = kernels_[chain.back()];
    if (last.phase != next.phase || last.layer != next.layer) return false;
    const bool same_call = last.instance != 0 && last.instance == next.instance;
    if (!same_call && (last.place == next.place || (last.is_copy && next.is_copy))) return false;
    if (last.family == KernelFamily::kReduction && last.written == 1) return false;
    return std::any_of(chain.begin(), chain.end(), [&](size_t i) {
      return kernels_[i].written == next.largest || Contains(kernels_[i].sizes, next.largest);
    });
  }

  /// The part of a chain from the first kernel whose reads are known to the last whose writes are.
  Indices KnownPart(Indices chain) const {
    while (!chain.empty() && kernels_[chain.back()].written_bytes < 0) chain.pop_back();
    const auto first = std::find_if(chain.begin(), chain.end(),
                                    [&](size_t i) { return kernels_[i].read_bytes > 0; });
    chain.erase(chain.begin(), first);
    return chain;
  }

  /// Least traffic of one kernel that does a chain: what some kernel reads beyond all that those
  /// before it wrote, and what the last one writes.
  int64_t LeastBytes(const Indices& chain) const {
    int64_t read = 0;
    int64_t written = 0;
    for (const size_t i : chain) {
      const StreamKernel& kernel = kernels_[i];
      if (kernel.read_bytes >= 0) {
        read = std::max(read, SaturatingDifference(kernel.read_bytes, written));
      }
      written = kernel.written_bytes < 0 ? INT64_MAX : SaturatingSum(written, kernel.written_bytes);
    }
    return SaturatingSum(read, kernels_[chain.back()].written_bytes);
  }

  void ClaimChain(const Indices& whole) {
    const Indices chain = KnownPart(whole);
    if (chain.size() < 2) return;
    const StreamKernel& first = kernels_[chain.front()];
    if (first.dram_bytes_per_s <= 0) return;
    // The kernels of one op are one already, as far as its author could.
    if (first.instance != 0 && std::all_of(chain.begin(), chain.end(), [&](size_t i) {
          return kernels_[i].instance == first.instance;
        })) {
      return;
    }
    int64_t time_ns = 0;
    int64_t math_ns = 0;
    for (const size_t i : chain) {
      SaturatingAdd(&time_ns, kernels_[i].time_ns);
      SaturatingAdd(&math_ns, kernels_[i].math_ns);
    }
    const double memory_ns =
        GroupNsOf(static_cast<double>(LeastBytes(chain)), first.dram_bytes_per_s);
    const int64_t least_ns = std::max(RoundedNs(memory_ns), math_ns);
    if (least_ns >= time_ns) return;
    std::string place = OpsOf(chain);
    if (first.layer == 0) place.append(" ").append(texts_.View(first.params));
    ClaimTogether(Topic::kChain, InLayer(std::move(place), first), chain, time_ns,
                  time_ns - least_ns);
  }

  void ClaimChains() {
    Indices chain;
    for (size_t i = 0; i < kernels_.size(); ++i) {
      const bool can = CanChain(kernels_[i]);
      if (!chain.empty() && (!can || !Continues(chain, kernels_[i]))) {
        ClaimChain(chain);
        chain.clear();
      }
      if (can) chain.push_back(i);
    }
    if (!chain.empty()) ClaimChain(chain);
  }

  // ---- what is left ----

  void ClaimOffers() {
    for (StreamKernel& kernel : kernels_) {
      if (kernel.claimed || kernel.offer == Topic::kNone) continue;
      Claim(kernel.offer, texts_.View(kernel.offer_place), &kernel, kernel.offer_gain_ns);
    }
  }

  void ClaimFarFromRoof() {
    for (StreamKernel& kernel : kernels_) {
      if (kernel.claimed || kernel.roof_ns < 0 || !kernel.is_main ||
          kernel.phase == Phase::kOptimizer) {
        continue;
      }
      const double most_ns = advice::kLeastOfRoof * static_cast<double>(kernel.time_ns);
      if (!(static_cast<double>(kernel.roof_ns) < most_ns)) continue;
      Claim(Topic::kFarFromRoof, texts_.View(kernel.place), &kernel,
            kernel.time_ns - kernel.roof_ns);
    }
  }

  void ClaimMemoryBound() {
    for (StreamKernel& kernel : kernels_) {
      if (kernel.claimed || kernel.work != StreamWork::kMemory ||
          kernel.phase == Phase::kOptimizer) {
        continue;
      }
      Claim(Topic::kMemoryBound, texts_.View(kernel.place), &kernel, 0);
    }
  }

  // ---- groups ----

  /// "pow, mean, add, rsqrt, mul, mul": each call once, long lists in short.
  std::string OpsOf(const Indices& group) const {
    std::string ops;
    size_t count = 0;
    int64_t instance = 0;
    for (const size_t i : group) {
      const StreamKernel& kernel = kernels_[i];
      if (kernel.instance != 0 && kernel.instance == instance) continue;
      instance = kernel.instance;
      if (++count > kMostNamedOps) continue;
      ops.append(ops.empty() ? "" : ", ").append(texts_.View(kernel.op));
    }
    if (count > kMostNamedOps) {
      ops.append(" and ").append(std::to_string(count - kMostNamedOps)).append(" more");
    }
    return ops;
  }

  /// Claims those of a group that are not claimed, which take `time_ns`; it counts as one.
  void ClaimTogether(Topic topic, std::string_view place, const Indices& group, int64_t time_ns,
                     int64_t gain_ns) {
    const double part = static_cast<double>(gain_ns) / static_cast<double>(time_ns);
    for (const size_t i : group) {
      StreamKernel& kernel = kernels_[i];
      if (kernel.claimed) continue;
      kernel.claimed = true;
      claims_.TakeKernel(kernel.index, topic,
                         std::llround(part * static_cast<double>(kernel.time_ns)));
    }
    facts_.At(topic).Add(place, {1, time_ns, gain_ns});
  }

  std::span<StreamKernel> kernels_;
  const TextIds& texts_;
  advice::RankFacts& facts_;
  AdviceClaims& claims_;
  Indices score_products_;  ///< Batched products of composed attention, ascending.
};

}  // namespace

void ClaimGroups(std::span<StreamKernel> kernels, const TextIds& texts, advice::RankFacts* facts,
                 AdviceClaims* claims) {
  GroupClaims(kernels, texts, facts, claims).ClaimAll();
}

}  // namespace oplens::prof
