#include "prof/model_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cxxopts.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "ops/network/network_config.h"
#include "prof/views/common/model_plan.h"

namespace oplens::prof {
namespace {

std::optional<int64_t> ReadCount(const cxxopts::ParseResult& given, const char* option) {
  if (given.count(option) == 0) return std::nullopt;
  constexpr int64_t kMost = 1'000'000'000;
  const auto value = given[option].as<int64_t>();
  if (value >= 1 && value <= kMost) return value;
  throw UsageError(fmt::format("--{}: {} is no number from 1 to {}", option, value, kMost));
}

ops::Recompute ReadRecompute(const std::string& word) {
  constexpr std::pair<std::string_view, ops::Recompute> kWords[] = {
      {"none", ops::Recompute::kNone},
      {"selective", ops::Recompute::kSelective},
      {"full", ops::Recompute::kFull}};
  for (const auto& [name, recompute] : kWords) {
    if (word == name) return recompute;
  }
  throw UsageError(
      fmt::format("--recompute: '{}' is none of none, selective, full", ShownText(word)));
}

const ops::Convention* ReadConvention(const std::string& word) {
  if (const ops::Convention* const found = ops::FindConvention(word)) return found;
  std::vector<std::string_view> words;
  for (const ops::Convention& convention : ops::Conventions()) words.push_back(convention.word);
  throw UsageError(fmt::format("--convention: '{}' is none of {} (docs/mfu.md)", ShownText(word),
                               fmt::join(words, ", ")));
}

}  // namespace

void AddModelOptions(const char* group, cxxopts::Options* options) {
  cxxopts::OptionAdder add = options->add_options(group);
  add("model",
      "The model that ran: a config.json of Hugging Face, or values such as "
      "L=32,h=4096,heads=32,head_dim=128,V=128256,P=8.03e9 (docs/mfu.md)",
      cxxopts::value<std::string>(), "CONFIG");
  add("seq", "With --model: tokens of a sequence", cxxopts::value<int64_t>(), "N");
  add("batch", "With --model: sequences in a step, of all GPUs of --gpus",
      cxxopts::value<int64_t>(), "N");
  add("gpus", "With --model: GPUs that share the sequences of --batch", cxxopts::value<int64_t>(),
      "N");
  add("recompute",
      "With --model: what is computed again for the backward pass, none, selective (attention) or "
      "full, for HFU",
      cxxopts::value<std::string>()->default_value("none"), "WHAT");
  add("convention", "With --model: only this one of A, B, C, D, D', D'' (docs/mfu.md)",
      cxxopts::value<std::string>(), "NAME");
}

std::shared_ptr<const ModelPlan> ReadModelPlan(const cxxopts::ParseResult& given) {
  if (given.count("model") == 0) {
    for (const char* option : {"seq", "batch", "gpus", "recompute", "convention"}) {
      if (given.count(option) > 0) throw UsageError(fmt::format("--{} needs --model", option));
    }
    return nullptr;
  }
  auto plan = std::make_shared<ModelPlan>();
  plan->sequence = ReadCount(given, "seq");
  plan->batch = ReadCount(given, "batch");
  plan->gpus = ReadCount(given, "gpus");
  plan->recompute = ReadRecompute(given["recompute"].as<std::string>());
  if (given.count("convention") > 0) {
    plan->convention = ReadConvention(given["convention"].as<std::string>());
  }
  const auto config = given["model"].as<std::string>();
  if (config.empty()) throw UsageError("--model: the name of the file is empty");
  plan->network = ops::ReadNetwork(config);
  return plan;
}

}  // namespace oplens::prof
