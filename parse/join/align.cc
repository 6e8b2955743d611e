#include "parse/join/align.h"

#include <algorithm>
#include <unordered_map>

#include "base/hash.h"

namespace oplens::parse {
namespace {

using Keys = std::span<const uint64_t>;

constexpr int kAlignMaxDepth = 8;
/// Consecutive members of an anchor.
constexpr size_t kAnchorLength = 4;

/// Myers' greedy algorithm. `x` counts consumed members of own, `y` = x - k those of other.
class Greedy {
 public:
  Greedy(Keys own, Keys other, AlignEnds ends) : own_(own), other_(other), ends_(ends) {}

  /// Returns false if more than kMaxEdits are needed.
  bool Run() {
    const int64_t limit = std::min<int64_t>(kMaxEdits, Size(own_) + Size(other_));
    for (int64_t edits = 0; edits <= limit; ++edits) {
      if (Extend(edits)) return true;
    }
    return false;
  }

  /// Calls f(x, y) for each pair; call after Run() returned true.
  template <typename F>
  void ForEachPair(F f) const {
    int64_t x = end_x_;
    int64_t y = end_y_;
    for (auto edits = static_cast<int64_t>(rounds_.size()) - 1; edits >= 0; --edits) {
      const int64_t k = x - y;
      int64_t before_x = 0;
      int64_t before_y = 0;
      if (edits > 0) {
        const bool down = IsDown(edits, k);
        const int64_t before_k = down ? k + 1 : k - 1;
        before_x = At(edits - 1, before_k);
        before_y = before_x - before_k;
      }
      const int64_t start_x = edits == 0 ? 0 : (IsDown(edits, k) ? before_x : before_x + 1);
      while (x > start_x) f(--x, --y);
      x = before_x;
      y = before_y;
    }
  }

 private:
  static int64_t Size(Keys keys) { return static_cast<int64_t>(keys.size()); }

  /// The furthest x on diagonal k after `edits` edits.
  int64_t At(int64_t edits, int64_t k) const {
    return rounds_[static_cast<size_t>(edits)][static_cast<size_t>(k + edits)];
  }
  /// Whether the edit before diagonal k skipped a member of other.
  bool IsDown(int64_t edits, int64_t k) const {
    return k == -edits || (k != edits && At(edits - 1, k - 1) < At(edits - 1, k + 1));
  }

  bool Extend(int64_t edits) {
    std::vector<int64_t>& round = rounds_.emplace_back(static_cast<size_t>(2 * edits + 1), -1);
    for (int64_t k = -edits; k <= edits; k += 2) {
      int64_t x = 0;
      if (edits > 0) {
        const bool down = IsDown(edits, k);
        x = down ? At(edits - 1, k + 1) : At(edits - 1, k - 1) + 1;
      }
      int64_t y = x - k;
      const bool inside = x >= 0 && y >= 0 && x <= Size(own_) && y <= Size(other_);
      while (inside && x < Size(own_) && y < Size(other_) &&
             own_[static_cast<size_t>(x)] == other_[static_cast<size_t>(y)]) {
        ++x;
        ++y;
      }
      round[static_cast<size_t>(k + edits)] = x;
      const bool other_done = ends_ == AlignEnds::kTailFree || y == Size(other_);
      if (inside && x == Size(own_) && other_done) {
        end_x_ = x;
        end_y_ = y;
        return true;
      }
    }
    return false;
  }

