#include "ops/network/conventions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace oplens::ops {
namespace {

using Flops = std::optional<double>;

double Double(int64_t value) { return static_cast<double>(value); }

/// FLOPs of the forward pass of attention per token, over all layers, with keys of a whole
/// sequence: 2 L heads (head_dim + value_dim) s, which is 4 L heads head_dim s where both are
/// equal.
Flops AttentionPerToken(const Network& network, int64_t sequence) {
  if (!network.heads || !network.head_dim) return std::nullopt;
  const int64_t dims = *network.head_dim + network.value_dim.value_or(*network.head_dim);
  return 2 * Double(network.layers) * Double(*network.heads) * Double(dims) * Double(sequence);
}

Flops OfA(const Network& network, int64_t sequence) {
  const std::optional<ParameterCount> count = ParametersOf(network, sequence);
  const Flops attention = AttentionPerToken(network, sequence);
  if (!count || !attention) return std::nullopt;
  return 6 * count->all + 3 * *attention;
}

bool KnowsEmbedding(const Network& network) {
  return !network.parameters || network.tied || (network.hidden && network.vocabulary);
}

Flops OfB(const Network& network, int64_t sequence) {
  const std::optional<ParameterCount> count = ParametersOf(network, sequence);
  const Flops attention = AttentionPerToken(network, sequence);
  if (!count || !attention || !KnowsEmbedding(network)) return std::nullopt;
  return 6 * (count->all - count->embedding) + 3 * *attention;
}

Flops OfC(const Network& network, int64_t sequence) {
  const std::optional<ParameterCount> count = ParametersOf(network, sequence);
  const Flops attention = AttentionPerToken(network, sequence);
  if (!count || !attention || !KnowsEmbedding(network)) return std::nullopt;
  return 6 * (count->active - count->embedding) + 1.5 * *attention;
}

/// Full: the forward pass again, a third of the FLOPs of the step. Selective: attention's.
template <Flops (*per_token)(const Network&, int64_t), int halves>
Flops Again(const Network& network, int64_t sequence, Recompute recompute) {
  if (recompute == Recompute::kNone) return 0;
  if (recompute == Recompute::kFull) {
    const Flops step = per_token(network, sequence);
    return step ? Flops(*step / 3) : std::nullopt;
  }
  const Flops attention = AttentionPerToken(network, sequence);
  return attention ? Flops(*attention * halves / 2) : std::nullopt;
}

/// factor L h^2 (1 + s / (per_sequence h) + V / (per_vocabulary L h)).
Flops OfLayers(const Network& network, int64_t sequence, double factor, double per_sequence,
               double per_vocabulary) {
  if (!network.hidden || !network.vocabulary) return std::nullopt;
  const double hidden = Double(*network.hidden);
  const double layers = Double(network.layers);
  return factor * layers * hidden * hidden *
         (1 + Double(sequence) / (per_sequence * hidden) +
          Double(*network.vocabulary) / (per_vocabulary * layers * hidden));
}

Flops OfD(const Network& network, int64_t sequence) {
  return OfLayers(network, sequence, 72, 6, 12);
}
Flops OfFullD(const Network& network, int64_t sequence) {
  return OfLayers(network, sequence, 96, 6, 16);
}
Flops OfSelectiveD(const Network& network, int64_t sequence) {
  return OfLayers(network, sequence, 72, 3, 12);
}
Flops AgainOfD(const Network& network, int64_t sequence, Recompute recompute) {
  if (recompute == Recompute::kNone) return 0;
  const Flops step = OfD(network, sequence);
  const Flops whole =
      recompute == Recompute::kFull ? OfFullD(network, sequence) : OfSelectiveD(network, sequence);
  return step && whole ? Flops(*whole - *step) : std::nullopt;
}

constexpr Convention kConventions[] = {
    {"A", "6 P(all) + 12 L heads head_dim s", "PaLM, llm-foundry, torchtitan on A100s", OfA,
     Again<OfA, 2>},
    {"B", "A without the input embedding", "torchtitan on H100s", OfB, Again<OfB, 2>},
    {"C", "B with the causal half, 6 L heads head_dim s, and active experts only",
     "Megatron-Bridge", OfC, Again<OfC, 1>},
    {"D", "72 L h^2 (1 + s/6h + V/12hL)", "Megatron-LM, MFU", OfD, AgainOfD},
    {"D'", "96 L h^2 (1 + s/6h + V/16hL)", "Megatron-LM and MT-NLG, everything computed twice",
     OfFullD, nullptr, true},
    {"D''", "72 L h^2 (1 + s/3h + V/12hL)", "Megatron-LM, attention computed twice", OfSelectiveD,
     nullptr, true},
};

bool IsOfD(const Convention& convention) { return convention.word.starts_with('D'); }

}  // namespace

