#include "ops/network/config_reader.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/shown_text.h"

namespace oplens::ops {
namespace {

using Json = nlohmann::ordered_json;

std::string Shown(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  constexpr size_t kMostShown = 40;
  if (text.size() > kMostShown) text = text.substr(0, kMostShown) + "...";
  return text;
}

std::optional<int64_t> WholeNumberOf(const Json& value, int64_t least) {
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  if (!(number >= static_cast<double>(least)) ||
      number > static_cast<double>(ConfigReader::kMost) || std::floor(number) != number) {
    return std::nullopt;
  }
  return static_cast<int64_t>(number);
}

}  // namespace

void ConfigReader::Refuse(std::string_view key, std::string_view problem,
                          std::string_view advice) const {
  throw Error(path_, fmt::format("key '{}{}' {}", place_, key, problem), advice);
}

const Json* ConfigReader::Get(std::string_view key) const {
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

bool ConfigReader::Has(std::string_view key) const { return Get(key) != nullptr; }

std::optional<int64_t> ConfigReader::Find(Names names, int64_t least) const {
  for (const std::string_view name : names) {
    const Json* const value = Get(name);
    if (value == nullptr) continue;
    const std::optional<int64_t> number = WholeNumberOf(*value, least);
    if (number) return number;
    Refuse(name, fmt::format("is {}", Shown(*value)),
           fmt::format("give a whole number from {} to {}", least, kMost));
  }
  return std::nullopt;
}

int64_t ConfigReader::Need(Names names, int64_t least) const {
  if (const std::optional<int64_t> number = Find(names, least)) return *number;
  Refuse(*names.begin(), "is missing", "give the config.json of the model, whole");
}

bool ConfigReader::Flag(std::string_view key, bool otherwise) const {
  const Json* const value = Get(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) Refuse(key, fmt::format("is {}", Shown(*value)), "give true or false");
  return value->get<bool>();
}

std::string ConfigReader::Text(std::string_view key) const {
  const Json* const value = Get(key);
  if (value == nullptr) return {};
  if (!value->is_string()) Refuse(key, fmt::format("is {}", Shown(*value)), "give a text");
  return value->get<std::string>();
}

std::vector<std::string> ConfigReader::Texts(std::string_view key) const {
  const Json* const value = Get(key);
  if (value == nullptr) return {};
  std::vector<std::string> texts;
  if (value->is_array()) {
    for (const Json& element : *value) {
      if (element.is_string()) texts.push_back(element.get<std::string>());
    }
    if (texts.size() == value->size()) return texts;
  }
  Refuse(key, fmt::format("is {}", Shown(*value)), "give a list of texts");
}

std::vector<int64_t> ConfigReader::Integers(std::string_view key) const {
  const Json* const value = Get(key);
  if (value == nullptr) return {};
  std::vector<int64_t> numbers;
  if (value->is_array()) {
    for (const Json& element : *value) {
      if (const auto number = WholeNumberOf(element, 0)) numbers.push_back(*number);
    }
    if (numbers.size() == value->size()) return numbers;
  }
  Refuse(key, fmt::format("is {}", Shown(*value)), "give a list of whole numbers");
}

bool ConfigReader::IsList(std::string_view key) const {
  const Json* const value = Get(key);
  return value != nullptr && value->is_array();
}

std::optional<int64_t> ConfigReader::SizeOf(std::string_view key) const {
  const Json* const value = Get(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_structured()) Refuse(key, fmt::format("is {}", Shown(*value)), "give an object");
  return static_cast<int64_t>(value->size());
}

std::optional<ConfigReader> ConfigReader::Inside(std::string_view key) const {
  const Json* const value = Get(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) Refuse(key, fmt::format("is {}", Shown(*value)), "give an object");
  return ConfigReader(*value, path_, fmt::format("{}{}.", place_, key));
}

}  // namespace oplens::ops
