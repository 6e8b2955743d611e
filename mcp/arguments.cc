#include "mcp/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/near_words.h"
#include "base/shown_text.h"
#include "mcp/answers/answer.h"

namespace oplens::mcp {
namespace {

/// How an argument is kept: a text, or a number of a range.
struct ArgumentKind {
  std::string_view name;
  std::string Arguments::*text = nullptr;
  int64_t Arguments::*number = nullptr;
  int64_t least = 0;
  int64_t most = 0;
};

constexpr int64_t kMostRows = 1'000'000'000;

constexpr ArgumentKind kKinds[] = {
    {"path", &Arguments::path},
    {"base", &Arguments::base},
    {"name", &Arguments::name},
    {"key", &Arguments::key},
    {"query", &Arguments::query},
    {"where", &Arguments::where},
    {"by", &Arguments::by},
    {"columns", &Arguments::columns},
    {"sort", &Arguments::sort},
    {"top", nullptr, &Arguments::top, 1, kMostRows},
    {"skip", nullptr, &Arguments::skip, 0, kMostRows},
    {"max_tokens", nullptr, &Arguments::max_tokens, kLeastTokens, kMostTokens},
};

/// Texts are words of command lines and statements, no documents.
constexpr size_t kMostText = 8192;

const ArgumentKind& KindOf(std::string_view name) {
  return *std::ranges::find(kKinds, name, &ArgumentKind::name);
}

}  // namespace

OrderedJson SchemaOf(std::span<const ArgumentEntry> entries) {
  OrderedJson properties = OrderedJson::object();
  OrderedJson required = OrderedJson::array();
  for (const ArgumentEntry& entry : entries) {
    OrderedJson& schema = properties[std::string(entry.name)];
    schema["type"] = KindOf(entry.name).text != nullptr ? "string" : "integer";
    if (!entry.help.empty()) schema["description"] = entry.help;
    if (entry.required) required.push_back(entry.name);
  }
  return {{"type", "object"}, {"properties", properties}, {"required", required}};
}

Arguments ReadArguments(std::span<const ArgumentEntry> entries, const Json& given) {
  Arguments arguments;
  for (const auto& [name, value] : given.items()) {
    if (std::ranges::find(entries, name, &ArgumentEntry::name) == entries.end()) {
      std::vector<std::string_view> names;
      for (const ArgumentEntry& entry : entries) names.push_back(entry.name);
      throw UsageError(NoSuchName("argument", name, names, "the arguments are"));
    }
    // Models give null for what they leave out.
    if (value.is_null()) continue;
    const ArgumentKind& kind = KindOf(name);
    if (kind.text != nullptr) {
      if (!value.is_string()) throw UsageError(fmt::format("{} must be a string", name));
      std::string text = value.get<std::string>();
      if (text.size() > kMostText || text.find('\0') != std::string::npos) {
        throw UsageError(
            fmt::format("{}: at most {} characters, none of them NUL", name, kMostText));
      }
      arguments.*kind.text = std::move(text);
      continue;
    }
    const bool is_number = value.is_number_integer() &&
                           !(value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX);
    if (!is_number || value.get<int64_t>() < kind.least || value.get<int64_t>() > kind.most) {
      throw UsageError(
          fmt::format("{} must be an integer from {} to {}", name, kind.least, kind.most));
    }
    arguments.*kind.number = value.get<int64_t>();
  }
  for (const ArgumentEntry& entry : entries) {
    const ArgumentKind& kind = KindOf(entry.name);
    if (entry.required && kind.text != nullptr && (arguments.*kind.text).empty()) {
      throw UsageError(fmt::format("{} is missing", entry.name));
    }
  }
  if (arguments.max_tokens == 0) arguments.max_tokens = kUsualTokens;
  return arguments;
}

}  // namespace oplens::mcp
