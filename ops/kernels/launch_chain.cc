#include "ops/kernels/launch_chain.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/checked.h"
#include "base/hash.h"
#include "ops/kernels/launch_product.h"
#include "ops/kernels/launch_rows.h"

namespace oplens::ops {
namespace {

// Beyond these another tensor was taken for the factor.
constexpr int64_t kSmallestDepth = 32;
constexpr int64_t kLargestDepth = 70'000;
// Rates of one kernel are comparable from these on: no tail, no start-up.
constexpr int64_t kShortestRated = 100'000;
constexpr int64_t kFewestRatedBlocks = 400;
constexpr int64_t kSmallestRatedDepth = 512;
constexpr double kRateTolerance = 0.12;
constexpr double kAgreeingTime = 0.6;
constexpr double kDistinctDepths = 1.5;
constexpr size_t kMostLateTensors = 8;
constexpr size_t kMostKeptSizes = 4096;

struct DepthGuess {
  ChainedKernel product;
  const LaunchRule* rule = nullptr;
  int64_t depth = 0;  // Lowest K.
  int64_t duration_ns = 0;
  double rate = 0;  // FLOPs per ns; 0: not comparable.
  bool known = false;
};

bool IsSplitSum(const StreamKernel& kernel) {
  return kernel.rule != nullptr && kernel.rule->sums_splits;
}

bool IsProduct(const StreamKernel& kernel) {
  return kernel.rule != nullptr && kernel.rule->kind == LaunchSizes::Kind::kProduct;
}

// Whether its rate may be comparable with those of other launches of its kernel.
bool MayBeRated(const StreamKernel& kernel) {
  return kernel.rule->is_fp32 && kernel.duration_ns >= kShortestRated &&
         kernel.grid.x * kernel.grid.y >= kFewestRatedBlocks;
}

// Guesses of a stream. Its launches repeat, so each distinct one is computed once.
class DepthGuesses {
 public:
  std::optional<DepthGuess> Of(const StreamKernel& kernel, const Bounds& right) {
    if (sizes_.size() >= kMostKeptSizes) sizes_.clear();
    const auto [place, is_new] = sizes_.try_emplace(Key{kernel.rule, kernel.grid, right});
    if (is_new) place->second = DepthOf(kernel, right);
    const std::optional<Depth>& depth = place->second;
    if (!depth) return std::nullopt;
    DepthGuess guess;
    guess.product.elements = right;
    guess.rule = kernel.rule;
    guess.depth = depth->low;
    guess.duration_ns = kernel.duration_ns;
    if (MayBeRated(kernel) && depth->low >= kSmallestRatedDepth) {
      guess.rate = static_cast<double>(depth->most_flops) / static_cast<double>(kernel.duration_ns);
    }
    return guess;
  }

 private:
  struct Key {
    const LaunchRule* rule;
    Dim3 grid;
    Bounds right;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      size_t hash = MixHash(0, std::bit_cast<uintptr_t>(key.rule));
      for (const int64_t part : {key.grid.x, key.grid.y, key.grid.z, key.right.low}) {
        hash = MixHash(hash, part);
      }
      return hash;
    }
  };
  struct Depth {
    int64_t low = 0;  // Of K.
    int64_t most_flops = 0;
  };

  static std::optional<Depth> DepthOf(const StreamKernel& kernel, const Bounds& right) {
    const LaunchSizes sizes = ProductSizes(*kernel.rule, kernel.grid, right);
    if (!sizes.flops || sizes.k.low < kSmallestDepth || sizes.k.high > kLargestDepth) {
      return std::nullopt;
    }
    return Depth{sizes.k.low, sizes.flops->high};
  }

