#include "prof/views/kernels/model_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace oplens::prof {
namespace {

using ops::Applied;
using ops::Network;
using ops::NetworkAttention;
using ops::NetworkInput;
using ops::NetworkPart;
using ops::NetworkWeight;

double ModelDouble(int64_t value) { return static_cast<double>(value); }

/// Sizes of a product with a weight.
struct MatrixSize {
  bool convolution = false;
  int64_t in = 0;
  int64_t out = 0;
  friend auto operator<=>(const MatrixSize&, const MatrixSize&) = default;
};

/// Weights of one size, or several computed as one product.
struct SizeClass {
  MatrixSize size;
  std::vector<const NetworkWeight*> weights;
  /// FLOPs per row of one block's product, of each weight: 2 in out of its share of the matrix.
  std::vector<double> row_flops;
  ProductSums kernels;
  std::vector<bool> left_out;  ///< Optional weights that the run does not have.
};

/// Parts that frameworks multiply at once, if they have the same input.
constexpr NetworkPart kFused[][3] = {
    {NetworkPart::kQuery, NetworkPart::kKey, NetworkPart::kValue},
    {NetworkPart::kKey, NetworkPart::kValue, NetworkPart::kNorm},
    {NetworkPart::kGate, NetworkPart::kUp, NetworkPart::kNorm},
    {NetworkPart::kExpertGate, NetworkPart::kExpertUp, NetworkPart::kNorm},
    {NetworkPart::kSharedGate, NetworkPart::kSharedUp, NetworkPart::kNorm},
    {NetworkPart::kQueryDown, NetworkPart::kKeyValueDown, NetworkPart::kNorm}};

enum class Split : uint8_t { kWhole, kByColumns, kByRows };

/// How tensor parallelism shards a weight.
Split SplitOf(NetworkPart part) {
  switch (part) {
    case NetworkPart::kQuery:
    case NetworkPart::kKey:
    case NetworkPart::kValue:
    case NetworkPart::kQueryUp:
    case NetworkPart::kKeyValueUp:
    case NetworkPart::kGate:
    case NetworkPart::kUp:
    case NetworkPart::kExpertGate:
    case NetworkPart::kExpertUp:
    case NetworkPart::kSharedGate:
    case NetworkPart::kSharedUp:
    case NetworkPart::kHead:
      return Split::kByColumns;
    case NetworkPart::kAttentionOutput:
    case NetworkPart::kDown:
    case NetworkPart::kExpertDown:
    case NetworkPart::kSharedDown:
      return Split::kByRows;
    default:
      return Split::kWhole;
  }
}

MatrixSize SizeOfShard(const NetworkWeight& weight, int64_t shards, bool has_convolutions) {
  MatrixSize size{weight.part == NetworkPart::kPatches && has_convolutions, weight.in, weight.out};
  const Split split = SplitOf(weight.part);
  if (split == Split::kByColumns) size.out = (size.out + shards - 1) / shards;
  if (split == Split::kByRows) size.in = (size.in + shards - 1) / shards;
  return size;
}

using KernelSizes = std::map<MatrixSize, ProductSums>;

/// The classes of a model whose products are spread over `shards` GPUs, with the kernels of each.
class ClassList {
 public:
  ClassList(const Network& network, const KernelSizes& kernels, int64_t shards)
      : kernels_(kernels), shards_(shards) {
    has_convolutions_ =
        std::ranges::any_of(kernels, [](const auto& entry) { return entry.first.convolution; });
    std::vector<const NetworkWeight*> left;
    for (const NetworkWeight& weight : network.weights) {
      if (weight.in > 0) left.push_back(&weight);
    }
    for (const auto& parts : kFused) Fuse(parts, &left);
    for (const NetworkWeight* const weight : left) Add(SizeOf(*weight), {&weight, 1});
    std::ranges::stable_sort(classes_, {}, [](const SizeClass& entry) {
      return entry.weights.front();  // In the model's order.
    });
    for (SizeClass& entry : classes_) {
      const auto found = kernels_.find(entry.size);
      if (found != kernels_.end()) entry.kernels = found->second;
    }
  }

  int64_t MatchedFlops() const {
    Sum sum;
    for (const SizeClass& entry : classes_) sum += entry.kernels.Counted();
    return sum;
  }
  std::vector<SizeClass> Take() { return std::move(classes_); }

 private:
  MatrixSize SizeOf(const NetworkWeight& weight) const {
    return SizeOfShard(weight, shards_, has_convolutions_);
  }

