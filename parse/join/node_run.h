#ifndef OPLENS_PARSE_JOIN_NODE_RUN_H_
#define OPLENS_PARSE_JOIN_NODE_RUN_H_

#include <cstdint>

namespace oplens::parse {

/// One run of the backward node of a forward op.
struct NodeRun {
  uint32_t node = 0;  ///< Number, from 1, of the forward op that made the node.
  uint32_t run = 0;   ///< Which run of it, from 0: a retained graph runs again.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_NODE_RUN_H_
