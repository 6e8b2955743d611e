#ifndef OPLENS_PARSE_COUNTERS_COUNTER_TRACE_H_
#define OPLENS_PARSE_COUNTERS_COUNTER_TRACE_H_

#include "parse/counters/counter_table.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// The counted kernels as a trace without launches and ranges, in their order. Nsight Compute
/// records no start: each begins where the one before it ends, at the clock that it locks.
Trace TraceOfCounters(const CounterTable& table);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_COUNTERS_COUNTER_TRACE_H_
