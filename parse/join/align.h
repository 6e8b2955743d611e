#ifndef OPLENS_PARSE_JOIN_ALIGN_H_
#define OPLENS_PARSE_JOIN_ALIGN_H_

#include <cstdint>
#include <span>
#include <vector>

namespace oplens::parse {

inline constexpr uint32_t kUnaligned = UINT32_MAX;

enum class AlignEnds {
  kBoth,      ///< Both sequences begin and end together.
  kTailFree,  ///< They begin together; the rest of the second one is free.
};

/// Maps each member of `own` to its member of `other`, or to kUnaligned: the longest common
/// subsequence, by Myers' greedy algorithm ("An O(ND) difference algorithm and its variations",
/// 1986) with at most kMaxEdits insertions and deletions at a time. If more are needed, runs that
/// both have once anchor the parts between them, and parts that still need more stay unaligned.
/// O(n log n) for n members.
inline constexpr uint32_t kMaxEdits = 192;
std::vector<uint32_t> Align(std::span<const uint64_t> own, std::span<const uint64_t> other,
                            AlignEnds ends);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_ALIGN_H_
