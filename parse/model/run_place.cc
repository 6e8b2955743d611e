#include "parse/model/run_place.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/ascii.h"
#include "base/parse_number.h"

namespace oplens {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

/// -1: not only digits, or too large.
int64_t NumberOf(std::string_view digits) {
  int64_t number = 0;
  if (!std::all_of(digits.begin(), digits.end(), IsDigit)) return -1;
  return ParseNumber(digits, &number) && number <= kLargest ? number : -1;
}

/// Whether the word before the number says that it is no rank: "local_rank0".
bool IsQualified(std::string_view text) {
  while (!text.empty() && (text.back() == '_' || text.back() == '-')) text.remove_suffix(1);
  return text.ends_with("local") || text.ends_with("node");
}

int64_t RankOfName(std::string_view name) {
  constexpr std::string_view kWord = "rank";
  const std::string lower = ToLowerText(name);
  const std::string_view text = lower;
  for (size_t at = text.find(kWord); at != text.npos; at = text.find(kWord, at + 1)) {
    if ((at > 0 && IsLetter(text[at - 1])) || IsQualified(text.substr(0, at))) continue;
    size_t begin = at + kWord.size();
    if (begin < text.size() && std::string_view("-_=.").find(text[begin]) != text.npos) ++begin;
    const size_t end = std::min(text.find_first_not_of("0123456789", begin), text.size());
    if (const int64_t rank = NumberOf(text.substr(std::min(begin, end), end - begin)); rank >= 0) {
      return rank;
    }
  }
  return -1;
}

}  // namespace

RankVariables::RankVariables() {
  for (auto& launcher : values_) launcher.fill(-1);
}

void RankVariables::Take(std::string_view name, std::string_view value) {
  Take(name, NumberOf(value));
}

void RankVariables::Take(std::string_view name, int64_t value) {
  if (value < 0 || value > kLargest) return;
  for (size_t i = 0; i < markers::kLauncherCount; ++i) {
    for (size_t fact = 0; fact < markers::kRankFactCount; ++fact) {
      const char* const known = markers::kRankVariables[i][fact];
      if (known != nullptr && name == known) values_[i][fact] = value;
    }
  }
}

RunPlace RankVariables::Place() const {
  for (size_t i = 0; i < markers::kLauncherCount; ++i) {
    const auto& value = values_[i];
    const bool outside =
        markers::kRankVariables[i][markers::kStep] != nullptr && value[markers::kStep] < 0;
    const int64_t rank = value[markers::kRank];
    const int64_t size = value[markers::kWorldSize];
    if (outside || rank < 0 || size < 2 || rank >= size) continue;
    return {rank, size, value[markers::kLocalRank], value[markers::kNode]};
  }
  return {};
}

int64_t RankOfPath(std::string_view path) {
  const size_t slash = path.rfind('/');
  const int64_t rank = RankOfName(slash == path.npos ? path : path.substr(slash + 1));
  if (rank >= 0 || slash == path.npos) return rank;
  const std::string_view folder = path.substr(0, slash);
  const size_t above = folder.rfind('/');
  return RankOfName(above == folder.npos ? folder : folder.substr(above + 1));
}

}  // namespace oplens
