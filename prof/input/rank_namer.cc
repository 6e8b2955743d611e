#include "prof/input/rank_namer.h"

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

}  // namespace oplens::prof