  std::unordered_map<Key, std::optional<Depth>, KeyHash> sizes_;
};

// The rate that half of the time is below.
double MedianRate(std::vector<const DepthGuess*> guesses) {
  std::sort(guesses.begin(), guesses.end(),
            [](const DepthGuess* a, const DepthGuess* b) { return a->rate < b->rate; });
  double total = 0;
  for (const DepthGuess* guess : guesses) total += static_cast<double>(guess->duration_ns);
  double below = 0;
  for (const DepthGuess* guess : guesses) {
    below += static_cast<double>(guess->duration_ns);
    if (below >= total / 2) return guess->rate;
  }
  return 0;
}

bool Agrees(const DepthGuess& guess, double rate) {
  return guess.rate >= rate * (1 - kRateTolerance) && guess.rate <= rate * (1 + kRateTolerance);
}

// Marks the guesses of one kernel that agree with the known ones, or with each other. Gives the
// rate of the known ones; 0: none is known.
double Judge(const std::vector<DepthGuess*>& guesses) {
  std::vector<const DepthGuess*> known;
  std::vector<const DepthGuess*> rated;
  for (const DepthGuess* guess : guesses) {
    if (guess->rate <= 0) continue;
    rated.push_back(guess);
    if (guess->known) known.push_back(guess);
  }
  if (rated.empty()) return 0;
  const double rate = MedianRate(known.empty() ? rated : known);
  double time = 0;
  double agreeing = 0;
  int64_t least = INT64_MAX;
  int64_t most = 0;
  for (const DepthGuess* guess : rated) {
    time += static_cast<double>(guess->duration_ns);
    if (!Agrees(*guess, rate)) continue;
    agreeing += static_cast<double>(guess->duration_ns);
    least = std::min(least, guess->depth);
    most = std::max(most, guess->depth);
  }
  const bool are_distinct =
      static_cast<double>(most) >= kDistinctDepths * static_cast<double>(least);
  if (known.empty() && (!are_distinct || agreeing < kAgreeingTime * time)) return 0;
  for (DepthGuess* guess : guesses) {
    if (guess->rate > 0 && Agrees(*guess, rate)) guess->known = true;
  }
  return rate;
}

// Tensors written lately, the latest first, each size once.
class LateTensors {
 public:
  void Add(const Bounds& elements) {
    std::erase(sizes_, elements);
    sizes_.insert(sizes_.begin(), elements);
    if (sizes_.size() > kMostLateTensors) sizes_.pop_back();
  }
  const std::vector<Bounds>& sizes() const { return sizes_; }

 private:
  std::vector<Bounds> sizes_;
};

// A product, and its guesses by each late tensor that can be compared.
struct Alternatives {
  size_t kernel = 0;
  const LaunchRule* rule = nullptr;
  std::vector<DepthGuess> guesses;
};

Alternatives AlternativesOf(size_t index, const StreamKernel& kernel, const LateTensors& late,
                            DepthGuesses* known) {
  Alternatives alternatives{index, kernel.rule, {}};
  for (const Bounds& elements : late.sizes()) {
    std::optional<DepthGuess> guess = known->Of(kernel, elements);
    if (!guess || guess->rate <= 0) continue;
    guess->product.kernel = index;
    if (alternatives.guesses.empty()) alternatives.guesses.reserve(late.sizes().size());
    alternatives.guesses.push_back(*guess);
  }
  return alternatives;
}

// The only size among the guesses that agrees with the rate; nullptr: none or several.
const DepthGuess* OnlyOne(const std::vector<DepthGuess>& guesses, double rate) {
  const DepthGuess* found = nullptr;
  for (const DepthGuess& guess : guesses) {
    if (!Agrees(guess, rate)) continue;
    const Bounds& size = guess.product.elements;
    if (found != nullptr &&
        (size.low > found->product.elements.high || found->product.elements.low > size.high)) {
      return nullptr;
    }
    if (found == nullptr ||
        size.high - size.low < found->product.elements.high - found->product.elements.low) {
      found = &guess;
    }
  }
  return found;
}

// What an elementwise kernel wrote.
struct WrittenTensor {
  Bounds elements;
  LaunchRule::Written written = LaunchRule::Written::kAny;
};

std::optional<WrittenTensor> TensorWrittenBy(const StreamKernel& kernel) {
  const auto elements = kernel.rule == nullptr
                            ? std::nullopt
                            : ElementsOfLaunch(*kernel.rule, kernel.grid, kernel.block);
  if (!elements) return std::nullopt;
  return WrittenTensor{*elements, kernel.rule->written};
}

// The elements of so many rows, if the only length of a row that is a multiple of 32 and fits is
// the same for all neighbours that have one.
std::optional<Bounds> ElementsOfRows(int64_t rows, const std::optional<WrittenTensor>& last,
                                     const std::optional<WrittenTensor>& next) {
  constexpr int64_t kFewestRows = 16;
  constexpr int64_t kLongestRow = 16'384;
  constexpr int64_t kUnit = 32;
  if (rows < kFewestRows) return std::nullopt;
  std::optional<int64_t> length;
  for (const std::optional<WrittenTensor>* tensor : {&last, &next}) {
    if (!*tensor) continue;
    const Bounds& elements = (*tensor)->elements;
    const int64_t longest = elements.high / rows / kUnit * kUnit;
    const int64_t shortest = (elements.low - 1) / rows + 1;
    const bool is_only = longest >= shortest && longest - kUnit < shortest;
    if (!is_only || longest < kUnit || longest > kLongestRow) continue;
    if (length && *length != longest) return std::nullopt;
    length = longest;
  }
  if (!length) return std::nullopt;
  const std::optional<int64_t> all = (Checked(rows) * *length).Value();
  return all ? std::optional(Bounds{*all, *all}) : std::nullopt;
}

// The elements of a norm or reduction between these neighbours.
std::optional<Bounds> ElementsBeside(const StreamKernel& kernel,
                                     const std::optional<WrittenTensor>& last,
                                     const StreamKernel* next) {
  using enum LaunchRule::Written;
  if (kernel.rule == nullptr) return std::nullopt;
  switch (kernel.rule->neighbour) {
    case LaunchRule::Neighbour::kNone:
      return std::nullopt;
    case LaunchRule::Neighbour::kLast:
      return last && last->written != kUnrelated ? std::optional(last->elements) : std::nullopt;
    case LaunchRule::Neighbour::kGradient:
      return last && last->written == kReluGradient ? std::optional(last->elements) : std::nullopt;
    case LaunchRule::Neighbour::kNext: {
      const auto written = next == nullptr ? std::nullopt : TensorWrittenBy(*next);
      const bool is_known =
          written && (written->written == kActivation || written->written == kSum);
      return is_known ? std::optional(written->elements) : std::nullopt;
    }
    case LaunchRule::Neighbour::kRows:
      if (kernel.grid.y != 1 || kernel.grid.z != 1) return std::nullopt;
      return ElementsOfRows(kernel.grid.x, last,
                            next == nullptr ? std::nullopt : TensorWrittenBy(*next));
  }
  return std::nullopt;
}

}  // namespace