  void Add(const MatrixSize& size, std::span<const NetworkWeight* const> weights) {
    auto found = std::ranges::find(classes_, size, &SizeClass::size);
    if (found == classes_.end()) {
      classes_.push_back({size, {}, {}, {}, {}});
      found = std::prev(classes_.end());
    }
    for (const NetworkWeight* const weight : weights) {
      const MatrixSize own = SizeOf(*weight);
      found->weights.push_back(weight);
      found->row_flops.push_back(2 * ModelDouble(own.in) * ModelDouble(own.out));
      found->left_out.push_back(false);
    }
  }

  /// Moves weights whose product at once is among the kernels out of `left`.
  void Fuse(std::span<const NetworkPart> parts, std::vector<const NetworkWeight*>* left) {
    for (size_t i = 0; i < left->size(); ++i) {
      const NetworkWeight& first = *(*left)[i];
      if (first.part != parts[0]) continue;
      std::vector<const NetworkWeight*> set = {&first};
      MatrixSize size = SizeOf(first);
      for (const NetworkPart part : parts.subspan(1)) {
        const auto found = std::ranges::find_if(*left, [&](const NetworkWeight* other) {
          return other->part == part && other->applied == first.applied &&
                 other->blocks == first.blocks && other->in > 0;
        });
        if (found == left->end()) continue;
        set.push_back(*found);
        size.out += SizeOf(**found).out;
      }
      const bool whole = set.size() == (parts[2] == NetworkPart::kNorm ? 2 : 3);
      if (!whole || !kernels_.contains(size)) continue;
      Add(size, set);
      std::erase_if(*left, [&](const NetworkWeight* weight) {
        return std::ranges::find(set, weight) != set.end();
      });
      --i;
    }
  }

  const KernelSizes& kernels_;
  int64_t shards_;
  bool has_convolutions_ = false;
  std::vector<SizeClass> classes_;
};

/// Queries and keys of the sequences of attention.
struct QueryKeys {
  int64_t queries = 0;
  int64_t keys = 0;
  friend auto operator<=>(const QueryKeys&, const QueryKeys&) = default;
};

double VisiblePairs(const NetworkAttention& attention, const QueryKeys& size) {
  const double queries = ModelDouble(size.queries);
  const double keys = ModelDouble(size.keys);
  if (!attention.causal) return queries * keys;
  const double window = attention.window > 0 ? ModelDouble(attention.window) : keys;
  // The query at place i of the keys sees min(i + 1, window) of them.
  double pairs = 0;
  const double first = keys - queries;
  const double growing = std::clamp(window - first - 1, 0.0, queries);
  pairs += growing * first + growing * (growing + 1) / 2;
  pairs += (queries - growing) * std::min(window, keys);
  return pairs;
}

/// Matches one rank.
class Matcher {
 public:
  Matcher(const ProductsOfRank& run, const ModelPlan& plan) : run_(run), plan_(plan) {}

  ModelMatch Match() {
    const ProductSums total = run_.Total();
    match_.trains = run_.backward || !run_.forward;
    FindSizes();
    FindShards();
    FindAttention();
    FindSequence();
    FindTokens();
    if (match_.tokens) {
      FindSamples();
      AddClasses();
      AddAttention();
    }
    AddOthers(total);
    Total(total);
    return std::move(match_);
  }

 private:
  const Network& network() const { return plan_.network; }
  double Times() const { return match_.trains ? 3 : 1; }

  void FindSizes() {
    for (const auto& [key, sums] : run_.products) {
      if (key.kind == ProductKind::kGemm || key.kind == ProductKind::kConvolution) {
        MergeInto(&sizes_[{key.kind == ProductKind::kConvolution, key.k, key.n}], sums);
      }
    }
  }

  void FindShards() {
    constexpr int64_t kMostShards = 64;
    constexpr double kMore = 1.01;
    int64_t best = -1;
    for (int64_t shards = 1; shards <= kMostShards; shards *= 2) {
      ClassList list(network(), sizes_, shards);
      const int64_t matched = list.MatchedFlops();
      if (best >= 0 && ModelDouble(matched) <= kMore * ModelDouble(best)) continue;
      best = matched;
      match_.shards = shards;
      classes_ = list.Take();
    }
  }

  bool IsOfClass(const ProductKey& key) const {
    const MatrixSize size{key.kind == ProductKind::kConvolution, key.k, key.n};
    return std::ranges::find(classes_, size, &SizeClass::size) != classes_.end();
  }

