#include "prof/summary_file/kept_losses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/parse_number.h"

namespace oplens::prof {
namespace {

constexpr char kLostFact[] = "lost";
constexpr char kLeftOutFact[] = "left_out";
constexpr std::string_view kBetweenReasons = "; ";

/// 0 unless the text is a number > 0.
int64_t PositiveNumber(std::string_view text) {
  int64_t number = 0;
  ParseNumber(text, &number);
  return std::max<int64_t>(number, 0);
}

/// Counts one reason: "file-cut 1".
void CountKept(std::string_view text, Diagnostics* losses) {
  const size_t blank = text.find(' ');
  Reason reason{};
  if (blank == std::string_view::npos || !FindReason(text.substr(0, blank), &reason)) return;
  losses->CountMany(reason, PositiveNumber(text.substr(blank + 1)));
}

std::string_view FactOr(const SummaryFile& summary, const char* fact, std::string_view other) {
  const auto found = summary.facts.find(fact);
  return found == summary.facts.end() ? other : std::string_view(found->second);
}

}  // namespace

std::string LostText(const Diagnostics& losses) {
  std::string text;
  for (int i = 0; i < kReasonCount; ++i) {
    const auto reason = static_cast<Reason>(i);
    if (losses.CountOf(reason) == 0 || SeverityOf(reason) < Severity::kLost) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : kBetweenReasons, ReasonWord(reason),
                        losses.CountOf(reason));
  }
  return text;
}

void KeepLosses(const Diagnostics& losses, size_t left_out, SummaryFile* summary) {
  if (const std::string lost = LostText(losses); !lost.empty()) summary->facts[kLostFact] = lost;
  if (left_out > 0) summary->facts[kLeftOutFact] = std::to_string(left_out);
}

size_t AddKeptLosses(const SummaryFile& summary, const std::string& path, Diagnostics* losses) {
  Diagnostics kept;
  std::string_view rest = FactOr(summary, kLostFact, "");
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(kBetweenReasons), rest.size());
    CountKept(rest.substr(0, end), &kept);
    rest.remove_prefix(std::min(end + kBetweenReasons.size(), rest.size()));
  }
  const auto left_out = static_cast<size_t>(PositiveNumber(FactOr(summary, kLeftOutFact, "")));
  if (const std::string lost = LostText(kept); !lost.empty()) {
    kept.Note(fmt::format("{}: was made from files with lost parts ({})", path, lost));
  }
  if (left_out > 0) kept.Note(fmt::format("{}: {} files were left out of it", path, left_out));
  losses->Merge(kept);
  return left_out;
}

}  // namespace oplens::prof
