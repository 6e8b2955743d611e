#ifndef OPLENS_PROF_DIFF_TB_CALLS_H_
#define OPLENS_PROF_DIFF_TB_CALLS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prof/diff/compare.h"

namespace oplens::prof::tb {

/// The two runs.
enum TbSide : size_t { kBase, kNew, kSides };

/// A call on the host, as a row of TbDiffTreeView.
struct Call {
  std::string_view kind;  // "": of no kind that is matched.
  std::string_view name;
  bool listed = false;
  uint32_t end = 0;  // The place behind the calls in it.
  int64_t host_total_ns = 0;
  int64_t host_self_ns = 0;
  int64_t device_total_ns = 0;
  int64_t device_self_ns = 0;
};

/// Places of calls.
using Places = std::vector<uint32_t>;

/// The calls of one side, each before those in it.
class Calls {
 public:
  Calls(const DiffInput& input, std::vector<std::string>* notes);

  const Call& At(uint32_t place) const { return calls_[place]; }
  /// The outermost ones.
  Places Outermost() const { return Between(0, static_cast<uint32_t>(calls_.size())); }
  Places Inside(uint32_t place) const { return Between(place + 1, calls_[place].end); }

 private:
  Places Between(uint32_t begin, uint32_t end) const {
    Places places;
    for (uint32_t i = begin; i < end; i = calls_[i].end) places.push_back(i);
    return places;
  }

  std::vector<Call> calls_;
};

/// Calls of both sides that are compared.
struct Node {
  std::string path;  // "0-2-1": the second child of the third of the root.
  size_t level = 0;
  std::array<Places, kSides> calls;
  int64_t before_ns = 0;  // Sum of the changes of the nodes before it in its parent.
};

/// What a side of a node amounts to.
struct Value {
  std::string_view name;
  int64_t host_ns = 0;
  int64_t device_ns = 0;
  int64_t value_ns = 0;
};

/// Of the calls of one side of a node: "Blank" of none, "CompositeNodes" of several.
Value ValueOf(const Calls& calls, const Places& places);

/// Pairs of places in two lists of calls.
using Matches = std::vector<std::pair<size_t, size_t>>;

/// Those of a kind and name, each behind the one before, in the order of `left`; greedy.
Matches MatchesOf(const Calls& base, const Places& left, const Calls& now, const Places& right);

}  // namespace oplens::prof::tb

#endif  // OPLENS_PROF_DIFF_TB_CALLS_H_