  /// Whether it is a product of queries and keys, or of their scores and values.
  bool IsAttention(const ProductKey& key) const {
    if (key.kind == ProductKind::kAttention) return true;
    if (key.kind != ProductKind::kGemm || key.batch <= 1 || !network().heads) return false;
    const int64_t heads = std::max<int64_t>(*network().heads / match_.shards, 1);
    const bool fits = key.k == network().head_dim || key.n == network().value_dim;
    return key.batch % heads == 0 && fits && !IsOfClass(key);
  }

  void FindAttention() {
    for (const auto& [key, sums] : run_.products) {
      if (!IsAttention(key)) continue;
      MergeInto(&attention_, sums);
      const bool scores = key.kind == ProductKind::kAttention || key.k == network().head_dim;
      if (scores && sums.forward > 0) lengths_[{key.m, key.n}] += sums.forward;
    }
  }

  void FindSequence() {
    constexpr double kMost = 0.9;  // Of the FLOPs are of one length.
    double all = 0;
    std::pair<double, QueryKeys> longest;
    for (const auto& [size, flops] : lengths_) {
      all += ModelDouble(flops);
      longest = std::max(longest, std::pair(ModelDouble(flops), size));
    }
    if (plan_.sequence) {
      lengths_of_ = QueryKeys{*plan_.sequence, *plan_.sequence};
    } else if (run_.requests > 0 && run_.tokens > run_.requests &&
               run_.tokens % run_.requests == 0) {
      const int64_t length = run_.tokens / run_.requests;
      lengths_of_ = QueryKeys{length, length};
    } else if (all > 0 && longest.first >= kMost * all) {
      lengths_of_ = longest.second;
    } else if (network().sample_tokens > 0) {
      lengths_of_ = QueryKeys{network().sample_tokens, network().sample_tokens};
    }
    if (lengths_of_ && lengths_of_->keys > 0) match_.sequence = lengths_of_->keys;
  }

  void FindTokens() {
    if (plan_.batch && match_.sequence) {
      match_.tokens = ModelDouble(*plan_.batch) * ModelDouble(*match_.sequence) *
                      ModelDouble(run_.steps) * ModelDouble(match_.shards) /
                      ModelDouble(plan_.gpus.value_or(match_.shards));
      return;
    }
    double most = 0;
    for (const SizeClass& entry : classes_) {
      double per_token = 0;
      bool pure = true;
      for (size_t i = 0; i < entry.weights.size(); ++i) {
        const NetworkWeight& weight = *entry.weights[i];
        pure = pure && weight.applied == Applied::kToTokens && !weight.blocks.empty() &&
               weight.copies == 1;
        per_token += entry.row_flops[i] * ModelDouble(weight.BlockCount());
      }
      const double forward = ModelDouble(entry.kernels.forward);
      if (!pure || per_token <= 0 || forward <= most) continue;
      most = forward;
      match_.tokens = forward / per_token;
    }
    if (!match_.tokens && run_.tokens > 0) match_.tokens = ModelDouble(run_.tokens);
  }

  void FindSamples() {
    const double tokens = *match_.tokens;
    match_.samples = 1;
    if (lengths_of_ && lengths_of_->queries > 0 && network().frames == 0) {
      match_.samples = tokens / ModelDouble(lengths_of_->queries);
      return;
    }
    for (const SizeClass& entry : classes_) {
      const NetworkWeight& weight = *entry.weights.front();
      if (entry.weights.size() == 1 && weight.applied == Applied::kToSamples &&
          entry.kernels.forward > 0) {
        match_.samples = ModelDouble(entry.kernels.forward) / entry.row_flops.front();
        return;
      }
    }
    if (network().sample_tokens > 0) {
      match_.samples = std::max(std::round(tokens / ModelDouble(network().sample_tokens)), 1.0);
    }
  }

  NetworkInput Input() const { return {*match_.tokens, match_.samples}; }

  /// FLOPs that the weights of a class need, forward.
  double Needed(const SizeClass& entry) const {
    double flops = 0;
    for (size_t i = 0; i < entry.weights.size(); ++i) {
      const NetworkWeight& weight = *entry.weights[i];
      if (entry.left_out[i]) continue;
      flops += ops::RowsOf(weight, network(), Input()) * entry.row_flops[i] *
               ModelDouble(weight.BlockCount());
    }
    return flops;
  }

