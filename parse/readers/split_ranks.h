#ifndef OPLENS_PARSE_READERS_SPLIT_RANKS_H_
#define OPLENS_PARSE_READERS_SPLIT_RANKS_H_

#include <vector>

#include "parse/source/profile_list.h"

namespace oplens::parse {

/// Replaces each export of Nsight Systems with several ranks by one input per rank. Ranks without a
/// number continue the numbers of the files before, as if each file were a node. Pipes and
/// unreadable files stay one input; reading reports the latter.
std::vector<ProfileInput> SplitRanks(std::vector<ProfileInput> inputs);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_SPLIT_RANKS_H_
