#ifndef OPLENS_PROF_PATH_WHAT_IF_H_
#define OPLENS_PROF_PATH_WHAT_IF_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prof/path/path_edge.h"

namespace oplens::prof {

/// Times that are other than measured: a list of "scale(WHAT,FACTOR)", all of which hold at once.
/// WHAT is a word of PathCauseWord, or else the name of an operator, API call or kernel, in which
/// '*' stands for any characters and '?' for one; of a name the time that it runs changes, not the
/// time that it waits. FACTOR is a decimal number that is not negative,
/// 0 for time that is not there. Where several fit, their product counts.
class WhatIf {
 public:
  WhatIf() = default;
  /// Throws UsageError, with what was expected.
  explicit WhatIf(std::span<const std::string> texts);

  bool empty() const { return changes_.empty(); }
  /// By what the time of a cause that goes to `name` is multiplied.
  double FactorOf(PathCause cause, std::string_view name) const;

 private:
  struct Change {
    std::optional<PathCause> cause;
    std::string pattern;  // Without a cause.
    double factor = 1;
  };

  static Change Parse(std::string_view text);

  std::vector<Change> changes_;
};

/// Whether a text fits a pattern of '*' and '?'. O(text times pattern).
bool FitsPattern(std::string_view text, std::string_view pattern);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PATH_WHAT_IF_H_
