#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "base/error.h"
#include "base/near_words.h"
#include "base/shown_text.h"
#include "engine/query_options.h"
#include "prof/options.h"

namespace oplens::engine {
namespace {

constexpr std::string_view kOfBoth[] = {"gpu", "rules", "step", "op"};
constexpr std::string_view kOfOpening[] = {
    "gpu", "rules", "step", "op", "execution-trace", "evidence", "reference", "counters", "jobs"};
constexpr std::string_view kOfQuery[] = {
    "gpu",     "rules",      "step",       "op",        "sort",      "copies", "compat",
    "what-if", "step-range", "time-range", "device",    "all-steps", "range",  "model",
    "seq",     "batch",      "gpus",       "recompute", "convention"};
constexpr std::string_view kFlags[] = {"copies", "all-steps", "all", "require-comparable",
                                       "chrome"};

bool Has(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

void RefuseOthers(const Words& given, std::span<const std::string_view> allowed,
                  std::string_view what) {
  for (const auto& [name, value] : given) {
    if (Has(allowed, name)) continue;
    throw UsageError(NoSuchName(what, name, allowed, "they are"));
  }
}

/// A command line for the parser of `prof`.
class CommandLine {
 public:
  void Add(std::string_view name, std::string_view value) {
    for (const std::string_view text : {name, value}) {
      if (text.find('\0') == text.npos) continue;
      throw UsageError(fmt::format("--{}: there is a NUL byte in '{}'", prof::ShownText(name),
                                   prof::ShownText(value)));
    }
    words_.push_back(Has(kFlags, name) ? fmt::format("--{}", name)
                                       : fmt::format("--{}={}", name, value));
  }
  void AddAll(const Words& words) {
    for (const auto& [name, value] : words) Add(name, value);
  }
  void AddColumns(const std::string& columns) {
    words_.emplace_back("-c");
    words_.push_back(columns);
  }
  /// Columns are those of programs that read every table.
  prof::Options Parse(const std::vector<std::string>& paths) {
    if (!std::ranges::count(words_, "--chrome")) words_.emplace_back("--json");
    words_.emplace_back("--");
    for (const std::string& path : paths) words_.push_back(path);
    std::vector<const char*> argv = {"prof"};
    for (const std::string& word : words_) argv.push_back(word.c_str());
    return prof::ParseOptions(static_cast<int>(argv.size()), argv.data());
  }

 private:
  std::vector<std::string> words_;
};

}  // namespace

prof::Options OptionsOf(const std::vector<std::string>& paths, const Words& opened,
                        const Query& query) {
  RefuseOthers(opened, kOfOpening, "option of a run");
  RefuseOthers(query.more, kOfQuery, "option of a question");
  CommandLine line;
  for (const auto& [name, value] : opened) {
    const auto replaced = [&, &own = name](const auto& word) {
      return word.first == own && Has(kOfBoth, own);
    };
    if (std::ranges::none_of(query.more, replaced)) line.Add(name, value);
  }
  if (!query.view.empty()) line.Add("view", query.view);
  if (!query.by.empty()) line.Add("by", query.by);
  if (!query.where.empty()) line.Add("where", query.where);
  if (!query.columns.empty()) line.AddColumns(query.columns);
  if (query.top > 0) line.Add("top", std::to_string(query.top));
  line.AddAll(query.more);
  prof::Options options = line.Parse(paths);
  if (options.task == prof::Task::kMessage) {
    throw UsageError(fmt::format("'{}' names no view: oplens view list names them",
                                 prof::ShownText(query.view)));
  }
  return options;
}

prof::Options OptionsOfTask(const std::vector<std::string>& paths, const Words& opened,
                            const Words& more) {
  RefuseOthers(opened, kOfOpening, "option of a run");
  CommandLine line;
  line.AddAll(opened);
  line.AddAll(more);
  return line.Parse(paths);
}

}  // namespace oplens::engine
