#include "parse/provenance/compile_log.h"

#include <simdjson.h>

#include <algorithm>

namespace oplens::parse {
namespace {

/// The line at the front of `rest`, which loses it and its end.
std::string_view TakeLogLine(std::string_view* rest) {
  const size_t end = std::min(rest->find('\n'), rest->size());
  const std::string_view line = rest->substr(0, end);
  rest->remove_prefix(std::min(end + 1, rest->size()));
  return line;
}

/// What a line announces: the name of its artifact, else its first member. "" for no such line.
std::string NameOfLogLine(std::string_view line, simdjson::dom::parser* parser) {
  const size_t open = line.find("] {");
  if (open == line.npos) return {};
  line.remove_prefix(open + 2);
  simdjson::dom::object facts;
  if (parser->parse(line.data(), line.size()).get(facts) != simdjson::SUCCESS ||
      facts.size() == 0) {
    return {};
  }
  const simdjson::dom::key_value_pair first = *facts.begin();
  std::string_view name = first.key;
  if (name == "artifact" && first.value["name"].get(name) != simdjson::SUCCESS) return {};
  return std::string(name);
}

}  // namespace

bool IsCompileLogName(std::string_view name) {
  return name.starts_with("dedicated_log_torch_trace_") && name.ends_with(".log");
}

std::vector<LoggedText> ReadCompileLog(std::string_view log,
                                       const std::vector<std::string_view>& names) {
  std::vector<LoggedText> texts;
  simdjson::dom::parser parser;
  bool wanted = false;
  while (!log.empty()) {
    std::string_view line = TakeLogLine(&log);
    if (!line.starts_with('\t')) {
      std::string name;
      // Parsing each line would cost more than all the rest.
      const bool may = std::any_of(names.begin(), names.end(), [&](std::string_view one) {
        return line.find(one) != line.npos;
      });
      if (may) name = NameOfLogLine(line, &parser);
      wanted = std::find(names.begin(), names.end(), name) != names.end();
      if (wanted) texts.push_back({std::move(name), {}});
    } else if (wanted) {
      line.remove_prefix(1);
      texts.back().text.append(line).push_back('\n');
    }
  }
  return texts;
}

}  // namespace oplens::parse
