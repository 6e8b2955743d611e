#ifndef OPLENS_PARSE_CHECK_H_
#define OPLENS_PARSE_CHECK_H_

#include <string>

#include "parse/correlate.h"
#include "parse/model/reason.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// What a profile holds, and for each column of `prof` how many of its kernels have it, what is
/// missing, and the recording flag of the profiler that would add it: lines for a terminal.
///
/// FLOPs and what else is computed from an op's arguments are not priced here: counted are the
/// kernels of ops whose arguments are in the file, also of backward nodes whose forward op has
/// them. An op may still have no cost model.
std::string DescribeProfile(const std::string& path, const Trace& trace, const Correlation& kernels,
                            const Diagnostics& diagnostics);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_CHECK_H_
