#include "prof/path/what_if.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/parse_number.h"
#include "base/words.h"

namespace oplens::prof {
namespace {

std::string CauseWords() {
  std::string words;
  for (size_t i = 0; i < kPathCauseCount; ++i) {
    if (i > 0) words += ", ";
    words += PathCauseWord(static_cast<PathCause>(i));
  }
  return words;
}

[[noreturn]] void WhatIfFail(std::string_view text, const std::string& why) {
  throw UsageError(fmt::format("--what-if '{}': {}", text, why));
}

}  // namespace

WhatIf::WhatIf(std::span<const std::string> texts) {
  for (const std::string& text : texts) changes_.push_back(Parse(text));
}

WhatIf::Change WhatIf::Parse(std::string_view text) {
  constexpr std::string_view kHead = "scale(";
  const std::string_view trimmed = Trim(text);
  if (!trimmed.starts_with(kHead) || !trimmed.ends_with(')')) {
    WhatIfFail(text, "write scale(WHAT,FACTOR), such as scale(compute,0.5) or scale(aten::mm,0)");
  }
  const std::string_view inside = trimmed.substr(kHead.size(), trimmed.size() - kHead.size() - 1);
  // Names may contain commas, numbers cannot.
  const size_t comma = inside.rfind(',');
  if (comma == std::string_view::npos)
    WhatIfFail(text, "the factor is missing: scale(WHAT,FACTOR)");
  const std::string_view what = Trim(inside.substr(0, comma));
  const std::string_view number = Trim(inside.substr(comma + 1));
  if (what.empty()) {
    WhatIfFail(text, fmt::format("name an operator or kernel, or one of {}", CauseWords()));
  }
  Change change;
  if (!ParseNumber(number, &change.factor) || !std::isfinite(change.factor)) {
    WhatIfFail(text, fmt::format("'{}' is no number", number));
  }
  if (change.factor < 0) WhatIfFail(text, "the factor must not be negative; 0 removes the time");
  for (size_t i = 0; i < kPathCauseCount; ++i) {
    const auto cause = static_cast<PathCause>(i);
    if (PathCauseWord(cause) == what) change.cause = cause;
  }
  if (!change.cause) change.pattern = what;
  change.text = trimmed;
  return change;
}

double WhatIf::FactorOf(PathCause cause, std::string_view name, std::string_view op) {
  // Waiting time does not belong to the name.
  const bool named = cause != PathCause::kQueue && cause != PathCause::kLaunchDelay &&
                     cause != PathCause::kSyncWait && cause != PathCause::kIdle;
  double factor = 1;
  for (Change& change : changes_) {
    const bool fits = change.cause ? *change.cause == cause
                                   : named && (FitsPattern(name, change.pattern) ||
                                               (!op.empty() && FitsPattern(op, change.pattern)));
    if (!fits) continue;
    change.fitted = true;
    factor *= change.factor;
  }
  return factor;
}

std::vector<std::string> WhatIf::Unfitted() const {
  std::vector<std::string> texts;
  for (const Change& change : changes_) {
    if (!change.fitted) texts.push_back(change.text);
  }
  return texts;
}

void WhatIf::MergeFitted(const WhatIf& other) {
  for (size_t i = 0; i < changes_.size() && i < other.changes_.size(); ++i) {
    changes_[i].fitted |= other.changes_[i].fitted;
  }
}

bool FitsPattern(std::string_view text, std::string_view pattern) {
  size_t at = 0;
  size_t place = 0;
  size_t star = std::string_view::npos;  // The last '*'; it matches the text before
  size_t star_end = 0;                   // this place.
  while (at < text.size()) {
    if (place < pattern.size() && pattern[place] == '*') {
      star = place++;
      star_end = at;
    } else if (place < pattern.size() && (pattern[place] == '?' || pattern[place] == text[at])) {
      ++at;
      ++place;
    } else if (star != std::string_view::npos) {
      place = star + 1;
      at = ++star_end;
    } else {
      return false;
    }
  }
  while (place < pattern.size() && pattern[place] == '*') ++place;
  return place == pattern.size();
}

}  // namespace oplens::prof
