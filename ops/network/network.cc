#include "ops/network/network.h"

#include <algorithm>
#include <cmath>

namespace oplens::ops {
namespace {

double Product(double a, int64_t b) { return a * static_cast<double>(b); }

/// Queries of one sequence and how many there are.
struct Sequences {
  double count = 0;
  double length = 0;
};

Sequences SequencesOf(const NetworkAttention& attention, const Network& network,
                      const NetworkInput& input) {
  const double frames = static_cast<double>(std::max<int64_t>(network.frames, 1));
  const double patches = std::max(input.tokens - input.samples, 0.0);
  switch (attention.among) {
    case NetworkAttention::Among::kFrame:
      return {input.samples * frames,
              input.samples > 0 ? patches / (input.samples * frames) + 1 : 0};
    case NetworkAttention::Among::kPlace:
      return {patches / frames, frames};
    case NetworkAttention::Among::kSample:
      break;
  }
  return {input.samples, input.Sequence()};
}

}  // namespace

std::string_view NetworkPartWord(NetworkPart part) {
  constexpr std::string_view kWords[] = {
      "embedding",   "positions",   "patches",   "query",       "key",           "value",
      "query_down",  "query_up",    "kv_down",   "kv_up",       "attention_out", "temporal_out",
      "gate",        "up",          "down",      "router",      "expert_gate",   "expert_up",
      "expert_down", "shared_gate", "shared_up", "shared_down", "shared_router", "transform",
      "pooler",      "head",        "norm"};
  static_assert(std::size(kWords) == static_cast<size_t>(NetworkPart::kNorm) + 1);
  return kWords[static_cast<size_t>(part)];
}

std::optional<ParameterCount> ParametersOf(const Network& network, int64_t sequence) {
  ParameterCount count;
  if (network.parameters) {
    count.all = *network.parameters;
    count.active = network.active_parameters.value_or(count.all);
    if (!network.tied && network.hidden && network.vocabulary) {
      count.embedding = Product(static_cast<double>(*network.hidden), *network.vocabulary);
    }
    return count;
  }
  if (!network.HasWeights()) return std::nullopt;
  for (const NetworkWeight& weight : network.weights) {
    if (weight.optional || weight.tied) continue;
    const bool positions = weight.part == NetworkPart::kPositions && network.sample_tokens == 0;
    const double elements = positions
                                ? Product(static_cast<double>(network.hidden.value_or(0)), sequence)
                                : weight.elements;
    const double blocks = Product(elements, weight.BlockCount());
    count.all += Product(blocks, weight.copies);
    count.active += Product(blocks, weight.active);
    const bool looked_up = weight.part == NetworkPart::kEmbedding && !network.tied;
    if (looked_up || weight.part == NetworkPart::kPositions) count.embedding += blocks;
  }
  return count;
}

double RowsOf(const NetworkWeight& weight, const Network& network, const NetworkInput& input) {
  const double patches = std::max(input.tokens - input.samples, 0.0);
  double rows = 0;
  switch (weight.applied) {
    case Applied::kToTokens:
      rows = input.tokens;
      break;
    case Applied::kToPatches:
      rows = patches;
      break;
    case Applied::kToFramedPatches:
      rows = patches + Product(input.samples, network.frames);
      break;
    case Applied::kToSamples:
      rows = input.samples;
      break;
    case Applied::kNever:
      return 0;
  }
  return weight.in > 0 ? Product(rows, weight.active) : 0;
}

double ForwardFlopsOf(const NetworkWeight& weight, const Network& network,
                      const NetworkInput& input) {
  const double rows = RowsOf(weight, network, input);
  return 2 * Product(Product(Product(rows, weight.in), weight.out), weight.BlockCount());
}

double AllPairsOf(const NetworkAttention& attention, const Network& network,
                  const NetworkInput& input) {
  const Sequences sequences = SequencesOf(attention, network, input);
  return sequences.count * sequences.length * sequences.length;
}

double VisiblePairsOf(const NetworkAttention& attention, const Network& network,
                      const NetworkInput& input) {
  const auto [count, length] = SequencesOf(attention, network, input);
  if (!attention.causal) return count * length * length;
  const double window = static_cast<double>(attention.window);
  if (window <= 0 || window >= length) return count * length * (length + 1) / 2;
  return count * (window * (window + 1) / 2 + (length - window) * window);
}

double FlopsPerPair(const NetworkAttention& attention) {
  return 2 *
         Product(static_cast<double>(attention.head_dim + attention.value_dim), attention.heads);
}

}  // namespace oplens::ops