std::vector<ChainedKernel> ChainedKernelsOf(std::span<const StreamKernel> stream) {
  return ChainedKernelsOf(stream.size(), [&](size_t index) { return stream[index]; });
}

std::vector<ChainedKernel> ChainedKernelsOf(
    size_t count, const std::function<StreamKernel(size_t index)>& kernel_of) {
  std::vector<DepthGuess> guesses;
  std::vector<ChainedKernel> chained;
  std::optional<WrittenTensor> last;  // Until a kernel whose result has an unknown size.
  bool is_direct = false;             // Nothing has read it yet.
  std::optional<StreamKernel> last_product;
  LateTensors late;
  DepthGuesses sizes;
  std::vector<Alternatives> open;
  StreamKernel ahead = count > 0 ? kernel_of(0) : StreamKernel();
  for (size_t i = 0; i < count; ++i) {
    const StreamKernel kernel = ahead;
    const StreamKernel* next = nullptr;
    if (i + 1 < count) {
      ahead = kernel_of(i + 1);
      next = &ahead;
    }
    if (IsSplitSum(kernel)) continue;
    if (!IsProduct(kernel)) {
      const auto elements = ElementsBeside(kernel, last, next);
      if (elements) chained.push_back({i, *elements});
      last = TensorWrittenBy(kernel);
      if (last && last->written != LaunchRule::Written::kUnrelated) late.Add(last->elements);
      is_direct = true;
      continue;
    }
    const bool is_one = kernel.grid.z == 1 || (next != nullptr && IsSplitSum(*next));
    if (is_one && kernel.rule->takes_rows) {
      // A product like the one before the activation is the other factor of a gate: it reads what
      // that one read.
      const bool is_gate =
          last_product && last_product->rule == kernel.rule && last_product->grid == kernel.grid;
      const bool is_known =
          last && is_direct && !is_gate && last->written == LaunchRule::Written::kActivation;
      const bool is_rated = MayBeRated(kernel);
      if (last && (is_known || is_rated)) {
        if (std::optional<DepthGuess> guess = sizes.Of(kernel, last->elements)) {
          guess->product.kernel = i;
          guess->known = is_known;
          guesses.push_back(*guess);
        }
      }
      if (is_rated) open.push_back(AlternativesOf(i, kernel, late, &sizes));
    }
    is_direct = false;
    last_product = kernel;
  }
  std::map<const LaunchRule*, std::vector<DepthGuess*>> by_rule;
  for (DepthGuess& guess : guesses) by_rule[guess.rule].push_back(&guess);
  std::map<const LaunchRule*, double> rates;
  for (const auto& [rule, group] : by_rule) rates[rule] = Judge(group);
  std::set<size_t> known;
  for (const DepthGuess& guess : guesses) {
    if (!guess.known) continue;
    chained.push_back(guess.product);
    known.insert(guess.product.kernel);
  }
  for (const Alternatives& product : open) {
    const double rate = rates[product.rule];
    if (rate <= 0 || known.contains(product.kernel)) continue;
    const DepthGuess* only = OnlyOne(product.guesses, rate);
    if (only != nullptr) chained.push_back(only->product);
  }
  std::sort(chained.begin(), chained.end(),
            [](const ChainedKernel& a, const ChainedKernel& b) { return a.kernel < b.kernel; });
  return chained;
}

LaunchSizes SizesOfChained(const StreamKernel& kernel, const Bounds& elements) {
  if (kernel.rule == nullptr) return {};
  if (IsProduct(kernel)) {
    LaunchSizes sizes = ProductSizes(*kernel.rule, kernel.grid, elements);
    SetProductParams(*kernel.rule, &sizes);
    return sizes;
  }
  return RowsSizes(*kernel.rule, elements);
}

}  // namespace oplens::ops
