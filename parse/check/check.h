#ifndef OPLENS_PARSE_CHECK_CHECK_H_
#define OPLENS_PARSE_CHECK_CHECK_H_

#include <span>
#include <string>

#include "parse/model/need.h"
#include "parse/model/reason.h"
#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"

namespace oplens::parse {

class KernelRecords;

/// What DescribeProfile counts besides the standard parts of a trace.
inline constexpr TraceNeeds kCheckNeeds = {TracePart::kMemoryEvents};

/// Describes a profile in lines for a terminal: what it holds, and for each of `columns` (those of
/// `prof`) how many of its kernels have it, what is missing, and the recording flag of the profiler
/// that would add it.
///
/// Does not price. If only pricing can tell whether there is a value (FLOPs, ops of backward
/// kernels and other facts from their forward op), counts the kernels for which the file holds what
/// it takes, and the line says "at most". prof --check prices.
std::string DescribeProfile(const std::string& path, const Trace& trace,
                            const KernelRecords& kernels, const Diagnostics& diagnostics,
                            std::span<const ColumnNeed> columns);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_CHECK_CHECK_H_
