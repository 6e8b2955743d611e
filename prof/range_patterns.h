#ifndef OPLENS_PROF_RANGE_PATTERNS_H_
#define OPLENS_PROF_RANGE_PATTERNS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "prof/price/priced_kernel.h"
#include "prof/run/run.h"
#include "prof/where/pattern.h"

namespace oplens::prof {

/// The kernels that `prof --range PATTERN` keeps: those inside a range that contains a match of the
/// pattern (RE2 syntax). A step has the kernels of all threads of its process; a layer also has
/// those of its backward pass; any other range has those launched by its own thread and by backward
/// nodes that began while its thread was inside it.
class RangeFilter {
 public:
  /// Throws UsageError for an invalid pattern.
  explicit RangeFilter(const std::string& pattern);
  ~RangeFilter();

  /// Precondition: the record has the step that the profile names.
  bool Keeps(const PricedKernel& row);

  /// A sentence if there were kernels and none was kept.
  std::vector<std::string> Notes() const;

 private:
  bool Matches(std::string_view text) const;
  bool IsInStep(std::optional<int64_t> step);

  Pattern pattern_;
  std::optional<int64_t> last_step_;
  bool last_step_matches_ = false;
  int64_t kernels_ = 0;
  int64_t kept_ = 0;
};

/// The steps of `prof --step PATTERN`. The number in a text that matches is group 1 of the pattern,
/// without a group the first digits from the start of the match. Run makes steps of the ranges of a
/// profile (TextOf); a record has the number in the outermost range, otherwise layer, that matches.
///
/// A backward kernel launched by another host thread of the process, outside of every such range,
/// gets the step of the last kernel before it that has one: records of older versions and of PyProf
/// do not say what the waiting thread is inside of.
class StepFinder {
 public:
  /// Throws UsageError for an invalid pattern.
  explicit StepFinder(const std::string& pattern);
  ~StepFinder();

  /// The step of a kernel. Call in the order of rows, after Restart() for each input.
  std::optional<int64_t> StepOf(const PricedKernel& row);
  void Restart() { last_.clear(); }

  /// What a text says. If the pattern has a group, texts in which that is no number do not match.
  StepText TextOf(std::string_view text) const;

  /// Sentences if nothing matched, or matches had no number.
  std::vector<std::string> Notes() const;

 private:
  enum class Found { kNothing, kNoNumber, kNumber };
  struct Last {
    int64_t step = 0;
    int64_t thread_id = 0;
  };

  Found Look(std::string_view text, int64_t* step) const;
  /// Sets `without_number` to a match without a number, if there is one.
  Found LookAt(const PricedKernel& row, int64_t* step, std::string_view* without_number) const;

  Pattern pattern_;
  std::unordered_map<int64_t, Last> last_;  // By process.
  int64_t kernels_ = 0;
  int64_t matched_ = 0;
  int64_t unnumbered_ = 0;
  std::string example_;  // A text without a number.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RANGE_PATTERNS_H_
