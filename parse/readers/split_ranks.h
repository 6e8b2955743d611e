#ifndef OPLENS_PARSE_READERS_SPLIT_RANKS_H_
#define OPLENS_PARSE_READERS_SPLIT_RANKS_H_

#include <vector>

#include "parse/source/profile_list.h"

namespace oplens::parse {

/// Makes an input of each rank of the files that hold several, in the place of the file: exports of
/// Nsight Systems with several processes (NsysRanks). Ranks that have no number go on counting
/// where those of the files before ended: each file is a node then. What comes through a pipe stays
/// one input, and what cannot be read too: reading it says why.
std::vector<ProfileInput> SplitRanks(std::vector<ProfileInput> inputs);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_SPLIT_RANKS_H_
