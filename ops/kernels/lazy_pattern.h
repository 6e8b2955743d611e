#ifndef OPLENS_OPS_KERNELS_LAZY_PATTERN_H_
#define OPLENS_OPS_KERNELS_LAZY_PATTERN_H_

#include <re2/re2.h>

#include <memory>
#include <string_view>

#include "base/once.h"

namespace oplens::ops {

/// A pattern of a table, compiled on first use by any thread.
class LazyPattern {
 public:
  /// Searches a name, which is bytes and not necessarily UTF-8. `pattern`: the same on each call.
  /// `*found`: the matched text; may be null.
  bool Matches(const char* pattern, std::string_view name, std::string_view* found = nullptr) {
    once_.Do([&] { pattern_ = std::make_unique<re2::RE2>(pattern, re2::RE2::Latin1); });
    re2::StringPiece match;
    const re2::StringPiece text(name.data(), name.size());
    if (found == nullptr) {
      return pattern_->Match(text, 0, name.size(), re2::RE2::UNANCHORED, nullptr, 0);
    }
    if (!pattern_->Match(text, 0, name.size(), re2::RE2::UNANCHORED, &match, 1)) return false;
    *found = std::string_view(match.data(), match.size());
    return true;
  }

 private:
  Once once_;
  std::unique_ptr<re2::RE2> pattern_;
};

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_LAZY_PATTERN_H_
