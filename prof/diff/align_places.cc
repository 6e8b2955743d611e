#include "prof/diff/align_places.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/median.h"
#include "prof/verdicts/noise.h"

namespace oplens::prof {
namespace {

constexpr size_t kAlignPlacesNone = SIZE_MAX;

/// Indices in `values` of a longest strictly ascending subsequence, ignoring kAlignPlacesNone.
std::vector<size_t> LongestAscent(const std::vector<size_t>& values) {
  std::vector<size_t> ends;  // By length - 1: where the ascent with the least end ends.
  std::vector<size_t> before(values.size(), kAlignPlacesNone);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == kAlignPlacesNone) continue;
    const auto at = std::lower_bound(ends.begin(), ends.end(), values[i],
                                     [&](size_t end, size_t value) { return values[end] < value; });
    if (at != ends.begin()) before[i] = *std::prev(at);
    if (at == ends.end()) {
      ends.push_back(i);
    } else {
      *at = i;
    }
  }
  std::vector<size_t> ascent;
  for (size_t i = ends.empty() ? kAlignPlacesNone : ends.back(); i != kAlignPlacesNone;
       i = before[i])
    ascent.push_back(i);
  std::reverse(ascent.begin(), ascent.end());
  return ascent;
}

using Texts = std::vector<std::string_view>;

Texts CallOf(const SidePlace& place) {
  return {place.keys[SidePlace::kLayer], place.keys[SidePlace::kOp], place.keys[SidePlace::kDir],
          place.keys[SidePlace::kWork]};
}

Texts WorkOf(const SidePlace& place) {
  return {place.keys[SidePlace::kOp], place.keys[SidePlace::kDir], place.keys[SidePlace::kShape],
          place.keys[SidePlace::kWork]};
}

/// Median number of runs per step in which it runs.
double CountOf(const SidePlace& place) {
  std::vector<double> counts;
  for (const PlaceSums& sums : place.sums) counts.push_back(static_cast<double>(sums.count));
  return MedianOf(counts);
}

class Aligner {
 public:
  Aligner(const Side& base, const Side& now)
      : base_(base.places()),
        now_(now.places()),
        now_of_(base_.size(), kAlignPlacesNone),
        base_of_(now_.size(), kAlignPlacesNone) {}

  Alignment Align() {
    PairEqual();
    const std::vector<size_t> anchors = LongestAscent(now_of_);
    FindGaps(anchors);
    const auto has_op = [](const SidePlace& place) { return !place.keys[SidePlace::kOp].empty(); };
    const auto has_layer = [&](const SidePlace& place) {
      return has_op(place) && !place.keys[SidePlace::kLayer].empty();
    };
    PairAlike(has_op, CallOf, true);
    PairAlike(has_layer, CallOf, false);
    PairAlike(has_op, WorkOf, true);
    PairKernels();
    Alignment alignment;
    for (size_t i = 0; i < base_.size(); ++i) {
      alignment.pairs.push_back(
          {i, now_of_[i] == kAlignPlacesNone ? std::nullopt : std::optional(now_of_[i])});
    }
    for (size_t i = 0; i < now_.size(); ++i) {
      if (base_of_[i] == kAlignPlacesNone) alignment.pairs.push_back({std::nullopt, i});
    }
    alignment.unordered = unordered_;
    return alignment;
  }

 private:
  void Pair(size_t base, size_t now) {
    now_of_[base] = now;
    base_of_[now] = base;
  }

  void PairEqual() {
    std::map<std::array<std::string_view, SidePlace::kKeys>, size_t> now_of_key;
    for (size_t i = 0; i < now_.size(); ++i) now_of_key.emplace(now_[i].keys, i);
    for (size_t i = 0; i < base_.size(); ++i) {
      const auto at = now_of_key.find(base_[i].keys);
      if (at != now_of_key.end()) Pair(i, at->second);
    }
  }

