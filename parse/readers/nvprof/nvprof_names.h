#ifndef OPLENS_PARSE_READERS_NVPROF_NVPROF_NAMES_H_
#define OPLENS_PARSE_READERS_NVPROF_NVPROF_NAMES_H_

#include "parse/readers/nvprof/nvprof_context.h"

namespace oplens::parse {

/// Lists the processes and names them and the threads, once all threads are known:
/// TracePart::kNames. Of a command line the program alone is kept: its arguments may hold
/// passwords.
void ReadNvprofNames(NvprofContext* context);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NVPROF_NVPROF_NAMES_H_
