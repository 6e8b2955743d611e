// Exports of Nsight Compute: any text is a table of sane figures, or an error that names the file.

#include <optional>
#include <string>

#include "base/error.h"
#include "parse/counters/counter_join.h"
#include "parse/counters/counter_table.h"
#include "parse/counters/counter_trace.h"
#include "test/fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using oplens::fuzz::Check;
  const std::string_view text = oplens::fuzz::TextOf(data, size);
  static_cast<void>(oplens::parse::LooksLikeCounters(text));
  try {
    const oplens::parse::CounterTable table = oplens::parse::ParseCounters(text, "FILE");
    Check(!table.kernels.empty());
    for (const oplens::parse::CountedKernel& kernel : table.kernels) {
      const oplens::KernelCounters& counters = kernel.counters;
      for (const auto& figure : {counters.core_flops, counters.tensor_flops, counters.dram_bytes,
                                 counters.l2_bytes, counters.duration_ns}) {
        Check(figure.value_or(0) >= 0);
      }
    }
    const oplens::Trace trace = oplens::parse::TraceOfCounters(table);
    Check(trace.kernels.size() == table.kernels.size());
    const oplens::parse::CounterJoin join(table, trace);
    Check(join.tally().joined + join.tally().ambiguous <= join.tally().kernels);
  } catch (const oplens::Error& error) {
    Check(std::string_view(error.what()).starts_with("FILE: "));
  }
  return 0;
}
