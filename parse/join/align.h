#ifndef OPLENS_PARSE_JOIN_ALIGN_H_
#define OPLENS_PARSE_JOIN_ALIGN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace oplens::parse {

/// Stands for no partner.
inline constexpr uint32_t kUnaligned = UINT32_MAX;

enum class AlignEnds {
  kBoth,      ///< Both sequences begin and end together.
  kTailFree,  ///< They begin together; what is left of the second one costs nothing.
};

/// Which member of `other` each member of `own` is, kUnaligned where it is none: the longest common
/// subsequence, found by Myers' greedy algorithm ("An O(ND) difference algorithm and its
/// variations", 1986) with at most kMaxEdits insertions and deletions at a time. Where more are
/// needed, what both have once anchors the parts between, and parts that still need more stay
/// unaligned. O(n log n) for n members.
inline constexpr uint32_t kMaxEdits = 192;
std::vector<uint32_t> Align(std::span<const uint64_t> own, std::span<const uint64_t> other,
                            AlignEnds ends);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_ALIGN_H_
