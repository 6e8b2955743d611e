#ifndef OPLENS_PARSE_READERS_COMMON_EQUAL_RANGES_H_
#define OPLENS_PARSE_READERS_COMMON_EQUAL_RANGES_H_

#include <cstdint>
#include <functional>

#include "parse/model/trace.h"

namespace oplens::parse {

/// Orders those ranges of a trace that share thread, start and end, by `before` of two places in
/// Trace::ranges: they change places among themselves, all others stay. O(R), O(R log R) if all
/// have equal times.
void OrderEqualRanges(const std::function<bool(uint32_t, uint32_t)>& before, Trace* trace);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_COMMON_EQUAL_RANGES_H_