  /// Numbers the gaps of places: the number of preceding anchors.
  void FindGaps(const std::vector<size_t>& anchors) {
    std::vector<bool> base_anchor(base_.size(), false);
    std::vector<bool> now_anchor(now_.size(), false);
    for (const size_t base : anchors) {
      base_anchor[base] = true;
      now_anchor[now_of_[base]] = true;
    }
    const auto number = [](const std::vector<bool>& is_anchor, std::vector<size_t>* gaps) {
      size_t gap = 0;
      for (const bool anchor : is_anchor) {
        if (anchor) ++gap;
        gaps->push_back(gap);
      }
    };
    number(base_anchor, &base_gap_);
    number(now_anchor, &now_gap_);
    std::map<size_t, std::pair<size_t, size_t>> sizes;
    for (size_t i = 0; i < base_.size(); ++i) {
      if (now_of_[i] == kAlignPlacesNone) ++sizes[base_gap_[i]].first;
    }
    for (size_t i = 0; i < now_.size(); ++i) {
      if (base_of_[i] == kAlignPlacesNone) ++sizes[now_gap_[i]].second;
    }
    bool large = false;
    for (const auto& [gap, size] : sizes) {
      if (std::max(size.first, size.second) <= kMostEdits) continue;
      large = true;
      unordered_ += size.first + size.second;
    }
    if (!large) return;
    std::fill(base_gap_.begin(), base_gap_.end(), 0);
    std::fill(now_gap_.begin(), now_gap_.end(), 0);
  }

  /// Pairs unpaired places with equal `key_of`, in order. `in_gaps`: only within a gap.
  template <typename Wanted, typename KeyOf>
  void PairAlike(Wanted wanted, KeyOf key_of, bool in_gaps) {
    std::map<std::pair<size_t, Texts>, std::vector<size_t>> waiting;
    for (size_t i = base_.size(); i-- > 0;) {
      if (now_of_[i] != kAlignPlacesNone || !wanted(base_[i])) continue;
      waiting[{in_gaps ? base_gap_[i] : 0, key_of(base_[i])}].push_back(i);
    }
    for (size_t i = 0; i < now_.size() && !waiting.empty(); ++i) {
      if (base_of_[i] != kAlignPlacesNone || !wanted(now_[i])) continue;
      const auto at = waiting.find({in_gaps ? now_gap_[i] : 0, key_of(now_[i])});
      if (at == waiting.end() || at->second.empty()) continue;
      Pair(at->second.back(), i);
      at->second.pop_back();
    }
  }

  /// Pairs kernels without an op, gap by gap.
  void PairKernels() {
    if (unordered_ > 0) return;
    std::map<std::pair<size_t, std::string_view>,
             std::pair<std::vector<size_t>, std::vector<size_t>>>
        gaps;
    const auto collect = [&](const std::vector<SidePlace>& places,
                             const std::vector<size_t>& partner, const std::vector<size_t>& gap,
                             bool is_base) {
      for (size_t i = 0; i < places.size(); ++i) {
        if (partner[i] != kAlignPlacesNone || !places[i].keys[SidePlace::kOp].empty()) continue;
        auto& both = gaps[{gap[i], places[i].keys[SidePlace::kWork]}];
        (is_base ? both.first : both.second).push_back(i);
      }
    };
    collect(base_, now_of_, base_gap_, true);
    collect(now_, base_of_, now_gap_, false);
    for (const auto& [gap, both] : gaps) {
      if (both.first.size() != both.second.size()) continue;
      bool equal = true;
      for (size_t i = 0; i < both.first.size(); ++i) {
        const SidePlace& base = base_[both.first[i]];
        const SidePlace& now = now_[both.second[i]];
        equal = equal && CountOf(base) == CountOf(now) &&
                base.keys[SidePlace::kLayer] == now.keys[SidePlace::kLayer];
      }
      if (!equal) continue;
      for (size_t i = 0; i < both.first.size(); ++i) Pair(both.first[i], both.second[i]);
    }
  }

  const std::vector<SidePlace>& base_;
  const std::vector<SidePlace>& now_;
  std::vector<size_t> now_of_;   // By place of the base.
  std::vector<size_t> base_of_;  // By place of the new run.
  std::vector<size_t> base_gap_;
  std::vector<size_t> now_gap_;
  size_t unordered_ = 0;
};

}  // namespace

Alignment AlignPlaces(const Side& base, const Side& now) { return Aligner(base, now).Align(); }

}  // namespace oplens::prof
