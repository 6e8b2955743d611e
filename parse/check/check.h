#ifndef OPLENS_PARSE_CHECK_CHECK_H_
#define OPLENS_PARSE_CHECK_CHECK_H_

#include <span>
#include <string>

#include "parse/model/need.h"
#include "parse/model/reason.h"
#include "parse/model/trace.h"
#include "parse/records/correlate.h"

namespace oplens::parse {

/// What a profile holds, and for each of `columns` (those of `prof`) how many of its kernels have
/// it, what is missing, and the recording flag of the profiler that would add it: lines for a
/// terminal.
///
/// FLOPs and what else is computed from an op's arguments are not priced here: counted are the
/// kernels of ops whose arguments are in the file, also of backward nodes whose forward op has
/// them. An op may still have no cost model.
std::string DescribeProfile(const std::string& path, const Trace& trace, const Correlation& kernels,
                            const Diagnostics& diagnostics, std::span<const ColumnNeed> columns);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_CHECK_CHECK_H_
