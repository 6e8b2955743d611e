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

/// Completes the trace's place in a distributed run: what the file's metadata told counts
/// (Trace::rank as the reader left it), then Trace::environment, then the name of the file at
/// `path`. Notes where two of them name different ranks, as where files were renamed.
void SettleRank(const std::string& path, Trace* trace, Diagnostics* diagnostics);

/// Opens `path`, recognises its family by content and reads it with the parts that `needs` names.
/// Throws Error when it is not a readable profile, with what it is instead, and where there is too
/// little memory for it.
Trace OpenTrace(const std::string& path, TraceNeeds needs, Diagnostics* diagnostics);
/// The same of a file that is open already.
Trace OpenTrace(ProfileFile* file, TraceNeeds needs, Diagnostics* diagnostics);

/// The rank numbers that the inputs of a run so far took.
using TakenRanks = std::set<int64_t>;

/// The name of a rank of an input. `number`: as the file says, kUnknownId where it does not;
/// `name`: that of the input.
std::string NameOfRank(int64_t number, const std::string& name, size_t input_count,
                       TakenRanks* taken);

/// Sets trace->rank_name: the rank that the file says; else, with several inputs, `input.name`;
/// else nothing. Where an earlier input of the run has taken the same rank (`taken`, which may be
/// null), it is the rank with the name: "0 (b.json)". Only one input is looked at, so that one
/// trace at a time need be in memory; hence the first of them keeps the bare number.
void NameRank(const ProfileInput& input, size_t input_count, Trace* trace,
              TakenRanks* taken = nullptr);

/// Reads one of several inputs: OpenTrace and NameRank. `file` is of `input`. A file of a folder
/// that cannot be read at all must not cost the others: that is the caller's to catch.
Trace OpenInput(const ProfileInput& input, ProfileFile* file, size_t input_count, TraceNeeds needs,
                Diagnostics* diagnostics, TakenRanks* taken = nullptr);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_OPEN_TRACE_H_
