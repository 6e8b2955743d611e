#ifndef OPLENS_PARSE_READERS_COMMON_TRACE_READER_H_
#define OPLENS_PARSE_READERS_COMMON_TRACE_READER_H_

#include "parse/model/family.h"
#include "parse/model/reason.h"
#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"
#include "parse/source/profile_file.h"

namespace oplens::parse {

/// A family of files. To add one: a reader in a folder of parse/readers/, a line in open_trace.cc.
struct TraceReader {
  Family family;
  /// Whether the content is of this family. Called only for files that no earlier reader
  /// recognised.
  bool (*recognises)(ProfileFile* file);
  /// Reads the trace with the parts in `needs`. Counts bad rows in `diagnostics` and notes missing
  /// tables; throws Error only if no correct result is possible.
  Trace (*read)(ProfileFile* file, TraceNeeds needs, Diagnostics* diagnostics);
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_COMMON_TRACE_READER_H_
