#ifndef OPLENS_PARSE_READERS_KINETO_KINETO_ORDER_H_
#define OPLENS_PARSE_READERS_KINETO_KINETO_ORDER_H_

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

#include "parse/model/trace.h"
#include "parse/readers/kineto/kineto_event.h"

namespace oplens::parse {

/// "Ev Idx" and "External id", each + 1: numbers of an event in order of start. 0: none in 32 bits.
struct KinetoEventIds {
  uint32_t index = 0;
  uint32_t external = 0;

  friend auto operator<=>(const KinetoEventIds&, const KinetoEventIds&) = default;
};

/// Stores `value` if `key` is one of the two.
void TakeKinetoId(std::string_view key, simdjson::dom::element value, KinetoEventIds* ids);
KinetoEventIds ReadKinetoIds(const KinetoEvent& event);

// The position of an event in the file is irrelevant. Events at one moment of one thread are
// ordered by "Ev Idx", then "External id" (events without first), then by content: kind, texts and
// all other facts. Events equal in all of these are interchangeable.

/// Orders ranges with equal times. `ids` is by range; afterwards it is no longer.
void SettleRanges(const std::vector<KinetoEventIds>& ids, Trace* trace);
/// Sorts by time. `ids` is by event.
void SettleMemoryEvents(const std::vector<KinetoEventIds>& ids, Trace* trace);
/// Sorts the collectives of host threads, outer before inner; those of kernels follow.
void SettleCommunications(Trace* trace);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_ORDER_H_