std::span<const Convention> Conventions() { return kConventions; }

const Convention* FindConvention(std::string_view word) {
  const auto same = [](char a, char b) {
    return std::toupper(static_cast<unsigned char>(a)) ==
           std::toupper(static_cast<unsigned char>(b));
  };
  for (const Convention& convention : kConventions) {
    if (std::ranges::equal(convention.word, word, same)) return &convention;
  }
  return nullptr;
}

std::string WhatIsMissing(const Convention& convention, const Network& network) {
  constexpr int64_t kSequence = 1;
  if (convention.per_token(network, kSequence)) return {};
  std::vector<std::string_view> keys;
  if (IsOfD(convention)) {
    if (!network.hidden) keys.push_back("h");
    if (!network.vocabulary) keys.push_back("V");
  } else {
    if (!network.parameters && !network.HasWeights()) keys.push_back("P");
    if (!network.heads) keys.push_back("heads");
    if (!network.head_dim) keys.push_back("head_dim");
    if (convention.word != "A" && !KnowsEmbedding(network)) {
      if (!network.hidden) keys.push_back("h");
      if (!network.vocabulary) keys.push_back("V");
    }
  }
  std::string text;
  for (const std::string_view key : keys)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", key);
  return fmt::format("needs {}", text);
}

std::string RemarkOn(const Convention& convention, const Network& network) {
  if (IsOfD(convention)) {
    if (!network.HasWeights() || !network.hidden) return {};
    double products = 0;
    for (const NetworkWeight& weight : network.weights) {
      if (weight.in == 0 || weight.blocks.empty()) continue;
      products += Double(weight.in) * Double(weight.out) * Double(weight.BlockCount()) *
                  Double(weight.active);
    }
    const double assumed =
        12 * Double(network.layers) * Double(*network.hidden) * Double(*network.hidden);
    const double ratio = products / assumed;
    if (ratio > 0.99 && ratio < 1.01) return {};
    return fmt::format(
        "takes 12 h^2 weights a layer; this model multiplies with {:.2f} times as many", ratio);
  }
  const bool all_experts = convention.word != "C" && network.experts && network.active_experts &&
                           *network.experts > *network.active_experts;
  const bool sees_all = std::ranges::any_of(
      network.attention, [](const NetworkAttention& attention) { return !attention.causal; });
  if (convention.word == "C" && sees_all) {
    return "halves attention, which is not causal in this model";
  }
  if (all_experts) {
    return fmt::format("counts {} experts a layer, of which a token passes {}", *network.experts,
                       *network.active_experts);
  }
  return {};
}

TokenFlops FlopsPerToken(const Convention& convention, const Network& network, int64_t sequence,
                         Recompute recompute) {
  TokenFlops flops;
  const Flops step = convention.per_token(network, sequence);
  if (convention.counts_recomputation) {
    flops.hardware = step;
    return flops;
  }
  flops.model = step;
  const Flops again = convention.again(network, sequence, recompute);
  if (step && again) flops.hardware = *step + *again;
  return flops;
}

}  // namespace oplens::ops
