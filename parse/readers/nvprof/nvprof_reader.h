#ifndef OPLENS_PARSE_READERS_NVPROF_NVPROF_READER_H_
#define OPLENS_PARSE_READERS_NVPROF_NVPROF_READER_H_

#include "parse/readers/common/trace_reader.h"

namespace oplens::parse {

/// Reads databases of nvprof and the Visual Profiler, versions 8 to 22; only StringTable is
/// required.
extern const TraceReader kNvprofReader;

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NVPROF_NVPROF_READER_H_
