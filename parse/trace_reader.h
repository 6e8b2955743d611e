#ifndef OPLENS_PARSE_TRACE_READER_H_
#define OPLENS_PARSE_TRACE_READER_H_

#include <string>
#include <string_view>

#include "parse/model/reason.h"
#include "parse/model/trace.h"
#include "parse/profile_file.h"

namespace oplens::parse {

/// One family of profile files. To add one: a reader in parse/readers/, one line in
/// parse/reader_registry.cc.
struct TraceReader {
  std::string_view family;  ///< "nvprof"
  /// Whether the file is of this family, by its content, never by its name.
  bool (*recognises)(ProfileFile* file);
  /// Reads everything the model holds. Bad rows are counted in `diagnostics`, missing tables noted;
  /// throws Error only when no right answer is possible.
  Trace (*read)(ProfileFile* file, Diagnostics* diagnostics);
};

/// Opens `path`, recognises its family by content and reads it. Throws Error when it is not a
/// readable profile, with what it is instead.
Trace OpenTrace(const std::string& path, Diagnostics* diagnostics);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_TRACE_READER_H_
