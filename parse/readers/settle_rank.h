#ifndef OPLENS_PARSE_READERS_SETTLE_RANK_H_
#define OPLENS_PARSE_READERS_SETTLE_RANK_H_

#include <string>

#include "parse/model/reason.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// Completes the trace's place in a distributed run: what the file's metadata told counts
/// (Trace::rank as the reader left it), then Trace::environment, then the name of the file at
/// `path`. Notes where two of them name different ranks, as where files were renamed.
void SettleRank(const std::string& path, Trace* trace, Diagnostics* diagnostics);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_SETTLE_RANK_H_
