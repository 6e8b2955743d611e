#ifndef OPLENS_PARSE_READERS_KINETO_KINETO_ORDER_H_
#define OPLENS_PARSE_READERS_KINETO_KINETO_ORDER_H_

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

#include "parse/model/trace.h"
#include "parse/readers/kineto/kineto_event.h"

namespace oplens::parse {

/// What the profiler numbered an event with, in the order in which it began: "Ev Idx" and
/// "External id", each + 1. 0: not told, or no number of 32 bits.
struct KinetoEventIds {
  uint32_t index = 0;
  uint32_t external = 0;

  friend auto operator<=>(const KinetoEventIds&, const KinetoEventIds&) = default;
};

/// Notes `value` if `key` is one of the two.
void TakeKinetoId(std::string_view key, simdjson::dom::element value, KinetoEventIds* ids);
KinetoEventIds ReadKinetoIds(const KinetoEvent& event);

// Where an event stands in the file says nothing. What stands at one moment of one thread is
// ordered by "Ev Idx", then "External id" (what lacks one is first), then by what it is: kind,
// texts and all other facts. What is equal in all of these is interchangeable.

/// Sets Range::order of all ranges. `ids` is by range. O(R), O(R log R) where all have equal times.
void SettleRanges(const std::vector<KinetoEventIds>& ids, Trace* trace);
/// Sorts by time. `ids` is by event.
void SettleMemoryEvents(const std::vector<KinetoEventIds>& ids, Trace* trace);
/// Sorts what host threads tell of collectives, outer before inner, before what kernels tell.
void SettleCommunications(Trace* trace);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_ORDER_H_
