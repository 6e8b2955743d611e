#ifndef OPLENS_RECORD_PROGRAM_TEXT_H_
#define OPLENS_RECORD_PROGRAM_TEXT_H_

#include <string_view>

#include "base/program_text.h"

namespace oplens::record {

/// Groups of options.
inline constexpr char kOutputOptions[] = "Output";
inline constexpr char kRecordedOptions[] = "What is recorded";

/// A word of --trace, and what it records.
struct TraceWord {
  std::string_view word;
  std::string_view help;
};

inline constexpr TraceWord kTraceWords[] = {
    {"cuda", "kernels, copies, fills, calls of the runtime and driver, graphs"},
    {"nvtx", "ranges, marks, names of threads"},
    {"memory", "allocations of the runtime and driver"},
    {"sync", "synchronisation, and events"},
    {"overhead", "what the recording itself cost"},
};

/// What is said of `record` beside its options.
ProgramText TextOfRecord();

}  // namespace oplens::record

#endif  // OPLENS_RECORD_PROGRAM_TEXT_H_
