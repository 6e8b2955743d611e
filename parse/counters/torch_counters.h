#ifndef OPLENS_PARSE_COUNTERS_TORCH_COUNTERS_H_
#define OPLENS_PARSE_COUNTERS_TORCH_COUNTERS_H_

#include <string_view>

#include "parse/counters/counter_table.h"

namespace oplens::parse {

/// Reads what PyTorch's profiler counted with CUPTI: events "cuda_profiler_range" of a trace, one a
/// kernel, in the order of their times. Throws Error for what is no such trace.
CounterTable ParseTorchCounters(std::string_view text, std::string_view path);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_COUNTERS_TORCH_COUNTERS_H_
