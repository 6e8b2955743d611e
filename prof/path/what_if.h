#ifndef OPLENS_PROF_PATH_WHAT_IF_H_
#define OPLENS_PROF_PATH_WHAT_IF_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prof/path/path_edge.h"

namespace oplens::prof {

/// Changed times: a list of "scale(WHAT,FACTOR)", all applied together. WHAT is a word of
/// PathCauseWord, otherwise the name of an operator, API call or kernel, in which '*' stands for
/// any characters and '?' for one; a name changes the time that it runs, not the time that it
/// waits. An operator's name includes the kernels, copies and memsets that it launched itself.
/// FACTOR is a decimal number >= 0; 0 removes the time. If several match, their product counts.
class WhatIf {
 public:
  WhatIf() = default;
  /// Throws UsageError, with what was expected.
  explicit WhatIf(std::span<const std::string> texts);

  bool empty() const { return changes_.empty(); }
  /// The factor for time with a cause and a name; `op`: for work, the operator that launched it.
  double FactorOf(PathCause cause, std::string_view name, std::string_view op = {});

  /// The changes that matched nothing so far, as written.
  std::vector<std::string> Unfitted() const;
  /// Adds the matches of `other`, which is made of the same texts.
  void MergeFitted(const WhatIf& other);

 private:
  struct Change {
    std::optional<PathCause> cause;
    std::string pattern;  // If there is no cause.
    double factor = 1;
    std::string text;
    bool fitted = false;
  };

  static Change Parse(std::string_view text);

  std::vector<Change> changes_;
};

/// Whether a text matches a pattern of '*' and '?'. O(text times pattern).
bool FitsPattern(std::string_view text, std::string_view pattern);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PATH_WHAT_IF_H_
