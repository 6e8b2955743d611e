#ifndef OPLENS_PARSE_MODEL_MESSAGES_H_
#define OPLENS_PARSE_MODEL_MESSAGES_H_

// Public header: installed, docs/library.md.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/reason.h"

namespace oplens {

/// What a program prints on standard error: collected by importance, printed once, by main.
class Messages {
 public:
  static constexpr size_t kMostLines = 6;
  static constexpr size_t kLineBytes = 100;
  /// Advice about a smaller share of the time is left out of Short().
  static constexpr double kLeastSharePct = 0.05;

  explicit Messages(std::string_view tool) : tool_(tool) {}

  /// What a file lost or does not hold: damaged rows, kernels without a launch, missing tables.
  /// Short() prints all of it first, in one paragraph.
  Diagnostics* losses() { return &losses_; }
  /// The result in one line, before anything else: "wrote FILE".
  void Head(std::string sentence) { Add(std::move(sentence), &heads_); }
  /// What a reader of the result must know.
  void Need(std::string sentence) { Add(std::move(sentence), &needed_); }
  /// Figures of the run.
  void Tell(std::string sentence) { Add(std::move(sentence), &facts_); }
  /// What to do about something missing for `share_pct` percent of the kernels' time.
  void Advise(std::string sentence, double share_pct);

  /// At most kMostLines lines of kLineBytes bytes, the most important first; if anything is left
  /// out or cut, the last line refers to -v.
  std::string Short() const;
  /// Everything: one line per sentence, one line per reason with its examples.
  std::string Whole() const;
  /// The lines of Whole() without the program's name.
  std::vector<std::string> Sentences() const;

 private:
  struct Advice {
    std::string sentence;
    double share_pct = 0;
  };

  static void Add(std::string sentence, std::vector<std::string>* to);
  Diagnostics All() const;
  std::vector<Advice> SortedAdvice() const;

  std::string tool_;
  Diagnostics losses_;
  std::vector<std::string> heads_;
  std::vector<std::string> needed_;
  std::vector<std::string> facts_;
  std::vector<Advice> advice_;
};

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_MESSAGES_H_
