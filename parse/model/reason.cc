#include "parse/model/reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/append_format.h"
#include "base/utf8.h"

namespace oplens {
namespace {

struct ReasonInfo {
  std::string_view word;
  Severity severity;
  std::string_view sentence;
};

constexpr ReasonInfo kInfos[] = {
#define OPLENS_X(name, word, severity, sentence) {word, Severity::severity, sentence},
    OPLENS_REASONS(OPLENS_X)
#undef OPLENS_X
};

void AddOnce(std::string sentence, std::vector<std::string>* to) {
  sentence = LineText(sentence);  // It has names of files and tables.
  if (std::find(to->begin(), to->end(), sentence) == to->end()) to->push_back(std::move(sentence));
}

}  // namespace

std::string_view ReasonWord(Reason reason) { return kInfos[static_cast<size_t>(reason)].word; }

Severity SeverityOf(Reason reason) { return kInfos[static_cast<size_t>(reason)].severity; }

std::string_view ReasonSentence(Reason reason) {
  return kInfos[static_cast<size_t>(reason)].sentence;
}

bool FindReason(std::string_view word, Reason* reason) {
  for (size_t i = 0; i < std::size(kInfos); ++i) {
    if (kInfos[i].word == word) {
      *reason = static_cast<Reason>(i);
      return true;
    }
  }
  return false;
}

void Diagnostics::Count(Reason reason, std::string example) {
  ++counts_[static_cast<size_t>(reason)];
  // Texts of the file reach a terminal.
  for (char& c : example) {
    if (c < ' ' || c > '~') c = '?';
  }
  auto& examples = examples_[static_cast<size_t>(reason)];
  if (!example.empty() && examples.size() < kMaxExamples) examples.push_back(std::move(example));
}

void Diagnostics::CountMany(Reason reason, int64_t n) { counts_[static_cast<size_t>(reason)] += n; }

void Diagnostics::Note(std::string sentence) { AddOnce(std::move(sentence), &notes_); }

void Diagnostics::CountFile(Reason reason, std::string sentence) {
  Count(reason);
  NoteLost(std::move(sentence));
}

void Diagnostics::NoteLost(std::string sentence) {
  AddOnce(sentence, &lost_files_);
  Note(std::move(sentence));
}

void Diagnostics::Merge(const Diagnostics& other) {
  for (size_t i = 0; i < counts_.size(); ++i) {
    counts_[i] += other.counts_[i];
    for (const std::string& example : other.examples_[i]) {
      if (examples_[i].size() < kMaxExamples) examples_[i].push_back(example);
    }
  }
  for (const std::string& note : other.notes_) Note(note);
  for (const std::string& file : other.lost_files_) AddOnce(file, &lost_files_);
}

bool Diagnostics::Damaged() const { return HasOf(Severity::kDamage); }

bool Diagnostics::HasLost() const { return HasOf(Severity::kLost); }

bool Diagnostics::HasOf(Severity least) const {
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] > 0 && kInfos[i].severity >= least) return true;
  }
  return false;
}

std::string Diagnostics::Render(std::string_view tool) const {
  const std::string name = LineText(tool);  // It has the name of an input.
  std::string text;
  for (const std::string& note : notes_) {
    AppendFormat(&text, "{}: {}\n", name, note);
  }
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    AppendFormat(&text, "{}: {} {} [{}]", name, counts_[i], kInfos[i].sentence, kInfos[i].word);
    if (!examples_[i].empty()) {
      AppendFormat(&text, ", e.g. {}", fmt::join(examples_[i], "; "));
    }
    text += '\n';
  }
  return text;
}

}  // namespace oplens
