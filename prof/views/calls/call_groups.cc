#include "prof/views/calls/call_groups.h"

#include <utility>

#include "base/hash.h"
#include "base/id_map.h"
#include "prof/run/run.h"

namespace oplens::prof {

CallGroups::CallGroups(const Run& run, std::span<const OperatorKey> by, CallPlaces* places)
    : places_(*places), groups_(run.calls().all().size(), 0) {
  columns_.push_back(places->Names());
  for (const OperatorKey key : by) {
    if (key == OperatorKey::kShape) columns_.push_back(places->Shapes());
    if (key == OperatorKey::kLayer) columns_.push_back(places->Layers());
    if (key == OperatorKey::kStack) columns_.push_back(places->Stacks());
    if (key == OperatorKey::kPhase) columns_.push_back(places->Phases());
  }
  // One column after the other: equal in all so far and in the next.
  std::vector<uint32_t> first_calls;  // Of groups.
  for (const std::vector<uint32_t>& column : columns_) {
    IdMap numbers;
    first_calls.clear();
    for (size_t call = 0; call < groups_.size(); ++call) {
      const auto next = static_cast<uint32_t>(first_calls.size());
      groups_[call] = numbers.FindOrInsert(PairKey(groups_[call], column[call]), next);
      if (groups_[call] == next) first_calls.push_back(static_cast<uint32_t>(call));
    }
  }
  group_count_ = first_calls.size();
  // Calls of a group have the same texts.
  for (std::vector<uint32_t>& column : columns_) {
    std::vector<uint32_t> of_groups;
    for (const uint32_t call : first_calls) of_groups.push_back(column[call]);
    column = std::move(of_groups);
  }
}

std::vector<std::string_view> CallGroups::TextsOf(uint32_t group) const {
  std::vector<std::string_view> texts;
  for (const std::vector<uint32_t>& column : columns_) {
    texts.push_back(places_.texts().TextOf(column[group]));
  }
  return texts;
}

// Calls come with those around them before them, and none that is around a later one is left in
// between: a stack of those around the call at hand is enough.
std::vector<bool> OutermostCalls(const Run& run, std::span<const uint32_t> groups, size_t count) {
  const parse::CallTree& tree = run.calls();
  std::vector<bool> outermost(groups.size(), true);
  std::vector<uint32_t> around;
  std::vector<uint32_t> depth(count, 0);  // By group: how many of `around`.
  for (ThreadIndex thread = 0; thread < run.trace().threads.size(); ++thread) {
    const size_t first = tree.BeginOf(thread);
    const std::span<const parse::CallTree::Call> calls = tree.Of(thread);
    const auto leave_until = [&](uint32_t parent) {
      while (!around.empty() && around.back() != parent) {
        --depth[groups[first + around.back()]];
        around.pop_back();
      }
    };
    for (uint32_t i = 0; i < calls.size(); ++i) {
      leave_until(calls[i].parent);
      outermost[first + i] = depth[groups[first + i]]++ == 0;
      around.push_back(i);
    }
    leave_until(parse::CallTree::kNone);
  }
  return outermost;
}

}  // namespace oplens::prof
