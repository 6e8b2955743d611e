#ifndef OPLENS_PROF_RUN_MEMORY_OWNERS_H_
#define OPLENS_PROF_RUN_MEMORY_OWNERS_H_

#include <cstdint>
#include <vector>

#include "parse/join/call_tree.h"

namespace oplens::parse {
class Joined;
}  // namespace oplens::parse

namespace oplens::prof {

/// By place in Trace::memory_events: the innermost call (that began last) that was open on the
/// thread of the event, when it happened or, where it is known, when the API call began that took
/// or gave back the memory; as a place in CallTree::all(). CallTree::kNone: there was none.
///
/// O((n + C) log (n + C)) for n events and C calls, also where calls cross.
std::vector<uint32_t> MemoryOwners(const parse::Joined& joined, const parse::CallTree& calls);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_MEMORY_OWNERS_H_
