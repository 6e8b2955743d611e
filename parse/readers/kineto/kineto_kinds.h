#ifndef OPLENS_PARSE_READERS_KINETO_KINETO_KINDS_H_
#define OPLENS_PARSE_READERS_KINETO_KINETO_KINDS_H_

#include <cstdint>
#include <string_view>

#include "parse/model/trace.h"

namespace oplens::parse {

// Kineto writes CUPTI's kinds as words in the names of events.

/// Direction and memories of a copy by its name, "Memcpy HtoD (Pinned -> Device)".
void TakeKinetoCopyKinds(std::string_view name, MemoryCopy* copy);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_KINDS_H_
