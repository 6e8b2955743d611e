#ifndef OPLENS_PARSE_CHECK_NEEDS_H_
#define OPLENS_PARSE_CHECK_NEEDS_H_

#include <optional>
#include <span>
#include <string_view>

#include "parse/check/survey.h"
#include "parse/model/need.h"
#include "parse/model/recording_advice.h"

namespace oplens::parse {

/// How a need is met.
struct NeedCheck {
  Need need = Need::kNothing;
  bool (*met)(const KernelFacts& kernel) = nullptr;
  std::string_view missing;  ///< What the file lacks where a kernel does not meet it.
  std::optional<Lack> lack;  ///< What to record then.
  /// Met is not enough: whether there is a value, only pricing can tell.
  bool at_most = false;
};

/// Every need in the order of the enumeration. One without `met` is met where the one before it is,
/// and stands on its line.
std::span<const NeedCheck> NeedChecks();

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_CHECK_NEEDS_H_
