#include "prof/input/rank_namer.h"

#include <fmt/format.h>

#include <utility>

#include "parse/model/trace.h"
#include "parse/source/profile_list.h"

namespace oplens::prof {

std::vector<std::string> NamesOfInputs(const std::vector<std::string>& paths) {
  std::vector<parse::ProfileInput> inputs;
  for (const std::string& path : paths) inputs.push_back({path, {}});
  parse::NameInputs(&inputs);
  std::vector<std::string> names;
  for (parse::ProfileInput& input : inputs) names.push_back(std::move(input.name));
  return names;
}

std::vector<std::string> RankNamer::NamesOf(std::span<const std::optional<int64_t>> numbers,
                                            const std::string& name) {
  std::vector<std::string> names;
  for (const std::optional<int64_t>& number : numbers) {
    names.push_back(parse::NameOfRank(number.value_or(kUnknownId), name, input_count_, &taken_));
  }
  return names;
}

void RunClaims::Add(std::span<const std::optional<int64_t>> numbers, const std::string& name,
                    const std::string& path) {
  ++inputs_;
  paths_.insert(path);
  for (const std::optional<int64_t>& number : numbers) {
    if (!problem_.empty()) return;
    if (!number) {
      problem_ = fmt::format("{} does not say which rank it is of", name);
      continue;
    }
    const auto [known, is_new] = names_.emplace(*number, name);
    if (!is_new) {
      problem_ =
          fmt::format("{} and {} both say that they are rank {}", known->second, name, *number);
    }
  }
}

std::string RunClaims::Sentence() const {
  if (problem_.empty() || paths_.size() < 2) return "";
  return fmt::format(
      "the {} inputs are not known to be one run, but the figures cover all of them: {}; give one "
      "of them, or compare two with --diff",
      inputs_, problem_);
}

}  // namespace oplens::prof