  /// Leaves out those optional weights without which the model is nearest to the kernels.
  void ChooseOptional(SizeClass* entry) const {
    std::vector<size_t> optional;
    for (size_t i = 0; i < entry->weights.size(); ++i) {
      if (entry->weights[i]->optional) optional.push_back(i);
    }
    const auto kernels = ModelDouble(entry->kernels.forward);
    double nearest = -1;
    std::vector<bool> best = entry->left_out;
    for (size_t choice = 0; choice < (size_t{1} << optional.size()); ++choice) {
      for (size_t bit = 0; bit < optional.size(); ++bit) {
        entry->left_out[optional[bit]] = (choice >> bit & 1) != 0;
      }
      const double distance = std::abs(Needed(*entry) - kernels);
      if (nearest >= 0 && distance >= nearest) continue;
      nearest = distance;
      best = entry->left_out;
    }
    entry->left_out = best;
  }

  static std::string NamesOf(const SizeClass& entry) {
    std::vector<std::string_view> names;
    std::string text;
    for (size_t i = 0; i < entry.weights.size(); ++i) {
      const std::string_view word = NetworkPartWord(entry.weights[i]->part);
      if (entry.left_out[i] || std::ranges::find(names, word) != names.end()) continue;
      names.push_back(word);
      text += fmt::format("{}{}", text.empty() ? "" : "+", word);
    }
    return text;
  }

  std::string WhyOf(const SizeClass& entry, double needed) const {
    const NetworkWeight& first = *entry.weights.front();
    if (entry.kernels.Counted() == 0) return "no kernel of this size has known FLOPs";
    if (first.part == NetworkPart::kPatches && match_.trains) return "images need no gradient";
    if (match_.trains && entry.kernels.backward == 0) {
      return "no kernel of its backward pass has known FLOPs";
    }
    double flops_of_row = 0;
    for (size_t i = 0; i < entry.weights.size(); ++i) {
      if (!entry.left_out[i]) {
        flops_of_row += entry.row_flops[i] * ModelDouble(entry.weights[i]->BlockCount());
      }
    }
    if (flops_of_row <= 0) return {};
    const double rows = ModelDouble(entry.kernels.forward) / flops_of_row;
    if (first.part == NetworkPart::kHead && entry.weights.size() == 1 && rows < *match_.tokens) {
      return fmt::format("{:.0f} of {:.0f} tokens pass it", rows, *match_.tokens);
    }
    return fmt::format("{:.0f} rows in its kernels, {:.0f} by the model", rows,
                       needed / flops_of_row);
  }

  static bool Differs(const PartMatch& part) {
    constexpr double kAlikePct = 1;
    const std::optional<double> pct = part.DifferencePct();
    return !pct || std::abs(*pct) > kAlikePct;
  }

  void AddClasses() {
    for (SizeClass& entry : classes_) {
      ChooseOptional(&entry);
      const double needed = Needed(entry);
      if (needed <= 0 && entry.kernels.Counted() == 0) continue;
      PartMatch part;
      part.parts = NamesOf(entry);
      part.sizes = fmt::format("{}x{}", entry.size.in, entry.size.out);
      part.model = Times() * needed;
      part.kernels = ModelDouble(entry.kernels.Counted());
      part.again = ModelDouble(entry.kernels.again);
      if (Differs(part)) part.why = WhyOf(entry, needed);
      match_.parts.push_back(std::move(part));
    }
  }

  void AddAttention() {
    if (network().attention.empty()) return;
    const double shards = ModelDouble(match_.shards);
    bool known = true;
    for (const NetworkAttention& attention : network().attention) {
      const double blocks = ModelDouble(static_cast<int64_t>(attention.blocks.size()));
      const double flops = ops::FlopsPerPair(attention) * blocks / shards;
      const bool by_length = attention.among == NetworkAttention::Among::kSample;
      if (by_length && !lengths_of_) {
        known = false;
      } else if (by_length) {
        const double count =
            *match_.tokens / ModelDouble(std::max<int64_t>(lengths_of_->queries, 1));
        match_.visible_attention += flops * count * VisiblePairs(attention, *lengths_of_);
        match_.all_attention +=
            flops * count * ModelDouble(lengths_of_->queries) * ModelDouble(lengths_of_->keys);
      } else {
        match_.visible_attention += flops * ops::VisiblePairsOf(attention, network(), Input());
        match_.all_attention += flops * ops::AllPairsOf(attention, network(), Input());
      }
    }
    PartMatch part;
    part.parts = "attention";
    if (lengths_of_) part.sizes = fmt::format("{}x{}", lengths_of_->queries, lengths_of_->keys);
    part.model = known ? Times() * match_.visible_attention : 0;
    part.kernels = ModelDouble(attention_.Counted());
    part.again = ModelDouble(attention_.again);
    if (!known && part.kernels == 0) return;
    if (Differs(part)) part.why = WhyOfAttention(part, known);
    match_.parts.push_back(std::move(part));
  }

