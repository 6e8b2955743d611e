#ifndef OPLENS_PROF_RANGE_PATTERNS_H_
#define OPLENS_PROF_RANGE_PATTERNS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "prof/price/priced_kernel.h"
#include "prof/where/pattern.h"

namespace oplens::prof {

/// Which kernels `prof --range PATTERN` keeps: those inside a range that holds a match of the
/// pattern (RE2 syntax). A step has the kernels of every thread of its process, a layer also those
/// of its backward pass, any other range those that its own thread launched and those of the
/// backward pass whose node began while its thread was inside of it.
class RangeFilter {
 public:
  /// Throws UsageError for a pattern that is none.
  explicit RangeFilter(const std::string& pattern);
  ~RangeFilter();

  /// Of a row whose record has the step that the profile names.
  bool Keeps(const PricedKernel& row);

  /// A sentence when kernels came and none was kept.
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

/// The steps of `prof --step PATTERN`: the number in the outermost range, else layer, that holds a
/// match. The number is what group 1 of the pattern matches, without a group the first digits from
/// where the match begins.
///
/// A backward kernel that another host thread of the process launched, outside of every such range,
/// takes the step of the last kernel before it that has one: records of older versions and of
/// PyProf do not say what the thread that waits for it is inside of.
class StepFinder {
 public:
  /// Throws UsageError for a pattern that is none.
  explicit StepFinder(const std::string& pattern);
  ~StepFinder();

  /// The step of a kernel; call it in the order of the rows. Each input begins with Restart().
  std::optional<int64_t> StepOf(const PricedKernel& row);
  void Restart() { last_.clear(); }

  /// The number in one text; nullopt where it holds no match, or no number.
  std::optional<int64_t> NumberIn(std::string_view text) const;

  /// Sentences when nothing matched, or matches held no number.
  std::vector<std::string> Notes() const;

 private:
  enum class Found { kNothing, kNoNumber, kNumber };
  struct Last {
    int64_t step = 0;
    int64_t thread_id = 0;
  };

  Found Look(std::string_view text, int64_t* step) const;
  /// `without_number` becomes a match without a number, if there is one.
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
