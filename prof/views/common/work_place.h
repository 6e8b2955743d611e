#ifndef OPLENS_PROF_VIEWS_COMMON_WORK_PLACE_H_
#define OPLENS_PROF_VIEWS_COMMON_WORK_PLACE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include "parse/model/trace.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/text_numbers.h"

namespace oplens::prof {

class Run;

/// An op of a layer, by numbers of texts. Of a kernel whose op is not known its name.
struct WorkPlace {
  uint32_t op = 0;
  uint32_t layer = 0;  ///< 0: it has none, or all of them.
  friend auto operator<=>(const WorkPlace&, const WorkPlace&) = default;

  /// Both in one.
  uint64_t key() const { return uint64_t{op} << 32 | layer; }
  static WorkPlace OfKey(uint64_t key) {
    return {static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(key)};
  }
};

/// The same by its texts.
struct WorkName {
  static constexpr size_t kLeastBytes = 2;  ///< That are saved of one.

  std::string op;
  std::string layer;

  static constexpr std::tuple kMembers{&WorkName::op, &WorkName::layer};
  friend auto operator<=>(const WorkName&, const WorkName&) = default;
};

/// The kernel in the trace where it computes for a time that is known; null: it is communication,
/// has no such time, or comes from records.
const Kernel* ComputeKernelOf(const Run& run, const PricedKernel& kernel);

/// What a kernel is of.
WorkPlace PlaceOf(const PricedKernel& kernel, TextNumbers* texts);
inline WorkName NameOf(WorkPlace place, const TextNumbers& texts) {
  return {std::string(texts.TextOf(place.op)), std::string(texts.TextOf(place.layer))};
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COMMON_WORK_PLACE_H_