  std::string WhyOfAttention(const PartMatch& part, bool known) const {
    if (!known) return "the length of sequences is not recorded: give --seq";
    if (attention_.Counted() == 0) return "no kernel of attention has known FLOPs";
    constexpr double kNear = 0.02;
    const auto near = [&](double flops) { return std::abs(part.kernels - flops) <= kNear * flops; };
    const double forward = ModelDouble(attention_.forward);
    if (near(Times() * match_.all_attention)) return "kernels compute the masked half too";
    const double backward = ModelDouble(attention_.backward);
    constexpr double kFlashBackward = 2.5;
    if (match_.trains && std::abs(backward - kFlashBackward * forward) <= kNear * backward) {
      return forward > 1.5 * match_.visible_attention
                 ? "kernels compute the masked half too, and scores again in the backward pass"
                 : "kernels compute the scores again in the backward pass";
    }
    return "sequences of other lengths, or keys of earlier tokens";
  }

  void AddOthers(const ProductSums& total) {
    ProductSums known = attention_;
    for (const SizeClass& entry : classes_) MergeInto(&known, entry.kernels);
    PartMatch other;
    other.kernels = ModelDouble(total.Counted() - known.Counted());
    other.again = ModelDouble(total.again - known.again);
    if (other.kernels <= 0 && other.again <= 0) return;
    int64_t largest = 0;
    for (const auto& [key, sums] : run_.products) {
      if (IsOfClass(key) || IsAttention(key) || sums.Counted() <= largest) continue;
      largest = sums.Counted();
      other.sizes = key.kind == ProductKind::kNone ? "" : fmt::format("{}x{}", key.k, key.n);
    }
    other.why = match_.tokens ? "not of the configuration; the largest size is shown"
                              : "no size fits the configuration; the largest is shown";
    match_.parts.push_back(std::move(other));
  }

  void Total(const ProductSums& total) {
    match_.total.kernels = ModelDouble(total.Counted());
    match_.total.again = ModelDouble(total.again);
    for (const PartMatch& part : match_.parts) match_.total.model += part.model;
    if (match_.total.model <= 0 || !Differs(match_.total)) return;
    constexpr double kMuchPct = 0.3;
    std::vector<std::pair<double, std::string>> causes;
    for (const PartMatch& part : match_.parts) {
      const double pct = 100 * (part.kernels - part.model) / match_.total.model;
      if (std::abs(pct) < kMuchPct) continue;
      causes.emplace_back(-std::abs(pct),
                          fmt::format("{} {:+.1f} %{}", part.parts.empty() ? "other" : part.parts,
                                      pct, part.why.empty() ? "" : fmt::format(" ({})", part.why)));
    }
    std::ranges::stable_sort(causes, {}, &std::pair<double, std::string>::first);
    constexpr size_t kMostCauses = 4;
    for (size_t i = 0; i < std::min(causes.size(), kMostCauses); ++i) {
      match_.total.why += fmt::format("{}{}", i > 0 ? ", " : "", causes[i].second);
    }
  }

  const ProductsOfRank& run_;
  const ModelPlan& plan_;
  ModelMatch match_;
  KernelSizes sizes_;
  std::vector<SizeClass> classes_;
  ProductSums attention_;
  std::map<QueryKeys, int64_t> lengths_;  // FLOPs.
  std::optional<QueryKeys> lengths_of_;
};

}  // namespace

std::optional<double> PartMatch::DifferencePct() const {
  return model > 0 ? std::optional<double>(100 * (kernels - model) / model) : std::nullopt;
}

ModelMatch MatchModel(const ProductsOfRank& run, const ModelPlan& plan) {
  return Matcher(run, plan).Match();
}

std::optional<double> FlopsOfBlock(const ModelMatch& match, const ModelPlan& plan, int64_t block) {
  if (!match.tokens) return std::nullopt;
  const ops::Network& network = plan.network;
  const ops::NetworkInput input{*match.tokens, match.samples};
  const double times = match.trains ? 3 : 1;
  double flops = 0;
  for (const ops::NetworkWeight& weight : network.weights) {
    if (weight.in == 0 || std::ranges::find(weight.blocks, block) == weight.blocks.end()) continue;
    flops += ops::ForwardFlopsOf(weight, network, input) / ModelDouble(weight.BlockCount());
  }
  // As if all blocks attended alike.
  const double layers = ModelDouble(std::max<int64_t>(network.layers, 1));
  flops += match.visible_attention / layers * ModelDouble(match.shards);
  return times * flops / ModelDouble(match.shards);
}

}  // namespace oplens::prof
