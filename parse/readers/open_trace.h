#ifndef OPLENS_PARSE_READERS_OPEN_TRACE_H_
#define OPLENS_PARSE_READERS_OPEN_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "parse/model/reason.h"
#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"
#include "parse/source/profile_file.h"
#include "parse/source/profile_list.h"

namespace oplens::parse {

/// Completes the trace's place in a distributed run, in order of precedence from the file's
/// metadata (Trace::rank as read), Trace::environment, the file name in `path`. Notes contradicting
/// ranks.
void SettleRank(const std::string& path, Trace* trace, Diagnostics* diagnostics);

/// Opens `path`, recognises its family by content and reads it with the parts in `needs`. Throws
/// Error if it is not a readable profile, with what it is, and if memory is short.
Trace OpenTrace(const std::string& path, TraceNeeds needs, Diagnostics* diagnostics);
Trace OpenTrace(ProfileFile* file, TraceNeeds needs, Diagnostics* diagnostics);

using TakenRanks = std::set<int64_t>;  ///< The rank numbers taken by the inputs of a run so far.

/// Returns the name of a rank. `number`: from the file, or kUnknownId; `name`: the input's.
std::string NameOfRank(int64_t number, const std::string& name, size_t input_count,
                       TakenRanks* taken);

/// Sets trace->rank_name to the file's rank; without one, if there are several inputs, to
/// `input.name`; else leaves it empty. If an earlier input of the run has the same rank (in
/// `taken`, which may be null), appends the name: "0 (b.json)". Looks at one input only, so that
/// just one trace need be in memory; hence the first input keeps the bare number.
void NameRank(const ProfileInput& input, size_t input_count, Trace* trace,
              TakenRanks* taken = nullptr);

/// Reads one of several inputs, but for the name of its rank, which depends on the others.
Trace ReadInput(ProfileFile* file, TraceNeeds needs, Diagnostics* diagnostics);

/// Reads one of several inputs: ReadInput and NameRank. `file` belongs to `input`. The caller must
/// catch Error, so that an unreadable file of a folder does not stop the others.
Trace OpenInput(const ProfileInput& input, ProfileFile* file, size_t input_count, TraceNeeds needs,
                Diagnostics* diagnostics, TakenRanks* taken = nullptr);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_OPEN_TRACE_H_
