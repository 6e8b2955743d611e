#ifndef OPLENS_PROF_RUN_COPY_NAME_H_
#define OPLENS_PROF_RUN_COPY_NAME_H_

#include <string>

#include "parse/model/cuda_kinds.h"
#include "parse/model/trace.h"
#include "prof/run/device_work.h"

namespace oplens::prof {

/// A kind of copy as a name, as groups of copies have it: "Memcpy HtoD".
inline std::string CopyNameOf(CopyKind kind) {
  const std::string_view word = CopyKindWord(kind);
  return "Memcpy " + (word.empty() ? std::string("Unknown") : std::string(word));
}

/// The same of a fill, "Memset".
inline constexpr std::string_view kFillName = "Memset";

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_COPY_NAME_H_
