#ifndef OPLENS_PARSE_CHROME_CHROME_LINKS_H_
#define OPLENS_PARSE_CHROME_CHROME_LINKS_H_

#include <vector>

#include "parse/model/trace.h"

namespace oplens::parse {

/// The arrows from forward ops to the nodes of the backward pass: those that the file holds. Where
/// it holds none, by sequence number: to each outermost backward range of a number goes the arrow
/// of the last forward range of that number in its process that began before it, which is the op
/// that made the node (its callers bear the same number, but began earlier). Of number 0, which
/// ranges without a node bear too, it is the first.
std::vector<ForwardBackwardLink> ForwardBackwardLinks(const Trace& trace);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_CHROME_CHROME_LINKS_H_
