#include "parse/model/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/utf8.h"

namespace oplens {
namespace {

struct ReasonText {
  Reason reason;
  Severity severity;
  std::string_view sentence;
};

constexpr ReasonText kReasons[] = {
#define OPLENS_X(name, word, severity, sentence) {Reason::name, Severity::severity, sentence},
    OPLENS_REASONS(OPLENS_X)
#undef OPLENS_X
};

/// Counts of damage, or of all else: "no-launch 1, bad-times 3"; a single one with its sentence.
std::string CountsOf(const Diagnostics& counted, bool of_damage) {
  std::string words;
  std::string sentence;
  for (const ReasonText& entry : kReasons) {
    const int64_t count = counted.CountOf(entry.reason);
    if ((entry.severity >= Severity::kDamage) != of_damage || count == 0) continue;
    const std::string_view word = ReasonWord(entry.reason);
    sentence = words.empty() ? fmt::format("{}: {} [{}]", entry.sentence, count, word) : "";
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", word, count);
  }
  return sentence.empty() ? words : sentence;
}

/// Fits sentences into lines.
class Lines {
 public:
  Lines(std::string_view tool, size_t width) : prefix_(fmt::format("{}: ", tool)), width_(width) {}

  /// Breaks a text at blanks, and cuts it after `most` lines.
  std::vector<std::string> Break(std::string_view text, size_t most) {
    const std::string further = prefix_ + "  ";
    std::vector<std::string> lines;
    while (!text.empty()) {
      const std::string& start = lines.empty() ? prefix_ : further;
      size_t size = std::min(text.size(), width_ - start.size());
      if (size < text.size()) {
        const size_t blank = text.rfind(' ', size);
        if (blank != text.npos && blank > 0) size = blank;
      }
      if (lines.size() + 1 == most && size < text.size()) {
        lines.push_back(Cut(start, text));
        break;
      }
      lines.push_back(start + std::string(text.substr(0, size)));
      text.remove_prefix(size);
      text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    }
    return lines;
  }

  /// Takes a block of lines if it and `spared` more lines fit.
  void Take(std::vector<std::string> block, size_t spared = 0) {
    if (block.empty()) return;
    if (lines_.size() + block.size() + spared > Messages::kMostLines) {
      left_out_ = true;
      return;
    }
    std::move(block.begin(), block.end(), std::back_inserter(lines_));
  }

  /// Takes sentences; short ones share a line.
  void TakeAll(const std::vector<std::string>& sentences) {
    std::string line;
    for (const std::string& sentence : sentences) {
      if (!line.empty() && prefix_.size() + line.size() + 2 + sentence.size() > width_) {
        TakeText(std::exchange(line, {}));
      }
      line += line.empty() ? sentence : "; " + sentence;
    }
    TakeText(line);
  }

  void TakeText(std::string_view text) {
    constexpr size_t kMost = 2;
    Take(Break(text, kMost), 1);
  }

  std::string Text() {
    if (left_out_) lines_.push_back(prefix_ + "more with -v");
    return fmt::format("{}{}", fmt::join(lines_, "\n"), lines_.empty() ? "" : "\n");
  }

 private:
  /// Returns the rest of a text as one line, cut at a blank.
  std::string Cut(const std::string& start, std::string_view text) {
    left_out_ = true;
    constexpr std::string_view kDots = " ...";
    size_t size = width_ - start.size() - kDots.size();
    const size_t blank = text.rfind(' ', size);
    if (blank != text.npos && blank > 0) size = blank;
    return start + std::string(text.substr(0, size)) + std::string(kDots);
  }

  std::string prefix_;
  size_t width_;
  std::vector<std::string> lines_;
  bool left_out_ = false;
};

}  // namespace

void Messages::Add(std::string sentence, std::vector<std::string>* to) {
  sentence = LineText(sentence);  // It has names of files and tables.
  if (std::find(to->begin(), to->end(), sentence) == to->end()) to->push_back(std::move(sentence));
}

void Messages::Advise(std::string sentence, double share_pct) {
  advice_.push_back({LineText(sentence), share_pct});
}

std::vector<Messages::Advice> Messages::SortedAdvice() const {
  std::vector<Advice> sorted = advice_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Advice& a, const Advice& b) { return a.share_pct > b.share_pct; });
  return sorted;
}

std::string Messages::Short() const {
  Lines lines(tool_, kLineBytes);
  for (const std::string& head : heads_) lines.TakeText(head);
  std::string lost = CountsOf(losses_, true);
  if (!lost.empty()) lost = "damaged or lost: " + lost;
  for (const std::string& note : losses_.notes()) lost += lost.empty() ? note : "; " + note;
  constexpr size_t kMostOfLosses = 3;
  lines.Take(lines.Break(lost, kMostOfLosses), 1);
  lines.TakeAll(needed_);
  lines.TakeAll(facts_);
  for (const Advice& advice : SortedAdvice()) {
    if (advice.share_pct >= kLeastSharePct) lines.TakeText(advice.sentence);
  }
  if (const std::string also = CountsOf(losses_, false); !also.empty()) {
    lines.TakeText("also: " + also);
  }
  return lines.Text();
}

Diagnostics Messages::All() const {
  Diagnostics all;
  for (const auto* sentences : {&heads_, &losses_.notes(), &needed_, &facts_}) {
    for (const std::string& sentence : *sentences) all.Note(sentence);
  }
  for (const Advice& advice : SortedAdvice()) all.Note(advice.sentence);
  all.Merge(losses_);
  return all;
}

std::string Messages::Whole() const { return All().Render(tool_); }

std::vector<std::string> Messages::Sentences() const {
  const std::string text = Whole();
  const size_t prefix = tool_.size() + 2;
  std::vector<std::string> sentences;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    sentences.push_back(text.substr(begin + prefix, end - begin - prefix));
    begin = end + 1;
  }
  return sentences;
}

}  // namespace oplens
