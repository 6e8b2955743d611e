#include "parse/readers/split_ranks.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "parse/readers/nsys/nsys_ranks.h"
#include "parse/readers/nsys/nsys_reader.h"
#include "parse/readers/nsys/nsys_schema.h"
#include "parse/source/profile_file.h"

namespace oplens::parse {
namespace {

std::vector<FilePart> SplitRanksPartsOf(const ProfileInput& input) {
  if (input.piped != nullptr || IsPipe(input.path)) return {};
  try {
    ProfileFile file(input);
    if (!kNsysReader.recognises(&file)) return {};
    return NsysRanks(file.database());
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

std::vector<ProfileInput> SplitRanks(std::vector<ProfileInput> inputs) {
  std::vector<ProfileInput> split;
  int64_t counted = 0;
  for (ProfileInput& input : inputs) {
    std::vector<FilePart> parts = SplitRanksPartsOf(input);
    if (parts.empty()) {
      split.push_back(std::move(input));
      continue;
    }
    const int64_t guessed = parts.front().guessed;
    for (FilePart& part : parts) {
      if (guessed > 0 && part.rank >= 0) part.rank += counted;
      ProfileInput& rank = split.emplace_back(input);
      rank.part = part;
      if (part.rank < 0) {
        rank.name += fmt::format(" (process {})", nsys::ProcessIdOf(part.process_key));
      }
    }
    counted += guessed;
  }
  return split;
}

}  // namespace oplens::parse
