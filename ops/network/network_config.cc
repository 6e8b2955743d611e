#include "ops/network/network_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/error.h"
#include "base/shown_text.h"
#include "ops/network/config_reader.h"
#include "ops/network/model_families.h"

namespace oplens::ops {
namespace {

using Json = nlohmann::ordered_json;
using prof::ShownText;

std::string ReadConfigFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  // One byte more than allowed, to detect longer files.
  std::string text(kMaxConfigBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    throw Error(path, "cannot be read",
                "give a config.json of Hugging Face, or values such as L=32,h=4096 (docs/mfu.md)");
  }
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMaxConfigBytes) {
    throw Error(path, fmt::format("has more than {} bytes", kMaxConfigBytes),
                "give a config.json of Hugging Face");
  }
  return text;
}

constexpr int kMostDepth = 32;

/// The object of the language model where the file describes several.
const Json* TextOf(const Json& config) {
  const auto found = config.find("text_config");
  return found != config.end() && found->is_object() ? &*found : nullptr;
}

struct HandValue {
  std::string_view key;
  double value = 0;
};

double ReadHandValue(std::string_view key, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr double kMost = 1e18;
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0) || value > kMost) {
    throw UsageError(
        fmt::format("--model: {}={} is no positive number", ShownText(key), ShownText(text)));
  }
  return value;
}

constexpr std::string_view kHandKeys[] = {"L", "h", "heads",    "head_dim",
                                          "V", "P", "P_active", "tied"};

class HandValues {
 public:
  explicit HandValues(std::string_view text) {
    while (!text.empty()) {
      const size_t comma = text.find(',');
      const std::string_view word = text.substr(0, comma);
      text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
      const size_t equal = word.find('=');
      const std::string_view key = word.substr(0, equal);
      if (equal == word.npos || std::ranges::find(kHandKeys, key) == std::end(kHandKeys)) {
        throw UsageError(
            fmt::format("--model: '{}' is none of {}; give a file, or values such as "
                        "L=32,h=4096,heads=32,head_dim=128,V=128256,P=8.03e9",
                        ShownText(word), fmt::join(kHandKeys, ", ")));
      }
      if (std::ranges::find(values_, key, &HandValue::key) != values_.end()) {
        throw UsageError(fmt::format("--model: {} is given twice", key));
      }
      values_.push_back({key, ReadHandValue(key, word.substr(equal + 1))});
    }
  }

  std::optional<double> Find(std::string_view key) const {
    const auto found = std::ranges::find(values_, key, &HandValue::key);
    return found == values_.end() ? std::nullopt : std::optional<double>(found->value);
  }
  std::optional<int64_t> Integer(std::string_view key) const {
    const std::optional<double> value = Find(key);
    if (!value) return std::nullopt;
    if (*value > static_cast<double>(ConfigReader::kMost) || std::floor(*value) != *value) {
      throw UsageError(fmt::format("--model: {}={} is no whole number up to {}", key, *value,
                                   ConfigReader::kMost));
    }
    return static_cast<int64_t>(*value);
  }

 private:
  std::vector<HandValue> values_;
};

}  // namespace

Network ParseConfig(std::string_view text, const std::string& path) {
  constexpr std::string_view kAdvice = "give the config.json of the model, whole";
  bool deep = false;
  const Json config = Json::parse(
      text,
      [&](int depth, Json::parse_event_t, Json&) {
        deep = deep || depth > kMostDepth;
        return depth <= kMostDepth;
      },
      false);
  if (config.is_discarded() || deep) {
    throw Error(path, text.empty() ? "is empty" : "is no JSON, or is cut", kAdvice);
  }
  if (!config.is_object()) throw Error(path, "is no JSON object", kAdvice);
  ConfigReader reader(config, path);
  if (!reader.Has("model_type")) reader.Refuse("model_type", "is missing", kAdvice);
  const std::string type = reader.Text("model_type");
  if (const auto* const family = FindModelFamily(type)) {
    Network network = family->read(reader);
    network.family = type;
    return network;
  }
  if (const Json* const inside = TextOf(config)) {
    const ConfigReader of_text(*inside, path, "text_config.");
    const std::string text_type = of_text.Text("model_type");
    if (const auto* const family = FindModelFamily(text_type)) {
      Network network = family->read(of_text);
      network.family = text_type;
      return network;
    }
  }
  reader.Refuse("model_type", fmt::format("is '{}', which is not known", ShownText(type)),
                fmt::format("give one of {}, or values by hand such as L=32,h=4096,heads=32,"
                            "head_dim=128,V=128256,P=8.03e9",
                            fmt::join(KnownModelTypes(), ", ")));
}

Network ParseValues(std::string_view text) {
  const HandValues values(text);
  Network network;
  const std::optional<int64_t> layers = values.Integer("L");
  if (!layers) throw UsageError("--model: L, the number of layers, is missing");
  network.layers = *layers;
  network.hidden = values.Integer("h");
  network.heads = values.Integer("heads");
  network.head_dim = values.Integer("head_dim");
  network.vocabulary = values.Integer("V");
  network.parameters = values.Find("P");
  network.active_parameters = values.Find("P_active");
  network.tied = values.Find("tied").has_value();
  if (!network.head_dim && network.hidden && network.heads &&
      *network.hidden % *network.heads == 0) {
    network.head_dim = *network.hidden / *network.heads;
  }
  if (network.active_parameters && !network.parameters) {
    throw UsageError("--model: P_active needs P");
  }
  if (network.active_parameters && *network.active_parameters > *network.parameters) {
    throw UsageError("--model: P_active is larger than P");
  }
  return network;
}

std::string ConfigPathOf(const std::string& given) {
  std::error_code ignored;
  std::filesystem::path path = given;
  if (!std::filesystem::exists(path, ignored) && given.find('=') != given.npos) return {};
  if (std::filesystem::is_directory(path, ignored)) path /= "config.json";
  return path.string();
}

Network ReadNetwork(const std::string& given) {
  const std::string path = ConfigPathOf(given);
  return path.empty() ? ParseValues(given) : ParseConfig(ReadConfigFile(path), path);
}

std::vector<std::string_view> KnownModelTypes() {
  std::vector<std::string_view> types;
  for (const ModelFamily& family : ModelFamilies()) types.push_back(family.type);
  return types;
}

}  // namespace oplens::ops
