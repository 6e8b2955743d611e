#ifndef OPLENS_PARSE_READERS_KINETO_KINETO_KINDS_H_
#define OPLENS_PARSE_READERS_KINETO_KINETO_KINDS_H_

#include <cstdint>
#include <string_view>

#include "parse/model/trace.h"

namespace oplens::parse {

// Kineto writes CUPTI's kinds as words in the names of events. 0 stands for unknown words.

/// Direction and memories of a copy by its name, "Memcpy HtoD (Pinned -> Device)".
void TakeKinetoCopyKinds(std::string_view name, MemoryCopy* copy);
/// The kind of a wait by its name, "Stream Sync".
int32_t KinetoWaitKind(std::string_view name);
/// The kind of an overhead by its name, "Buffer Flush".
int32_t KinetoOverheadKind(std::string_view name);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_KINDS_H_
