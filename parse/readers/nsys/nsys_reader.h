#ifndef OPLENS_PARSE_READERS_NSYS_NSYS_READER_H_
#define OPLENS_PARSE_READERS_NSYS_NSYS_READER_H_

#include "parse/readers/common/trace_reader.h"

namespace oplens::parse {

/// Reads exports of Nsight Systems ("nsys export --type sqlite"), up to schema 3.25. Only StringIds
/// is required; a missing table means that its events were not recorded.
extern const TraceReader kNsysReader;

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NSYS_NSYS_READER_H_
