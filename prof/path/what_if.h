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
/// time that it waits. An operator's name is also that of the kernels, copies and fills that it
/// launched itself. FACTOR is a decimal number that is not negative,
/// 0 for time that is not there. Where several fit, their product counts.
class WhatIf {
 public:
  WhatIf() = default;
  /// Throws UsageError, with what was expected.
  explicit WhatIf(std::span<const std::string> texts);

  bool empty() const { return changes_.empty(); }
  /// By what the time of a cause that goes to `name` is multiplied; `op`: of work, the operator
  /// that launched it.
  double FactorOf(PathCause cause, std::string_view name, std::string_view op = {});

  /// The changes that fitted nothing so far, as they were written.
  std::vector<std::string> Unfitted() const;
  /// Takes over what fitted something elsewhere; `other` is made of the same texts.
  void MergeFitted(const WhatIf& other);

 private:
  struct Change {
    std::optional<PathCause> cause;
    std::string pattern;  // Without a cause.
    double factor = 1;
    std::string text;
    bool fitted = false;
  };

  static Change Parse(std::string_view text);

  std::vector<Change> changes_;
};

/// Whether a text fits a pattern of '*' and '?'. O(text times pattern).
bool FitsPattern(std::string_view text, std::string_view pattern);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PATH_WHAT_IF_H_
