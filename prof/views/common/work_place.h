#ifndef OPLENS_PROF_VIEWS_COMMON_WORK_PLACE_H_
#define OPLENS_PROF_VIEWS_COMMON_WORK_PLACE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

#include "parse/model/trace.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/text_numbers.h"

namespace oplens::prof {

class Run;

/// An op of a layer, by numbers of texts. If a kernel's op is unknown, its name.
struct WorkPlace {
  uint32_t op = 0;
  uint32_t layer = 0;  ///< 0: no layer, or all of them.
  friend auto operator<=>(const WorkPlace&, const WorkPlace&) = default;

  uint64_t key() const { return uint64_t{op} << 32 | layer; }
  static WorkPlace OfKey(uint64_t key) {
    return {static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(key)};
  }
};

/// A WorkPlace as texts.
struct WorkName {
  static constexpr size_t kLeastBytes = 2;  ///< Minimum when saved.

  std::string op;
  std::string layer;

  friend auto operator<=>(const WorkName&, const WorkName&) = default;
};

/// The trace's kernel if it computes for a known time; null if it communicates, has no such time,
/// or comes from records.
const Kernel* ComputeKernelOf(const Run& run, const PricedKernel& kernel);

WorkPlace PlaceOf(const PricedKernel& kernel, TextNumbers* texts);
inline WorkName NameOf(WorkPlace place, const TextNumbers& texts) {
  return {std::string(texts.TextOf(place.op)), std::string(texts.TextOf(place.layer))};
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COMMON_WORK_PLACE_H_
