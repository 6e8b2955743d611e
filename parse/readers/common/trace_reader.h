#ifndef OPLENS_PARSE_READERS_COMMON_TRACE_READER_H_
#define OPLENS_PARSE_READERS_COMMON_TRACE_READER_H_

#include "parse/model/family.h"
#include "parse/model/reason.h"
#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"
#include "parse/source/profile_file.h"

namespace oplens::parse {

/// One family of profile files. To add one: a reader in a folder of parse/readers/, one line in
/// parse/readers/open_trace.cc.
struct TraceReader {
  Family family;
  /// Whether the file is of this family, by its content, never by its name. Asked only of files
  /// that no reader before it recognised.
  bool (*recognises)(ProfileFile* file);
  /// Reads what the model holds, of the parts of TracePart those that `needs` names. Bad rows are
  /// counted in `diagnostics`, missing tables noted; throws Error only when no right answer is
  /// possible.
  Trace (*read)(ProfileFile* file, TraceNeeds needs, Diagnostics* diagnostics);
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_COMMON_TRACE_READER_H_