  Keys own_;
  Keys other_;
  AlignEnds ends_;
  std::vector<std::vector<int64_t>> rounds_;
  int64_t end_x_ = 0;
  int64_t end_y_ = 0;
};

/// Maps each run of members to its position if the sequence has it once, else to kUnaligned.
std::unordered_map<uint64_t, uint32_t> AlignRunsOf(Keys keys) {
  std::unordered_map<uint64_t, uint32_t> runs;
  runs.reserve(keys.size());
  for (size_t i = 0; i + kAnchorLength <= keys.size(); ++i) {
    uint64_t hash = 0;
    for (size_t j = 0; j < kAnchorLength; ++j) {
      hash = MixHash(hash, keys[i + j]);
    }
    const auto [place, is_new] = runs.try_emplace(hash, static_cast<uint32_t>(i));
    if (!is_new) place->second = kUnaligned;
  }
  return runs;
}

struct AlignPair {
  uint32_t own;
  uint32_t other;
};

/// Returns the longest chain of runs that both sequences have once, in the order of both.
std::vector<AlignPair> AnchorsOf(Keys own, Keys other) {
  const auto own_runs = AlignRunsOf(own);
  const auto other_runs = AlignRunsOf(other);
  std::vector<AlignPair> pairs;
  for (const auto& [hash, place] : own_runs) {
    if (place == kUnaligned) continue;
    const auto found = other_runs.find(hash);
    if (found == other_runs.end() || found->second == kUnaligned) continue;
    pairs.push_back({place, found->second});
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const AlignPair& a, const AlignPair& b) { return a.own < b.own; });
  std::vector<uint32_t> tails;  // By length - 1: the pair with the least `other` that ends a chain.
  std::vector<uint32_t> before(pairs.size(), kUnaligned);
  for (uint32_t i = 0; i < pairs.size(); ++i) {
    const auto place =
        std::lower_bound(tails.begin(), tails.end(), pairs[i].other,
                         [&](uint32_t tail, uint32_t value) { return pairs[tail].other < value; });
    if (place != tails.begin()) before[i] = *(place - 1);
    if (place == tails.end()) {
      tails.push_back(i);
    } else {
      *place = i;
    }
  }
  std::vector<AlignPair> chain;
  for (uint32_t i = tails.empty() ? kUnaligned : tails.back(); i != kUnaligned; i = before[i]) {
    chain.push_back(pairs[i]);
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

void AlignParts(Keys own, Keys other, uint32_t own_begin, uint32_t other_begin, AlignEnds ends,
                int depth, std::vector<uint32_t>* partners) {
  size_t same = 0;
  while (same < own.size() && same < other.size() && own[same] == other[same]) {
    (*partners)[own_begin + same] = other_begin + static_cast<uint32_t>(same);
    ++same;
  }
  own = own.subspan(same);
  other = other.subspan(same);
  own_begin += static_cast<uint32_t>(same);
  other_begin += static_cast<uint32_t>(same);
  while (ends == AlignEnds::kBoth && !own.empty() && !other.empty() && own.back() == other.back()) {
    own = own.first(own.size() - 1);
    other = other.first(other.size() - 1);
    (*partners)[own_begin + own.size()] = other_begin + static_cast<uint32_t>(other.size());
  }
  if (own.empty() || other.empty()) return;
  Greedy greedy(own, other, ends);
  if (greedy.Run()) {
    greedy.ForEachPair([&](int64_t x, int64_t y) {
      (*partners)[own_begin + static_cast<size_t>(x)] = other_begin + static_cast<uint32_t>(y);
    });
    return;
  }
  if (depth == kAlignMaxDepth) return;
  const std::vector<AlignPair> anchors = AnchorsOf(own, other);
  if (anchors.empty()) return;
  AlignPair begin{0, 0};
  for (const AlignPair& anchor : anchors) {
    if (anchor.own < begin.own || anchor.other < begin.other) continue;
    AlignParts(own.subspan(begin.own, anchor.own - begin.own),
               other.subspan(begin.other, anchor.other - begin.other), own_begin + begin.own,
               other_begin + begin.other, AlignEnds::kBoth, depth + 1, partners);
    for (uint32_t i = 0; i < kAnchorLength; ++i) {
      (*partners)[own_begin + anchor.own + i] = other_begin + anchor.other + i;
    }
    begin = {anchor.own + static_cast<uint32_t>(kAnchorLength),
             anchor.other + static_cast<uint32_t>(kAnchorLength)};
  }
  AlignParts(own.subspan(begin.own), other.subspan(begin.other), own_begin + begin.own,
             other_begin + begin.other, ends, depth + 1, partners);
}

}  // namespace

std::vector<uint32_t> Align(std::span<const uint64_t> own, std::span<const uint64_t> other,
                            AlignEnds ends) {
  std::vector<uint32_t> partners(own.size(), kUnaligned);
  AlignParts(own, other, 0, 0, ends, 0, &partners);
  return partners;
}

}  // namespace oplens::parse
